// Phrases of Spark's SQL (ANSI mode off) that cannot fail. Expressions are said several times where
// that is shorter than a function: Spark computes equal ones once.
#pragma once

#include <functional>
#include <string>

#include "sql/engine_dialect.h"

namespace discreet::sql::spark {

std::string type_name(Type type);
std::string quoted_text(const std::string& text);
std::string quoted_name(const std::string& name);
std::string literal(const ConstantValue& value, Type type);
std::string real_literal(double value);
std::string whole_literal(std::int64_t value);
/// q * 10^-scale, all digits.
std::string decimal_digits(std::int64_t q, int scale);

std::string as_real(const Scalar& one, const ScalarWriter& writer);
/// A whole number or decimal as DECIMAL(digits, scale).
std::string as_decimal(const std::string& text, int digits, int scale);
std::string cast_to(const std::string& text, Type from, Type to);

/// Half away from zero.
std::string rounded(const std::string& x);
/// A real function that Spark gives out as a whole number.
std::string kept_real(const char* function, const std::string& x);
/// NaN is NULL and the rest within 1e140, as for DuckDB: squares can be added up.
std::string squarable(const std::string& x);
/// `phrase` over the time as a timestamp that can be moved and taken apart; else NULL.
std::string over_time(const std::string& text, Type type,
                      const std::function<std::string(const std::string&)>& phrase);
/// A field of a timestamp, as PostgreSQL counts it.
std::string date_part(const std::string& field, const std::string& time);

}  // namespace discreet::sql::spark
