#include "sql/synthesize.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/parse_number.h"
#include "sql/refusal.h"
#include "sql/scan.h"

namespace discreet::sql {
namespace {

/// A place in the tokens that moves on as words are taken.
class Reader {
 public:
  Reader(const std::string& text, std::vector<Token> tokens)
      : source_(text), tokens_(std::move(tokens)) {
    while (!tokens_.empty() && tokens_.back().is(";")) tokens_.pop_back();
  }

  bool ended() const { return at_ == tokens_.size(); }
  bool take(std::string_view what) {
    if (ended() || !tokens_[at_].is(what)) return false;
    ++at_;
    return true;
  }
  Result<Token> next(const char* what) {
    if (ended()) return source_.invalid(-1, fmt::format("the statement ends before {}", what));
    return tokens_[at_++];
  }
  Error wrong(const char* expected) const {
    return source_.invalid(ended() ? -1 : tokens_[at_].start, fmt::format("expected {}", expected),
                           "CREATE TABLE twin AS SYNTHESIZE patients WITH (epsilon = 1)");
  }
  Error wrong_at(const Token& token, const std::string& what) const {
    return source_.invalid(token.start, what);
  }
  /// The statement's identity from here on.
  std::string rest() const {
    return normalise({tokens_.begin() + static_cast<std::ptrdiff_t>(at_), tokens_.end()});
  }
  /// Everything between EXPLAIN's parentheses.
  void skip_options() {
    if (!take("(")) return;
    while (!ended() && !take(")")) ++at_;
  }

 private:
  Source source_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
};

std::string unquoted(const Token& token, char quote) {
  std::string text;
  for (std::size_t i = 1; i + 1 < token.text.size(); ++i) {
    text += token.text[i];
    if (token.text[i] == quote) ++i;
  }
  return text;
}

Result<std::string> read_name(Reader& reader, const char* what) {
  DISCREET_TRY(const Token token, reader.next(what));
  if (token.kind == TokenKind::QuotedName) return unquoted(token, '"');
  if (token.kind != TokenKind::Word)
    return reader.wrong_at(token, fmt::format("expected {}", what));
  return token.text;
}

Result<double> read_number(Reader& reader, const std::string& option) {
  DISCREET_TRY(const Token token, reader.next("a number"));
  if (token.kind != TokenKind::Number)
    return reader.wrong_at(token, fmt::format("{} is a number", option));
  return parse_number(token.text, option);
}

Result<std::string> read_text(Reader& reader, const std::string& option) {
  DISCREET_TRY(const Token token, reader.next("a text"));
  if (token.kind != TokenKind::String || token.text.front() != '\'')
    return reader.wrong_at(token, fmt::format("{} is a text in single quotes", option));
  return unquoted(token, '\'');
}

Result<void> read_option(Reader& reader, const std::string& name, SynthesizeStatement& made) {
  if (name == "epsilon") {
    DISCREET_TRY(made.epsilon, read_number(reader, name));
  } else if (name == "delta") {
    DISCREET_TRY(made.delta, read_number(reader, name));
  } else if (name == "method") {
    DISCREET_TRY(made.method, read_text(reader, name));
  } else if (name == "workload") {
    DISCREET_TRY(made.workload, read_text(reader, name));
  } else if (name == "rows") {
    DISCREET_TRY(const double rows, read_number(reader, name));
    if (!(rows >= 1 && rows <= 1e9)) return invalid_parameter("rows must be from 1 to 1e9");
    made.rows = static_cast<std::uint64_t>(rows);
  } else if (name == "fast") {
    DISCREET_TRY(const Token token, reader.next("true or false"));
    if (!token.is("true") && !token.is("false"))
      return reader.wrong_at(token, "fast is true or false");
    made.fast = token.is("true");
  } else {
    return invalid_input(
        fmt::format("SYNTHESIZE has no option \"{}\"; it has epsilon, delta, method, workload, "
                    "rows and fast.",
                    name));
  }
  return {};
}

// name = value, name = value )   or, in the function's form, name => value
Result<void> read_options(Reader& reader, std::string_view sign, SynthesizeStatement& made) {
  do {
    DISCREET_TRY(const std::string name, read_name(reader, "an option"));
    if (!reader.take(sign)) return reader.wrong(sign == "=" ? "=" : "=>");
    DISCREET_TRY_VOID(read_option(reader, name, made));
  } while (reader.take(","));
  return reader.take(")") ? Result<void>() : Result<void>(reader.wrong("a comma or )"));
}

// Cheap, because every statement comes by here.
bool may_be(const std::string& text) {
  constexpr std::string_view kWord = "synthesize";
  return std::search(text.begin(), text.end(), kWord.begin(), kWord.end(), [](char a, char b) {
           return (static_cast<unsigned char>(a) | 0x20U) == static_cast<unsigned char>(b);
         }) != text.end();
}

bool names_it(const std::vector<Token>& tokens) {
  return std::any_of(tokens.begin(), tokens.end(),
                     [](const Token& token) { return token.is("create"); }) &&
         std::any_of(tokens.begin(), tokens.end(),
                     [](const Token& token) { return token.is("synthesize"); });
}

}  // namespace

Result<std::optional<SynthesizeStatement>> read_synthesize(const std::string& text) {
  if (!may_be(text)) return std::optional<SynthesizeStatement>();
  const auto scanned = scan(text);
  // What cannot be scanned is the parser's to complain about.
  if (!scanned || !names_it(*scanned)) return std::optional<SynthesizeStatement>();
  Reader reader(text, *scanned);
  SynthesizeStatement made;
  if (reader.take("explain")) {
    made.explain = true;
    reader.skip_options();
  }
  made.normalised_text = reader.rest();
  if (!reader.take("create") || !reader.take("table")) return std::optional<SynthesizeStatement>();
  DISCREET_TRY(made.twin, read_name(reader, "the twin's name"));
  if (!reader.take("as")) return reader.wrong("AS SYNTHESIZE");
  if (reader.take("synthesize")) {
    DISCREET_TRY(made.table, read_name(reader, "a table"));
    if (reader.take("with")) {
      if (!reader.take("(")) return reader.wrong("(");
      DISCREET_TRY_VOID(read_options(reader, "=", made));
    }
  } else {
    if (!reader.take("select") || !reader.take("*") || !reader.take("from") ||
        !reader.take("synthesize") || !reader.take("("))
      return reader.wrong("SYNTHESIZE a table, or SELECT * FROM synthesize('table', ...)");
    DISCREET_TRY(made.table, read_text(reader, "the table's name"));
    if (reader.take(",")) {
      DISCREET_TRY_VOID(read_options(reader, "=>", made));
    } else if (!reader.take(")")) {
      return reader.wrong("a comma or )");
    }
  }
  if (!reader.ended()) return reader.wrong("the end of the statement");
  return std::optional(std::move(made));
}

}  // namespace discreet::sql
