#include "learn/pac.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <unordered_map>

#include "mechanisms/exponential.h"

namespace discreet::learn {
namespace {

constexpr std::uint32_t kCutsMax = 32;
constexpr std::uint8_t kLabels[] = {0, 1};
constexpr std::size_t kRulesMax = std::size_t{1} << 22;

// The conditions a column can be asked for; complements are left to the other label.
std::vector<Literal> literals_of(const Coding& coding, std::uint32_t column) {
  const ColumnCoder& feature = coding.features()[column];
  std::vector<Literal> literals;
  const std::uint32_t values = feature.size() - (feature.has_missing() ? 1 : 0);
  if (feature.ordered()) {
    const std::uint32_t cuts = std::min(kCutsMax, values - 1);
    std::uint32_t last = 0;
    for (std::uint32_t i = 1; i <= cuts; ++i) {
      const auto code = static_cast<std::uint32_t>(std::uint64_t{i} * values / (cuts + 1));
      if (code == last) continue;
      last = code;
      literals.push_back({column, static_cast<std::uint16_t>(code), Literal::Test::AtLeast});
    }
    return literals;
  }
  // Two values: one condition says it all.
  for (std::uint32_t code = values == 2 ? 1 : 0; code < values; ++code)
    literals.push_back({column, static_cast<std::uint16_t>(code), Literal::Test::Equal});
  return literals;
}

Literal opposite(Literal literal) {
  switch (literal.test) {
    case Literal::Test::AtLeast:
      literal.test = Literal::Test::Below;
      break;
    case Literal::Test::Below:
      literal.test = Literal::Test::AtLeast;
      break;
    case Literal::Test::Equal:
      literal.test = Literal::Test::Differs;
      break;
    case Literal::Test::Differs:
      literal.test = Literal::Test::Equal;
      break;
  }
  return literal;
}

using Bits = std::vector<std::uint64_t>;

std::int64_t count(const Bits& bits) {
  std::int64_t total = 0;
  for (const std::uint64_t word : bits) total += std::popcount(word);
  return total;
}

// Which rows a literal holds for; made once for each literal of the class.
class LiteralRows {
 public:
  explicit LiteralRows(const CodedRows& rows) : rows_(rows), words_((rows.rows + 63) / 64) {}

  const Bits& of(const Literal& literal) {
    const std::uint64_t key = (std::uint64_t{literal.column} << 24) |
                              (std::uint64_t{literal.code} << 8) |
                              static_cast<std::uint64_t>(literal.test);
    if (const auto found = cache_.find(key); found != cache_.end()) return found->second;
    Bits bits(words_, 0);
    const auto& column = rows_.columns[literal.column];
    for (std::size_t row = 0; row < rows_.rows; ++row)
      if (literal.holds(column[row])) bits[row / 64] |= std::uint64_t{1} << (row % 64);
    return cache_.emplace(key, std::move(bits)).first->second;  // references stay valid
  }

