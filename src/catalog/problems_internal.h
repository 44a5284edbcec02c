// All that is wrong with a policy, gathered so that one reading tells the owner everything.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/result.h"

namespace discreet::catalog {

class Problems {
 public:
  explicit Problems(std::string file) : file_(std::move(file)) {}

  /// `what` says what is wrong and how to mend it.
  void add(int line, const std::string& what) {
    found_.emplace_back(line, line > 0 ? fmt::format("{}:{}: {}", file_, line, what)
                                       : fmt::format("{}: {}", file_, what));
  }
  bool empty() const { return found_.empty(); }

  /// One line each, in the file's order.
  Error error() const {
    auto sorted = found_;
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::string text;
    for (const auto& [line, message] : sorted) text += (text.empty() ? "" : "\n") + message;
    return invalid_input(std::move(text));
  }

 private:
  std::string file_;
  std::vector<std::pair<int, std::string>> found_;
};

}  // namespace discreet::catalog
