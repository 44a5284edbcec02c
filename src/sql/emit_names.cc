// Names, constants and operators as DuckDB reads them.
#include <fmt/format.h>

#include "sql/emit.h"

namespace discreet::sql {

std::string joined(const std::vector<std::string>& parts, std::string_view with) {
  std::string text;
  for (const auto& part : parts) {
    if (!text.empty()) text += with;
    text += part;
  }
  return text;
}

std::string column_name(ColumnId id) {
  return fmt::format("c{}", id);
}

std::string quote_text(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) {
    quoted += c;
    if (c == '\'') quoted += c;
  }
  return quoted + "'";
}

std::string quote_name(const std::string& name) {
  std::string quoted = "\"";
  for (const char c : name) {
    quoted += c;
    if (c == '"') quoted += c;
  }
  return quoted + "\"";
}

std::string emit_constant(const ConstantValue& value) {
  struct Emit {
    std::string operator()(std::monostate) const { return "NULL"; }
    std::string operator()(bool truth) const { return truth ? "true" : "false"; }
    std::string operator()(std::int64_t whole) const {
      return whole < 0 ? fmt::format("({})", whole) : std::to_string(whole);
    }
    std::string operator()(const DecimalConstant& decimal) const {
      return decimal.value < 0 ? "(" + decimal.digits + ")" : decimal.digits;
    }
    std::string operator()(double real) const { return fmt::format("CAST('{}' AS DOUBLE)", real); }
    std::string operator()(const std::string& text) const { return quote_text(text); }
    std::string operator()(catalog::Date date) const {
      return fmt::format("DATE '{}'", catalog::to_string(catalog::Literal{date}));
    }
    std::string operator()(catalog::Timestamp time) const {
      return fmt::format("make_timestamp({})", time.micros);
    }
    std::string operator()(const IntervalConstant& span) const {
      return fmt::format("(to_months({}) + to_days({}) + to_microseconds({}))", span.months,
                         span.days, span.micros);
    }
  };
  return std::visit(Emit{}, value);
}

const char* infix_operator(Function function) {
  switch (function) {
    case Function::And:
      return " AND ";
    case Function::Or:
      return " OR ";
    case Function::Equal:
      return " = ";
    case Function::NotEqual:
      return " <> ";
    case Function::Less:
      return " < ";
    case Function::LessEqual:
      return " <= ";
    case Function::Greater:
      return " > ";
    case Function::GreaterEqual:
      return " >= ";
    case Function::IsDistinctFrom:
      return " IS DISTINCT FROM ";
    case Function::Concat:
      return " || ";
    default:
      return nullptr;
  }
}

}  // namespace discreet::sql
