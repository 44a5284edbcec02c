// The tight cost of a fixed plan of releases, from the distributions of their privacy losses.
//
// Guarantee: every answer is a bracket. `upper` is valid for every mechanism the event describes,
//            also when later mechanisms were chosen after seeing earlier outputs, as long as their
//            parameters were fixed in advance; `lower` is reached by some such mechanism. Rounding,
//            discretisation, truncation and the transform's error are inside the bracket.
// Not for:   parameters chosen on the fly. A filter (filter.h) is the tool for those.
// Closed forms are used where they exist: Gaussian releases (Balle and Wang 2018, Theorem 8), pure
// and approximate DP (Kairouz, Oh and Viswanath 2015), zCDP (Canonne, Kamath and Steinke 2020), one
// release of anything, lists of losses short enough to enumerate. The rest is composed on a grid
// (grid_composition.h) that is refined until the bracket is as narrow as asked for.
#pragma once

#include <span>
#include <vector>

#include "accounting/bracket.h"
#include "accounting/dominating_pairs.h"

namespace discreet {

/// How narrow a bracket should be; the best that the grid's largest size allows is given if that is
/// wider.
struct PldAccuracy {
  double epsilon_absolute = 1.5e-4;  ///< of which the upper end takes about two thirds
  double epsilon_relative = 5e-4;
  double epsilon_relative_many = 9e-4;  ///< in place of both, for many different laws with atoms
  double delta_relative = 1e-5;
  std::size_t points_max = std::size_t{1} << 21;
};

struct ProfilePoint {
  double epsilon;
  Bracket delta;
};

/// A test of level alpha misses with probability at least beta.
struct TradeOffPoint {
  double alpha;
  double beta;
};

/// An immutable value; safe for concurrent use.
class PrivacyLossDistribution {
 public:
  /// InvalidParameter or Refused as make_plan().
  static Result<PrivacyLossDistribution> make(const LossEvent& event, Neighbours neighbours,
                                              PldAccuracy accuracy = {});

  /// The least epsilon >= 0 at this delta; infinite where no finite one holds. InvalidParameter:
  /// delta outside [0, 1].
  Result<Bracket> epsilon(double delta) const;

  /// The least delta at this epsilon >= 0. InvalidParameter: epsilon negative or not finite.
  Result<Bracket> delta(double epsilon) const;

  Result<std::vector<ProfilePoint>> profile(std::span<const double> epsilons) const;

  /// The f-DP trade-off curve (Dong, Roth and Su 2019, on duality), never above the true one: at
  /// each alpha the best of the lines given by these points of the profile.
  static std::vector<TradeOffPoint> trade_off(std::span<const ProfilePoint> profile,
                                              std::span<const double> alphas);

 private:
  explicit PrivacyLossDistribution(PldAccuracy accuracy) : accuracy_(accuracy) {}

  // Parallel parts at the top are alternatives, of which the worst counts; each alternative has one
  // or two directions.
  std::vector<LossPlan> plans_;
  PldAccuracy accuracy_;
};

}  // namespace discreet
