#include "learn/selection.h"

#include <cmath>
#include <limits>

#include "accounting/conversion.h"
#include "base/rational.h"
#include "random/bernoulli.h"

namespace discreet::learn {
namespace {

constexpr double kRoundUp = 1 + 1e-12;  // outweighs the rounding of a handful of operations

}  // namespace

double RandomStopping::epsilon(double rho, double mean_runs, double delta) {
  const double log_runs = std::log(mean_runs) * kRoundUp;  // log E[K] = log(1 / gamma)
  // The second order is free to choose: 2 (b - 1) rho + 2 log(1/gamma) / b is least at this b.
  const double b = std::fmax(1 + 1e-9, std::sqrt(log_runs / rho));
  const double choosing = 2 * (b - 1) * rho + 2 * log_runs / b;
  double best = std::numeric_limits<double>::infinity();
  for (double order = 1.01; order < 20'000; order = 1 + (order - 1) * 1.03) {
    const double divergence = (order * rho + choosing + log_runs / (order - 1)) * kRoundUp;
    best = std::fmin(best, rdp_epsilon(order, divergence, delta));
  }
  return best;
}

Result<RandomStopping> RandomStopping::make(ApproxDp target, double mean_runs) {
  if (!(mean_runs >= 1 && mean_runs <= 10'000))
    return invalid_parameter("the expected number of runs lies between 1 and 10,000");
  if (!(target.delta.value() > 0 && target.delta.value() < 1) || !(target.epsilon.value() > 0) ||
      !std::isfinite(target.epsilon.value()))
    return invalid_parameter("choosing needs a positive epsilon and a delta between 0 and 1");
  double good = 1e-30, bad = target.epsilon.value();  // rho never exceeds epsilon for delta < 1/2
  if (epsilon(good, mean_runs, target.delta.value()) > target.epsilon.value())
    return Error{ErrorCode::Refused, "the budget is too small to choose among runs"};
  while (bad / good > 1 + 1e-6) {
    const double middle = std::sqrt(good * bad);
    (epsilon(middle, mean_runs, target.delta.value()) <= target.epsilon.value() ? good : bad) =
        middle;
  }
  DISCREET_TRY(const Rho rho, Rho::make(good));
  return RandomStopping(rho, mean_runs);
}

double RandomStopping::run_mu() const {
  return sqrt_down(mul_down(2, rho_.value()));
}

std::uint64_t RandomStopping::draw_runs(RandomSource& random) const {
  const Rational stop = Rational(1) / exact_rational(mean_runs_).value();
  const Bernoulli coin(Probability::rational(stop).value());
  std::uint64_t runs = 1;
  while (!coin.draw(random)) ++runs;
  return runs;
}

}  // namespace discreet::learn
