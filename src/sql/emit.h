// Plans and expressions as DuckDB SQL. Written from the bound tree, never from the analyst's text,
// so nothing reaches the engine that the binder has not allowed.
//
// Guarantee: what is emitted is total: arithmetic that can overflow stands in TRY(), casts are
//            TRY_CAST, a zero divisor is NULL. Column n is named cn everywhere.
#pragma once

#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "sql/plan.h"
#include "sql/scalar.h"

namespace discreet::sql {

class FactsTable;
class EngineDialect;

/// An expression of more text than any question needs: engines' guards repeat what they guard, so
/// nested ones double at every level. Thrown by the functions below; the planner refuses.
struct TooLong : std::exception {};

/// With `facts`, TRY() is left out where the bounds show that nothing can overflow.
/// Without a dialect it is DuckDB's SQL.
std::string emit_scalar(const Scalar& scalar, const FactsTable* facts = nullptr,
                        const EngineDialect* dialect = nullptr);

/// A SELECT whose result has (at least) the columns `outputs`, named c<id>. Other columns are
/// pruned where that is cheap.
std::string emit_plan(const Plan& plan, const std::vector<ColumnId>& outputs,
                      const FactsTable* facts = nullptr, const EngineDialect* dialect = nullptr);

std::string joined(const std::vector<std::string>& parts, std::string_view with = ", ");
std::string column_name(ColumnId id);
std::string quote_text(const std::string& text);
std::string quote_name(const std::string& name);
std::string emit_constant(const ConstantValue& value);
/// With a space on either side; nullptr: it is not written between its arguments, or not in every
/// engine alike.
const char* infix_operator(Function function);

}  // namespace discreet::sql
