// A private PAC learner: the exponential mechanism over a finite class of rules, each scored by how
// many rows it gets right (Kasiviswanathan, Lee, Nissim, Raskhodnikova and Smith 2011).
//
// Guarantee: one choice is epsilon-DP (pure). Numbers of right answers move by at most one, all the
//            same way, when a row joins. With pac_rows() independent rows the chosen rule is, with
//            probability 1 - beta, within alpha of the best of its class on the population.
// Assumes:   the class is public: it depends on declared columns only.
// Proof:     docs/proofs/pac_learner.md
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "learn/coding.h"
#include "random/random_source.h"

namespace discreet::learn {

/// A condition on one column: its code is at least `code` (ordered columns), or equals it.
struct Literal {
  std::uint32_t column = 0;
  std::uint16_t code = 0;
  enum class Test : std::uint8_t { AtLeast, Below, Equal, Differs } test = Test::Equal;

  bool holds(std::uint16_t value) const;
};

/// The first rule whose conditions all hold decides; else the default.
struct RulesModel {
  struct Rule {
    std::vector<Literal> conditions;
    std::uint8_t label = 1;
  };
  std::vector<Rule> rules;
  std::uint8_t otherwise = 0;

  std::uint32_t outputs() const { return 1; }
  /// +1 or -1: rules have no shades.
  void score(const CodedRows& rows, std::size_t row, std::span<double> scores) const;
  std::string text(const Coding& coding) const;
};

enum class RuleClass {
  Thresholds,    ///< one column's cuts, both ways round
  Stumps,        ///< every column's conditions, both ways round
  Conjunctions,  ///< at most two conditions together
  DecisionLists  ///< two conditions one after another
};
Result<RuleClass> parse_rule_class(const std::string& name);

/// All rules of a class; the same for neighbouring tables. Columns with many codes are cut at no
/// more than 32 places. Refused: more than 2^22 rules, or a target that is not yes or no.
Result<std::vector<RulesModel>> enumerate_rules(RuleClass rule_class, const Coding& coding);

struct ChosenRule {
  std::size_t index = 0;
  std::size_t class_size = 0;
  double error_bound_95 = 0;  ///< in rows: with 95 % the best of the class gets no more right
};
/// InvalidParameter: no rules; as ExponentialMechanism.
Result<ChosenRule> choose_rule(const CodedRows& rows, std::span<const RulesModel> rules,
                               Epsilon epsilon, RandomSource& random);
/// The same for a class given by its right answers: right[h] is how many rows hypothesis h gets
/// right, and moves by at most one, never down, when a row joins.
Result<ChosenRule> choose_by_right_answers(std::span<const std::int64_t> right, Epsilon epsilon,
                                           RandomSource& random);

struct PacGoal {
  double log_class = 0;  ///< natural logarithm of the number of hypotheses
  double alpha = 0.1;    ///< excess error
  double beta = 0.05;    ///< chance to miss it
  double epsilon = 1;
  bool realizable = false;  ///< some hypothesis is right about everybody
};
/// So many rows suffice. InvalidParameter: alpha, beta not within (0, 1) or epsilon not positive.
Result<std::uint64_t> pac_rows(const PacGoal& goal);

}  // namespace discreet::learn
