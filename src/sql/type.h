// The types a statement can speak of, whatever the engine calls them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace discreet::sql {

enum class TypeKind {
  Null,  ///< the type of NULL and of a quoted constant nobody has asked a type of yet
  Boolean,
  Integer,  ///< any width up to 64 bits; arithmetic is done in 64
  Decimal,  ///< exact, with `scale` digits after the point
  Double,
  Text,
  Date,
  Timestamp,
  Interval,
  List,  ///< only as a result: several quantiles, a histogram
};

struct Type {
  TypeKind kind = TypeKind::Null;
  int scale = 0;  ///< Decimal only

  bool is_number() const {
    return kind == TypeKind::Integer || kind == TypeKind::Decimal || kind == TypeKind::Double;
  }
  bool is_time() const { return kind == TypeKind::Date || kind == TypeKind::Timestamp; }
  /// Has an order that a range can speak of.
  bool is_ordered_number() const { return is_number() || is_time(); }
  friend bool operator==(const Type&, const Type&) = default;
};

inline Type boolean_type() {
  return {TypeKind::Boolean, 0};
}
inline Type integer_type() {
  return {TypeKind::Integer, 0};
}
inline Type double_type() {
  return {TypeKind::Double, 0};
}
inline Type text_type() {
  return {TypeKind::Text, 0};
}
inline Type decimal_type(int scale) {
  return {TypeKind::Decimal, scale};
}

/// As PostgreSQL calls it, for messages and result columns: "bigint", "numeric", "text".
std::string name(Type type);

/// As DuckDB calls it, for casts.
std::string engine_name(Type type);

/// What DuckDB's DESCRIBE says ("DECIMAL(15,2)", "VARCHAR"). Nothing for nested and exotic types:
/// such a column cannot be named in a statement.
std::optional<Type> parse_engine_type(std::string_view text);

/// The type both can be cast to without loss of meaning; nothing if there is none. Text and
/// numbers have none: an engine that cast the text would fail on some rows and not on others.
std::optional<Type> common_type(Type a, Type b);

/// More digits after the point than this, and arithmetic goes on in doubles.
inline constexpr int kDecimalScaleMax = 12;

}  // namespace discreet::sql