 private:
  const CodedRows& rows_;
  std::size_t words_;
  std::unordered_map<std::uint64_t, Bits> cache_;
};

}  // namespace

bool Literal::holds(std::uint16_t value) const {
  switch (test) {
    case Test::AtLeast:
      return value >= code;
    case Test::Below:
      return value < code;
    case Test::Equal:
      return value == code;
    case Test::Differs:
      return value != code;
  }
  return false;
}

void RulesModel::score(const CodedRows& rows, std::size_t row, std::span<double> scores) const {
  std::uint8_t label = otherwise;
  for (const Rule& rule : rules) {
    const bool holds = std::all_of(
        rule.conditions.begin(), rule.conditions.end(),
        [&](const Literal& literal) { return literal.holds(rows.columns[literal.column][row]); });
    if (holds) {
      label = rule.label;
      break;
    }
  }
  scores[0] = label == 1 ? 1 : -1;
}

std::string RulesModel::text(const Coding& coding) const {
  std::string text;
  for (const Rule& rule : rules) {
    text += text.empty() ? "if " : "else if ";
    for (std::size_t i = 0; i < rule.conditions.size(); ++i) {
      const Literal& l = rule.conditions[i];
      const ColumnCoder& feature = coding.features()[l.column];
      const char* sign = l.test == Literal::Test::AtLeast ? ">="
                         : l.test == Literal::Test::Below ? "<"
                         : l.test == Literal::Test::Equal ? "="
                                                          : "<>";
      text += fmt::format("{}{} {} {}", i == 0 ? "" : " and ", feature.name(), sign,
                          feature.text_of(l.code));
    }
    text += fmt::format(" then {}, ", coding.class_text(rule.label));
  }
  return text + fmt::format("else {}", coding.class_text(otherwise));
}

Result<RuleClass> parse_rule_class(const std::string& name) {
  if (name == "thresholds") return RuleClass::Thresholds;
  if (name == "stumps") return RuleClass::Stumps;
  if (name == "conjunctions") return RuleClass::Conjunctions;
  if (name == "lists") return RuleClass::DecisionLists;
  return invalid_parameter("rules are thresholds, stumps, conjunctions or lists");
}

Result<std::vector<RulesModel>> enumerate_rules(RuleClass rule_class, const Coding& coding) {
  if (coding.classes() != 2)
    return Error{ErrorCode::Refused,
                 "rules decide yes or no: the target must have two values, or use --at-least"};
  std::vector<Literal> literals;
  for (std::uint32_t c = 0; c < coding.features().size(); ++c) {
    if (rule_class == RuleClass::Thresholds && !coding.features()[c].ordered()) continue;
    const auto of_column = literals_of(coding, c);
    literals.insert(literals.end(), of_column.begin(), of_column.end());
  }
  if (literals.empty())
    return Error{ErrorCode::Refused, "no column has anything to ask: thresholds need ordered ones"};
  std::vector<Literal> both = literals;
  for (const Literal& literal : literals) both.push_back(opposite(literal));
  const std::size_t pairs = both.size() * both.size() / 2;
  if (rule_class == RuleClass::Conjunctions && pairs > kRulesMax)
    return Error{ErrorCode::Refused, "more than 2^22 conjunctions; learn from fewer columns"};
  if (rule_class == RuleClass::DecisionLists && 4 * pairs > kRulesMax)
    return Error{ErrorCode::Refused, "more than 2^22 decision lists; learn from fewer columns"};

  std::vector<RulesModel> rules = {{{}, 0}, {{}, 1}};  // always no, always yes
  for (const Literal& literal : literals)
    for (const std::uint8_t label : kLabels)
      rules.push_back({{{{literal}, label}}, static_cast<std::uint8_t>(1 - label)});
  if (rule_class == RuleClass::Conjunctions) {
    for (std::size_t i = 0; i < both.size(); ++i)
      for (std::size_t j = i + 1; j < both.size(); ++j)
        if (both[i].column != both[j].column) rules.push_back({{{{both[i], both[j]}, 1}}, 0});
  } else if (rule_class == RuleClass::DecisionLists) {
    // A list is "if a then x, else if b then y, else z" with y != z, or it would be shorter.
    for (const Literal& first : both)
      for (const Literal& second : literals)
        if (first.column != second.column)
          for (const std::uint8_t label : kLabels)
            for (const std::uint8_t next : kLabels)
              rules.push_back(
                  {{{{first}, label}, {{second}, next}}, static_cast<std::uint8_t>(1 - next)});
  }
  return rules;
}

Result<ChosenRule> choose_by_right_answers(std::span<const std::int64_t> right, Epsilon epsilon,
                                           RandomSource& random) {
  DISCREET_TRY(
      const auto mechanism,
      ExponentialMechanism::make(epsilon, {.sensitivity = LInfSensitivity{1}, .monotone = true}));
  DISCREET_TRY(const std::size_t index, mechanism.release(right, random));
  return ChosenRule{index, right.size(), mechanism.whole_error_bound(0.95, right.size())};
}

Result<ChosenRule> choose_rule(const CodedRows& rows, std::span<const RulesModel> rules,
                               Epsilon epsilon, RandomSource& random) {
  Bits positive((rows.rows + 63) / 64, 0);
  for (std::size_t row = 0; row < rows.rows; ++row)
    if (rows.labels[row] == 1) positive[row / 64] |= std::uint64_t{1} << (row % 64);
  const std::int64_t positives = count(positive);
  const auto n = static_cast<std::int64_t>(rows.rows);
  LiteralRows literal_rows(rows);
  std::vector<std::int64_t> right;
  right.reserve(rules.size());
  for (const RulesModel& model : rules) {
    // Rows not yet decided; two rules at most, so masks need no storage.
    const Bits* first = nullptr;
    std::int64_t sum = 0, decided = 0, decided_positive = 0;
    for (const auto& rule : model.rules) {
      const Bits& a = literal_rows.of(rule.conditions.front());
      const Bits* b = rule.conditions.size() > 1 ? &literal_rows.of(rule.conditions[1]) : nullptr;
      std::int64_t all = 0, yes = 0;
      for (std::size_t w = 0; w < a.size(); ++w) {
        const std::uint64_t word = a[w] & (b != nullptr ? (*b)[w] : ~std::uint64_t{0}) &
                                   (first != nullptr ? ~(*first)[w] : ~std::uint64_t{0});
        all += std::popcount(word);
        yes += std::popcount(word & positive[w]);
      }
      sum += rule.label == 1 ? yes : all - yes;
      decided += all;
      decided_positive += yes;
      first = &a;
    }
    const std::int64_t left_positive = positives - decided_positive;
    right.push_back(sum + (model.otherwise == 1 ? left_positive : n - decided - left_positive));
  }
  return choose_by_right_answers(right, epsilon, random);
}

Result<std::uint64_t> pac_rows(const PacGoal& goal) {
  if (!(goal.alpha > 0 && goal.alpha < 1) || !(goal.beta > 0 && goal.beta < 1) ||
      !(goal.epsilon > 0) || !(goal.log_class >= 0))
    return invalid_parameter("alpha and beta lie between 0 and 1, epsilon is positive");
  // Half of beta for the choice, half for the sample (proof page).
  const double log_choice = goal.log_class + std::log(2 / goal.beta);
  if (goal.realizable)
    return static_cast<std::uint64_t>(std::ceil(
        std::fmax(8 * log_choice / goal.alpha, 2 * log_choice / (goal.epsilon * goal.alpha))));
  const double log_sample = goal.log_class + std::log(4 / goal.beta);
  const auto excess = [&](double n) {
    return log_choice / (goal.epsilon * n) + 2 * std::sqrt(log_sample / (2 * n));
  };
  double low = 0, high = 1;
  while (excess(high) > goal.alpha) {
    low = high;
    high *= 2;
  }
  while (high - low > 0.5) {
    const double middle = low + (high - low) / 2;
    (excess(middle) <= goal.alpha ? high : low) = middle;
  }
  return static_cast<std::uint64_t>(std::ceil(high));
}

}  // namespace discreet::learn
