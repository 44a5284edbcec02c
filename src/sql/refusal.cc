#include "sql/refusal.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

namespace discreet::sql {

std::string Source::piece(int position) const {
  if (position < 0 || static_cast<std::size_t>(position) >= text_.size()) return {};
  const auto start = static_cast<std::size_t>(position);
  auto end = start;
  const auto in_word = [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || (c & 0x80);
  };
  while (end < text_.size() && in_word(text_[end]) && end - start < 40) ++end;
  if (end == start) {
    while (end < text_.size() && end - start < 20 && text_[end] != '\n') ++end;
  }
  return text_.substr(start, end - start);
}

Error Source::make(ErrorCode code, int position, std::string_view what,
                   std::string_view suggestion) const {
  std::string message{what};
  if (const auto at = piece(position); !at.empty())
    message += fmt::format(" (at character {}: {})", position + 1, at);
  message += '.';
  if (!suggestion.empty()) message += fmt::format(" {}.", suggestion);
  return Error{code, std::move(message)};
}

Error Source::refuse(int position, std::string_view what, std::string_view suggestion) const {
  return make(ErrorCode::Refused, position, what, suggestion);
}
Error Source::invalid(int position, std::string_view what, std::string_view suggestion) const {
  return make(ErrorCode::InvalidInput, position, what, suggestion);
}
Error Source::not_found(int position, std::string_view what, std::string_view suggestion) const {
  return make(ErrorCode::NotFound, position, what, suggestion);
}

}  // namespace discreet::sql
