// Marginals with exact noise, consistent by construction.
//
// Guarantee: the coefficients drawn for a plan are plan.rho()-zCDP for one record more or fewer
//            (times L^2 when one person has up to L records). Everything computed from them is
//            post-processing: all marginals are marginals of one table of real numbers.
// Assumes:   the counts given for a subset are the marginal of one table; RandomSource yields
//            independent uniform bits.
// Proof:     docs/proofs/residual_tables.md
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "random/random_source.h"
#include "tables/plan.h"

namespace discreet::tables {

/// Exact counts of the marginal over these attributes, the last varying fastest.
using Counter = std::function<Result<std::vector<std::int64_t>>(const Attributes&)>;

/// The noisy coefficients of every space of a plan. Public: what it holds has been released.
class Released {
 public:
  Released(std::shared_ptr<const Plan> plan, std::vector<std::vector<std::int64_t>> coefficients);

  const Plan& plan() const { return *plan_; }
  /// Of one space, in the order of the contrasts of its parts.
  std::span<const std::int64_t> coefficients(std::size_t space) const {
    return coefficients_[space];
  }
  /// The best linear unbiased estimate of a marginal, the last attribute varying fastest. Parts
  /// that no question of the plan touched are taken as zero.
  std::vector<double> marginal(const Attributes& attributes) const;
  double total() const;

 private:
  std::shared_ptr<const Plan> plan_;
  std::vector<std::vector<std::int64_t>> coefficients_;
};

/// Draws the plan's noise. The only function here that is given private numbers. Fails only when
/// `counter` does.
Result<Released> release(std::shared_ptr<const Plan> plan, const Counter& counter,
                         RandomSource& random);

/// The variance parameter of each coefficient's noise, in the order of Released::coefficients.
std::vector<double> coefficient_variances(const Plan& plan, const Space& space);

/// Half the width of an interval that holds an answer of this variance with this confidence:
/// the normal quantile, and never more than the sub-Gaussian bound needs. For `k` answers at once,
/// with `simultaneous`, all of them.
double interval_half_width(double variance, double confidence, double simultaneous = 1);

}  // namespace discreet::tables
