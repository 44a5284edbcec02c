// Columns that line up, for people at a terminal.
#pragma once

#include <string>
#include <vector>

namespace discreet::cli {

struct TextColumn {
  std::string title;
  bool right = false;  ///< numbers
};

/// A heading, a rule and the rows, two spaces between columns, no trailing spaces. Widths count
/// code points of UTF-8.
std::string text_table(const std::vector<TextColumn>& columns,
                       const std::vector<std::vector<std::string>>& rows);

}  // namespace discreet::cli
