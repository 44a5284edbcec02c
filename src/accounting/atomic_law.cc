#include "accounting/atomic_law.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/rounding.h"

namespace discreet {
namespace {

constexpr double kMergeWithin = 1e-13;  // of the loss, relative to 1 + |loss|

// Sorts and merges atoms whose losses differ by rounding only; returns the largest difference.
double sort_and_merge(std::vector<LossAtom>& atoms) {
  std::sort(atoms.begin(), atoms.end(),
            [](const LossAtom& a, const LossAtom& b) { return a.loss < b.loss; });
  std::size_t kept = 0;
  double moved = 0;
  for (const LossAtom atom : atoms) {
    if (atom.mass <= 0) continue;
    const double gap = kept > 0 ? atom.loss - atoms[kept - 1].loss : HUGE_VAL;
    if (gap <= kMergeWithin * (1 + std::fabs(atom.loss))) {
      atoms[kept - 1].mass += atom.mass;
      moved = std::fmax(moved, gap);
    } else {
      atoms[kept++] = atom;
    }
  }
  atoms.resize(kept);
  return moved;
}

double largest_loss(std::span<const LossAtom> atoms) {
  return atoms.empty() ? 0 : std::fmax(std::fabs(atoms.front().loss), std::fabs(atoms.back().loss));
}

}  // namespace

AtomicLaw::AtomicLaw(std::vector<LossAtom> atoms, double infinite, double cut_off,
                     double loss_error, double mass_error)
    : atoms_(std::move(atoms)), infinite_(infinite), cut_off_(cut_off), mass_error_(mass_error) {
  const double moved = sort_and_merge(atoms_);
  loss_error_ = loss_error + moved + 4 * 0x1p-53 * largest_loss(atoms_);
}

LossLawPtr AtomicLaw::from_outcomes(std::span<const PairAtom> outcomes, double cut_off) {
  std::vector<LossAtom> atoms;
  double infinite = 0;
  for (const PairAtom& outcome : outcomes) {
    if (outcome.p <= 0) continue;
    if (outcome.q <= 0)
      infinite = add_up(infinite, outcome.p);
    else
      atoms.push_back({std::log(outcome.p / outcome.q), outcome.p});
  }
  return std::make_shared<AtomicLaw>(std::move(atoms), infinite, cut_off, 1e-14);
}

void AtomicLaw::cells(std::span<const double>, std::span<double> p, std::span<double> q) const {
  std::fill(p.begin(), p.end(), 0.0);
  std::fill(q.begin(), q.end(), 0.0);
}

double AtomicLaw::mass_above(double loss) const {
  long double sum = cut_off_;
  for (auto atom = atoms_.rbegin(); atom != atoms_.rend() && atom->loss > loss; ++atom)
    sum += atom->mass;
  return static_cast<double>(sum * (1 + mass_error()));
}

double AtomicLaw::mass_below(double loss) const {
  long double sum = cut_off_;
  for (auto atom = atoms_.begin(); atom != atoms_.end() && atom->loss < loss; ++atom)
    sum += atom->mass;
  return static_cast<double>(sum * (1 + mass_error()));
}

LossLaw::Range AtomicLaw::range(double tail) const {
  DISCREET_CHECK(!atoms_.empty(), "a law without finite losses has no range");
  std::size_t first = 0, last = atoms_.size() - 1;
  double below = cut_off_, above = cut_off_;
  while (first < last && (below += atoms_[first].mass) <= tail) ++first;
  while (last > first && (above += atoms_[last].mass) <= tail) --last;
  return {atoms_[first].loss, atoms_[last].loss};
}

Bracket AtomicLaw::delta(double epsilon) const {
  long double upper = 0, lower = 0;
  for (auto atom = atoms_.rbegin(); atom != atoms_.rend(); ++atom) {
    const double gap = atom->loss - epsilon;
    if (gap + loss_error_ <= 0) break;
    upper += static_cast<long double>(atom->mass) * -std::expm1(-(gap + loss_error_));
    if (gap > loss_error_)
      lower += static_cast<long double>(atom->mass) * -std::expm1(-(gap - loss_error_));
  }
  const double slack = 2 * mass_error();
  return {static_cast<double>(lower) * (1 - slack) + infinite_ * (1 - slack),
          std::fmin(1.0, static_cast<double>(upper) * (1 + slack) +
                             (infinite_ + cut_off_) * (1 + slack))};
}

Bracket AtomicLaw::loss_max() const {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (infinite_ > 0) return {kInfinity, kInfinity};
  const double last = atoms_.empty() ? 0 : atoms_.back().loss;
  return {last - loss_error_, cut_off_ > 0 ? kInfinity : last + loss_error_};
}

LossLawPtr compose_exactly(const AtomicLaw& a, const AtomicLaw& b, std::size_t atoms_max) {
  const std::size_t size = a.atoms().size() * b.atoms().size();
  if (size > 8 * atoms_max) return nullptr;
  std::vector<LossAtom> atoms;
  atoms.reserve(size);
  for (const LossAtom& x : a.atoms())
    for (const LossAtom& y : b.atoms()) atoms.push_back({x.loss + y.loss, x.mass * y.mass});
  const double infinite =
      a.infinite_mass() + b.infinite_mass() - a.infinite_mass() * b.infinite_mass();
  auto composed = std::make_shared<AtomicLaw>(
      std::move(atoms), next_up(next_up(infinite)), add_up(a.cut_off(), b.cut_off()),
      a.loss_error() + b.loss_error(), a.mass_error() + b.mass_error() + 0x1p-52);
  return composed->atoms().size() <= atoms_max ? composed : nullptr;
}

}  // namespace discreet
