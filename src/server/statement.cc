#include "server/statement.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "sql/scan.h"

namespace discreet::server {
namespace {

using sql::Token;
using sql::TokenKind;
using Tokens = std::vector<Token>;

bool is(const Tokens& tokens, std::size_t at, std::string_view text) {
  return at < tokens.size() && tokens[at].is(text);
}

std::string unquoted(const Token& token) {
  const std::string& text = token.text;
  if (text.size() < 2 || (text.front() != '\'' && text.front() != '"')) return text;
  std::string inner;
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    inner += text[i];
    if (text[i] == text.front()) ++i;
  }
  return inner;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

/// discreet.epsilon, "TimeZone", time zone; moves past it.
std::string setting_name(const Tokens& tokens, std::size_t& at) {
  std::string name;
  if (is(tokens, at, "time") && is(tokens, at + 1, "zone")) {
    at += 2;
    return "timezone";
  }
  if (is(tokens, at, "transaction") && is(tokens, at + 1, "isolation")) {
    at = tokens.size();
    return "transaction_isolation";
  }
  while (at < tokens.size()) {
    name += unquoted(tokens[at++]);
    if (!is(tokens, at, ".")) break;
    name += '.';
    ++at;
  }
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

Result<ClientStatement> classify_set(const Tokens& tokens, ClientStatement made) {
  made.kind = StatementKind::Set;
  made.tag = "SET";
  std::size_t at = 1;
  if (is(tokens, at, "session") && is(tokens, at + 1, "characteristics")) {
    made.kind = StatementKind::Accepted;
    return made;
  }
  if (is(tokens, at, "session") || is(tokens, at, "local")) ++at;
  if (is(tokens, at, "transaction")) {
    made.kind = StatementKind::Accepted;
    return made;
  }
  made.setting = setting_name(tokens, at);
  if (is(tokens, at, "=") || is(tokens, at, "to")) ++at;
  if (made.setting.empty() || at >= tokens.size())
    return invalid_input("SET is written SET name = value.");
  if (is(tokens, at, "default")) return made;
  made.has_value = true;
  for (; at < tokens.size() && !is(tokens, at, ";"); ++at) made.value += unquoted(tokens[at]);
  return made;
}

/// csv, header, (format csv, header true, delimiter ',', null '').
Result<CopyOptions> copy_options(const Tokens& tokens, std::size_t at) {
  CopyOptions options;
  bool has_null = false, has_delimiter = false;
  for (; at < tokens.size(); ++at) {
    const Token& token = tokens[at];
    const auto next_is_value = [&] {
      return at + 1 < tokens.size() && !is(tokens, at + 1, ",") && !is(tokens, at + 1, ")");
    };
    if (token.is("with") || token.is("(") || token.is(")") || token.is(",") || token.is(";") ||
        token.is("as") || token.is("text"))
      continue;
    if (token.is("csv")) {
      options.csv = true;
    } else if (token.is("format") && next_is_value()) {
      const std::string format = unquoted(tokens[++at]);
      if (format != "csv" && format != "text")
        return Error{ErrorCode::Refused, "COPY writes text and csv only."};
      options.csv = format == "csv";
    } else if (token.is("header")) {
      options.header = true;
      if (next_is_value() && (is(tokens, at + 1, "false") || is(tokens, at + 1, "off"))) {
        options.header = false;
        ++at;
      } else if (next_is_value() && (is(tokens, at + 1, "true") || is(tokens, at + 1, "on"))) {
        ++at;
      }
    } else if (token.is("delimiter") && next_is_value()) {
      const std::string text = unquoted(tokens[++at]);
      if (text.size() != 1) return invalid_input("COPY's delimiter is one character.");
      options.delimiter = text[0];
      has_delimiter = true;
    } else if (token.is("null") && next_is_value()) {
      options.null = unquoted(tokens[++at]);
      has_null = true;
    } else if (token.is("encoding") && next_is_value()) {
      ++at;
    } else {
      return Error{ErrorCode::Refused,
                   fmt::format("COPY's option {} is not supported; it knows FORMAT, HEADER, "
                               "DELIMITER and NULL.",
                               token.text)};
    }
  }
  if (options.csv && !has_null) options.null.clear();
  if (options.csv && !has_delimiter) options.delimiter = ',';
  return options;
}

Result<ClientStatement> classify_copy(const Tokens& tokens, ClientStatement made) {
  made.kind = StatementKind::Copy;
  constexpr char kForm[] = "COPY is written COPY (SELECT ...) TO STDOUT; nothing can be copied in.";
  if (!is(tokens, 1, "(")) return Error{ErrorCode::Refused, kForm};
  std::size_t at = 1, depth = 0;
  do {
    if (is(tokens, at, "(")) ++depth;
    if (is(tokens, at, ")")) --depth;
    ++at;
  } while (at < tokens.size() && depth > 0);
  if (depth > 0 || !is(tokens, at, "to") || !is(tokens, at + 1, "stdout"))
    return Error{ErrorCode::Refused, kForm};
  const auto from = static_cast<std::size_t>(tokens[1].end);
  const auto to = static_cast<std::size_t>(tokens[at - 1].start);
  DISCREET_TRY(made.copy, copy_options(tokens, at + 2));
  made.sql = made.sql.substr(from, to - from);
  DISCREET_TRY(const ClientStatement inside, classify(made.sql));
  if (inside.kind != StatementKind::Question && inside.kind != StatementKind::Catalog)
    return Error{ErrorCode::Refused, kForm};
  made.inner = inside.kind;
  return made;
}

/// Names of the catalogs, or no table at all: answered from names and settings.
bool reads_catalog(const Tokens& tokens) {
  bool has_from = false;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    if (token.kind != TokenKind::Word && token.kind != TokenKind::QuotedName) continue;
    const std::string name = unquoted(token);
    if (name == "from") has_from = true;
    if (name == "information_schema" || name == "pg_catalog" || name.starts_with("pg_"))
      return true;
    if ((name == "discreet" || name == "local") && is(tokens, i + 1, ".")) return true;
    // unnest(current_schemas(true)) and the like: no question has a function for a table.
    if (is(tokens, i + 1, "(") && name != "select" && i > 0 &&
        (is(tokens, i - 1, "from") || is(tokens, i - 1, "join")))
      return true;
  }
  return !has_from;
}

}  // namespace

std::vector<std::string> split_statements(const std::string& text) {
  const auto tokens = sql::scan(text);
  if (!tokens) return {text};
  std::vector<std::string> statements;
  std::size_t from = 0;
  bool has_tokens = false;
  for (const Token& token : *tokens) {
    if (!token.is(";") || token.kind != TokenKind::Symbol) {
      has_tokens = true;
      continue;
    }
    if (has_tokens) statements.push_back(text.substr(from, std::size_t(token.start) - from));
    from = static_cast<std::size_t>(token.end);
    has_tokens = false;
  }
  if (has_tokens) statements.push_back(text.substr(from));
  return statements;
}

Result<ClientStatement> classify(const std::string& sql) {
  ClientStatement made;
  made.sql = sql;
  const auto scanned = sql::scan(sql);
  if (!scanned) return made;  // the planner says what is wrong
  Tokens tokens = *scanned;
  while (!tokens.empty() && tokens.back().is(";")) tokens.pop_back();
  if (tokens.empty()) {
    made.kind = StatementKind::Empty;
    return made;
  }
  const std::string& word = tokens[0].text;
  const auto accepted = [&](std::string tag) {
    made.kind = StatementKind::Accepted;
    made.tag = std::move(tag);
    return made;
  };
  if (word == "set") return classify_set(tokens, std::move(made));
  if (word == "reset") {
    std::size_t at = 1;
    made.kind = StatementKind::Set;
    made.tag = "RESET";
    made.setting = setting_name(tokens, at);
    return made;
  }
  if (word == "show") {
    std::size_t at = 1;
    made.kind = StatementKind::Show;
    made.tag = "SHOW";
    made.setting = setting_name(tokens, at);
    return made;
  }
  if (word == "begin" || (word == "start" && is(tokens, 1, "transaction"))) {
    made.kind = StatementKind::Begin;
    made.tag = word == "begin" ? "BEGIN" : "START TRANSACTION";
    return made;
  }
  if (word == "commit" || word == "end") {
    made.kind = StatementKind::Commit;
    made.tag = "COMMIT";
    return made;
  }
  if (word == "abort" || (word == "rollback" && !is(tokens, 1, "to"))) {
    made.kind = StatementKind::Rollback;
    made.tag = "ROLLBACK";
    return made;
  }
  if (word == "rollback") return accepted("ROLLBACK");
  if (word == "savepoint" || word == "release" || word == "discard" || word == "deallocate" ||
      word == "listen" || word == "unlisten")
    return accepted(word == "discard" ? "DISCARD ALL" : upper(word));
  if (word == "explain") {
    made.kind = StatementKind::Explain;
    made.tag = "EXPLAIN";
    for (std::size_t i = 1; i < tokens.size() && !is(tokens, i, "select"); ++i)
      if (is(tokens, i, "format") && is(tokens, i + 1, "json")) made.explain_json = true;
    return made;
  }
  if (word == "copy") return classify_copy(tokens, std::move(made));
  if ((word == "select" || word == "with" || word == "values" || word == "table" || word == "(") &&
      reads_catalog(tokens))
    made.kind = StatementKind::Catalog;
  return made;
}

std::size_t parameter_count(const std::string& sql) {
  const auto tokens = sql::scan(sql);
  std::size_t most = 0;
  if (!tokens) return 0;
  for (const Token& token : *tokens) {
    if (token.text.size() < 2 || token.text[0] != '$') continue;
    std::size_t number = 0;
    const char* end = token.text.data() + token.text.size();
    if (std::from_chars(token.text.data() + 1, end, number).ptr == end && number <= 65535)
      most = std::max(most, number);
  }
  return most;
}

ErrorParts parts_of(const Error& error) {
  // The planner writes: what (at character 12: piece). What to do.
  constexpr std::string_view kMark = " (at character ";
  ErrorParts parts{error.message, {}, 0};
  const auto at = error.message.find(kMark);
  if (at == std::string::npos) return parts;
  const char* number = error.message.data() + at + kMark.size();
  const char* end = error.message.data() + error.message.size();
  std::from_chars(number, end, parts.position);
  const auto close = error.message.find(").", at);
  if (close == std::string::npos) return parts;
  const auto colon = error.message.find(": ", at);
  const std::string piece =
      colon < close ? error.message.substr(colon + 2, close - colon - 2) : std::string();
  parts.message = error.message.substr(0, at) + (piece.empty() ? "" : ": " + piece);
  parts.hint = error.message.substr(std::min(close + 3, error.message.size()));
  return parts;
}

}  // namespace discreet::server
