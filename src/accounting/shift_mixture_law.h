// Additive Gaussian or Laplace noise on an answer that one unit shifts, possibly at random: the
// pair is two mixtures of shifted copies of one noise density. This covers the plain mechanisms,
// their Poisson-subsampled versions in both directions and under replacement, groups of units, and
// mixtures of Gaussians.
//
// Guarantee: cells and tails are the masses of the pair up to mass_error(); delta() brackets the
//            exact hockey-stick.
// Assumes:   the loss does not decrease in the noise coordinate, as holds when every shift of P is
//            at least every shift of Q (the densities have monotone likelihood ratio), so that
//            optimal events are half-lines.
#pragma once

#include <vector>

#include "accounting/loss_law.h"

namespace discreet {

enum class NoiseShape { Gaussian, Laplace };

/// With probability `weight` the answer moves by `shift`.
struct Shift {
  double weight;
  double shift;
};

class ShiftMixtureLaw final : public LossLaw {
 public:
  /// Shifts are divided by `scale`, the noise's sigma or Laplace scale.
  ShiftMixtureLaw(NoiseShape shape, double scale, std::vector<Shift> p, std::vector<Shift> q);

  std::span<const LossAtom> atoms() const override { return atoms_; }
  bool has_density() const override { return true; }
  void cells(std::span<const double> cuts, std::span<double> p, std::span<double> q) const override;
  double mass_above(double loss) const override;
  double mass_below(double loss) const override;
  Range range(double tail) const override;
  Bracket delta(double epsilon) const override;
  Bracket loss_max() const override;
  double loss_min() const override { return loss_low_; }
  double mass_error() const override;
  double loss_error() const override { return loss_error_; }

  /// The loss of the outcome x, in units of the scale.
  double loss_at(double x) const;
  /// The outcome of this loss; infinite beyond the range of losses.
  double outcome_at(double loss) const;

 private:
  struct Component {
    double weight, log_weight, shift;
  };
  /// Which inverse of loss_at() is known in closed form.
  enum class Inverse { Numeric, SampledP, SampledQ };

  double log_mixture(const std::vector<Component>& mixture, double x, double* slope) const;
  double solve(double loss, double guess) const;
  double mass_between(const std::vector<Component>& mixture, double a, double b) const;
  double mass_right(const std::vector<Component>& mixture, double x, bool atoms_too) const;
  double mass_left(const std::vector<Component>& mixture, double x, bool atoms_too) const;

  NoiseShape shape_;
  std::vector<Component> p_, q_;
  Inverse inverse_ = Inverse::Numeric;
  double rate_ = 1;                    // the sampling rate, for the closed-form inverses
  double shift_low_, shift_high_;      // extreme shifts of either mixture
  double outcome_low_, outcome_high_;  // where the density part lives, or where it is looked at
  double loss_low_, loss_high_;        // infimum and supremum of the loss of the density part
  double loss_error_;
  std::vector<LossAtom> atoms_;
};

}  // namespace discreet
