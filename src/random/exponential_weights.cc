#include "random/exponential_weights.h"

#include <algorithm>
#include <limits>

#include "random/exp_powers.h"
#include "random/probability.h"

namespace discreet {
namespace {

constexpr std::size_t kCandidatesMax = std::size_t{1} << 30;
constexpr unsigned kWeightBits = 96;
constexpr int kRebaseBeyond = 16;
constexpr unsigned kSlack = 2;  // units of 2^-96 by which a stored weight may be too low

BigInt to_big(UInt128 value) {
  return (BigInt(static_cast<std::uint64_t>(value >> 64)) << 64) |
         static_cast<std::uint64_t>(value);
}

UInt128 to_uint128(const BigInt& value) {
  return (UInt128{static_cast<std::uint64_t>(value >> 64)} << 64) |
         static_cast<std::uint64_t>(value & ((BigInt(1) << 64) - 1));
}

Result<void> check_count(std::size_t count) {
  if (count == 0) return invalid_parameter("there is nothing to choose from");
  if (count > kCandidatesMax) return invalid_parameter("more than 2^30 candidates to choose from");
  return {};
}

}  // namespace

Result<ExponentialWeights> ExponentialWeights::make(std::span<const std::uint64_t> distances,
                                                    Rational unit) {
  DISCREET_TRY_VOID(check_count(distances.size()));
  if (unit <= 0) return invalid_parameter("the unit of a weight's exponent must be positive");
  DISCREET_CHECK(*std::min_element(distances.begin(), distances.end()) == 0,
                 "the largest weight must be one");
  ExponentialWeights weights;
  const ExpPowers powers(unit);
  weights.low_.reserve(distances.size());
  for (const std::uint64_t distance : distances)
    weights.low_.push_back(powers.low(distance) >> (128 - kWeightBits));
  weights.distances_.assign(distances.begin(), distances.end());
  weights.unit_ = std::move(unit);
  return weights;
}

Result<ExponentialWeights> ExponentialWeights::make(std::vector<Rational> exponents) {
  DISCREET_TRY_VOID(check_count(exponents.size()));
  DISCREET_CHECK(*std::min_element(exponents.begin(), exponents.end()) == 0,
                 "the largest weight must be one");
  ExponentialWeights weights;
  weights.low_.reserve(exponents.size());
  for (const Rational& x : exponents) {
    const ScaledInterval e = exp_minus_scaled(x, kWeightBits + 8);
    weights.low_.push_back(to_uint128(BigInt(e.low >> 8)));
  }
  weights.exponents_ = std::move(exponents);
  return weights;
}

Rational ExponentialWeights::exponent(std::size_t index) const {
  return exponents_.empty() ? Rational(unit_ * distances_[index]) : exponents_[index];
}

std::size_t ExponentialWeights::draw(RandomSource& random) const {
  return draw_among(low_, std::vector<bool>(low_.size()), random);
}

std::vector<std::size_t> ExponentialWeights::draw_distinct(std::size_t count,
                                                           RandomSource& random) const {
  DISCREET_CHECK(count <= size(), "more distinct draws than candidates");
  std::vector<bool> removed(size());
  std::vector<std::size_t> drawn;
  while (drawn.size() < count) {
    // Once the heavy candidates are gone the rest may weigh too little for the stored digits; only
    // differences of exponents matter, so they are then measured from the heaviest one left.
    if (least_remaining(removed) > kRebaseBeyond) {
      const std::vector<std::size_t> rest = remaining(removed);
      const auto rebased = relative_to_heaviest(rest);
      for (const std::size_t index : rebased.draw_distinct(count - drawn.size(), random))
        drawn.push_back(rest[index]);
      return drawn;
    }
    drawn.push_back(draw_among(low_, removed, random));
    removed[drawn.back()] = true;
  }
  return drawn;
}

Rational ExponentialWeights::least_remaining(const std::vector<bool>& removed) const {
  if (!exponents_.empty()) {
    const Rational* least = nullptr;
    for (std::size_t i = 0; i < size(); ++i)
      if (!removed[i] && (least == nullptr || exponents_[i] < *least)) least = &exponents_[i];
    return least == nullptr ? Rational(0) : *least;
  }
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (std::size_t i = 0; i < size(); ++i)
    if (!removed[i]) least = std::min(least, distances_[i]);
  return unit_ * least;
}

std::vector<std::size_t> ExponentialWeights::remaining(const std::vector<bool>& removed) {
  std::vector<std::size_t> rest;
  for (std::size_t i = 0; i < removed.size(); ++i)
    if (!removed[i]) rest.push_back(i);
  return rest;
}

ExponentialWeights ExponentialWeights::relative_to_heaviest(
    std::span<const std::size_t> indices) const {
  if (!exponents_.empty()) {
    std::vector<Rational> shifted;
    for (const std::size_t index : indices) shifted.push_back(exponents_[index]);
    const Rational least = *std::min_element(shifted.begin(), shifted.end());
    for (Rational& x : shifted) x -= least;
    return make(std::move(shifted)).value();
  }
  std::vector<std::uint64_t> shifted;
  for (const std::size_t index : indices) shifted.push_back(distances_[index]);
  const std::uint64_t least = *std::min_element(shifted.begin(), shifted.end());
  for (std::uint64_t& distance : shifted) distance -= least;
  return make(shifted, unit_).value();
}

// With U uniform and W the total weight, the choice is the i with C_{i-1} <= U W < C_i, C the
// running sums. U is known to 128 digits and W, C to within the slack, so U W lies between
// target_low and target_high.
std::size_t ExponentialWeights::draw_among(std::span<const UInt128> low,
                                           const std::vector<bool>& removed,
                                           RandomSource& random) const {
  UInt128 total = 0;
  std::uint64_t remaining = 0;
  for (std::size_t i = 0; i < low.size(); ++i) {
    total += removed[i] ? 0 : low[i];
    remaining += removed[i] ? 0 : 1;
  }
  BigInt drawn = random.bits64();
  drawn = (drawn << 64) | random.bits64();
  const BigInt total_high = to_big(total) + BigInt(kSlack) * remaining;
  const UInt128 target_low = to_uint128(BigInt((drawn * to_big(total)) >> 128));
  const UInt128 target_high = to_uint128(BigInt(((drawn + 1) * total_high) >> 128)) + 1;

  // Every candidate is looked at; the last one whose range surely begins at or below the target is
  // kept.
  UInt128 sum_low = 0;
  std::uint64_t slack = 0;
  std::size_t chosen = low.size();
  bool certain = false;
  for (std::size_t i = 0; i < low.size(); ++i) {
    if (removed[i]) continue;
    const bool begins = sum_low + slack <= target_low;  // C_{i-1} at its highest
    sum_low += low[i];
    slack += kSlack;
    const bool ends = target_high <= sum_low;  // C_i at its lowest
    if (begins && ends && !certain) {
      chosen = i;
      certain = true;
    }
  }
  return certain ? chosen : draw_refined(drawn, 128, removed, random);
}

std::size_t ExponentialWeights::draw_refined(const BigInt& first, unsigned first_bits,
                                             const std::vector<bool>& removed,
                                             RandomSource& random) const {
  BigInt drawn = first;
  for (unsigned bits = first_bits + 64;; bits += 64) {
    drawn = (drawn << 64) | random.bits64();
    std::vector<ScaledInterval> weights(size());
    BigInt total_low = 0, total_high = 0;
    for (std::size_t i = 0; i < size(); ++i) {
      if (removed[i]) continue;
      weights[i] = exp_minus_scaled(exponent(i), bits);
      total_low += weights[i].low;
      total_high += weights[i].high;
    }
    const BigInt target_low = (drawn * total_low) >> bits;
    const BigInt target_high = (((drawn + 1) * total_high) >> bits) + 1;
    BigInt sum_low = 0, sum_high = 0;
    for (std::size_t i = 0; i < size(); ++i) {
      if (removed[i]) continue;
      const bool begins = sum_high <= target_low;
      sum_low += weights[i].low;
      sum_high += weights[i].high;
      if (begins && target_high <= sum_low) return i;
    }
  }
}

}  // namespace discreet
