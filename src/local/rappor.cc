// RAPPOR (Erlingsson, Pihur and Korolova 2014): a Bloom filter of the value, in one of several
// cohorts with hash functions of their own, randomised once for good and again for every report.
//
// A report flips each bit with chance total_; when there is a permanent round, permanent_ of it is
// drawn from the value's lasting stream and the rest afresh. The collector solves least squares of
// the cohorts' bit counts on the candidates' filters, which is unbiased for these very hashes.
#include <algorithm>
#include <cmath>
#include <vector>

#include "local/coin.h"
#include "local/hash.h"
#include "local/least_squares_internal.h"
#include "local/oracles_internal.h"
#include "local/report_bytes_internal.h"
#include "local/unary_bits_internal.h"
#include "random/uniform.h"

namespace discreet::local {
namespace {

class RapporOracle final : public Oracle {
 public:
  RapporOracle(const Spec& spec, Coin permanent, std::optional<Coin> again)
      : Oracle(spec, 2 + (spec.width + 7) / 8, std::size_t{spec.cohorts} * (spec.width + 1),
               spec.values == 0 ? LargeHash::kPrime : spec.values),
        permanent_(permanent),
        again_(again),
        total_(permanent.exact()) {
    if (again_) total_ = total_ * (1 - again_->exact()) + (1 - total_) * again_->exact();
    flip_ = static_cast<double>(total_);
  }

  void randomize(std::uint64_t input, RandomSource& random,
                 std::span<std::uint8_t> report) const override {
    randomize_lasting(input, {random, random, random}, report);
  }

  void randomize_lasting(std::uint64_t input, const Streams& streams,
                         std::span<std::uint8_t> report) const override {
    const std::uint64_t cohort = uniform_below(spec().cohorts, streams.client);
    put(report.data(), cohort, 2);
    const auto bits = report.subspan(2);
    toss_bits(permanent_, spec().width, streams.value, bits);
    for (const auto place : filter(cohort, input)) set_bit(bits, place, !bit(bits.data(), place));
    if (!again_) return;
    std::vector<std::uint8_t> flips(bits.size());
    toss_bits(*again_, spec().width, streams.fresh, flips);
    for (std::size_t i = 0; i < bits.size(); ++i)
      bits[i] = static_cast<std::uint8_t>(bits[i] ^ flips[i]);
  }

  Rational likelihood(Bytes report, std::uint64_t input) const override {
    if (!valid(report)) return 0;
    const auto ones = filter(get(report.data(), 2), input);
    Rational chance(1, spec().cohorts);
    for (std::uint32_t i = 0; i < spec().width; ++i) {
      const bool truth = std::find(ones.begin(), ones.end(), i) != ones.end();
      chance *= bit(report.data() + 2, i) != truth ? total_ : Rational(1 - total_);
    }
    return chance;
  }

  bool valid(Bytes report) const override {
    return report.size() == report_bytes() && get(report.data(), 2) < spec().cohorts &&
           tail_is_zero(report.data() + 2, spec().width);
  }

  // Filters that do not touch: h bits each say the count, with the variance of one flipped bit.
  Variance variance() const override { return {bit_variance() / spec().hashes, 0}; }

  // Exact for these hashes: what a report of u in a random cohort adds to the estimate of v.
  std::vector<double> variances(double n, std::span<const double> counts,
                                std::span<const std::uint64_t> inputs) const override {
    const std::size_t d = inputs.size();
    const double cohorts = spec().cohorts;
    const Fit fit = solve(inputs);
    std::vector<double> out(d);
    for (std::size_t v = 0; v < d; ++v)
      out[v] = n * cohorts * bit_variance() * fit.inverse[v * d + v] - counts[v];
    std::vector<double> gains(d * d);
    for (const auto& overlaps : fit.overlaps) {
      std::fill(gains.begin(), gains.end(), 0.0);
      for (const auto& overlap : overlaps)
        for (std::size_t v = 0; v < d; ++v)
          gains[v * d + overlap.second] += fit.inverse[v * d + overlap.first] * overlap.bits;
      for (std::size_t v = 0; v < d; ++v)
        for (std::size_t u = 0; u < d; ++u)
          out[v] += counts[u] * cohorts * gains[v * d + u] * gains[v * d + u];
    }
    for (double& variance : out) variance = std::max(0.0, variance);
    return out;
  }

