#include <cctype>

#include "sql/engine_text_internal.h"

namespace discreet::sql {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// One pass over a statement, token by token; strings and quoted names are copied as they are.
class Finisher {
 public:
  Finisher(const std::string& sql, const StatementStyle& style) : sql_(sql), style_(style) {}

  std::string finish() {
    while (at_ < sql_.size()) step();
    return std::move(out_);
  }

 private:
  struct Open {
    bool derived;
  };

  void step() {
    const char c = sql_[at_];
    if (c == '\'' || c == '"' || c == '`') return copy_quoted(c);
    if (is_word(c)) return copy_word();
    ++at_;
    if (c == '(') {
      open_.push_back({style_.name_derived_tables && expects_table() && starts_select()});
      before_ = last_ = "(";
      out_ += c;
    } else if (c == ')') {
      out_ += c;
      const bool derived = !open_.empty() && open_.back().derived;
      if (!open_.empty()) open_.pop_back();
      if (derived && !next_is_as()) out_ += " AS t" + std::to_string(++named_);
      note(derived ? ")table" : ")");
    } else {
      out_ += c;
      if (c == ',')
        note(last_ == ")table" || (last_word_is_alias_ && before_ == "AS") ? ",table" : ",");
      else if (c != ' ')
        note(std::string(1, c));
    }
  }

  void note(std::string token) {
    before_ = std::move(last_);
    last_ = std::move(token);
    last_word_is_alias_ = false;
  }

  void copy_quoted(char quote) {
    const std::size_t from = at_++;
    while (at_ < sql_.size()) {
      if (sql_[at_] == quote) {
        if (at_ + 1 < sql_.size() && sql_[at_ + 1] == quote) {
          at_ += 2;
          continue;
        }
        break;
      }
      ++at_;
    }
    at_ = std::min(at_ + 1, sql_.size());
    out_ += sql_.substr(from, at_ - from);
    note("quoted");
  }

  void copy_word() {
    const std::size_t from = at_;
    while (at_ < sql_.size() && is_word(sql_[at_])) ++at_;
    std::string word = sql_.substr(from, at_ - from);
    const auto renamed = style_.words.find(word);
    out_ += renamed == style_.words.end() ? word : renamed->second;
    const bool alias = last_ == "AS" && before_ == ")table";
    note(std::move(word));
    if (alias) {
      // A named table, in a list that may go on.
      before_ = "AS";
      last_word_is_alias_ = true;
    }
  }

  bool expects_table() const {
    if (last_ == ",table") return true;
    if (last_ == "JOIN") return true;
    return last_ == "FROM" && before_ != "DISTINCT";  // IS DISTINCT FROM (...)
  }
  bool starts_select() const {
    std::size_t next = at_;
    while (next < sql_.size() && sql_[next] == ' ') ++next;
    return sql_.compare(next, 6, "SELECT") == 0 || sql_.compare(next, 1, "(") == 0;
  }
  bool next_is_as() const { return sql_.compare(at_, 4, " AS ") == 0; }

  const std::string& sql_;
  const StatementStyle& style_;
  std::size_t at_ = 0;
  std::string out_, last_, before_;
  std::vector<Open> open_;
  int named_ = 0;
  bool last_word_is_alias_ = false;
};

}  // namespace

std::string finish_statement(const std::string& sql, const StatementStyle& style) {
  return Finisher(sql, style).finish();
}

}  // namespace discreet::sql
