#include "prio/noise.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/rounding.h"

namespace discreet::prio {
namespace {

constexpr double kOverflowChance = 0x1p-40;

/// The worst two vectors the circuit allows; add/remove compares one with nothing.
CircuitSensitivity worst_pair(const Shape& shape, bool replace) {
  const std::uint64_t length = shape.circuit.length, max = shape.circuit.max;
  switch (shape.circuit.kind) {
    case CircuitKind::Count:
      return {1, 1};
    case CircuitKind::HigherDegree:
      return {2, 2};
    case CircuitKind::Sum:
      return {count_up(max), count_up(max)};
    case CircuitKind::SumVec:
    case CircuitKind::SumVecMultiproof:  // every entry moves by at most the maximum, under both
                                         // relations
      return {mul_up(count_up(length), count_up(max)),
              mul_up(sqrt_up(count_up(length)), count_up(max))};
    case CircuitKind::Histogram: {
      const std::uint64_t moved = replace && length > 1 ? 2 : 1;
      return {count_up(moved), sqrt_up(count_up(moved))};
    }
    case CircuitKind::MultihotCountVec: {  // symmetric difference of two sets of at most max
                                           // options
      const std::uint64_t moved = replace ? std::min(2 * max, length) : max;
      return {count_up(moved), sqrt_up(count_up(moved))};
    }
    case CircuitKind::L1BoundSum:  // all of the norm in one entry, then in another
      if (replace && length > 1) return {count_up(2 * max), mul_up(sqrt_up(2), count_up(max))};
      return {count_up(max), count_up(max)};
  }
  return {0, 0};
}

/// The least e with P[|Z + Z'| > e] <= beta for two discrete Laplace variables: with r =
/// exp(-1/scale), P[Z + Z' = s] = ((1 - r) / (1 + r))^2 r^|s| (|s| + (1 + r^2) / (1 - r^2)), summed
/// from e + 1 on.
double two_laplace_error(double scale, double beta) {
  const double r = std::exp(-1 / scale), gap = -std::expm1(-1 / scale);
  const double first = (1 + r * r) / (gap * (1 + r));
  const auto tail = [&](double t) {
    return 2 * std::pow(gap / (1 + r), 2) * std::pow(r, t) * ((t + first) / gap + r / (gap * gap));
  };
  double low = -1, high = 1;
  while (tail(high + 1) > beta) high *= 2;
  while (high - low > 1) {
    const double middle = std::floor((low + high) / 2);
    (tail(middle + 1) > beta ? low : high) = middle;
  }
  return high;
}

}  // namespace

const char* name(NoiseKind kind) {
  switch (kind) {
    case NoiseKind::Laplace:
      return "laplace";
    case NoiseKind::Gaussian:
      return "gaussian";
    case NoiseKind::None:
      break;
  }
  return "none";
}
const char* name(NoiseSplit split) {
  return split == NoiseSplit::Full ? "full" : "divided";
}

Result<NoiseKind> noise_kind(std::string_view text) {
  for (const NoiseKind kind : {NoiseKind::None, NoiseKind::Laplace, NoiseKind::Gaussian})
    if (text == name(kind)) return kind;
  return invalid_parameter(fmt::format("noise is none, laplace or gaussian, not {:?}", text));
}
Result<NoiseSplit> noise_split(std::string_view text) {
  for (const NoiseSplit split : {NoiseSplit::Full, NoiseSplit::Divided})
    if (text == name(split)) return split;
  return invalid_parameter(fmt::format("noise is added in full or divided, not {:?}", text));
}

CircuitSensitivity sensitivity(const Shape& shape, Neighbours neighbours) {
  return worst_pair(shape, neighbours == Neighbours::ReplaceOne);
}

std::uint64_t entry_max(const Shape& shape) {
  switch (shape.circuit.kind) {
    case CircuitKind::Sum:
    case CircuitKind::SumVec:
    case CircuitKind::SumVecMultiproof:
    case CircuitKind::L1BoundSum:
      return shape.circuit.max;
    case CircuitKind::HigherDegree:
      return 2;
    default:
      return 1;
  }
}

Result<ShareNoise> ShareNoise::make(const Shape& shape, unsigned servers,
                                    const NoisePolicy& policy) {
  ShareNoise noise(shape, servers, policy);
  if (policy.kind == NoiseKind::None)
    return invalid_parameter("a task without noise has no noise to add");
  if (policy.reports_per_client == 0)
    return invalid_parameter("a client sends at least one report");
  DISCREET_TRY(const Epsilon epsilon, Epsilon::make(policy.epsilon));
  const CircuitSensitivity one = sensitivity(shape, policy.neighbours);
  const double reports = policy.reports_per_client;
  DISCREET_TRY(const L1Sensitivity l1, L1Sensitivity::make(mul_up(one.l1, reports)));
  DISCREET_TRY(const L2Sensitivity l2, L2Sensitivity::make(mul_up(one.l2, reports)));
  if (policy.kind == NoiseKind::Gaussian) {
    if (policy.split == NoiseSplit::Divided)
      return invalid_parameter(
          "a discrete Gaussian is not a sum of smaller ones, so it cannot be divided exactly; let "
          "each "
          "server add the full noise, or use laplace");
    DISCREET_TRY(const Delta delta, Delta::make(policy.delta));
    DISCREET_TRY(auto gaussian, DiscreteGaussian::make(ApproxDp{epsilon, delta}, l2, shape.output));
    noise.gaussian_.emplace(std::move(gaussian));
    return noise;
  }
  if (policy.delta != 0) return invalid_parameter("Laplace noise is pure: its delta is zero");
  DISCREET_TRY(auto laplace, DiscreteLaplace::make(epsilon, l1));
  noise.laplace_.emplace(std::move(laplace));
  if (policy.split == NoiseSplit::Divided) {
    const Rational rate =
        exact_rational(epsilon.value()).value() / exact_rational(l1.value()).value();
    DISCREET_TRY(auto polya, PolyaSampler::make(rate, servers));
    noise.polya_.emplace(std::move(polya));
  }
  return noise;
}

void ShareNoise::add(const Prio3& prio, FieldVector& share, RandomSource& random) const {
  std::vector<std::int64_t> drawn(shape_.output);
  if (gaussian_) {
    gaussian_->release(drawn, random);
  } else if (polya_) {
    for (std::int64_t& value : drawn)
      value = saturating_sub(polya_->draw(random), polya_->draw(random));
  } else {
    laplace_->release(drawn, random);
  }
  prio.add_integers(share, drawn);
}

LossEvent ShareNoise::loss() const {
  return gaussian_ ? gaussian_->loss() : laplace_->loss();
}

ledger::Price ShareNoise::price() const {
  const ApproxDp stated{Epsilon::make(policy_.epsilon).value(), Delta::make(policy_.delta).value()};
  // The event's sensitivity is already that of the policy's relation.
  return ledger::Price::of(stated, loss(), Neighbours::AddRemove);
}

double ShareNoise::variance() const {
  return noises() * (gaussian_ ? gaussian_->variance() : laplace_->variance());
}

double ShareNoise::error95() const {
  const auto within = [this](double confidence) {
    return gaussian_ ? gaussian_->error_bound(confidence) : laplace_->error_bound(confidence);
  };
  const double count = noises();
  if (noises() == 1) return within(0.95);
  const double together = count * within(1 - 0.05 / count);
  if (gaussian_)  // a sum of sub-Gaussian variables (Canonne, Kamath and Steinke 2020, Corollary
                  // 17)
    return std::min(together, std::ceil(std::sqrt(2 * variance() * std::log(2 / 0.05))));
  if (noises() == 2) return two_laplace_error(laplace_->scale(), 0.05);
  return std::min(together, std::sqrt(variance() / 0.05));
}

Result<void> ShareNoise::check_fits(std::uint64_t reports) const {
  const double confidence = 1 - kOverflowChance / noises();
  const double noise = gaussian_ ? gaussian_->error_bound_of_worst(confidence, shape_.output)
                                 : laplace_->error_bound_of_worst(confidence, shape_.output);
  return check_sums_fit(shape_, reports, noises() * noise);
}

Result<void> check_sums_fit(const Shape& shape, std::uint64_t reports, double noise) {
  const double sums = mul_up(count_up(reports), count_up(entry_max(shape)));
  const double limit = std::ldexp(1.0, shape.field_bits == 64 ? 62 : 126);  // below p / 2
  if (!(add_up(sums, noise) < limit))
    return Error{
        ErrorCode::Refused,
        fmt::format("{} reports of up to {} and their noise could pass half of the field; take "
                    "smaller batches, or a circuit over the larger field (sum-vec)",
                    reports, entry_max(shape))};
  return {};
}

}  // namespace discreet::prio
