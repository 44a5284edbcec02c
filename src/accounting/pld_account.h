// A running tight price: what has been released so far, and what one more question would make of
// it.
//
// The composed distribution of the past is kept as the few frequencies of its transform that have
// not vanished (tilted_product.h). Recording multiplies the release's transform in at those, and a
// price reads the profile off a copy with the question multiplied in: no pass over past events, no
// transform of the grid. Until enough was recorded for the other frequencies to be proved gone,
// the list of releases is kept, equal ones together, and composed when a price is asked for.
//
// Guarantee: brackets as in pld.h, for everything recorded so far.
// Not for:   admission. Parameters chosen after seeing answers need a filter (filter.h); this is
//            the figure for reports and for plans fixed in advance.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "accounting/bracket.h"
#include "accounting/dominating_pairs.h"
#include "accounting/grid_composition.h"

namespace discreet {

struct PldAccountSize {
  double epsilon_max = 20;    ///< spending up to about here is priced quickly
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

  /// Whether the past is held as frequencies: prices and records take well under a millisecond.
  bool ready() const;

 private:
  struct Held {
    LossLawPtr law;
    std::uint64_t count = 0;
  };
  // One direction's past.
  struct Past {
    std::map<std::string, Held> laws;  // until there is a product
    std::map<double, std::uint64_t> binary;
    std::optional<TiltedProduct> product;
    Bracket gaussian_mu2{0, 0};  // not in the product
    Bracket log_finite{0, 0};
    double mean = 0, variance = 0;                               // of the tilted sum
    double total_low = 0, total_high = 0;                        // no sum lies outside these
    std::vector<double> right_up, right_low, left_up, left_low;  // moments at the window's rates
    double at_up = 0, at_low = 0;                                // and at the tilt itself
    mutable std::shared_ptr<const Past> joined;                  // with the Gaussian releases in
  };
  // A law on the account's grid, with what its window needs to know of it.
  struct Laid {
    GridLaw grid;
    Cumulants at_tilt;
    double at_low = 0;
    std::vector<double> right_up, right_low, left_up, left_low;
  };
  using LaidPtr = std::shared_ptr<const Laid>;

  PldAccount(double delta, Neighbours neighbours);
  Result<std::vector<LossPlan>> plans(const LossEvent& event) const;
  LaidPtr lay(const LossLaw& law, const std::string& key) const;
  void add(Past& past, const LossPlan& plan) const;
  void multiply(Past& past, const Laid& laid, std::uint64_t count) const;
  void try_product(Past& past) const;
  Result<Bracket> priced(const Past& past, const LossPlan& extra) const;
  Result<Bracket> composed_again(const Past& past, const LossPlan& extra) const;

  double delta_;
  Neighbours neighbours_;
  double step_ = 0, tilt_ = 0;
  double tail_ = 0;
  std::size_t points_ = 0;
  double releases_ = 0, tried_at_ = 0;
  std::vector<double> rates_;
  std::vector<Past> directions_;
  mutable std::map<std::string, LaidPtr> laid_;  // recently used laws
};

}  // namespace discreet
