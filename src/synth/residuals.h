// Marginals rebuilt from residuals of everything measured, without a model of the whole table.
//
// The residual of a set B of attributes is what its marginal says that no smaller one does: sums
// over all other attributes, less the mean along every attribute of B. A marginal is the sum over
// its subsets of their residuals, spread evenly. Noisy counts of a marginal with one sigma have
// residuals with independent noise, so everything measured about one residual is averaged with the
// weights of its variances, and that is the generalised least squares answer for the whole
// (Mullins, Fuentes, Xiao, Kifer, Musco and Sheldon 2024, "Efficient and private marginal
// reconstruction with local non-negativity"). Linear in cells, whatever junction tree would be
// needed.
//
// Guarantee: post-processing of noisy counts; it costs nothing.
// Assumes:   counts with independent noise of one standard deviation for each marginal.
// Proof:     docs/proofs/synth_residuals.md
#pragma once

#include <map>
#include <span>
#include <vector>

#include "synth/domain.h"
#include "synth/graphical_model.h"

namespace discreet::synth {

class Residuals {
 public:
  explicit Residuals(const Domain& domain) : domain_(domain) {}

  /// One more marginal, attributes ascending: all of its residuals become better known.
  void add(const ModelMeasurement& measurement);

  /// The counts of a marginal by least squares; residuals that nothing measured are zero. May be
  /// negative. Attributes ascending.
  std::vector<double> marginal(std::span<const std::uint32_t> clique) const;

  /// The same around a guess of the marginal (a model's counts): a residual that was measured is
  /// drawn towards the guess's as far as the noise can explain their distance (positive-part
  /// James-Stein; half as far below four dimensions), one that was not is the guess's.
  std::vector<double> marginal(std::span<const std::uint32_t> clique,
                               std::span<const double> guess) const;

  /// The variance of each cell's noise in a residual before centring, infinite if never measured.
  double variance(const Clique& attributes) const;

 private:
  struct Block {
    std::vector<double> mean;  // centred along every attribute
    double weight = 0;         // one over its variance
  };
  Domain domain_;
  std::map<Clique, Block> blocks_;
};

/// All residuals of counts, by subset: bit i of the index stands for the i-th attribute. The
/// inverse puts them together again.
std::vector<std::vector<double>> split_residuals(std::span<const std::uint32_t> sizes,
                                                 std::vector<double> counts);
std::vector<double> join_residuals(std::span<const std::uint32_t> sizes,
                                   std::vector<std::vector<double>> residuals);

/// The nearest counts, in squares, that are nowhere negative and have this total (or all zero, for
/// a total that is not positive): a number is taken from every count, and what falls below zero is
/// zero.
void make_nonnegative(std::vector<double>& counts, double total);

}  // namespace discreet::synth
