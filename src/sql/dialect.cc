#include "sql/dialect.h"

#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "sql/refusal.h"
#include "sql/scan.h"

namespace discreet::sql {
namespace {

/// One `name = value` of OPTIONS (...).
struct Option {
  std::string name;
  Token value;
  bool negative = false;
};

class Lifter {
 public:
  explicit Lifter(const std::string& statement) : source_(statement) { lifted_.text = statement; }

  Result<LiftedText> lift() {
    DISCREET_TRY(tokens_, scan(source_.text()));
    for (at_ = 0; at_ < tokens_.size(); ++at_) {
      if (starts_clause()) DISCREET_TRY_VOID(lift_clause());
      if (starts_counted_star())
        lifted_.text[static_cast<std::size_t>(tokens_[at_ + 2].start)] = '1';
    }
    return std::move(lifted_);
  }

 private:
  bool is(std::size_t index, std::string_view text) const {
    return index < tokens_.size() && tokens_[index].is(text);
  }

  bool starts_clause() const {
    return is(at_, "select") && is(at_ + 1, "with") &&
           (is(at_ + 2, "differential_privacy") || is(at_ + 2, "anonymization"));
  }

  /// COUNT(*, bounds => ...) is not PostgreSQL's grammar; COUNT(1, ...) is, and means the same.
  bool starts_counted_star() const {
    return is(at_, "count") && is(at_ + 1, "(") && is(at_ + 2, "*") && is(at_ + 3, ",");
  }

  Result<void> lift_clause() {
    const int from = tokens_[at_ + 1].start;
    int to = tokens_[at_ + 2].end;
    PrivacyClause clause{{}, from};
    std::size_t next = at_ + 3;
    if (is(next, "options")) {
      if (!is(next + 1, "("))
        return source_.invalid(tokens_[next].start, "OPTIONS needs a list in parentheses");
      next += 2;
      while (!is(next, ")")) {
        DISCREET_TRY(const Option option, read_option(next));
        DISCREET_TRY_VOID(apply(option, clause.options));
        if (is(next, ",")) ++next;
      }
      to = tokens_[next].end;
    }
    // The marker is a first target, so that the parsed SELECT carries its clause. It always fits:
    // "WITH DIFFERENTIAL_PRIVACY" and "WITH ANONYMIZATION" are longer.
    const std::string marker = fmt::format("{}{},", kClauseMarker, lifted_.clauses.size());
    const auto length = static_cast<std::size_t>(to - from);
    if (marker.size() > length)
      return source_.invalid(from, "too many differentially private selects in one statement");
    lifted_.text.replace(static_cast<std::size_t>(from), length,
                         marker + std::string(length - marker.size(), ' '));
    lifted_.clauses.push_back(std::move(clause));
    return {};
  }

  Result<Option> read_option(std::size_t& next) {
    if (next + 2 >= tokens_.size())
      return source_.invalid(tokens_[at_].start, "OPTIONS is not closed",
                             "Write OPTIONS (epsilon = 1, ...)");
    Option option;
    option.name = tokens_[next].text;
    if (!is(next + 1, "="))
      return source_.invalid(tokens_[next].start, "an option is written name = value");
    next += 2;
    if (is(next, "-") || is(next, "+")) {
      option.negative = is(next, "-");
      ++next;
    }
    if (next >= tokens_.size()) return source_.invalid(tokens_[at_].start, "OPTIONS is not closed");
    option.value = tokens_[next++];
    while (is(next, ".") && next + 1 < tokens_.size()) {  // a column of a named table
      option.value.text += "." + tokens_[next + 1].text;
      next += 2;
    }
    return option;
  }

  Result<double> number(const Option& option) const {
    double value = 0;
    const auto& text = option.value.text;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (option.value.kind != TokenKind::Number || read.ptr != text.data() + text.size() ||
        !std::isfinite(value))
      return source_.invalid(option.value.start,
                             fmt::format("option {} must be a number", option.name));
    return option.negative ? -value : value;
  }

  Result<std::uint64_t> positive_whole(const Option& option) const {
    DISCREET_TRY(const double value, number(option));
    if (value < 1 || value != std::floor(value) || value > 9007199254740992.0)
      return source_.invalid(
          option.value.start,
          fmt::format("option {} must be a whole number of at least 1", option.name));
    return static_cast<std::uint64_t>(value);
  }

  static std::string unquoted(const Token& token) {
    std::string text = token.text;
    if (text.size() >= 2 && (text.front() == '\'' || text.front() == '"')) {
      const char quote = text.front();
      std::string inner;
      for (std::size_t i = 1; i + 1 < text.size(); ++i) {
        inner += text[i];
        if (text[i] == quote && i + 2 < text.size() && text[i + 1] == quote) ++i;
      }
      return inner;
    }
    return text;
  }

