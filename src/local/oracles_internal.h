// One maker per family of protocols; the spec is complete.
#pragma once

#include <memory>

#include "local/oracle.h"

namespace discreet::local {

std::unique_ptr<Oracle> make_randomized_response(const Spec& spec);
std::unique_ptr<Oracle> make_unary(const Spec& spec);  // SUE, OUE, THE
std::unique_ptr<Oracle> make_summed_histogram(const Spec& spec);
std::unique_ptr<Oracle> make_local_hash(const Spec& spec);  // BLH, OLH
std::unique_ptr<Oracle> make_hadamard(const Spec& spec);
std::unique_ptr<Oracle> make_subset(const Spec& spec);
std::unique_ptr<Oracle> make_count_mean_sketch(const Spec& spec);
std::unique_ptr<Oracle> make_hadamard_sketch(const Spec& spec);
std::unique_ptr<Oracle> make_rappor(const Spec& spec);
std::unique_ptr<Oracle> make_mean(const Spec& spec);
std::unique_ptr<Oracle> make_record(const Spec& spec);  // sample, split

/// A report supports some values: the true one with chance p, any other one with chance q. Counts
/// of supporting reports are then all a collector needs (Wang et al. 2017, "pure" protocols).
class PureOracle : public Oracle {
 public:
  Variance variance() const override {
    const double gain = p_ - q_;
    return {q_ * (1 - q_) / (gain * gain), (1 - p_ - q_) / gain};
  }

 protected:
  PureOracle(Spec spec, std::size_t bytes, std::size_t cells, double p, double q)
      : Oracle(spec, bytes, cells, spec.values), p_(p), q_(q) {}
  /// From the number of supporting reports.
  double from_support(double support, std::uint64_t reports) const {
    return (support - static_cast<double>(reports) * q_) / (p_ - q_);
  }
  /// When cells are counts of support, one per value.
  std::vector<double> estimate_valid(const Tally& tally,
                                     std::span<const std::uint64_t> inputs) const override {
    std::vector<double> out;
    out.reserve(inputs.size());
    for (const auto input : inputs)
      out.push_back(from_support(static_cast<double>(tally.cells[input]), tally.reports));
    return out;
  }

 private:
  double p_, q_;
};

/// Adds every column of rows of bits to its cell; rows of `stride` bytes, bits after `offset`.
struct BitRows {
  Bytes rows;
  std::size_t stride;
  std::size_t offset;
};
void count_columns(const BitRows& rows, std::span<std::int64_t> cells);

/// The Walsh-Hadamard transform in place; the size is a power of two.
void walsh_hadamard(std::span<std::int64_t> values);
/// The entry of Sylvester's matrix: whether it is minus one.
inline bool hadamard_negative(std::uint64_t row, std::uint64_t column) {
  return (__builtin_popcountll(row & column) & 1) != 0;
}

/// epsilon times numerator / denominator, exactly.
Rational exact_epsilon(const Spec& spec, int numerator = 1, int denominator = 1);

}  // namespace discreet::local
