#include "sql/type.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace discreet::sql {

std::string name(Type type) {
  switch (type.kind) {
    case TypeKind::Null:
      return "unknown";
    case TypeKind::Boolean:
      return "boolean";
    case TypeKind::Integer:
      return "bigint";
    case TypeKind::Decimal:
      return "numeric";
    case TypeKind::Double:
      return "double precision";
    case TypeKind::Text:
      return "text";
    case TypeKind::Date:
      return "date";
    case TypeKind::Timestamp:
      return "timestamp";
    case TypeKind::Interval:
      return "interval";
    case TypeKind::List:
      return "double precision[]";
  }
  return "unknown";
}

std::string engine_name(Type type) {
  switch (type.kind) {
    case TypeKind::Boolean:
      return "BOOLEAN";
    case TypeKind::Integer:
      return "BIGINT";
    case TypeKind::Decimal:
      return fmt::format("DECIMAL(18,{})", type.scale);
    case TypeKind::Double:
      return "DOUBLE";
    case TypeKind::Date:
      return "DATE";
    case TypeKind::Timestamp:
      return "TIMESTAMP";
    case TypeKind::Interval:
      return "INTERVAL";
    case TypeKind::List:
      return "DOUBLE[]";
    case TypeKind::Null:
    case TypeKind::Text:
      return "VARCHAR";
  }
  return "VARCHAR";
}

std::optional<Type> parse_engine_type(std::string_view text) {
  for (const auto* whole :
       {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"})
    if (text == whole) return integer_type();
  // Wider integers do not fit 64 bits; they are read as reals, which keeps arithmetic total.
  for (const auto* real : {"DOUBLE", "FLOAT", "REAL", "HUGEINT", "UBIGINT", "UHUGEINT"})
    if (text == real) return double_type();
  if (text == "VARCHAR" || text == "UUID" || text.starts_with("ENUM")) return text_type();
  if (text == "BOOLEAN") return boolean_type();
  if (text == "DATE") return Type{TypeKind::Date, 0};
  if (text.starts_with("TIMESTAMP")) return Type{TypeKind::Timestamp, 0};
  if (text.starts_with("DECIMAL(")) {
    const auto comma = text.find(',');
    int scale = 0;
    if (comma == std::string_view::npos) return std::nullopt;
    std::from_chars(text.data() + comma + 1, text.data() + text.size(), scale);
    return scale <= kDecimalScaleMax ? decimal_type(scale) : double_type();
  }
  return std::nullopt;
}

std::optional<Type> common_type(Type a, Type b) {
  if (a == b) return a;
  if (a.kind == TypeKind::Null) return b;
  if (b.kind == TypeKind::Null) return a;
  if (a.is_number() && b.is_number()) {
    if (a.kind == TypeKind::Double || b.kind == TypeKind::Double) return double_type();
    return decimal_type(std::max(a.kind == TypeKind::Decimal ? a.scale : 0,
                                 b.kind == TypeKind::Decimal ? b.scale : 0));
  }
  if (a.is_time() && b.is_time()) return Type{TypeKind::Timestamp, 0};
  return std::nullopt;
}

}  // namespace discreet::sql
