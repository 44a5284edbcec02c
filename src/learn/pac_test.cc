#include "learn/pac.h"

#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "support/seeded_random.h"
#include "synth/dice.h"

namespace discreet::learn {
namespace {

Coding coding() {
  const auto specs = synth::parse_specs(R"({"a": 60, "b": 5, "c": 2, "y": 2})").value();
  return Coding::make(specs, "y").value();
}

// y = (a >= 30 and c = 1), flipped with this chance.
CodedRows draw(std::size_t n, double flip, std::uint64_t seed) {
  synth::Dice dice(seed, 0);
  CodedRows rows;
  rows.rows = n;
  rows.columns.resize(3);
  for (std::size_t i = 0; i < n; ++i) {
    const auto a = dice.below(60), b = dice.below(5), c = dice.below(2);
    rows.columns[0].push_back(static_cast<std::uint16_t>(a));
    rows.columns[1].push_back(static_cast<std::uint16_t>(b));
    rows.columns[2].push_back(static_cast<std::uint16_t>(c));
    const bool y = (a >= 30 && c == 1) != (dice.unit() < flip);
    rows.labels.push_back(y ? 1 : 0);
  }
  return rows;
}

double error_of(const RulesModel& rule, const CodedRows& rows) {
  std::size_t wrong = 0;
  std::vector<double> score(1);
  for (std::size_t row = 0; row < rows.rows; ++row) {
    rule.score(rows, row, score);
    wrong += (score[0] > 0) != (rows.labels[row] == 1);
  }
  return static_cast<double>(wrong) / static_cast<double>(rows.rows);
}

TEST(PacTest, TheRowsThatTheBoundAsksForAreEnough) {
  const auto rules = enumerate_rules(RuleClass::Conjunctions, coding()).value();
  const PacGoal goal{.log_class = std::log(static_cast<double>(rules.size())),
                     .alpha = 0.1,
                     .beta = 0.05,
                     .epsilon = 0.5,
                     .realizable = false};
  const std::uint64_t n = pac_rows(goal).value();
  const CodedRows population = draw(20'000, 0.1, 99);
  double best = 1;
  std::vector<double> errors;
  for (const auto& rule : rules) {
    errors.push_back(error_of(rule, population));
    best = std::min(best, errors.back());
  }
  SeededRandom random(1);
  int missed = 0;
  const int trials = 60;
  double mean = 0;
  for (int t = 0; t < trials; ++t) {
    const CodedRows sample = draw(n, 0.1, 1000 + static_cast<std::uint64_t>(t));
    const auto chosen =
        choose_rule(sample, rules, Epsilon::make(goal.epsilon).value(), random).value();
    missed += errors[chosen.index] > best + goal.alpha;
    mean += (errors[chosen.index] - best) / trials;
  }
  std::cout << rules.size() << " rules, " << n << " rows, missed " << missed << " of " << trials
            << ", mean excess error " << mean << "\n";
  // Each trial misses with chance at most .05; 18 of 60 or more then has chance below 1e-8.
  EXPECT_LT(missed, 18);
  EXPECT_LT(mean, goal.alpha);
}

TEST(PacTest, FarFewerRowsAreNotEnough) {
  const auto rules = enumerate_rules(RuleClass::Conjunctions, coding()).value();
  const CodedRows population = draw(20'000, 0.1, 99);
  SeededRandom random(2);
  double mean = 0;
  for (int t = 0; t < 30; ++t) {
    const CodedRows sample = draw(10, 0.1, 2000 + static_cast<std::uint64_t>(t));
    const auto chosen = choose_rule(sample, rules, Epsilon::make(0.5).value(), random).value();
    mean += error_of(rules[chosen.index], population) / 30;
  }
  EXPECT_GT(mean, 0.25);  // best .1: this test can tell a learner from a lucky guess
}

TEST(PacTest, TheBoundGrowsAsItShould) {
  const PacGoal goal{.log_class = std::log(1000.0), .alpha = 0.1, .beta = 0.05, .epsilon = 1};
  const auto rows = [&](auto change) {
    PacGoal other = goal;
    change(other);
    return pac_rows(other).value();
  };
  const auto base = rows([](PacGoal&) {});
  EXPECT_GT(rows([](PacGoal& g) { g.alpha = 0.05; }), 3 * base);
  EXPECT_GT(rows([](PacGoal& g) { g.epsilon = 0.01; }), base);
  EXPECT_LT(rows([](PacGoal& g) { g.realizable = true; }), base);
  EXPECT_GT(rows([](PacGoal& g) { g.log_class *= 2; }), base);
  EXPECT_FALSE(pac_rows({.log_class = 1, .alpha = 0}).has_value());
}

TEST(PacTest, RightAnswersAreCountedAsRulesDecide) {
  const CodedRows rows = draw(300, 0.3, 5);
  for (const auto rule_class : {RuleClass::Thresholds, RuleClass::Stumps, RuleClass::Conjunctions,
                                RuleClass::DecisionLists}) {
    const auto rules = enumerate_rules(rule_class, coding()).value();
    // At a huge epsilon the choice is a best rule by its true count.
    SeededRandom random(3);
    const auto chosen = choose_rule(rows, rules, Epsilon::make(500).value(), random).value();
    double best = 1;
    for (const auto& rule : rules) best = std::min(best, error_of(rule, rows));
    EXPECT_DOUBLE_EQ(error_of(rules[chosen.index], rows), best);
  }
}

TEST(PacTest, OneRowMovesEveryCountByAtMostOneAndNoneDown) {
  // What the exponential mechanism is told: monotone, sensitivity one. A twin that scores by
  // right minus wrong would break it.
  const CodedRows more = draw(41, 0.3, 6);
  CodedRows less = more;
  less.rows = 40;
  for (auto& column : less.columns) column.pop_back();
  less.labels.pop_back();
  const auto rules = enumerate_rules(RuleClass::DecisionLists, coding()).value();
  for (const auto& rule : rules) {
    const double right_more = 41 - std::round(41 * error_of(rule, more));
    const double right_less = 40 - std::round(40 * error_of(rule, less));
    EXPECT_GE(right_more - right_less, 0);
    EXPECT_LE(right_more - right_less, 1);
  }
}

}  // namespace
}  // namespace discreet::learn
