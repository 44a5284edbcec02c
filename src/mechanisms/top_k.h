// The k best candidates in order of preference, in one shot.
//
// k choices of the exponential mechanism, each among the candidates not yet taken. The result has
// exactly the distribution of adding Gumbel noise once to every score and reading off the k
// greatest in order (Durfee and Rogers 2019), without floating-point Gumbels. Guarantee:
// k losses of bounded range epsilon_each, composed: (k epsilon_each)-DP, k epsilon_each^2 / 8-zCDP,
//            and tighter figures from the accountant. The order is part of what is released.
// Assumes:   as exponential.h.
// Proof:     docs/proofs/top_k.md
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mechanisms/exponential.h"

namespace discreet {

class TopK {
 public:
  /// k choices at `epsilon_each`. InvalidParameter: k zero, or as ExponentialMechanism::make.
  static Result<TopK> make(Epsilon epsilon_each, std::uint64_t k, QualityScore score);
  /// k choices that together are `total`-DP: each gets one k-th.
  static Result<TopK> within(Epsilon total, std::uint64_t k, QualityScore score);
  /// The least epsilon_each that keeps error_bound within `error`.
  static Result<TopK> for_error(double error, double confidence, std::uint64_t candidates,
                                std::uint64_t k, QualityScore score);

  /// Indices, the first choice first. InvalidParameter: fewer than k scores, or one not finite.
  Result<std::vector<std::size_t>> release(std::span<const std::int64_t> scores,
                                           RandomSource& random) const;
  Result<std::vector<std::size_t>> release(std::span<const double> scores,
                                           RandomSource& random) const;

  LossEvent loss() const;

  /// With this confidence, for every i the score of the i-th choice is at most this far below the
  /// i-th best score. Known before any release, whatever the scores.
  double error_bound(double confidence, std::uint64_t candidates) const;
  /// The same for whole-number scores.
  double whole_error_bound(double confidence, std::uint64_t candidates) const;

  Epsilon epsilon_each() const { return each_.epsilon(); }
  std::uint64_t k() const { return k_; }

 private:
  TopK(ExponentialMechanism each, std::uint64_t k) : each_(std::move(each)), k_(k) {}

  ExponentialMechanism each_;
  std::uint64_t k_;
};

}  // namespace discreet
