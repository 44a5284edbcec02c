#include "mechanisms/sparse_vector.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/saturating.h"
#include "mechanisms/integer_noise.h"
#include "mechanisms/quality_score.h"

namespace discreet {
namespace {

constexpr double kLeastNormal = std::numeric_limits<double>::min();

struct Rates {
  Rational threshold, question, value;
};

// A yes shifts a question's noise by twice the sensitivity, or once when all questions move the
// same way; c of them share their part of epsilon, so each is worth 1 / (steps c). The least
// variance of (threshold noise - question noise) gives the questions (steps c)^(2/3) times the
// threshold's part. Any split is private; the parts add up to epsilon exactly because they are
// rationals.
Rates split(const SparseVectorPlan& plan) {
  const Rational epsilon = exact_rational(plan.epsilon.value()).value();
  const Rational sensitivity = exact_rational(plan.sensitivity.value()).value();
  const double shifts = (plan.monotone ? 1.0 : 2.0) * static_cast<double>(plan.answers_max);
  const double part = 1 / (1 + std::cbrt(shifts * shifts));
  const Rational values = epsilon * exact_rational(plan.value_share).value();
  const Rational compare = epsilon - values;
  const Rational threshold = compare * exact_rational(part).value();
  const Rational c = plan.answers_max;
  return {threshold / sensitivity,
          (compare - threshold) / (sensitivity * c * (plan.monotone ? 1 : 2)),
          values / (sensitivity * c)};
}

// The threshold's noise may exceed a on either side; of a question's noise only one side can do
// harm, because its exact answer lies either above or below the threshold. Shares of beta in
// proportion to the scales make the sum of the two bounds least.
double compare_error(const SparseVectorPlan& plan, double confidence, std::uint64_t questions) {
  const Rates rates = split(plan);
  const double threshold = to_double_down(rates.threshold),
               question = to_double_down(rates.question);
  const double beta = sub_down(1, confidence);
  const double for_threshold = mul_down(beta, question / (threshold + question) * (1 - 1e-12));
  const double for_each = div_down(sub_down(beta, for_threshold), count_up(questions));
  return add_up(two_sided_tail_start(threshold, for_threshold),
                upper_tail_start(question, for_each)) -
         2;
}

Result<void> check_plan(const SparseVectorPlan& plan) {
  if (plan.epsilon.value() == 0)
    return invalid_parameter("epsilon must be positive: at zero no question can be answered");
  if (plan.epsilon.value() < kLeastNormal || plan.sensitivity.value() < kLeastNormal)
    return invalid_parameter(
        "epsilon and sensitivity must not be subnormal; choose other units for the questions");
  if (plan.answers_max == 0)
    return invalid_parameter("a run must be allowed at least one yes: answers_max is 0");
  if (!(plan.value_share >= 0 && plan.value_share < 1))
    return invalid_parameter(
        fmt::format("the share of epsilon for values must be at least 0 and below 1, not {}",
                    plan.value_share));
  return {};
}

}  // namespace

Result<SparseVector> SparseVector::make(const SparseVectorPlan& plan) {
  DISCREET_TRY_VOID(check_plan(plan));
  Rates rates = split(plan);
  DISCREET_TRY(auto threshold, DiscreteLaplaceSampler::make(std::move(rates.threshold)));
  DISCREET_TRY(auto question, DiscreteLaplaceSampler::make(std::move(rates.question)));
  std::optional<DiscreteLaplaceSampler> value;
  if (plan.value_share > 0) {
    DISCREET_TRY(auto sampler, DiscreteLaplaceSampler::make(std::move(rates.value)));
    value = std::move(sampler);
  }
  return SparseVector(plan, std::make_shared<const Noise>(Noise{
                                std::move(threshold), std::move(question), std::move(value)}));
}

Result<SparseVector> SparseVector::above_threshold(Epsilon epsilon, LInfSensitivity sensitivity) {
  return make({.epsilon = epsilon, .sensitivity = sensitivity});
}

Result<SparseVector> SparseVector::for_error(double error, double confidence,
                                             std::uint64_t questions, SparseVectorPlan plan) {
  DISCREET_TRY_VOID(check_confidence_of_choice(confidence));
  if (questions == 0) return invalid_parameter("a run without questions needs no epsilon");
  DISCREET_TRY(plan.epsilon, Epsilon::make(1));
  DISCREET_TRY_VOID(check_plan(plan));
  DISCREET_TRY(plan.epsilon, least_epsilon(error, [&](double epsilon) {
                 plan.epsilon = Epsilon::make(epsilon).value();
                 return compare_error(plan, confidence, questions);
               }));
  return make(plan);
}

SparseVector::Run SparseVector::start(std::int64_t threshold, RandomSource& random) const {
  return Run(noise_, Int128{threshold} + draw_unbounded(noise_->threshold, random),
             plan_.answers_max);
}

LossEvent SparseVector::loss() const {
  return loss::SparseVector{.epsilon = plan_.epsilon, .answers_max = plan_.answers_max};
}

double SparseVector::error_bound(double confidence, std::uint64_t questions) const {
  DISCREET_CHECK(confidence > 0 && confidence < 1 && questions > 0,
                 "confidence within (0, 1) and at least one question");
  return compare_error(plan_, confidence, questions);
}

double SparseVector::value_error_bound(double confidence) const {
  DISCREET_CHECK(confidence > 0 && confidence < 1, "confidence within (0, 1)");
  DISCREET_CHECK(noise_->value.has_value(), "the plan keeps a share of epsilon for values");
  const double each = div_down(sub_down(1, confidence), count_up(plan_.answers_max));
  return two_sided_tail_start(to_double_down(noise_->value->rate()), each) - 1;
}

double SparseVector::textbook_error_bound(double beta, std::uint64_t questions) const {
  DISCREET_CHECK(beta > 0 && beta <= 1 && questions > 0,
                 "beta within (0, 1] and at least one question");
  const double c = count_up(plan_.answers_max);
  const bool values = plan_.value_share > 0;
  const double logs =
      add_up(log_up(count_up(questions)), log_up(div_up((values ? 4 : 2) * c, beta)));
  return div_up(mul_up(mul_up((values ? 9 : 8) * c, logs), plan_.sensitivity.value()),
                plan_.epsilon.value());
}

SparseVector::Run::Run(Run&& other) noexcept
    : noise_(other.noise_),
      noisy_threshold_(other.noisy_threshold_),
      answers_left_(std::exchange(other.answers_left_, 0)) {}

SparseVector::Run& SparseVector::Run::operator=(Run&& other) noexcept {
  noise_ = other.noise_;
  noisy_threshold_ = other.noisy_threshold_;
  answers_left_ = std::exchange(other.answers_left_, 0);
  return *this;
}

Result<bool> SparseVector::Run::above(std::int64_t exact, RandomSource& random) {
  if (answers_left_ == 0)
    return Error{ErrorCode::BudgetExhausted,
                 "this run has given every yes it was paid for; start another run to ask on"};
  const bool yes = Int128{exact} + draw_unbounded(noise_->question, random) >= noisy_threshold_;
  answers_left_ -= yes ? 1 : 0;
  return yes;
}

Result<std::optional<std::int64_t>> SparseVector::Run::value_above(std::int64_t exact,
                                                                   RandomSource& random) {
  if (!noise_->value)
    return invalid_parameter("this run keeps nothing for values: make it with value_share above 0");
  DISCREET_TRY(const bool yes, above(exact, random));
  // Fresh noise: the noise of the comparison is already half known, so its sum must not be shown.
  const std::int64_t noisy = saturate(Int128{exact} + draw_unbounded(*noise_->value, random));
  return yes ? std::optional<std::int64_t>(noisy) : std::nullopt;
}

}  // namespace discreet
