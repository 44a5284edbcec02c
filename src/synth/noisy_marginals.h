// Marginals with exact noise, for jobs whose number of marginals is fixed before any row is read.
//
// Guarantee: all marginals measured through one Measurements are together (epsilon, delta)-DP when
//            one row is added to or removed from the table, however later marginals were chosen
//            from the noisy counts of earlier ones. The number of rows stays private.
// Assumes:   RandomSource yields independent uniform bits.
// Proof:     docs/proofs/synth_measurements.md
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mechanisms/discrete_gaussian.h"
#include "synth/domain.h"
#include "synth/workers.h"

namespace discreet::synth {

/// One marginal's noisy counts, and how noisy they are.
struct NoisyMarginal {
  Clique attributes;  ///< the order of the cells: the last varies fastest
  std::vector<std::int64_t> counts;
  double sigma = 0;
};

/// Hands out noise until what was paid for is used up.
class Measurements {
 public:
  /// For marginals of these shares of the budget (all ones: equal noise), with at most `cells_max`
  /// cells altogether. InvalidParameter: as DiscreteGaussian::make; shares that are not positive.
  static Result<Measurements> make(ApproxDp target, std::vector<double> shares,
                                   std::uint64_t cells_max);

  /// The next marginals in the order of the shares, counted exactly and made noisy. A caller that
  /// asks for more than was paid for is a bug: DISCREET_CHECK.
  std::vector<NoisyMarginal> measure(const CodedTable& table, std::span<const Clique> cliques,
                                     Workers& workers, RandomSource& random);

  double sigma(std::size_t marginal) const;
  /// The zCDP of everything together, rounded up.
  Rho rho() const { return rho_; }
  std::size_t left() const { return noise_.size() - next_; }
  /// What was measured so far.
  std::vector<LossEvent> events() const;

 private:
  explicit Measurements(std::vector<DiscreteGaussian> noise, Rho rho, std::uint64_t cells)
      : noise_(std::move(noise)), rho_(rho), cells_left_(cells) {}

  std::vector<DiscreteGaussian> noise_;
  Rho rho_;
  std::uint64_t cells_left_;
  std::size_t next_ = 0;
};

}  // namespace discreet::synth
