// Apple's count mean sketch and its Hadamard form (Differential Privacy Team 2017): the value is
// hashed by one of k public functions, and the row of m cells (or one coefficient of its Hadamard
// transform) is randomised. Works on text that nobody listed beforehand.
//
// Variances are those of reference hashing (docs/proofs/local_estimates.md), not of the original
// paper, which Pan (arXiv 2406.03785) found in error.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "local/coin.h"
#include "local/hash.h"
#include "local/oracles_internal.h"
#include "local/report_bytes_internal.h"
#include "local/unary_bits_internal.h"
#include "random/uniform.h"

namespace discreet::local {
namespace {

class Sketch : public Oracle {
 public:
  Sketch(const Spec& spec, std::size_t bytes, std::size_t cells)
      : Oracle(spec, bytes, cells, spec.values == 0 ? LargeHash::kPrime : spec.values) {
    for (std::uint32_t i = 0; i < spec.hashes; ++i)
      hashes_.push_back(large_hash(spec.hash_seed, i));
  }

  // Values that share a cell inflate each other by chance of the public hashes: A S / k, with S the
  // sum of c'(c' - 1) over the other values.
  std::vector<double> variances(double n, std::span<const double> counts,
                                std::span<const std::uint64_t> inputs) const override {
    auto out = Oracle::variances(n, counts, inputs);
    const double m = spec().width, k = spec().hashes;
    const auto pairs = [](double c) { return std::max(0.0, c * (c - 1)); };
    double all = 0;
    for (const double c : counts) all += pairs(c);
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] +=
          width_factor() * width_factor() * (1 / m) * (1 - 1 / m) * (all - pairs(counts[i])) / k;
    return out;
  }

 protected:
  std::uint32_t place(std::size_t row, std::uint64_t input) const {
    return hashes_[row].bucket(input, spec().width);
  }
  double width_factor() const {
    const double m = spec().width;
    return m / (m - 1);
  }

 private:
  std::vector<LargeHash> hashes_;
};

class CountMean final : public Sketch {
 public:
  CountMean(const Spec& spec, Coin flip)
      : Sketch(spec, bytes_below(spec.hashes) + (spec.width + 7) / 8,
               std::size_t{spec.hashes} * spec.width),
        row_bytes_(bytes_below(spec.hashes)),
        flip_(flip) {}

  void randomize(std::uint64_t input, RandomSource& random,
                 std::span<std::uint8_t> report) const override {
    const std::uint64_t row = uniform_below(spec().hashes, random);
    put(report.data(), row, row_bytes_);
    const auto bits = report.subspan(row_bytes_);
    toss_bits(flip_, spec().width, random, bits);
    const std::uint32_t own = place(row, input);
    set_bit(bits, own, !bit(bits.data(), own));
  }

  Rational likelihood(Bytes report, std::uint64_t input) const override {
    if (!valid(report)) return 0;
    const std::uint32_t own = place(get(report.data(), row_bytes_), input);
    Rational chance(1, spec().hashes);
    for (std::uint32_t i = 0; i < spec().width; ++i) {
      const bool flipped = bit(report.data() + row_bytes_, i) != (i == own);
      chance *= flipped ? flip_.exact() : Rational(1 - flip_.exact());
    }
    return chance;
  }

  bool valid(Bytes report) const override {
    return report.size() == report_bytes() && get(report.data(), row_bytes_) < spec().hashes &&
           tail_is_zero(report.data() + row_bytes_, spec().width);
  }

  Variance variance() const override {
    const double m = spec().width, factor = width_factor() * width_factor();
    const double a = (1 / m) * (1 - 1 / m);
    return {factor * ((gain() * gain() - 1) / 4 + a), -factor * a};
  }

 protected:
  void add_valid(Bytes reports, std::span<std::int64_t> cells) const override {
    for (std::size_t at = 0; at < reports.size(); at += report_bytes()) {
      const auto report = reports.subspan(at, report_bytes());
      const auto row = cells.subspan(get(report.data(), row_bytes_) * spec().width, spec().width);
      for (std::uint32_t i = 0; i < spec().width; ++i)
        row[i] += bit(report.data() + row_bytes_, i) ? 1 : -1;
    }
  }

