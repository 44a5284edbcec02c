// Files and standard input as lines, for the verbs of local privacy.
#include <fstream>
#include <iostream>
#include <sstream>

#include "cli/local_options.h"

namespace discreet::cli {

Result<std::string> read_all(const std::string& path) {
  std::ostringstream text;
  if (path == "-") {
    text << std::cin.rdbuf();
    return std::move(text).str();
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{ErrorCode::NotFound, "cannot read " + path};
  text << file.rdbuf();
  return std::move(text).str();
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace discreet::cli
