#include "mechanisms/partition_threshold.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/saturating.h"
#include "privacy/zcdp_conversion.h"

namespace discreet {
namespace {

constexpr double kThresholdMax = 0x1p53;
constexpr double kSmallSigma = 8;  // below, tails are summed; above, erfc is within 1e-6

Result<std::int64_t> whole_threshold(double threshold) {
  if (!(threshold < kThresholdMax))
    return invalid_parameter("this epsilon and delta put the threshold above 2^53 units");
  return static_cast<std::int64_t>(threshold);
}

double normal_tail(double x, double sigma) {
  return std::erfc(x / (sigma * std::sqrt(2.0))) / 2;
}

}  // namespace

Result<PartitionThreshold> PartitionThreshold::laplace(ApproxDp budget, PartitionLimits limits) {
  DISCREET_TRY(const ApproxDp share, partition_share(budget, limits));
  const Rational rate = exact_rational(share.epsilon.value()).value();
  DISCREET_TRY(auto noise, DiscreteLaplaceSampler::make(rate));
  // P[1 + Z >= T] = r^{T-1} / (1 + r): the least T at which this is within the share of delta.
  const double rate_down = share.epsilon.value();
  const double keep_max = mul_down(share.delta.value(), add_down(1, exp_down(-rate_down)));
  const double steps = std::ceil(div_up(log_up(div_up(1, keep_max)), rate_down));
  DISCREET_TRY(const auto threshold, whole_threshold(1 + std::fmax(0, steps)));
  return PartitionThreshold(budget, limits, threshold, budget.delta, std::move(noise));
}

Result<PartitionThreshold> PartitionThreshold::gaussian(ApproxDp budget, PartitionLimits limits) {
  DISCREET_TRY(const ApproxDp share, partition_share(budget, limits));
  const Delta half = Delta::make(budget.delta.value() / 2).value();
  const auto rho = zcdp_meeting({budget.epsilon, half});
  if (!rho) return invalid_parameter("this epsilon and delta leave no room for Gaussian noise");
  // A unit moves at most m keys by one each: rho = m / (2 sigma^2).
  const double sigma2 = div_up(count_up(limits.partitions_per_unit_max), mul_down(2, rho->value()));
  DISCREET_TRY(auto noise, DiscreteGaussianSampler::make(exact_rational(sigma2).value()));
  // P[Z >= t] <= P[N(0, sigma2) >= t - 1] (Canonne, Kamath and Steinke 2020, Proposition 25). The
  // normal tail is searched with room for its rounding.
  const double sigma = sqrt_up(sigma2), keep_max = share.delta.value() / 2 * (1 - 1e-9);
  double low = 0, high = 1;
  while (normal_tail(high, sigma) > keep_max) low = high, high *= 2;
  for (int step = 0; step < 80; ++step) {
    const double middle = low + (high - low) / 2;
    (normal_tail(middle, sigma) > keep_max ? low : high) = middle;
  }
  DISCREET_TRY(const auto threshold, whole_threshold(std::ceil(high) + 2));
  return PartitionThreshold(budget, limits, threshold, half, std::move(noise));
}

std::optional<std::int64_t> PartitionThreshold::release(std::uint64_t units,
                                                        RandomSource& random) const {
  const std::int64_t noise =
      std::visit([&](const auto& sampler) { return sampler.draw(random); }, noise_);
  if (units < limits_.units_min || units == 0) return std::nullopt;
  const std::int64_t n = saturate(Int128{units} - (limits_.units_min - 1));
  if (saturating_add(n, noise) < threshold_) return std::nullopt;
  return saturate(Int128{units} + noise);
}

double PartitionThreshold::tail(std::int64_t t) const {
  const auto x = static_cast<double>(t);
  if (const auto* laplace = std::get_if<DiscreteLaplaceSampler>(&noise_)) {
    const double rate = to_double_down(laplace->rate());
    const double r = std::exp(-rate);
    return t >= 0 ? std::exp(-rate * x) / (1 + r) : 1 - std::exp(-rate * (1 - x)) / (1 + r);
  }
  const double sigma = noise_deviation();
  if (sigma >= kSmallSigma) return normal_tail(x - 0.5, sigma);
  double above = 0, total = 0;
  for (int z = -400; z <= 400; ++z) {  // beyond 50 sigma nothing is left
    const double weight = std::exp(-z * z / (2 * sigma * sigma));
    total += weight;
    above += z >= t ? weight : 0;
  }
  return above / total;
}

double PartitionThreshold::keep_probability(std::uint64_t units) const {
  if (units < limits_.units_min || units == 0) return 0;
  return tail(saturate(Int128{threshold_} - (Int128{units} - (limits_.units_min - 1))));
}

Result<std::uint64_t> PartitionThreshold::least_units_kept(double probability) const {
  if (!(probability > 0 && probability < 1))
    return invalid_parameter(
        fmt::format("the chance of keeping must lie within (0, 1), not {}", probability));
  std::uint64_t low = 0, high = 1;
  while (keep_probability(high) < probability) low = high, high *= 2;
  while (low + 1 < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    (keep_probability(middle) < probability ? low : high) = middle;
  }
  return high;
}

double PartitionThreshold::noise_deviation() const {
  if (const auto* laplace = std::get_if<DiscreteLaplaceSampler>(&noise_)) {
    const double rate = to_double_down(laplace->rate());
    return std::sqrt(2 * std::exp(-rate)) / -std::expm1(-rate);
  }
  return std::sqrt(to_double_up(std::get<DiscreteGaussianSampler>(noise_).sigma2()));
}

double PartitionThreshold::error_bound(double confidence) const {
  DISCREET_CHECK(confidence > 0 && confidence < 1, "confidence within (0, 1)");
  std::int64_t high = 1;
  while (2 * tail(high + 1) > 1 - confidence) high *= 2;
  std::int64_t low =
      0;  // the least t with P[|Z| > t] within 1 - confidence lies above `low`, up to `high`
  while (low + 1 < high) {
    const std::int64_t middle = low + (high - low) / 2;
    (2 * tail(middle + 1) > 1 - confidence ? low : high) = middle;
  }
  return static_cast<double>(2 * tail(1) <= 1 - confidence ? 0 : high);
}

LossEvent PartitionThreshold::loss() const {
  const LossEvent hidden = loss::Approximate{Epsilon::zero(), threshold_delta_};
  const std::uint64_t m = limits_.partitions_per_unit_max;
  if (const auto* gaussian = std::get_if<DiscreteGaussianSampler>(&noise_))
    return loss::Composed{{loss::DiscreteGaussian{.sigma2 = to_double_down(gaussian->sigma2()),
                                                  .sensitivity = sqrt_up(count_up(m)),
                                                  .dimension = m},
                           hidden}};
  const Rational rate = std::get<DiscreteLaplaceSampler>(noise_).rate();
  return loss::Composed{
      {loss::DiscreteLaplace{.scale = to_double_down(1 / rate), .sensitivity = saturate(Int128{m})},
       hidden}};
}

}  // namespace discreet
