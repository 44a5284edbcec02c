#include "mechanisms/discrete_gaussian.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>
#include <boost/math/special_functions/erf.hpp>

#include "base/saturating.h"
#include "privacy/discrete_gaussian_profile.h"
#include "privacy/gaussian_profile.h"
#include "privacy/zcdp_conversion.h"

namespace discreet {
namespace {

constexpr double kSigma2Max = 0x1p100;
constexpr std::int64_t kProfileSensitivityMax = 64;
// The part of sigma2 that smooths the lattice, and what remains of it per coordinate (proof page).
constexpr double kSmoothing = 3;
constexpr double kSmoothingError = 1e-25;

// Few digits keep the sampler on its fast path. Upwards: more noise is safe.
double round_up_to_24_digits(double x) {
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  return std::ldexp(std::ceil(std::ldexp(fraction, 24)), exponent - 24);
}
double round_down_to_24_digits(double x) {
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  return std::ldexp(std::floor(std::ldexp(fraction, 24)), exponent - 24);
}

double squared_up(double x) {
  return mul_up(x, x);
}

// A whole number cannot move by a fraction; below one it cannot move at all and is treated as if by
// one.
double effective_sensitivity(L2Sensitivity sensitivity, std::uint64_t dimension) {
  return dimension == 1 ? std::fmax(1, std::floor(sensitivity.value())) : sensitivity.value();
}

std::optional<double> sigma2_by_zcdp(ApproxDp target, double sensitivity) {
  const auto rho = zcdp_meeting(target);
  if (!rho) return std::nullopt;
  return div_up(squared_up(sensitivity), mul_down(2, rho->value()));
}

std::optional<double> sigma2_by_analytic(ApproxDp target, double sensitivity,
                                         std::uint64_t dimension) {
  const double error = mul_up(count_up(dimension), kSmoothingError);
  const double epsilon = sub_down(target.epsilon.value(), mul_up(2, error));
  const double delta = mul_down(target.delta.value(), exp_down(-error));
  if (epsilon < 0) return std::nullopt;
  const auto multiplier =
      gaussian_noise_multiplier({Epsilon::make(epsilon).value(), Delta::make(delta).value()});
  if (!multiplier) return std::nullopt;
  return add_up(squared_up(mul_up(sensitivity, *multiplier)), kSmoothing);
}

// The least sigma2 below `start`, itself proved otherwise, that the exact profile admits.
std::optional<double> sigma2_by_profile(ApproxDp target, double sensitivity, double start) {
  if (sensitivity > kProfileSensitivityMax || start > DiscreteGaussianProfile::kSigma2Max)
    return std::nullopt;
  const auto whole = static_cast<std::int64_t>(sensitivity);
  const auto meets = [&](double sigma2) {
    return DiscreteGaussianProfile(sigma2).delta_up(target.epsilon.value(), whole) <=
           target.delta.value();
  };
  double good = round_up_to_24_digits(start);
  if (!meets(good)) return std::nullopt;
  double bad = good / 2;
  while (meets(bad)) {
    good = bad;
    bad /= 2;
    if (bad < 0x1p-40) return good;
  }
  for (int step = 0; step < 30; ++step) {
    const double middle = round_up_to_24_digits(bad + (good - bad) / 2);
    if (middle >= good) break;
    (meets(middle) ? good : bad) = middle;
  }
  return good;
}

}  // namespace

Result<DiscreteGaussian> DiscreteGaussian::with_sigma2(double sigma2, double sensitivity,
                                                       std::uint64_t dimension,
                                                       Calibration calibration,
                                                       std::optional<ApproxDp> target) {
  if (!(sigma2 <= kSigma2Max))
    return invalid_parameter(
        "Gaussian noise of standard deviation above 2^50 does not fit 64-bit integers; use a "
        "larger "
        "privacy parameter or a coarser grid");
  const double rounded = round_up_to_24_digits(std::fmax(sigma2, 0x1p-40));
  DISCREET_TRY(auto sampler, DiscreteGaussianSampler::make(exact_rational(rounded).value()));
  return DiscreteGaussian(rounded, sensitivity, dimension, calibration, target, std::move(sampler));
}

Result<DiscreteGaussian> DiscreteGaussian::make(Rho rho, L2Sensitivity sensitivity,
                                                std::uint64_t dimension) {
  if (dimension == 0) return invalid_parameter("a release has at least one coordinate");
  if (rho.value() == 0 || !std::isfinite(rho.value()))
    return invalid_parameter(
        fmt::format("rho must be positive and finite to release anything, not {}", rho.value()));
  const double s = effective_sensitivity(sensitivity, dimension);
  return with_sigma2(div_up(squared_up(s), mul_down(2, rho.value())), s, dimension,
                     Calibration::Zcdp, std::nullopt);
}

Result<DiscreteGaussian> DiscreteGaussian::make(ApproxDp target, L2Sensitivity sensitivity,
                                                std::uint64_t dimension) {
  if (dimension == 0) return invalid_parameter("a release has at least one coordinate");
  if (!std::isfinite(target.epsilon.value()))
    return invalid_parameter("epsilon must be finite to calibrate noise");
  if (!(target.delta.value() > 0 && target.delta.value() < 1))
    return invalid_parameter(fmt::format(
        "Gaussian noise needs a delta strictly between 0 and 1, not {}; for delta 0 use Laplace",
        target.delta.value()));
  const double s = effective_sensitivity(sensitivity, dimension);
  double best = std::numeric_limits<double>::infinity();
  Calibration calibration = Calibration::Zcdp;
  if (const auto sigma2 = sigma2_by_zcdp(target, s)) best = *sigma2;
  if (const auto sigma2 = sigma2_by_analytic(target, s, dimension); sigma2 && *sigma2 < best) {
    best = *sigma2;
    calibration = Calibration::AnalyticGaussian;
  }
  if (dimension == 1) {
    if (const auto sigma2 = sigma2_by_profile(target, s, best); sigma2 && *sigma2 < best) {
      best = *sigma2;
      calibration = Calibration::ExactProfile;
    }
  }
  return with_sigma2(best, s, dimension, calibration, target);
}

Result<DiscreteGaussian> DiscreteGaussian::for_error(double error, double confidence,
                                                     L2Sensitivity sensitivity) {
  if (!(confidence > 0 && confidence < 1))
    return invalid_parameter(
        fmt::format("confidence must lie strictly between 0 and 1, not {}", confidence));
  if (!std::isfinite(error) || error < 0 || error > 0x1p50)
    return invalid_parameter(
        fmt::format("the wanted error must be between 0 and 2^50, not {}", error));
  const double s = effective_sensitivity(sensitivity, 1);
  const auto with = [&](double sigma2) {
    return with_sigma2(sigma2, s, 1, Calibration::Zcdp, std::nullopt).value();
  };
  // The bound grows with sigma2.
  double good = 0x1p-40, bad = 1;
  while (with(bad).error_bound(confidence) <= error) {
    good = bad;
    bad *= 4;
  }
  for (int step = 0; step < 40; ++step) {
    const double middle = round_down_to_24_digits(good + (bad - good) / 2);
    if (middle <= good) break;
    (with(middle).error_bound(confidence) <= error ? good : bad) = middle;
  }
  return with_sigma2(good, s, 1, Calibration::Zcdp, std::nullopt);
}

Result<double> DiscreteGaussian::classic_sigma(ApproxDp target, L2Sensitivity sensitivity) {
  DISCREET_TRY(const double multiplier, classic_gaussian_noise_multiplier(target));
  return mul_up(multiplier, sensitivity.value());
}

std::int64_t DiscreteGaussian::release(std::int64_t exact, RandomSource& random) const {
  return saturating_add(exact, sampler_.draw(random));
}

void DiscreteGaussian::release(std::span<std::int64_t> exact, RandomSource& random) const {
  DISCREET_CHECK(exact.size() <= dimension_, "more coordinates than the noise was made for");
  std::vector<std::int64_t> noise(exact.size());
  sampler_.draw_many(noise, random);
  for (std::size_t i = 0; i < exact.size(); ++i) exact[i] = saturating_add(exact[i], noise[i]);
}

LossEvent DiscreteGaussian::loss() const {
  return loss::DiscreteGaussian{
      .sigma2 = sigma2_, .sensitivity = sensitivity_, .dimension = dimension_};
}

Rho DiscreteGaussian::rho() const {
  return Rho::make(div_up(squared_up(sensitivity_), mul_down(2, sigma2_))).value();
}

double DiscreteGaussian::error_bound(double confidence) const {
  return error_bound_of_worst(confidence, 1);
}

double DiscreteGaussian::error_bound_of_worst(double confidence, std::uint64_t k) const {
  DISCREET_CHECK(confidence > 0 && confidence < 1 && k > 0,
                 "confidence within (0, 1) and at least one coordinate");
  // Each of k may fail with 1 - confidence^(1/k); the last factor outweighs the functions'
  // rounding.
  const double beta = -std::expm1(std::log(confidence) / static_cast<double>(k)) * (1 - 1e-12);
  // The least t with 2 P[Z >= t] <= beta; a release is then within t - 1.
  if (sigma2_ <= DiscreteGaussianProfile::kSigma2Max) {
    const DiscreteGaussianProfile profile(sigma2_);
    std::int64_t low = 0, high = 1;  // low fails, high holds
    while (2 * profile.at_least_up(high) > beta) {
      low = high;
      high *= 2;
    }
    while (high - low > 1) {
      const std::int64_t middle = low + (high - low) / 2;
      (2 * profile.at_least_up(middle) <= beta ? high : low) = middle;
    }
    return static_cast<double>(high - 1);
  }
  // P[Z >= t] <= P[N(0, sigma2) >= t - 1]: the sum is below the integral (proof page).
  const double z = boost::math::erfc_inv(beta) * std::sqrt(2.0);
  return std::ceil(z * std::sqrt(sigma2_) * (1 + 1e-12)) + 1;
}

}  // namespace discreet
