#include "learn/thresholdout.h"

#include <algorithm>
#include <cmath>

namespace discreet::learn {
namespace {

constexpr double kUnit = 1 << 12;  // a row's answer is a whole number of 1/4096

std::int64_t whole(double answer) {
  return std::isfinite(answer) ? static_cast<std::int64_t>(std::clamp(answer, 0.0, 1.0) * kUnit)
                               : 0;
}

}  // namespace

Result<Thresholdout> Thresholdout::make(const ThresholdoutPlan& plan, RandomSource& random) {
  if (plan.holdout_rows == 0) return invalid_parameter("a holdout has at least one row");
  if (!(plan.threshold > 0 && plan.threshold < 1))
    return invalid_parameter("the threshold lies between 0 and 1");
  // Replacing one holdout row moves a sum of answers by at most one.
  DISCREET_TRY(
      auto technique,
      SparseVector::make({.epsilon = plan.epsilon,
                          .sensitivity = LInfSensitivity{static_cast<std::uint32_t>(kUnit)},
                          .answers_max = plan.answers_max,
                          .monotone = false,
                          .value_share = 0.3}));
  const auto threshold = static_cast<std::int64_t>(
      std::ceil(plan.threshold * static_cast<double>(plan.holdout_rows) * kUnit));
  auto run = technique.start(threshold, random);
  return Thresholdout(plan, std::move(technique), std::move(run));
}

Result<Thresholdout::Answer> Thresholdout::ask(std::span<const double> training,
                                               std::span<const double> holdout,
                                               RandomSource& random) {
  if (holdout.size() != plan_.holdout_rows || training.empty())
    return invalid_parameter("a question has one answer for each training and each holdout row");
  Int128 train_sum = 0, hold_sum = 0;
  for (const double answer : training) train_sum += whole(answer);
  for (const double answer : holdout) hold_sum += whole(answer);
  const auto rows = static_cast<Int128>(holdout.size());
  const auto excess =
      static_cast<std::int64_t>(hold_sum - train_sum * rows / static_cast<Int128>(training.size()));
  const double mean = static_cast<double>(train_sum) / kUnit / static_cast<double>(training.size());
  for (const std::int64_t sign : {1, -1}) {
    DISCREET_TRY(const auto shown, run_.value_above(sign * excess, random));
    if (shown)
      return Answer{std::clamp(mean + static_cast<double>(sign * *shown) / kUnit /
                                          static_cast<double>(holdout.size()),
                               0.0, 1.0),
                    true};
  }
  return Answer{mean, false};
}

double generalisation_error(std::uint64_t rows, Epsilon epsilon, std::uint64_t questions,
                            double beta) {
  const double n = static_cast<double>(rows), e = epsilon.value();
  const double each =
      beta / (2 * static_cast<double>(questions));  // two ways to fail, each question
  // Max-information in nats (Theorem 20), then Hoeffding's bound under independence.
  const double information = e * e * n / 2 + e * std::sqrt(n * std::log(2 / each) / 2);
  return std::sqrt((information + std::log(2 / each)) / (2 * n));
}

double Thresholdout::error_bound(double confidence, std::uint64_t questions) const {
  const double beta = (1 - confidence) / 3;
  const double n = static_cast<double>(plan_.holdout_rows);
  const double comparison = technique_.error_bound(1 - beta, 2 * questions) / kUnit / n;
  const double value = technique_.value_error_bound(1 - beta) / kUnit / n;
  return std::fmax(plan_.threshold + comparison, value) +
         generalisation_error(plan_.holdout_rows, plan_.epsilon, questions, beta);
}

}  // namespace discreet::learn
