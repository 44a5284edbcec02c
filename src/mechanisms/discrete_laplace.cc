#include "mechanisms/discrete_laplace.h"

#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "base/saturating.h"

namespace discreet {
namespace {

// P[|Z| >= t] = 2 r^t / (1 + r) for t >= 1; the least t >= 1 at which this is at most beta.
double least_tail_start(double rate, double beta) {
  const double r = exp_down(-rate);
  const double t = std::ceil(div_up(log_up(div_up(2, mul_down(add_down(1, r), beta))), rate));
  return std::fmax(1, t);
}

Result<void> check_confidence(double confidence) {
  if (!(confidence > 0 && confidence < 1))
    return invalid_parameter(
        fmt::format("confidence must lie strictly between 0 and 1, not {}", confidence));
  return {};
}

// Each of k coordinates may fail with chance 1 - confidence^(1/k), so that all hold with the
// confidence. The last factor outweighs the rounding of the three functions.
double failure_chance(double confidence, std::uint64_t k) {
  return -std::expm1(std::log(confidence) / static_cast<double>(k)) * (1 - 1e-12);
}

}  // namespace

Result<DiscreteLaplace> DiscreteLaplace::make(Epsilon epsilon, L1Sensitivity sensitivity) {
  if (epsilon.value() == 0)
    return invalid_parameter("epsilon must be positive: at zero nothing can be released");
  const Rational rate =
      exact_rational(epsilon.value()).value() / exact_rational(sensitivity.value()).value();
  DISCREET_TRY(auto sampler, DiscreteLaplaceSampler::make(rate));
  return DiscreteLaplace(epsilon, sensitivity, std::move(sampler));
}

Result<DiscreteLaplace> DiscreteLaplace::for_error(double error, double confidence,
                                                   L1Sensitivity sensitivity) {
  DISCREET_TRY_VOID(check_confidence(confidence));
  if (!std::isfinite(error) || error < 0)
    return invalid_parameter(
        fmt::format("the wanted error must be finite and not negative, not {}", error));
  // The bound falls as epsilon grows: bisect between an epsilon that is too small and one that
  // suffices.
  const double beta = failure_chance(confidence, 1);
  const double within = std::floor(error) + 1;  // |Z| <= error means |Z| < within
  const auto suffices = [&](double rate) { return least_tail_start(rate, beta) <= within; };
  double low = 0, high = 1;
  while (!suffices(high)) {
    low = high;
    high *= 2;
  }
  for (int step = 0; step < 200 && next_up(low) < high; ++step) {
    const double middle = low + (high - low) / 2;
    (suffices(middle) ? high : low) = middle;
  }
  DISCREET_TRY(const auto epsilon, Epsilon::make(mul_up(high, sensitivity.value())));
  return make(epsilon, sensitivity);
}

std::int64_t DiscreteLaplace::release(std::int64_t exact, RandomSource& random) const {
  return saturating_add(exact, sampler_.draw(random));
}

void DiscreteLaplace::release(std::span<std::int64_t> exact, RandomSource& random) const {
  std::vector<std::int64_t> noise(exact.size());
  sampler_.draw_many(noise, random);
  for (std::size_t i = 0; i < exact.size(); ++i) exact[i] = saturating_add(exact[i], noise[i]);
}

double DiscreteLaplace::scale() const {
  return div_down(sensitivity_.value(), epsilon_.value());
}

LossEvent DiscreteLaplace::loss() const {
  // A whole-number query cannot move by a fraction, so the sensitivity may be rounded down to an
  // integer; below one it cannot move at all and is charged as if it moved by one.
  const double whole = std::fmax(1, std::floor(sensitivity_.value()));
  if (whole > 0x1p53) return loss::Pure{epsilon_};
  return loss::DiscreteLaplace{.scale = scale(), .sensitivity = static_cast<std::int64_t>(whole)};
}

double DiscreteLaplace::error_bound(double confidence) const {
  return error_bound_of_worst(confidence, 1);
}

double DiscreteLaplace::error_bound_of_worst(double confidence, std::uint64_t k) const {
  DISCREET_CHECK(confidence > 0 && confidence < 1 && k > 0,
                 "confidence within (0, 1) and at least one coordinate");
  const double beta = failure_chance(confidence, k);
  return least_tail_start(div_down(epsilon_.value(), sensitivity_.value()), beta) - 1;
}

double DiscreteLaplace::textbook_error_bound(double beta, std::uint64_t k) const {
  DISCREET_CHECK(beta > 0 && beta <= 1 && k > 0, "beta within (0, 1] and at least one coordinate");
  const double continuous =
      mul_up(log_up(div_up(count_up(k), beta)), div_up(sensitivity_.value(), epsilon_.value()));
  return add_up(continuous, 0.5);
}

double DiscreteLaplace::variance() const {
  const double rate = div_down(epsilon_.value(), sensitivity_.value());
  const double one_minus_r = -expm1_up(-rate);
  return div_up(2 * exp_up(-rate), mul_down(one_minus_r, one_minus_r));
}

}  // namespace discreet
