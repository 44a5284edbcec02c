// Laws of mechanisms with countably many outcomes: their losses and probabilities as a list.
//
// Guarantee: the atoms are those of the pair up to relative rounding mass_error() and absolute
//            rounding loss_error(); outcomes cut off an infinite support are bounded by tails.
#pragma once

#include <vector>

#include "accounting/loss_law.h"

namespace discreet {

/// An outcome with its probability under both hypotheses.
struct PairAtom {
  double p;
  double q;
};

class AtomicLaw final : public LossLaw {
 public:
  /// Atoms sorted by loss. `infinite` is P-mass that Q never gives, `cut_off` bounds the P-mass of
  /// outcomes left out of the list, of any loss.
  AtomicLaw(std::vector<LossAtom> atoms, double infinite, double cut_off, double loss_error,
            double mass_error = 0x1p-50);

  /// From outcomes; equal losses are merged. The ratio p/q is taken as the loss.
  static LossLawPtr from_outcomes(std::span<const PairAtom> outcomes, double cut_off);

  std::span<const LossAtom> atoms() const override { return atoms_; }
  void cells(std::span<const double> cuts, std::span<double> p, std::span<double> q) const override;
  double mass_above(double loss) const override;
  double mass_below(double loss) const override;
  Range range(double tail) const override;
  Bracket delta(double epsilon) const override;
  Bracket loss_max() const override;
  double infinite_mass() const override { return infinite_; }
  double loss_error() const override { return loss_error_; }
  double mass_error() const override { return mass_error_; }
  double cut_off() const { return cut_off_; }

 private:
  std::vector<LossAtom> atoms_;
  double infinite_;
  double cut_off_;
  double loss_error_;
  double mass_error_;
};

/// Composes lists exactly, merging atoms closer than rounding; empty when more than `atoms_max`
/// would be needed.
LossLawPtr compose_exactly(const AtomicLaw& a, const AtomicLaw& b, std::size_t atoms_max);

}  // namespace discreet
