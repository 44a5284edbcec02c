#include "random/interval_weights.h"

#include <algorithm>
#include <vector>

#include "random/probability.h"

namespace discreet {
namespace {

// Wide enough for 2^30 candidates of 2^64 * 2^96, and for that times 2^128.
using Wide = boost::multiprecision::number<boost::multiprecision::cpp_int_backend<
    384, 384, boost::multiprecision::unsigned_magnitude, boost::multiprecision::unchecked, void>>;

constexpr unsigned kWeightBits = 96;
constexpr unsigned kSlack = 2;  // units of 2^-96 by which exp may be above its lower bound

BigInt to_big(UInt128 value) {
  return (BigInt(static_cast<std::uint64_t>(value >> 64)) << 64) |
         static_cast<std::uint64_t>(value);
}

Wide to_wide(UInt128 value) {
  return (Wide(static_cast<std::uint64_t>(value >> 64)) << 64) | static_cast<std::uint64_t>(value);
}

// The same decision with `bits` digits, more at every attempt.
std::size_t draw_refined(std::span<const IntervalWeight> candidates, UInt128 nearest,
                         const Rational& unit, BigInt drawn, RandomSource& random) {
  for (unsigned bits = 192;; bits += 64) {
    drawn = (drawn << 64) | random.bits64();
    std::vector<ScaledInterval> weights(candidates.size());
    BigInt total_low = 0, total_high = 0;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (candidates[i].length == 0) continue;
      weights[i] =
          exp_minus_scaled(unit * Rational(to_big(candidates[i].distance - nearest)), bits);
      weights[i].low *= candidates[i].length;
      weights[i].high *= candidates[i].length;
      total_low += weights[i].low;
      total_high += weights[i].high;
    }
    const BigInt target_low = (drawn * total_low) >> bits;
    const BigInt target_high = (((drawn + 1) * total_high) >> bits) + 1;
    BigInt sum_low = 0, sum_high = 0;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const bool begins = sum_high <= target_low;
      sum_low += weights[i].low;
      sum_high += weights[i].high;
      if (candidates[i].length > 0 && begins && target_high <= sum_low) return i;
    }
  }
}

}  // namespace

std::size_t draw_interval(std::span<const IntervalWeight> candidates, const ExpPowers& powers,
                          RandomSource& random) {
  DISCREET_CHECK(candidates.size() <= (std::size_t{1} << 30), "too many candidates");
  UInt128 nearest = ~UInt128{0};
  bool any = false;
  for (const auto& candidate : candidates) {
    if (candidate.length == 0) continue;
    any = true;
    nearest = std::min(nearest, candidate.distance);
  }
  DISCREET_CHECK(any, "there is nothing to choose from");

  std::vector<Wide> low(candidates.size());
  Wide total = 0, slack_total = 0;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const std::uint64_t length = candidates[i].length;
    if (length == 0) continue;
    low[i] = to_wide(powers.low(candidates[i].distance - nearest) >> (128 - kWeightBits)) * length;
    total += low[i];
    slack_total += Wide(length) * kSlack;
  }
  BigInt drawn = random.bits64();
  drawn = (drawn << 64) | random.bits64();
  const Wide uniform(drawn);
  const Wide target_low = (uniform * total) >> 128;
  const Wide target_high = (((uniform + 1) * (total + slack_total)) >> 128) + 1;

  Wide sum_low = 0, slack = 0;
  std::size_t chosen = candidates.size();
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const std::uint64_t length = candidates[i].length;
    const bool begins = sum_low + slack <= target_low;
    sum_low += low[i];
    slack += Wide(length) * kSlack;
    if (length > 0 && begins && target_high <= sum_low) chosen = i;  // at most one i can
  }
  if (chosen < candidates.size()) return chosen;
  return draw_refined(candidates, nearest, powers.unit(), std::move(drawn), random);
}

}  // namespace discreet
