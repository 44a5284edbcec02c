#include "curator/workload.h"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "sql/scan.h"

namespace discreet {
namespace {

using sql::Token;

// A statement of the form SELECT targets FROM rest [GROUP BY keys], by its text.
struct Simple {
  struct Target {
    std::string text, name;
    bool is_key = false;
  };
  std::vector<Target> targets;
  std::vector<std::string> keys;
  std::string rest;    // FROM ... WHERE ..., tokens one space apart
  std::string clause;  // WITH DIFFERENTIAL_PRIVACY OPTIONS (...) of what is planned together
};

std::string text_of(std::span<const Token> tokens) {
  return sql::normalise({tokens.begin(), tokens.end()});
}

// Cuts at commas outside parentheses.
std::vector<std::span<const Token>> items(std::span<const Token> tokens) {
  std::vector<std::span<const Token>> found;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= tokens.size(); ++i) {
    if (i < tokens.size() && (tokens[i].is("(") || tokens[i].is("["))) ++depth;
    if (i < tokens.size() && (tokens[i].is(")") || tokens[i].is("]"))) --depth;
    if (i == tokens.size() || (depth == 0 && tokens[i].is(","))) {
      found.push_back(tokens.subspan(begin, i - begin));
      begin = i + 1;
    }
  }
  return found;
}

// The first of these words outside parentheses, from `begin`.
std::size_t find_word(std::span<const Token> tokens, std::size_t begin,
                      std::initializer_list<std::string_view> words) {
  int depth = 0;
  for (std::size_t i = begin; i < tokens.size(); ++i) {
    if (tokens[i].is("(")) ++depth;
    if (tokens[i].is(")")) --depth;
    if (depth == 0 && std::any_of(words.begin(), words.end(),
                                  [&](std::string_view word) { return tokens[i].is(word); }))
      return i;
  }
  return tokens.size();
}

bool has_word(std::span<const Token> tokens, std::initializer_list<std::string_view> words) {
  return find_word(tokens, 0, words) < tokens.size();
}

// Takes SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (...) off the tokens where it holds only options
// of tables that are planned together; budgets are the workload's to share.
std::string take_clause(std::vector<Token>& tokens) {
  if (tokens.size() < 6 || !tokens[1].is("with") || !tokens[2].is("differential_privacy") ||
      !tokens[3].is("options") || !tokens[4].is("("))
    return "";
  const auto begin = tokens.begin() + 1;
  const auto end =
      std::find_if(begin, tokens.end(), [](const Token& token) { return token.is(")"); });
  if (end == tokens.end()) return "";
  for (auto at = begin + 4; at < end; ++at)
    if ((at + 1)->is("=") && !at->is("public_total") && !at->is("public_counts") &&
        !at->is("questions"))
      return "";
  const std::string clause = sql::normalise({begin, end + 1});
  tokens.erase(begin, end + 1);
  return clause + " ";
}

std::optional<Simple> read(const std::string& statement) {
  const auto scanned = sql::scan(statement);
  if (!scanned) return std::nullopt;
  std::vector<Token> kept = *scanned;
  const std::string clause = take_clause(kept);
  std::span<const Token> tokens(kept);
  while (!tokens.empty() && tokens.back().is(";")) tokens = tokens.first(tokens.size() - 1);
  if (tokens.size() < 4 || !tokens[0].is("select") ||
      has_word(tokens, {"having", "order", "limit", "offset", "union", "intersect", "except",
                        "window", "with", "distinct", "cube", "rollup", "grouping"}))
    return std::nullopt;
  const std::size_t from = find_word(tokens, 1, {"from"});
  if (from == tokens.size()) return std::nullopt;
  const std::size_t group = find_word(tokens, from, {"group"});
  Simple simple;
  simple.clause = clause;
  simple.rest = text_of(tokens.subspan(from, group - from));
  if (group < tokens.size()) {
    if (group + 2 >= tokens.size() || !tokens[group + 1].is("by")) return std::nullopt;
    for (const auto& item : items(tokens.subspan(group + 2))) {
      if (item.empty() || item[0].kind == sql::TokenKind::Number) return std::nullopt;
      simple.keys.push_back(text_of(item));
    }
  }
  for (auto item : items(tokens.subspan(1, from - 1))) {
    if (item.empty()) return std::nullopt;
    Simple::Target target;
    if (item.size() > 2 && item[item.size() - 2].is("as")) {
      target.name = item.back().text;
      item = item.first(item.size() - 2);
    } else {
      target.name = item[0].kind == sql::TokenKind::Word ? item[0].text : "column";
      if (item.size() > 1 &&
          std::none_of(item.begin(), item.end(), [](const Token& t) { return t.is("("); }))
        target.name = item.back().text;  // t.a
    }
    target.text = text_of(item);
    target.is_key =
        std::find(simple.keys.begin(), simple.keys.end(), target.text) != simple.keys.end();
    // What adds up; everything else is asked by itself.
    if (!target.is_key &&
        !(item.size() > 2 && item[1].is("(") &&
          (item[0].is("count") || item[0].is("sum") || item[0].is("avg")) && item.back().is(")") &&
          !has_word(item, {"distinct"}) && find_word(item, 2, {")"}) >= item.size()))
      return std::nullopt;
    if (!target.is_key &&
        std::any_of(item.begin(), item.end(), [](const Token& t) { return t.is("distinct"); }))
      return std::nullopt;
    simple.targets.push_back(std::move(target));
  }
  return simple;
}

std::size_t place(std::vector<std::string>& list, const std::string& text) {
  const auto at = std::find(list.begin(), list.end(), text);
  if (at != list.end()) return static_cast<std::size_t>(at - list.begin());
  list.push_back(text);
  return list.size() - 1;
}

WorkloadPart join(const std::vector<std::pair<std::size_t, Simple>>& group) {
  std::vector<std::string> keys, aggregates, sets;
  for (const auto& [statement, simple] : group) {
    for (const std::string& key : simple.keys) place(keys, key);
    for (const auto& target : simple.targets)
      if (!target.is_key) place(aggregates, target.text);
  }
  WorkloadPart part;
  for (const auto& [statement, simple] : group) {
    WorkloadPart::Member member{statement, {}, {}, 0};
    std::string set;
    std::int64_t mask = 0;
    for (const std::string& key : keys) {
      const bool kept = std::find(simple.keys.begin(), simple.keys.end(), key) != simple.keys.end();
      mask = 2 * mask + (kept ? 0 : 1);
      if (kept) set += (set.empty() ? "" : ", ") + key;
    }
    place(sets, "(" + set + ")");
    member.grouping = mask;
    for (const auto& target : simple.targets) {
      member.columns.push_back(1 + (target.is_key ? place(keys, target.text)
                                                  : keys.size() + place(aggregates, target.text)));
      member.names.push_back(target.name);
    }
    part.members.push_back(std::move(member));
  }
  std::string select = "grouping(";
  for (std::size_t i = 0; i < keys.size(); ++i) select += (i == 0 ? "" : ", ") + keys[i];
  select += ") AS workload_set";
  for (std::size_t i = 0; i < keys.size(); ++i)
    select += fmt::format(", {} AS workload_key{}", keys[i], i + 1);
  for (std::size_t i = 0; i < aggregates.size(); ++i)
    select += fmt::format(", {} AS workload_value{}", aggregates[i], i + 1);
  std::string all;
  for (const std::string& set : sets) all += (all.empty() ? "" : ", ") + set;
  part.sql = fmt::format("SELECT {}{} {} GROUP BY GROUPING SETS ({})", group.front().second.clause,
                         select, group.front().second.rest, all);
  return part;
}

}  // namespace

