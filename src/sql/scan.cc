#include <algorithm>
#include <cctype>

#include <pg_query.h>

#include "pg_query.pb.h"
#include "sql/scan.h"

namespace discreet::sql {
namespace {

TokenKind kind_of(const pg_query::ScanToken& token, char first) {
  switch (token.token()) {
    case pg_query::ICONST:
    case pg_query::FCONST:
      return TokenKind::Number;
    case pg_query::SCONST:
    case pg_query::USCONST:
    case pg_query::BCONST:
    case pg_query::XCONST:
      return TokenKind::String;
    default:
      break;
  }
  if (first == '"') return TokenKind::QuotedName;
  if (std::isalpha(static_cast<unsigned char>(first)) || first == '_' || (first & 0x80))
    return TokenKind::Word;
  return TokenKind::Symbol;
}

/// No stray bytes, no overlong forms, no surrogates, nothing beyond U+10FFFF.
bool is_utf8(const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = [&](std::size_t offset) {
      return at + offset < text.size() ? static_cast<unsigned char>(text[at + offset]) : 0U;
    };
    const unsigned first = byte(0);
    const std::size_t more = first < 0x80                    ? 0
                             : first >= 0xC2 && first < 0xE0 ? 1
                             : first >= 0xE0 && first < 0xF0 ? 2
                             : first >= 0xF0 && first < 0xF5 ? 3
                                                             : 4;
    if (more == 4) return false;
    for (std::size_t i = 1; i <= more; ++i)
      if ((byte(i) & 0xC0U) != 0x80U) return false;
    if ((first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) > 0x9F) ||
        (first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) > 0x8F))
      return false;
    at += more + 1;
  }
  return true;
}

}  // namespace

Result<std::vector<Token>> scan(const std::string& statement) {
  if (statement.find('\0') != std::string::npos)
    return invalid_input("The statement holds a zero byte.");
  if (!is_utf8(statement)) return invalid_input("The statement is not valid UTF-8.");
  PgQueryScanResult scanned = pg_query_scan(statement.c_str());
  pg_query::ScanResult tree;
  std::string failure;
  if (scanned.error != nullptr)
    failure = scanned.error->message;
  else if (!tree.ParseFromArray(scanned.pbuf.data, static_cast<int>(scanned.pbuf.len)))
    failure = "the scanner's answer could not be read";
  pg_query_free_scan_result(scanned);
  if (!failure.empty()) return invalid_input("The statement is not SQL: " + failure + ".");

  std::vector<Token> tokens;
  for (const auto& token : tree.tokens()) {
    if (token.token() == pg_query::SQL_COMMENT || token.token() == pg_query::C_COMMENT) continue;
    const auto start = static_cast<std::size_t>(token.start());
    if (token.end() <= token.start() || static_cast<std::size_t>(token.end()) > statement.size())
      continue;
    Token mine{kind_of(token, statement[start]), token.start(), token.end(),
               statement.substr(start, static_cast<std::size_t>(token.end()) - start)};
    if (mine.kind == TokenKind::Word)
      std::transform(mine.text.begin(), mine.text.end(), mine.text.begin(), [](unsigned char c) {
        return c < 0x80 ? static_cast<char>(std::tolower(c)) : static_cast<char>(c);
      });
    tokens.push_back(std::move(mine));
  }
  return tokens;
}

std::string normalise(const std::vector<Token>& tokens) {
  std::string text;
  for (const Token& token : tokens) {
    if (token.is(";")) continue;
    if (!text.empty()) text += ' ';
    text += token.text;
  }
  return text;
}

}  // namespace discreet::sql
