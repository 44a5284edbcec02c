// Phrases of PostgreSQL's SQL that cannot fail.
#pragma once

#include <functional>
#include <string>

#include "sql/engine_dialect.h"

namespace discreet::sql::postgres {

/// What DuckDB's trim takes off: Unicode's space separators.
extern const char* const kSpaces;

/// Nonzero reals between 10^-e and 10^e for an e below this can be multiplied without a guard.
inline constexpr double kSafeReach = 290;

std::string type_name(Type type);
std::string literal(const ConstantValue& value, Type type);
std::string real_literal(double value);
std::string power_of_ten(int digits);

/// A column or a constant: cheap to say several times.
bool is_leaf(const Scalar& one);
/// The e for which the expression is zero or between 10^-e and 10^e; infinite if nothing is known.
double reach(const Scalar& one);
std::string as_real(const Scalar& one, const ScalarWriter& writer);

/// `phrase` over an expression that is computed once.
std::string once(const std::string& x, bool leaf,
                 const std::function<std::string(const std::string&)>& phrase);
std::string once(const std::string& x, const std::string& y, bool leaves,
                 const std::function<std::string(const std::string&, const std::string&)>& phrase);

/// A numeric as bigint; NULL where it does not fit.
std::string within_bigint(const std::string& number);
/// A numeric with at most so many digits before the point; NULL where it has more.
std::string within_digits(const std::string& number, int digits);

std::string cast_to(const std::string& text, bool leaf, Type from, Type to);

/// IEEE arithmetic on two reals. Both are said several times.
std::string real(Function function, const std::string& x, const std::string& y);
std::string exponential(const std::string& x);
std::string power(const std::string& x, const std::string& y);
/// Half away from zero.
std::string rounded(const std::string& x);
std::string rounded_to(const std::string& x, int digits);
/// Moved to +-most, unless it is infinite or NaN: such reals can be added up.
std::string kept_below(const std::string& x, const char* most);
/// NaN is NULL and the rest within 1e140, as for DuckDB: squares can be added up.
std::string squarable(const std::string& x);

/// `phrase` over the time as a timestamp that can be moved and taken apart; else NULL, or with
/// `keep_infinite` the infinite time itself.
std::string over_time(const std::string& text, bool leaf, Type type, bool keep_infinite,
                      const std::function<std::string(const std::string&)>& phrase);
std::string moved(const std::string& day, const std::string& days, const char* sign);
std::string microseconds(const std::string& timestamp);
bool too_long(const IntervalConstant& span);

}  // namespace discreet::sql::postgres
