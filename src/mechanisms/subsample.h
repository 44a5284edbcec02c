// Running a mechanism on a secret random sample of the units: what nobody knows to be in the sample
// is protected twice.
//
// Guarantee: with an (epsilon, delta)-DP mechanism inside, the whole is
//            (ln(1 + p (e^epsilon - 1)), p delta)-DP; for Poisson sampling under add/remove, and
//            for samples of fixed size p = sample / population under replace-one (Balle, Barthe and
//            Gaboardi 2018, Theorems 8 and 9). Coins and samples are exact.
// Assumes:   the sample is never shown, nor its size where that is random; RandomSource yields
// uniform
//            bits. Under replace-one the size of the population is public.
// Proof:     docs/proofs/combinators.md
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "privacy/loss_event.h"
#include "random/bernoulli.h"

namespace discreet {

/// What is left of a guarantee on a secret sample of this rate in [0, 1]; rounded up.
ApproxDp amplified(ApproxDp inside, double rate);
/// The guarantee inside for a wanted one outside: the inverse of `amplified`, rounded down.
/// InvalidParameter: rate not within (0, 1].
Result<ApproxDp> inside_for(ApproxDp wanted, double rate);

/// Every unit takes part with the same chance, independently.
class PoissonSample {
 public:
  /// InvalidParameter: not within (0, 1].
  static Result<PoissonSample> make(double probability);

  /// The places of those that take part, among `units`.
  std::vector<std::size_t> draw(std::size_t units, RandomSource& random) const;
  template <class Row>
  std::vector<Row> draw(std::span<const Row> rows, RandomSource& random) const {
    std::vector<Row> chosen;
    for (const Row& row : rows)
      if (coin_.draw(random)) chosen.push_back(row);
    return chosen;
  }

  /// The cost of a mechanism of cost `inside` on such a sample.
  LossEvent loss(LossEvent inside) const;
  double probability() const { return probability_; }

 private:
  PoissonSample(double probability, Bernoulli coin)
      : probability_(probability), coin_(std::move(coin)) {}

  double probability_;
  Bernoulli coin_;
};

/// A fixed number of units, every set of that size equally likely.
class FixedSample {
 public:
  /// InvalidParameter: nobody in the sample, or more than the population.
  static Result<FixedSample> make(std::uint64_t sample, std::uint64_t population);

  /// Different places below the population, in no particular order.
  std::vector<std::size_t> draw(RandomSource& random) const;

  LossEvent loss(LossEvent inside) const;
  /// sample / population, rounded up.
  double rate() const;

 private:
  FixedSample(std::uint64_t sample, std::uint64_t population)
      : sample_(sample), population_(population) {}

  std::uint64_t sample_, population_;
};

}  // namespace discreet
