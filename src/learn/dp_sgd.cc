#include "learn/dp_sgd.h"

#include <cmath>
#include <memory>

#include "accounting/pld.h"
#include "base/rational.h"
#include "base/rounding.h"
#include "learn/gaussian_budget.h"
#include "privacy/loss_event.h"
#include "random/bernoulli.h"

namespace discreet::learn {
namespace {

LossEvent event_of(const SgdPlan& plan) {
  const auto noise =
      std::make_shared<const LossEvent>(loss::Gaussian{.sigma = plan.multiplier, .sensitivity = 1});
  const auto step =
      plan.rate < 1 ? std::make_shared<const LossEvent>(loss::PoissonSubsampled{plan.rate, noise})
                    : noise;
  const LossEvent steps = loss::Repeated{plan.steps, step};
  if (plan.first_mu == 0) return steps;
  return loss::Composed{
      {loss::Gaussian{.sigma = div_down(1, plan.first_mu), .sensitivity = 1}, steps}};
}

}  // namespace

Result<double> sgd_epsilon(const SgdPlan& plan, double delta) {
  PldAccuracy accuracy;
  accuracy.epsilon_absolute = 1e-3;
  accuracy.epsilon_relative = 2e-3;
  DISCREET_TRY(const auto distribution,
               PrivacyLossDistribution::make(event_of(plan), Neighbours::AddRemove, accuracy));
  DISCREET_TRY(const Bracket epsilon, distribution.epsilon(delta));
  return epsilon.upper;
}

Result<SgdPlan> plan_sgd(ApproxDp target, double rate, std::uint64_t steps, double first_share) {
  if (!(rate > 0 && rate <= 1) || steps == 0 || !(first_share >= 0 && first_share < 1))
    return invalid_parameter("steps need a rate within (0, 1] and a number of at least one");
  DISCREET_TRY(const GaussianBudget whole, GaussianBudget::make(target));
  SgdPlan plan{rate, steps, 0, whole.mu() * std::sqrt(first_share)};
  // Without sampling, this much is enough: a bracket to begin with.
  double good = std::sqrt(static_cast<double>(steps) / (1 - first_share)) / whole.mu() * (1 + 1e-9);
  plan.multiplier = good;
  if (rate == 1) return plan;
  // Discrete noise is continuous noise up to factors that cost less than this (gaussian_budget.cc).
  const double most = sub_down(target.epsilon.value(), 1e-12);
  const double delta = mul_down(target.delta.value(), 1 - 1e-12);
  double bad = 0.3;
  while (good / bad > 1.005) {
    plan.multiplier = std::sqrt(good * bad);
    DISCREET_TRY(const double epsilon, sgd_epsilon(plan, delta));
    (epsilon <= most ? good : bad) = plan.multiplier;
  }
  plan.multiplier = good;
  DISCREET_TRY(const double epsilon, sgd_epsilon(plan, delta));
  if (epsilon > most)
    return Error{ErrorCode::Refused, "no noise was found that meets the target for these steps"};
  return plan;
}

Result<PoissonBatches> PoissonBatches::make(double rate) {
  if (!(rate > 0 && rate <= 1)) return invalid_parameter("a sampling rate lies within (0, 1]");
  return PoissonBatches(rate);
}

std::vector<std::uint32_t> PoissonBatches::draw(std::size_t rows, RandomSource& random) const {
  std::vector<std::uint32_t> chosen;
  const Bernoulli coin(Probability::rational(exact_rational(rate_).value()).value());
  for (std::size_t row = 0; row < rows; ++row)
    if (coin.draw(random)) chosen.push_back(static_cast<std::uint32_t>(row));
  return chosen;
}

}  // namespace discreet::learn