Result<std::vector<std::string>> split_statements(const std::string& text) {
  DISCREET_TRY(const auto tokens, sql::scan(text));
  std::vector<std::string> statements;
  std::size_t begin = 0;
  bool any = false;
  const auto finish = [&](std::size_t end) {
    if (any) statements.push_back(text.substr(begin, end - begin));
    any = false;
  };
  for (const Token& token : tokens) {
    if (token.is(";")) {
      finish(static_cast<std::size_t>(token.start));
      begin = static_cast<std::size_t>(token.end);
      continue;
    }
    if (!any) begin = static_cast<std::size_t>(token.start);
    any = true;
  }
  finish(text.size());
  if (statements.empty()) return invalid_input("The workload holds no statement.");
  return statements;
}

Result<std::vector<WorkloadPart>> join_statements(const std::vector<std::string>& statements) {
  std::map<std::string, std::vector<std::pair<std::size_t, Simple>>> by_rows;
  std::vector<WorkloadPart> parts;
  const auto alone = [&](std::size_t statement) {
    parts.push_back({statements[statement], {{statement, {}, {}, std::nullopt}}});
  };
  for (std::size_t i = 0; i < statements.size(); ++i) {
    auto simple = read(statements[i]);
    if (simple)
      by_rows[simple->clause + simple->rest].emplace_back(i, *std::move(simple));
    else
      alone(i);
  }
  for (const auto& [rest, group] : by_rows) {
    const bool keyed = std::any_of(group.begin(), group.end(),
                                   [](const auto& one) { return !one.second.keys.empty(); });
    if (keyed && (group.size() > 1 || !group.front().second.clause.empty()))
      parts.push_back(join(group));
    else
      for (const auto& one : group) alone(one.first);
  }
  return parts;
}

