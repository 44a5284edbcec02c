// One direction of a dominating pair (P, Q), seen through its privacy loss ln(P/Q) under P.
//
// A mechanism is described by laws: if every event S has M(D)(S) - e^eps M(D')(S) at most the
// hockey-stick of (P, Q), for all real eps, then composing the laws of mechanisms bounds their
// composition, also when each mechanism is chosen after seeing earlier outputs (Dong, Roth and Su
// 2019, on composition; Zhu, Dong and Wang 2022, on composition). What a law exposes is enough to
// discretise it on any grid with certified errors: its atoms, and the masses that P and Q give to
// intervals of loss.
#pragma once

#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "accounting/bracket.h"

namespace discreet {

/// An outcome (or several of equal loss) with P-probability `mass`; Q gives it mass e^{-loss}.
struct LossAtom {
  double loss;
  double mass;
};

class LossLaw {
 public:
  virtual ~LossLaw() = default;

  /// Losses in increasing order. Masses have relative error mass_error(), losses loss_error().
  virtual std::span<const LossAtom> atoms() const { return {}; }
  virtual bool has_density() const { return false; }

  /// The part with a density: what P and Q give to (cuts[j], cuts[j+1]], with relative error
  /// mass_error(); the cuts are increasing and may be off by loss_error().
  virtual void cells(std::span<const double> cuts, std::span<double> p,
                     std::span<double> q) const = 0;

  /// Bounds on the P-probability, over atoms and density, of a finite loss above or below.
  virtual double mass_above(double loss) const = 0;
  virtual double mass_below(double loss) const = 0;

  struct Range {
    double low, high;
  };
  /// An interval of loss outside which P puts at most `tail` on each side.
  virtual Range range(double tail) const = 0;

  /// The hockey-stick of this pair: the exact delta(epsilon) of a single release.
  virtual Bracket delta(double epsilon) const = 0;

  /// The supremum of the loss (infinity when unbounded or when infinite_mass() is positive).
  virtual Bracket loss_max() const = 0;

  /// The infimum of the loss, or minus infinity.
  virtual double loss_min() const { return -std::numeric_limits<double>::infinity(); }

  /// P-probability of outcomes that Q never produces.
  virtual double infinite_mass() const { return 0; }
  virtual double mass_error() const { return 0x1p-50; }
  virtual double loss_error() const { return 0; }
};

using LossLawPtr = std::shared_ptr<const LossLaw>;

}  // namespace discreet
