#include "learn/forking_paths.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "synth/dice.h"

namespace discreet::learn {
namespace {

// Attributes and labels are +1 or -1, all coin tosses.
struct Rows {
  std::vector<std::vector<std::int8_t>> attributes;
  std::vector<std::int8_t> labels;
};

Rows toss(std::size_t rows, std::size_t attributes, synth::Dice& dice) {
  Rows made;
  std::uint64_t bits = 0;
  int left = 0;
  const auto coin = [&] {
    if (left-- == 0) {
      bits = dice.bits();
      left = 63;
    }
    const auto side = static_cast<std::int8_t>((bits & 1) != 0 ? 1 : -1);
    bits >>= 1;
    return side;
  };
  made.labels.resize(rows);
  for (auto& label : made.labels) label = coin();
  made.attributes.assign(attributes, std::vector<std::int8_t>(rows));
  for (auto& column : made.attributes)
    for (auto& value : column) value = coin();
  return made;
}

// One for each row where the attribute equals the label.
std::vector<double> agreements(const Rows& rows, std::size_t attribute) {
  std::vector<double> agree(rows.labels.size());
  for (std::size_t i = 0; i < agree.size(); ++i)
    agree[i] = rows.attributes[attribute][i] == rows.labels[i] ? 1 : 0;
  return agree;
}

std::vector<double> right_votes(const Rows& rows, std::span<const std::size_t> picked,
                                std::span<const double> lean) {
  std::vector<int> votes(rows.labels.size(), 0);
  for (const std::size_t a : picked)
    for (std::size_t i = 0; i < votes.size(); ++i)
      votes[i] += rows.attributes[a][i] * (lean[a] > 0 ? 1 : -1);
  std::vector<double> right(votes.size());
  for (std::size_t i = 0; i < votes.size(); ++i)
    right[i] = votes[i] == 0 ? 0.5 : ((votes[i] > 0) == (rows.labels[i] > 0) ? 1 : 0);
  return right;
}

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

using AskHoldout = std::function<Result<double>(std::span<const double> training,
                                                std::span<const double> holdout)>;

// Attributes whose lean is the same on both parts, strongest first on what both say together.
Result<std::vector<ForkingPathsStep>> walk(const ForkingPathsOptions& options, const Rows& training,
                                           const Rows& holdout, const Rows& fresh,
                                           const AskHoldout& ask) {
  std::vector<double> lean(options.attributes);
  std::vector<std::size_t> order;
  std::vector<double> strength(options.attributes);
  for (std::size_t a = 0; a < options.attributes; ++a) {
    const auto on_training = agreements(training, a), on_holdout = agreements(holdout, a);
    DISCREET_TRY(const double said, ask(on_training, on_holdout));
    const double t = mean(on_training) - 0.5, h = said - 0.5;
    lean[a] = t + h;
    strength[a] = std::fabs(t + h);
    if (t * h > 0) order.push_back(a);
  }
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return strength[a] > strength[b]; });
  std::vector<ForkingPathsStep> steps;
  for (const std::size_t picks : options.picks) {
    const auto picked = std::span(order).first(std::min(picks, order.size()));
    const auto on_training = right_votes(training, picked, lean);
    DISCREET_TRY(const double said, ask(on_training, right_votes(holdout, picked, lean)));
    steps.push_back(
        {picked.size(), mean(on_training), said, mean(right_votes(fresh, picked, lean))});
  }
  return steps;
}

}  // namespace

Result<ForkingPaths> walk_forking_paths(const ForkingPathsOptions& options, RandomSource& random) {
  synth::Dice dice(random);
  const Rows training = toss(options.rows, options.attributes, dice);
  const Rows holdout = toss(options.rows, options.attributes, dice);
  const Rows fresh = toss(options.rows, options.attributes, dice);
  ForkingPaths paths;
  DISCREET_TRY(paths.plain,
               walk(options, training, holdout, fresh,
                    [](auto, auto on_holdout) -> Result<double> { return mean(on_holdout); }));
  DISCREET_TRY(const Epsilon epsilon, Epsilon::make(options.epsilon));
  DISCREET_TRY(auto guard, Thresholdout::make({.epsilon = epsilon,
                                               .answers_max = options.answers_max,
                                               .threshold = options.threshold,
                                               .holdout_rows = options.rows},
                                              random));
  DISCREET_TRY(paths.reusable, walk(options, training, holdout, fresh,
                                    [&](auto on_training, auto on_holdout) -> Result<double> {
                                      DISCREET_TRY(const auto answer,
                                                   guard.ask(on_training, on_holdout, random));
                                      return answer.mean;
                                    }));
  paths.paid = options.answers_max - guard.answers_left();
  return paths;
}

}  // namespace discreet::learn
