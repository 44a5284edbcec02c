// SHE: a one-hot histogram with Laplace noise in every cell, sent as it is.
//
// Counts are on a grid of 1/1024, so the noise is discrete Laplace of rate epsilon / 2048:
// exchanging the value moves two cells by 1024 each.
#include <algorithm>
#include <cmath>

#include "local/oracles_internal.h"
#include "local/report_bytes_internal.h"
#include "random/discrete_laplace_sampler.h"

namespace discreet::local {
namespace {

constexpr std::int64_t kUnit = 1024;
constexpr std::int64_t kLimit = std::int64_t{1} << 40;  // reports saturate here, 5 bytes and a sign
constexpr std::size_t kCellBytes = 6;

class SummedHistogramOracle final : public Oracle {
 public:
  SummedHistogramOracle(const Spec& spec, DiscreteLaplaceSampler noise)
      : Oracle(spec, kCellBytes * spec.values, spec.values, spec.values),
        noise_(std::move(noise)) {}

  void randomize(std::uint64_t input, RandomSource& random,
                 std::span<std::uint8_t> report) const override {
    for (std::uint64_t i = 0; i < spec().values; ++i) {
      const std::int64_t exact = i == input ? kUnit : 0;
      const std::int64_t noisy = std::clamp(exact + noise_.draw(random), -kLimit, kLimit);
      put(report.data() + kCellBytes * i, static_cast<std::uint64_t>(noisy + kLimit), kCellBytes);
    }
  }

  // Up to the constant that is the same for every input: the product of exp(-rate |z|). It is
  // irrational, so a rational within 2^-64 of it is given.
  Rational likelihood(Bytes report, std::uint64_t input) const override {
    if (!valid(report)) return 0;
    Rational exponent = 0;
    for (std::uint64_t i = 0; i < spec().values; ++i) {
      const std::int64_t z = cell(report.data(), i) - (i == input ? kUnit : 0);
      exponent += noise_.rate() * Rational(z < 0 ? -z : z);
    }
    return Rational(Probability::exp_minus(exponent).digits(256), BigInt(1) << 256);
  }

  bool valid(Bytes report) const override {
    if (report.size() != report_bytes()) return false;
    for (std::uint64_t i = 0; i < spec().values; ++i)
      if (get(report.data() + kCellBytes * i, kCellBytes) > 2 * kLimit) return false;
    return true;
  }

  // The variance of a discrete Laplace variable is 2 r / (1 - r)^2, r = exp(-rate).
  Variance variance() const override {
    const double rate = spec().epsilon / (2.0 * kUnit);
    const double r = std::exp(-rate), gap = -std::expm1(-rate);
    return {2 * r / (gap * gap) / (double{kUnit} * kUnit), 0};
  }

 protected:
  void add_valid(Bytes reports, std::span<std::int64_t> cells) const override {
    for (std::size_t at = 0; at < reports.size(); at += report_bytes())
      for (std::uint64_t i = 0; i < spec().values; ++i) cells[i] += cell(reports.data() + at, i);
  }

  std::vector<double> estimate_valid(const Tally& tally,
                                     std::span<const std::uint64_t> inputs) const override {
    std::vector<double> out;
    for (const auto input : inputs)
      out.push_back(static_cast<double>(tally.cells[input]) / double{kUnit});
    return out;
  }

 private:
  static std::int64_t cell(const std::uint8_t* report, std::uint64_t i) {
    return static_cast<std::int64_t>(get(report + kCellBytes * i, kCellBytes)) - kLimit;
  }

  DiscreteLaplaceSampler noise_;
};

}  // namespace

std::unique_ptr<Oracle> make_summed_histogram(const Spec& spec) {
  return std::make_unique<SummedHistogramOracle>(
      spec, DiscreteLaplaceSampler::make(exact_epsilon(spec, 1, 2 * kUnit)).value());
}

}  // namespace discreet::local
