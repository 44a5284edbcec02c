#include "cli/text_table.h"

#include <algorithm>

namespace discreet::cli {
namespace {

std::size_t width(const std::string& text) {
  std::size_t points = 0;
  for (const char c : text) points += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  return points;
}

}  // namespace

std::string text_table(const std::vector<TextColumn>& columns,
                       const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const TextColumn& column : columns) widths.push_back(width(column.title));
  for (const auto& row : rows)
    for (std::size_t i = 0; i < columns.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));

  std::string text;
  const auto add_line = [&](const auto& cell) {
    std::string line;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::string content = cell(i);
      const std::string space(widths[i] - width(content), ' ');
      line += (i ? "  " : "") + (columns[i].right ? space + content : content + space);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  add_line([&](std::size_t i) { return columns[i].title; });
  std::string rule;
  for (std::size_t i = 0; i < columns.size(); ++i)
    rule += (i ? "  " : "") + std::string(widths[i], '-');
  text += rule + "\n";
  for (const auto& row : rows) add_line([&](std::size_t i) { return row[i]; });
  return text;
}

}  // namespace discreet::cli