  // A bit b says gain * (2b - 1) / 2 + 1/2 about its cell, without bias.
  std::vector<double> estimate_valid(const Tally& tally,
                                     std::span<const std::uint64_t> inputs) const override {
    const auto n = static_cast<double>(tally.reports);
    const double m = spec().width;
    std::vector<double> out;
    for (const auto input : inputs) {
      double sum = 0;
      for (std::uint32_t row = 0; row < spec().hashes; ++row)
        sum +=
            static_cast<double>(tally.cells[std::size_t{row} * spec().width + place(row, input)]);
      const double held = gain() / 2 * sum + n / 2;
      out.push_back(width_factor() * (held - n / m));
    }
    return out;
  }

 private:
  double gain() const { return 1 / (1 - 2 * flip_.chance()); }

  std::size_t row_bytes_;
  Coin flip_;
};

class HadamardCountMean final : public Sketch {
 public:
  HadamardCountMean(const Spec& spec, Coin flip)
      : Sketch(spec, bytes_below(spec.hashes) + bytes_below(std::uint64_t{2} * spec.width),
               std::size_t{spec.hashes} * spec.width),
        row_bytes_(bytes_below(spec.hashes)),
        column_bytes_(bytes_below(std::uint64_t{2} * spec.width)),
        flip_(flip) {}

  // The second field is twice the column, plus one when the coefficient is said to be negative.
  void randomize(std::uint64_t input, RandomSource& random,
                 std::span<std::uint8_t> report) const override {
    const std::uint64_t row = uniform_below(spec().hashes, random);
    const std::uint64_t column = uniform_below(spec().width, random);
    const bool negative = hadamard_negative(place(row, input), column) != flip_.toss(random);
    put(report.data(), row, row_bytes_);
    put(report.data() + row_bytes_, 2 * column + (negative ? 1 : 0), column_bytes_);
  }

  Rational likelihood(Bytes report, std::uint64_t input) const override {
    if (!valid(report)) return 0;
    const auto [row, column, negative] = fields(report.data());
    const bool truth = hadamard_negative(place(row, input), column);
    return Rational(1, std::uint64_t{spec().hashes} * spec().width) *
           (negative == truth ? Rational(1 - flip_.exact()) : flip_.exact());
  }

  bool valid(Bytes report) const override {
    return report.size() == report_bytes() && get(report.data(), row_bytes_) < spec().hashes &&
           get(report.data() + row_bytes_, column_bytes_) < std::uint64_t{2} * spec().width;
  }

  Variance variance() const override {
    const double m = spec().width, factor = width_factor() * width_factor();
    return {factor * (gain() * gain() - 1 / (m * m)), factor * (1 / (m * m) - 1)};
  }

 protected:
  void add_valid(Bytes reports, std::span<std::int64_t> cells) const override {
    for (std::size_t at = 0; at < reports.size(); at += report_bytes()) {
      const auto [row, column, negative] = fields(reports.data() + at);
      cells[row * spec().width + column] += negative ? -1 : 1;
    }
  }

  std::vector<double> estimate_valid(const Tally& tally,
                                     std::span<const std::uint64_t> inputs) const override {
    const double m = spec().width, n = static_cast<double>(tally.reports);
    std::vector<double> sums(inputs.size());
    std::vector<std::int64_t> row(spec().width);
    for (std::uint32_t j = 0; j < spec().hashes; ++j) {
      std::copy_n(tally.cells.begin() + std::ptrdiff_t{j} * spec().width, spec().width,
                  row.begin());
      walsh_hadamard(row);
      for (std::size_t i = 0; i < inputs.size(); ++i)
        sums[i] += static_cast<double>(row[place(j, inputs[i])]);
    }
    std::vector<double> out;
    for (const double sum : sums) out.push_back(width_factor() * (gain() * sum - n / m));
    return out;
  }

 private:
  struct Fields {
    std::uint64_t row, column;
    bool negative;
  };
  Fields fields(const std::uint8_t* report) const {
    const std::uint64_t second = get(report + row_bytes_, column_bytes_);
    return {get(report, row_bytes_), second / 2, second % 2 != 0};
  }
  double gain() const { return 1 / (1 - 2 * flip_.chance()); }

  std::size_t row_bytes_, column_bytes_;
  Coin flip_;
};

}  // namespace

std::unique_ptr<Oracle> make_count_mean_sketch(const Spec& spec) {
  return std::make_unique<CountMean>(
      spec, Coin::at_least(Probability::logistic(exact_epsilon(spec, 1, 2))));
}

std::unique_ptr<Oracle> make_hadamard_sketch(const Spec& spec) {
  return std::make_unique<HadamardCountMean>(
      spec, Coin::at_least(Probability::logistic(exact_epsilon(spec))));
}

}  // namespace discreet::local
