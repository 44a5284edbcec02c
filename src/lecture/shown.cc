#include "lecture/shown.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace discreet::lecture {
namespace {

std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

}  // namespace

Cell::Cell(double value, int digits)
    : text(std::isinf(value) ? (value > 0 ? "infinite" : "-infinite")
                             : fmt::format("{:.{}g}", value, digits)),
      number(value),
      is_number(true) {}

std::string as_text(const Shown& shown) {
  std::vector<std::size_t> widths;
  for (const std::string& column : shown.columns) widths.push_back(width(column));
  for (const auto& row : shown.rows)
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], width(row[i].text));
  std::string out = shown.statement + "\n";
  const auto line = [&](const auto& text_of, const auto& right_of) {
    std::string made;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const std::string& text = text_of(i);
      const std::string space(widths[i] - width(text), ' ');
      made += (i > 0 ? "  " : "") + (right_of(i) ? space + text : text + space);
    }
    made.erase(made.find_last_not_of(' ') + 1);
    out += made + "\n";
  };
  // A heading stands over its numbers.
  const auto numeric = [&](std::size_t i) {
    return !shown.rows.empty() && std::any_of(shown.rows.begin(), shown.rows.end(),
                                              [i](const auto& row) { return row[i].is_number; });
  };
  if (!shown.columns.empty())
    line([&](std::size_t i) -> const std::string& { return shown.columns[i]; }, numeric);
  for (const auto& row : shown.rows)
    line([&](std::size_t i) -> const std::string& { return row[i].text; }, numeric);
  for (const std::string& note : shown.notes) out += note + "\n";
  return out;
}

std::string as_json(const Shown& shown) {
  nlohmann::ordered_json out = {{"statement", shown.statement}, {"holds", shown.holds}};
  out["notes"] = shown.notes;
  out["rows"] = nlohmann::ordered_json::array();
  for (const auto& row : shown.rows) {
    nlohmann::ordered_json object;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (row[i].is_number && std::isfinite(row[i].number))
        object[shown.columns[i]] = row[i].number;
      else
        object[shown.columns[i]] = row[i].text;
    }
    out["rows"].push_back(std::move(object));
  }
  return out.dump();
}

}  // namespace discreet::lecture
