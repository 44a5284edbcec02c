// PostgreSQL's scanner as a list of tokens. Comments are left out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace discreet::sql {

enum class TokenKind { Word, QuotedName, Number, String, Symbol };

struct Token {
  TokenKind kind;
  int start, end;
  std::string text;  ///< as written; words in lower case

  bool is(std::string_view what) const { return kind != TokenKind::String && text == what; }
};

Result<std::vector<Token>> scan(const std::string& statement);

/// The statement's identity: its tokens, one space apart. Comments, spacing and case are gone.
/// (libpg_query's deparser would do, but version 15-4.0 drops the value of negative integers.)
std::string normalise(const std::vector<Token>& tokens);

}  // namespace discreet::sql
