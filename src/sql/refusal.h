// How the planner says no: what, where, and what to write instead.
//
// Guarantee: a message is made from the statement's text, the schema and the policy. Nothing here
//            has seen a row.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace discreet::sql {

/// The text of one statement, for messages that point into it.
class Source {
 public:
  explicit Source(std::string text) : text_(std::move(text)) {}

  /// Refused: the question has no private answer. `what` continues "cannot answer this privately:".
  Error refuse(int position, std::string_view what, std::string_view suggestion) const;
  /// The statement does not parse, or uses a form that is not SQL as we know it.
  Error invalid(int position, std::string_view what, std::string_view suggestion = {}) const;
  /// A table or column that is not there (or is hidden, which must look the same).
  Error not_found(int position, std::string_view what, std::string_view suggestion = {}) const;

  const std::string& text() const { return text_; }

 private:
  Error make(ErrorCode code, int position, std::string_view what,
             std::string_view suggestion) const;
  /// The word or quoted piece that starts at `position`.
  std::string piece(int position) const;

  std::string text_;
};

}  // namespace discreet::sql
