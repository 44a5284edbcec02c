#include "learn/gaussian_budget.h"

#include <cmath>

#include "base/rounding.h"
#include "mechanisms/discrete_gaussian.h"
#include "privacy/gaussian_profile.h"

namespace discreet::learn {
namespace {

// Of the variance, 3 is set aside: with it a discrete Gaussian is a continuous one, post-processed,
// up to a factor of 1 +- 1e-25 for each coordinate (docs/proofs/discrete_gaussian.md).
constexpr double kSmoothing = 3;
constexpr double kSmoothingError = 1e-25;
constexpr std::uint64_t kCoordinatesMax = std::uint64_t{1} << 40;
// The sum of shares may exceed one by what rounding in callers' divisions adds; mu is lowered by
// it.
constexpr double kSlack = 1e-9;

}  // namespace

struct GaussianBudget::Noise {
  double sensitivity, share;
  std::size_t coordinates;
  DiscreteGaussian noise;
};

Result<GaussianBudget> GaussianBudget::make(ApproxDp target) {
  if (!(target.epsilon.value() > 0) || !std::isfinite(target.epsilon.value()))
    return invalid_parameter("epsilon must be positive and finite to learn anything");
  if (!(target.delta.value() > 0 && target.delta.value() < 1))
    return invalid_parameter("delta must lie strictly between 0 and 1; Gaussian noise needs it");
  const double error = mul_up(count_up(kCoordinatesMax), kSmoothingError);
  const double epsilon = sub_down(target.epsilon.value(), mul_up(2, error));
  const double delta = mul_down(target.delta.value(), exp_down(-error));
  if (!(epsilon > 0)) return invalid_parameter("epsilon is too small to learn anything");
  DISCREET_TRY(const Epsilon e, Epsilon::make(epsilon));
  DISCREET_TRY(const Delta d, Delta::make(delta));
  DISCREET_TRY(const double multiplier, gaussian_noise_multiplier({e, d}));
  return GaussianBudget(target, div_down(1, mul_up(multiplier, 1 + kSlack)));
}

double GaussianBudget::left() const {
  return std::fmax(0, 1 - spent_);
}

double GaussianBudget::sigma(double sensitivity, double share) const {
  return std::sqrt(sensitivity * sensitivity / (mu_ * mu_ * share) + kSmoothing);
}

Result<void> GaussianBudget::pay(double share) {
  if (!(share > 0)) return invalid_parameter("a release takes a positive share of the budget");
  const double after = add_up(spent_, share);
  if (after > 1 + kSlack)
    return Error{ErrorCode::BudgetExhausted, "the training budget does not pay for another step"};
  spent_ = after;
  return {};
}

Result<double> GaussianBudget::draw(std::span<std::int64_t> exact, double sensitivity, double share,
                                    RandomSource& random) {
  coordinates_ += exact.size();
  DISCREET_CHECK(coordinates_ <= kCoordinatesMax, "more coordinates than the noise is proved for");
  if (!last_ || last_->sensitivity != sensitivity || last_->share != share ||
      last_->coordinates != exact.size()) {
    const double scale = div_up(sensitivity, mul_down(mu_, sqrt_down(share)));
    const double sigma2 = add_up(mul_up(scale, scale), kSmoothing);
    DISCREET_TRY(const auto bound, L2Sensitivity::make(sensitivity));
    DISCREET_TRY(const Rho rho,
                 Rho::make(div_down(mul_down(sensitivity, sensitivity), mul_up(2, sigma2))));
    // Always priced as a vector: a single coordinate would have its sensitivity rounded to whole
    // ones.
    DISCREET_TRY(auto noise,
                 DiscreteGaussian::make(rho, bound, std::max<std::size_t>(2, exact.size())));
    last_ =
        std::make_shared<const Noise>(Noise{sensitivity, share, exact.size(), std::move(noise)});
  }
  last_->noise.release(exact, random);
  events_.push_back(last_->noise.loss());
  return std::sqrt(last_->noise.sigma2());
}

Result<double> GaussianBudget::release(std::span<std::int64_t> exact, double sensitivity,
                                       double share, RandomSource& random) {
  DISCREET_TRY_VOID(pay(share));
  return draw(exact, sensitivity, share, random);
}

Result<double> GaussianBudget::release_symmetric(std::span<std::int64_t> diagonal,
                                                 std::span<std::int64_t> above, double norm2_max,
                                                 double share, RandomSource& random) {
  DISCREET_TRY_VOID(pay(share));
  // sum z_i^4 / s^2 + sum_{i<j} (z_i z_j)^2 / (s^2 / 2) = |z|^4 / s^2: one payment covers both.
  DISCREET_TRY(const double sigma, draw(diagonal, norm2_max, share, random));
  if (!above.empty())
    DISCREET_TRY_VOID(draw(above, div_up(norm2_max, sqrt_down(2)), share, random));
  return sigma;
}

Result<GaussianBudget> GaussianBudget::of_mu(double mu, ApproxDp target) {
  if (!(mu > 0) || !std::isfinite(mu)) return invalid_parameter("mu must be positive and finite");
  return GaussianBudget(target, div_down(mu, 1 + kSlack));
}

Result<GaussianBudget::Reserved> GaussianBudget::reserve(double sensitivity, double share) {
  DISCREET_TRY_VOID(pay(share));
  return Reserved(sensitivity, share, sigma(sensitivity, share));
}

void GaussianBudget::Reserved::draw(std::span<std::int64_t> exact, GaussianBudget& budget,
                                    RandomSource& random) const {
  const auto drawn = budget.draw(exact, sensitivity_, share_, random);
  DISCREET_CHECK(drawn.has_value(), "noise that was paid for must be drawn");
}

}  // namespace discreet::learn