  Result<void> apply(const Option& option, PrivacyOptions& options) const {
    const auto& name = option.name;
    if (name == "epsilon") {
      DISCREET_TRY(const double value, number(option));
      if (value <= 0) return source_.invalid(option.value.start, "epsilon must be above zero");
      options.epsilon = value;
    } else if (name == "delta") {
      DISCREET_TRY(const double value, number(option));
      if (value < 0 || value >= 1)
        return source_.invalid(option.value.start, "delta must be at least zero and below one");
      options.delta = value;
    } else if (name == "max_groups_contributed" || name == "kappa") {
      if (!option.value.is("null")) {
        DISCREET_TRY(options.max_groups_contributed, positive_whole(option));
      }
    } else if (name == "max_rows_contributed") {
      if (!option.value.is("null")) {
        DISCREET_TRY(options.max_rows_contributed, positive_whole(option));
      }
    } else if (name == "min_privacy_units_per_group" || name == "k_threshold") {
      if (!option.value.is("null")) {
        DISCREET_TRY(options.min_privacy_units_per_group, positive_whole(option));
      }
    } else if (name == "privacy_unit_column") {
      options.privacy_unit_column = unquoted(option.value);
    } else if (name == "target_error") {
      options.target_error = unquoted(option.value);
    } else if (name == "public_total") {
      DISCREET_TRY(options.public_total, positive_whole(option));
    } else if (name == "public_counts") {
      std::string one;
      for (const char c : unquoted(option.value) + ",")
        if (c == ',') {
          if (one.empty())
            return source_.invalid(option.value.start,
                                   "public_counts names public tables: 'county_population'");
          options.public_counts.push_back(std::exchange(one, {}));
        } else if (c != ' ') {
          one += c;
        }
    } else if (name == "questions") {
      const auto value = unquoted(option.value);
      if (value == "cells")
        options.questions = OrderedQuestions::Cells;
      else if (value == "ranges")
        options.questions = OrderedQuestions::Ranges;
      else if (value == "prefixes")
        options.questions = OrderedQuestions::Prefixes;
      else
        return source_.invalid(option.value.start, "questions is 'cells', 'ranges' or 'prefixes'");
    } else if (name == "group_selection_strategy") {
      const auto value = unquoted(option.value);
      if (value == "laplace_threshold" || value == "LAPLACE_THRESHOLD")
        options.group_selection = GroupSelection::LaplaceThreshold;
      else if (value == "public_groups" || value == "PUBLIC_GROUPS")
        options.group_selection = GroupSelection::PublicGroups;
      else
        return source_.invalid(option.value.start,
                               "group_selection_strategy is LAPLACE_THRESHOLD or PUBLIC_GROUPS");
    } else {
      return source_.invalid(
          option.value.start, fmt::format("there is no option '{}'", name),
          "Options are epsilon, delta, max_groups_contributed, max_rows_contributed, "
          "privacy_unit_column, min_privacy_units_per_group, group_selection_strategy, "
          "target_error, public_total, public_counts and questions");
    }
    if (options.epsilon && options.target_error)
      return source_.invalid(option.value.start, "give epsilon or target_error, not both");
    if (options.max_groups_contributed && options.max_rows_contributed)
      return source_.invalid(option.value.start,
                             "give max_groups_contributed or max_rows_contributed, not both");
    return {};
  }

  Source source_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  LiftedText lifted_;
};

}  // namespace

std::string PrivacyOptions::to_string() const {
  std::string text;
  const auto add = [&](const char* option, const std::string& value) {
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", option, value);
  };
  if (epsilon) add("epsilon", fmt::format("{}", *epsilon));
  if (delta) add("delta", fmt::format("{}", *delta));
  if (max_groups_contributed)
    add("max_groups_contributed", std::to_string(*max_groups_contributed));
  if (max_rows_contributed) add("max_rows_contributed", std::to_string(*max_rows_contributed));
  if (min_privacy_units_per_group)
    add("min_privacy_units_per_group", std::to_string(*min_privacy_units_per_group));
  if (privacy_unit_column) add("privacy_unit_column", *privacy_unit_column);
  if (target_error) add("target_error", "'" + *target_error + "'");
  if (group_selection == GroupSelection::LaplaceThreshold)
    add("group_selection_strategy", "LAPLACE_THRESHOLD");
  if (group_selection == GroupSelection::PublicGroups)
    add("group_selection_strategy", "PUBLIC_GROUPS");
  if (public_total) add("public_total", std::to_string(*public_total));
  std::string counts;
  for (const std::string& table : public_counts) counts += (counts.empty() ? "" : ", ") + table;
  if (!counts.empty()) add("public_counts", "'" + counts + "'");
  if (questions)
    add("questions", *questions == OrderedQuestions::Ranges     ? "'ranges'"
                     : *questions == OrderedQuestions::Prefixes ? "'prefixes'"
                                                                : "'cells'");
  return text;
}

Result<LiftedText> lift_dialect(const std::string& statement) {
  return Lifter(statement).lift();
}

}  // namespace discreet::sql
