// A pair whose profile is that of one law at epsilon >= 0 and that of its reverse below.
//
// For neighbours that can be exchanged (replace-one), a bound on delta(epsilon) at every epsilon >=
// 0 bounds it below zero too, since delta(-e) = 1 - e^{-e} + e^{-e} delta(e) of the exchanged pair.
// Composing the bound needs one pair with that whole profile. Its positive losses are those of the
// given law, its negative ones those of the reversed law, and the rest of the mass has loss zero.
// Taking either law alone instead would understate compositions (Lebeda, Regehr, Kamath and Steinke
// 2024).
//
// Guarantee: delta() is the greater of the two laws' at every epsilon, and so are compositions.
// Assumes:   the two are one pair (A, B) and (B, A), and at epsilon >= 0 the first is the worse
//            one, so that the joined profile is convex in e^epsilon.
#pragma once

#include "accounting/loss_law.h"

namespace discreet {

class SymmetricLaw final : public LossLaw {
 public:
  SymmetricLaw(LossLawPtr forward, LossLawPtr reverse);

  std::span<const LossAtom> atoms() const override { return atoms_; }
  bool has_density() const override { return forward_->has_density(); }
  void cells(std::span<const double> cuts, std::span<double> p, std::span<double> q) const override;
  double mass_above(double loss) const override;
  double mass_below(double loss) const override;
  Range range(double tail) const override;
  Bracket delta(double epsilon) const override;
  Bracket loss_max() const override { return forward_->loss_max(); }
  double loss_min() const override { return reverse_->loss_min(); }
  double infinite_mass() const override { return forward_->infinite_mass(); }
  double mass_error() const override;
  double loss_error() const override;

 private:
  LossLawPtr forward_, reverse_;
  std::vector<LossAtom> atoms_;
};

}  // namespace discreet
