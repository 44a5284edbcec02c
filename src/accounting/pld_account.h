// A running tight price: what has been released so far, and what one more question would make of
// it.
//
// The composed distribution of the past is kept as a product of transforms on a fixed grid. Pricing
// a question is a sum over the question's own losses of the past's profile, delta(eps) =
// E[delta_past(eps - loss)]: no transform, no pass over past events. Recording multiplies one
// cached transform in; the profile is read off again at the next price.
//
// Guarantee: brackets as in pld.h, for everything recorded so far.
// Not for:   admission. Parameters chosen after seeing answers need a filter (filter.h); this is
// the
//            figure for reports and for plans fixed in advance.
#pragma once

#include <optional>
#include <vector>

#include "accounting/bracket.h"
#include "accounting/dominating_pairs.h"
#include "accounting/grid_composition.h"

namespace discreet {

struct PldAccountSize {
  double epsilon_max = 20;    ///< spending up to about here is priced tightly
  double releases_max = 1e6;  ///< so many releases stay within `width`
  double width = 1e-3;        ///< of a bracket, relative to epsilon_max
};

/// Not safe for concurrent use; a copy is independent.
class PldAccount {
 public:
  /// InvalidParameter: delta not strictly between 0 and 1, or a size that needs too large a grid.
  static Result<PldAccount> make(double delta, Neighbours neighbours, PldAccountSize size = {});

  /// Records that the event happened. Refused: as make_plan(), and for events known by their zCDP
  /// only; nothing is recorded then.
  Result<void> record(const LossEvent& event);

  /// Epsilon at the account's delta for all that was recorded, and with the event on top.
  Result<Bracket> epsilon() const;
  Result<Bracket> epsilon_with(const LossEvent& event) const;

  /// Reads the profile off now, so that the next price is quick.
  void settle() const;

 private:
  // One direction's past.
  struct Past {
    Past(double step, double tilt, std::size_t points) : product(step, tilt, points) {}

    TiltedProduct product;
    Bracket gaussian_mu2;
    Bracket log_finite;
    double mean = 0, variance = 0;                               // of the tilted sum
    double total_low = 0, total_high = 0;                        // no sum lies outside these
    std::vector<double> right_up, right_low, left_up, left_low;  // moments at the window's rates
    double at_up = 0, at_low = 0;                                // and at the tilt itself
    bool any = false;
    mutable std::optional<GridComposition> read;
  };

  PldAccount(double delta, Neighbours neighbours);
  Result<void> record(Past& past, const LossPlan& plan) const;
  void multiply(Past& past, const LossLaw& law, std::uint64_t count) const;
  const GridComposition* read(const Past& past) const;
  Result<Bracket> priced(const Past& past, const LossPlan& extra) const;

  double delta_;
  Neighbours neighbours_;
  double step_ = 0, tilt_ = 0;
  double tail_ = 0;
  std::size_t points_ = 0;
  std::vector<double> rates_;
  std::vector<Past> directions_;
};

}  // namespace discreet