Answer answer_of(const WorkloadPart::Member& member, const Answer& answer) {
  if (!member.grouping) return answer;
  Answer made = answer;
  made.columns.clear();
  made.rows.clear();
  made.errors.clear();
  made.error95.clear();
  made.noisy.clear();
  const std::string wanted = std::to_string(*member.grouping);
  for (std::size_t row = 0; row < answer.rows.size(); ++row) {
    if (answer.rows[row][0] != wanted) continue;
    auto& cells = made.rows.emplace_back();
    auto& errors = made.errors.emplace_back();
    for (const std::size_t column : member.columns) {
      cells.push_back(answer.rows[row][column]);
      errors.push_back(answer.errors[row][column]);
    }
  }
  for (std::size_t i = 0; i < member.columns.size(); ++i) {
    made.columns.push_back({member.names[i], answer.columns[member.columns[i]].type});
    made.noisy.push_back(answer.noisy[member.columns[i]]);
    // All cells of one grouping set have the same error.
    made.error95.push_back(made.errors.empty() ? std::nullopt : made.errors.front()[i]);
  }
  return made;
}

Result<std::vector<Answer>> answer_workload(Curator& curator, const Question& common,
                                            const std::vector<std::string>& statements) {
  DISCREET_TRY(const auto parts, join_statements(statements));
  const double whole = common.epsilon ? common.epsilon->value() : Curator::kDefaultEpsilon;
  std::vector<Question> questions;
  for (const WorkloadPart& part : parts) {
    const double share =
        static_cast<double>(part.members.size()) / static_cast<double>(statements.size());
    Question question = common;
    question.sql = part.sql;
    question.errors = false;
    DISCREET_TRY(question.epsilon, Epsilon::make(mul_down(whole, share)));
    if (common.delta) {
      DISCREET_TRY(question.delta, Delta::make(mul_down(common.delta->value(), share)));
    }
    DISCREET_TRY([[maybe_unused]] const auto explained, curator.explain(question));
    questions.push_back(std::move(question));
  }
  std::vector<Answer> answers(statements.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    DISCREET_TRY(const Answer answer, curator.answer(questions[i]));
    for (const auto& member : parts[i].members)
      answers[member.statement] = answer_of(member, answer);
  }
  if (common.errors)
    for (Answer& answer : answers) answer = answer.with_error_columns();
  return answers;
}

}  // namespace discreet