 protected:
  // A cohort's row: a cell per bit, then the number of reports.
  void add_valid(Bytes reports, std::span<std::int64_t> cells) const override {
    const std::size_t row = std::size_t{spec().width} + 1;
    for (std::size_t at = 0; at < reports.size(); at += report_bytes()) {
      const std::uint8_t* report = reports.data() + at;
      const auto counts = cells.subspan(get(report, 2) * row, row);
      for (std::uint32_t i = 0; i < spec().width; ++i) counts[i] += bit(report + 2, i) ? 1 : 0;
      ++counts[spec().width];
    }
  }

  std::vector<double> estimate_valid(const Tally& tally,
                                     std::span<const std::uint64_t> inputs) const override {
    const std::size_t d = inputs.size(), row = std::size_t{spec().width} + 1;
    const Fit fit = solve(inputs);
    std::vector<double> matched(d);
    for (std::uint64_t cohort = 0; cohort < spec().cohorts; ++cohort) {
      const auto cells = std::span(tally.cells).subspan(cohort * row, row);
      const auto reports = static_cast<double>(cells[spec().width]);
      for (std::size_t v = 0; v < d; ++v)
        for (const auto place : filter(cohort, inputs[v]))
          matched[v] += (static_cast<double>(cells[place]) - flip_ * reports) / (1 - 2 * flip_);
    }
    std::vector<double> out(d);
    for (std::size_t v = 0; v < d; ++v)
      for (std::size_t u = 0; u < d; ++u)
        out[v] += spec().cohorts * fit.inverse[v * d + u] * matched[u];
    return out;
  }

 private:
  struct Overlap {
    std::size_t first, second;
    double bits;
  };
  struct Fit {
    std::vector<double> inverse;  // of the sum over cohorts of the overlaps
    std::vector<std::vector<Overlap>> overlaps;
  };

  // The places a value sets, without repetition.
  std::vector<std::uint32_t> filter(std::uint64_t cohort, std::uint64_t input) const {
    std::vector<std::uint32_t> places;
    for (std::uint32_t i = 0; i < spec().hashes; ++i) {
      const auto hash = large_hash(spec().hash_seed, cohort * spec().hashes + i);
      const std::uint32_t place = hash.bucket(input, spec().width);
      if (std::find(places.begin(), places.end(), place) == places.end()) places.push_back(place);
    }
    return places;
  }

  Fit solve(std::span<const std::uint64_t> inputs) const {
    const std::size_t d = inputs.size();
    Fit fit;
    std::vector<double> gram(d * d);
    for (std::uint64_t cohort = 0; cohort < spec().cohorts; ++cohort) {
      std::vector<std::vector<std::size_t>> holders(spec().width);
      for (std::size_t v = 0; v < d; ++v)
        for (const auto place : filter(cohort, inputs[v])) holders[place].push_back(v);
      auto& overlaps = fit.overlaps.emplace_back();
      for (const auto& sharing : holders)
        for (const auto v : sharing)
          for (const auto u : sharing) {
            overlaps.push_back({v, u, 1});
            gram[v * d + u] += 1;
          }
    }
    fit.inverse = inverse_of_gram(std::move(gram), d);
    return fit;
  }

  double bit_variance() const { return flip_ * (1 - flip_) / ((1 - 2 * flip_) * (1 - 2 * flip_)); }

  Coin permanent_;
  std::optional<Coin> again_;
  Rational total_;
  double flip_ = 0;
};

// The second flip that brings the total from `permanent` up to at least the wanted chance.
Coin second_flip(const Coin& permanent, const Probability& wanted) {
  const BigInt total = wanted.digits(128) + 1;
  const BigInt one = BigInt(1) << 64;
  const BigInt flips =
      (total - permanent.heads() * one) / (one - 2 * BigInt(permanent.heads())) + 1;
  return Coin::of(static_cast<std::uint64_t>(flips));
}

}  // namespace

// Exchanging the value changes at most 2 h bits of the filter.
std::unique_ptr<Oracle> make_rappor(const Spec& spec) {
  const Rational per_bit(1, 2 * spec.hashes);
  const auto once = Probability::logistic(exact_rational(spec.epsilon).value() * per_bit);
  if (spec.permanent_epsilon == 0)
    return std::make_unique<RapporOracle>(spec, Coin::at_least(once), std::nullopt);
  const Coin permanent = Coin::at_least(
      Probability::logistic(exact_rational(spec.permanent_epsilon).value() * per_bit));
  return std::make_unique<RapporOracle>(spec, permanent, second_flip(permanent, once));
}

}  // namespace discreet::local
