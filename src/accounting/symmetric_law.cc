#include "accounting/symmetric_law.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace discreet {

SymmetricLaw::SymmetricLaw(LossLawPtr forward, LossLawPtr reverse)
    : forward_(std::move(forward)), reverse_(std::move(reverse)) {
  // Masses of the two halves, to find what is left for loss zero; a little more is taken, which
  // costs the upper side 1e-14 and is never read by a lower one.
  double halves = 0;
  for (const LossAtom& atom : reverse_->atoms())
    if (atom.loss < 0) atoms_.push_back(atom), halves += atom.mass;
  const std::size_t negative = atoms_.size();
  for (const LossAtom& atom : forward_->atoms())
    if (atom.loss > 0) atoms_.push_back(atom), halves += atom.mass;
  if (has_density()) {
    const double low = reverse_->range(1e-30).low, high = forward_->range(1e-30).high;
    std::array<double, 1> p{}, q{};
    if (low < 0) {
      reverse_->cells(std::array{low, 0.0}, p, q);
      halves += p[0];
    }
    if (high > 0) {
      forward_->cells(std::array{0.0, high}, p, q);
      halves += p[0];
    }
  }
  halves += forward_->infinite_mass();
  atoms_.insert(atoms_.begin() + static_cast<std::ptrdiff_t>(negative),
                {0, std::fmax(0.0, 1 - halves) + 1e-14});
}

void SymmetricLaw::cells(std::span<const double> cuts, std::span<double> p,
                         std::span<double> q) const {
  if (cuts.size() < 2) return;
  const auto split = static_cast<std::size_t>(std::lower_bound(cuts.begin(), cuts.end(), 0.0) -
                                              cuts.begin());  // first cut not below zero
  std::fill(p.begin(), p.end(), 0.0);
  std::fill(q.begin(), q.end(), 0.0);
  const auto add = [&](const LossLaw& law, const std::vector<double>& own, std::size_t first) {
    if (own.size() < 2) return;
    std::vector<double> some_p(own.size() - 1), some_q(own.size() - 1);
    law.cells(own, some_p, some_q);
    for (std::size_t j = 0; j < some_p.size(); ++j) {
      p[first + j] += some_p[j];
      q[first + j] += some_q[j];
    }
  };
  std::vector<double> negative(cuts.begin(), cuts.begin() + static_cast<std::ptrdiff_t>(split));
  std::vector<double> positive(cuts.begin() + static_cast<std::ptrdiff_t>(split), cuts.end());
  if (split > 0 && split < cuts.size()) {  // zero is inside a cell, or its upper end
    negative.push_back(0);
    if (positive.front() > 0) positive.insert(positive.begin(), 0.0);
  }
  add(*reverse_, negative, 0);
  const bool shared = !positive.empty() && split > 0 && cuts[std::min(split, cuts.size() - 1)] > 0;
  add(*forward_, positive, shared ? split - 1 : split);
}

double SymmetricLaw::mass_above(double loss) const {
  return loss >= 0 ? forward_->mass_above(loss) : 1;
}

double SymmetricLaw::mass_below(double loss) const {
  return loss <= 0 ? reverse_->mass_below(loss) : 1;
}

LossLaw::Range SymmetricLaw::range(double tail) const {
  return {std::fmin(0.0, reverse_->range(tail).low), std::fmax(0.0, forward_->range(tail).high)};
}

Bracket SymmetricLaw::delta(double epsilon) const {
  return (epsilon >= 0 ? forward_ : reverse_)->delta(epsilon);
}

double SymmetricLaw::mass_error() const {
  return std::fmax(forward_->mass_error(), reverse_->mass_error());
}

double SymmetricLaw::loss_error() const {
  return std::fmax(forward_->loss_error(), reverse_->loss_error());
}

}  // namespace discreet
