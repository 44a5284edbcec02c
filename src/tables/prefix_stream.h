// Running totals of a stream, released period by period, at one price for the whole stream.
//
// The square-root factorisation of prefix sums: what is released in period t is not the total but
//   y_t = sum over k of c_k x_(t-k) + noise,   c_k near 2^16 binom(2k, k) / 4^k, whole numbers,
// where x_s is what period s added. Totals are then sums of y with fixed weights. One record is in
// all later y, but by ever smaller c_k: the squared length of c grows with the logarithm of the
// number of periods only, and so does the variance of every total (Henzinger, Upadhyay and Upadhyay
// 2023; Fichtenberger, Henzinger and Upadhyay 2023).
//
// Guarantee: all y of a stream together are rho-zCDP when one unit's records are added or removed,
//            of which at most `records_max` count, over all periods.
// Assumes:   a record stays in the period in which it was first counted; RandomSource yields
//            independent uniform bits.
// Proof:     docs/proofs/prefix_stream.md
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mechanisms/discrete_gaussian.h"

namespace discreet::tables {

class PrefixStream {
 public:
  static constexpr std::uint32_t kPeriodsMax = 10'000;

  /// InvalidParameter: no periods or too many; rho not positive; a limit that is not positive or so
  /// large that sums would not fit 64 bits. `limit`: the most that all records of a unit add up to,
  /// in absolute value.
  static Result<PrefixStream> make(std::uint32_t periods, Rho rho, double limit);

  std::uint32_t periods() const { return static_cast<std::uint32_t>(coefficients_.size()); }

  /// Draws y of the last period of `increments` (periods 0 .. t). Each period's y must be drawn
  /// once only.
  std::int64_t release(std::span<const std::int64_t> increments, RandomSource& random) const;

  /// The total up to and including the last of these periods.
  double total(std::span<const std::int64_t> released) const;
  /// Of the total up to period `t`, from 0.
  double variance(std::uint32_t t) const;
  /// The mean over periods of the variance of independent noise on the binary tree's nodes at the
  /// same rho and limit, for comparison.
  double tree_variance() const;

  Rho rho() const { return rho_; }
  LossEvent loss() const { return loss::Zcdp{rho_}; }

 private:
  PrefixStream(std::vector<std::int64_t> coefficients, DiscreteGaussian noise, Rho rho,
               double limit);

  std::vector<std::int64_t> coefficients_;
  std::vector<double> weights_;  // total = sum of weights_[k] y_(t-k)
  DiscreteGaussian noise_;
  Rho rho_;
  double limit_;
};

}  // namespace discreet::tables
