#include "accounting/discretise.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"

namespace discreet {
namespace {

constexpr double kUnit = 0x1p-53;

// A law that hardly moves by a step says almost nothing; on the lower side it is taken to say
// nothing, which costs the square of its width.
bool narrow(const LossLaw& law, double step) {
  if (law.infinite_mass() > 0) return false;
  const LossLaw::Range all = law.range(1e-30);
  return all.high - all.low < step / 2;
}

// Where the grid is laid decides what the lower masses lose. Through the largest atom, that atom
// loses nothing. With a least loss and no atoms, through the merged loss of all outcomes up to half
// a step above it: the lowest symbol has nothing below it to be balanced with.
double grid_offset(const LossLaw& law, double step) {
  const auto atoms = law.atoms();
  if (narrow(law, step)) return 0;
  if (!atoms.empty())
    return std::max_element(atoms.begin(), atoms.end(),
                            [](const LossAtom& a, const LossAtom& b) { return a.mass < b.mass; })
        ->loss;
  const double least = law.loss_min();
  if (!std::isfinite(least)) return 0;
  double low = least, high = least + step;
  for (int i = 0; i < 50; ++i) {
    const double middle = low + (high - low) / 2;
    const std::array<double, 2> cuts{least - step, middle + step / 2};
    std::array<double, 1> p{}, q{};
    law.cells(cuts, p, q);
    (p[0] > 0 && std::log(p[0] / q[0]) > middle ? low : high) = middle;
  }
  return low;
}

// P- and Q-mass of a set of outcomes. Q is kept as Q e^{l} for a grid loss l near the outcomes, so
// that both are of one size.
struct Mass {
  double p = 0;
  double q = 0;

  Mass& operator+=(const Mass& other) {
    p += other.p;
    q += other.q;
    return *this;
  }
};

// The outcomes around one grid point l_i: those on it, and the halves of the cell above it.
struct Halves {
  Mass on;     // loss l_i, q scaled by e^{l_i}
  Mass left;   // (l_i, l_i + step/2], q scaled by e^{l_i}
  Mass right;  // (l_i + step/2, l_{i+1}), q scaled by e^{l_i}
};

// An atom between two grid points: `rise` above the lower one.
struct LooseAtom {
  std::size_t below;
  double rise;
  double mass;
};

std::vector<LooseAtom> place_atoms(const LossLaw& law, const GridLaw& grid,
                                   std::vector<Halves>& halves, double& below, double& above) {
  std::vector<LooseAtom> loose;
  const double n = static_cast<double>(halves.size());
  for (const LossAtom& atom : law.atoms()) {
    const double position =
        (atom.loss - grid.offset) / grid.step - static_cast<double>(grid.at.front());
    const double nearest = std::round(position);
    const double distance = (position - nearest) * grid.step;
    const bool on_grid = std::fabs(distance) <= law.loss_error() + 4 * kUnit * std::fabs(atom.loss);
    if (position < (on_grid ? -0.5 : 0))
      below += atom.mass;
    else if (position > n - (on_grid ? 0.5 : 1))
      above += atom.mass;
    else if (on_grid)
      halves[static_cast<std::size_t>(nearest)].on += {atom.mass, atom.mass};
    else
      loose.push_back({static_cast<std::size_t>(position),
                       (position - std::floor(position)) * grid.step, atom.mass});
  }
  return loose;
}

// Connects the dots: of a cell's mass, the share (p - q e^{l_i}) / (1 - e^{-step}) goes up.
void fill_upper(GridLaw& grid, const std::vector<Halves>& halves,
                const std::vector<LooseAtom>& loose, double error) {
  // Of a cell of this width; most neighbours are equal.
  std::int64_t width = 1;
  double drop = -std::expm1(-grid.step) * (1 - 4 * kUnit);
  for (const LooseAtom& atom : loose) {
    const double p = atom.mass * (1 + error);
    const double up = std::clamp(p * -std::expm1(-atom.rise) / drop * (1 + 8 * kUnit), 0.0, p);
    grid.upper[atom.below] += p - up;
    grid.upper[atom.below + 1] += up;
  }
  for (std::size_t i = 0; i < halves.size(); ++i) {
    const Halves& h = halves[i];
    if (i + 1 < halves.size() && grid.at[i + 1] - grid.at[i] != width) {
      width = grid.at[i + 1] - grid.at[i];
      drop = -std::expm1(-grid.step * static_cast<double>(width)) * (1 - 4 * kUnit);
    }
    const double p = (h.left.p + h.right.p) * (1 + error);
    const double q = (h.left.q + h.right.q) * (1 - error);
    const double up = std::clamp((p - q) / drop, 0.0, p);
    grid.upper[i] += (p - up) + h.on.p * (1 + error);
    if (i + 1 < halves.size()) grid.upper[i + 1] += up;
  }
}

// Symbols at grid points, each a merger of outcomes within one step of its point. The half of a
// cell next to a point belongs to it at first; shares of halves are then moved to the other end of
// their cell until each symbol's loss is at, and never below, its point.
class Symbols {
 public:
  Symbols(const std::vector<Halves>& halves, const GridLaw& grid, double error)
      : halves_(halves),
        grow_(halves.size()),
        error_(6 * (error + 8 * kUnit)),
        excess_(halves.size()),
        mass_(halves.size()),
        gross_(halves.size()),
        left_up_(halves.size()),
        right_down_(halves.size()) {
    std::int64_t width = 0;
    for (std::size_t i = 0; i + 1 < halves.size(); ++i) {
      const bool same = grid.at[i + 1] - grid.at[i] == width;
      width = grid.at[i + 1] - grid.at[i];
      grow_[i] = same ? grow_[i - 1] : std::exp(grid.step * static_cast<double>(width));
    }
    for (std::size_t i = 0; i < halves.size(); ++i) {
      mass_[i] = halves[i].left.p;
      excess_[i] = at_own(halves[i].left);
      if (i > 0) {
        mass_[i] += halves[i - 1].right.p;
        excess_[i] += at_next(i - 1, halves[i - 1].right);
      }
      gross_[i] = mass_[i];
    }
  }

  void balance() {
    const std::size_t n = halves_.size();
    // Symbols with a loss too high take from below, ...
    for (std::size_t i = n - 1; i > 0; --i)
      move_left(i - 1, ratio(-excess_[i] - 2 * margin(i), at_next(i - 1, halves_[i - 1].left)));
    // ... those with a loss too low give that back, take from above, and give down, ...
    for (std::size_t i = 0; i < n; ++i) {
      if (i > 0) move_left(i - 1, -ratio(needed(i), at_next(i - 1, halves_[i - 1].left)));
      if (i + 1 < n) move_right(i, ratio(needed(i), -at_own(halves_[i].right)));
      if (i > 0) move_right(i - 1, ratio(needed(i), at_next(i - 1, halves_[i - 1].right)));
    }
    // ... and what that left too high is evened out where the neighbour can afford it.
    for (std::size_t i = n - 1; i > 0; --i) {
      const Mass& half = halves_[i - 1].left;
      move_left(i - 1, std::fmin(ratio(-excess_[i] - 2 * margin(i), at_next(i - 1, half)),
                                 ratio(-excess_[i - 1] - 2 * margin(i - 1), -at_own(half))));
    }
  }

  double mass(std::size_t i) const { return std::fmax(0.0, mass_[i]); }
  bool too_low(std::size_t i) const { return excess_[i] + margin(i) > 0; }

 private:
  // Q e^{l} - P of outcomes at the cell's lower and upper end: positive when the loss is below l.
  static double at_own(const Mass& m) { return m.q - m.p; }
  double at_next(std::size_t cell, const Mass& m) const { return m.q * grow_[cell] - m.p; }
  // The computed excess is off by at most this; gross_ never shrinks and so bounds the rounding.
  double margin(std::size_t i) const { return error_ * gross_[i]; }
  double needed(std::size_t i) const {
    const double lacking = excess_[i] + margin(i);
    return lacking > 0 ? lacking + margin(i) : 0;
  }
  static double ratio(double wanted, double gain) {
    return wanted > 0 && gain > 0 ? std::fmin(1.0, wanted / gain) : 0;
  }

  // A further share of the left half of cell i goes up to symbol i + 1 (back when negative).
  void move_left(std::size_t i, double share) {
    share = std::clamp(left_up_[i] + share, 0.0, 1.0) - left_up_[i];
    if (share == 0) return;
    left_up_[i] += share;
    exchange(i, i + 1, halves_[i].left, share);
  }
  // A further share of the right half of cell i goes down to symbol i.
  void move_right(std::size_t i, double share) {
    share = std::clamp(right_down_[i] + share, 0.0, 1.0) - right_down_[i];
    if (share == 0) return;
    right_down_[i] += share;
    exchange(i, i + 1, halves_[i].right, -share);
  }
  // Moves a share from symbol i to symbol i + 1.
  void exchange(std::size_t i, std::size_t next, const Mass& half, double share) {
    excess_[i] -= share * at_own(half);
    excess_[next] += share * at_next(i, half);
    mass_[i] -= share * half.p;
    mass_[next] += share * half.p;
    gross_[share > 0 ? next : i] += std::fabs(share) * half.p;
  }

  const std::vector<Halves>& halves_;
  std::vector<double> grow_;  // e^width of each cell
  double error_;
  std::vector<double> excess_, mass_, gross_, left_up_, right_down_;
};

// Atoms between points, on the lower side. A share of the largest atom, which is on the grid, is
// merged with each: an atom below it is lifted to the next point, one above it is lowered to the
// point before, and the share needed is about step / distance of the atom's mass. Rounding the atom
// down instead would cost a whole step's share of its mass.
void fill_lower_atoms(GridLaw& grid, const std::vector<LooseAtom>& loose, double offset_position,
                      double keep) {
  const bool on_grid =
      offset_position >= 0 && offset_position < static_cast<double>(grid.lower.size());
  const std::size_t reservoir = on_grid ? static_cast<std::size_t>(offset_position) : 0;
  double left = on_grid ? grid.lower[reservoir] / 2 : 0;  // half of it is never touched
  for (const LooseAtom& atom : loose) {
    const double mass = atom.mass * keep;
    std::size_t at = atom.below;
    double share = 0;
    if (atom.below + 1 < reservoir) {
      at = atom.below + 1;
      const double distance = grid.step * static_cast<double>(reservoir - at);
      share = mass * std::expm1(grid.step - atom.rise) / -std::expm1(-distance);
    } else if (atom.below > reservoir) {
      const double distance = grid.step * static_cast<double>(at - reservoir);
      share = mass * -std::expm1(-atom.rise) / std::expm1(distance);
    }
    share *= 1 + 1e-12;
    if (share > left || (at == atom.below && share == 0)) {
      grid.lower[atom.below] += mass;  // rounded down
      continue;
    }
    left -= share;
    grid.lower[reservoir] -= share;
    grid.lower[at] += mass + share * (1 - 4 * kUnit);
  }
}

void fill_lower(GridLaw& grid, const std::vector<Halves>& halves,
                const std::vector<LooseAtom>& loose, double error) {
  Symbols symbols(halves, grid, error);
  symbols.balance();
  const double keep = 1 - error - 8 * kUnit;
  for (std::size_t i = 0; i < halves.size(); ++i) {
    grid.lower[i] += halves[i].on.p * keep;  // these have the loss of the point already
    // A symbol still too low is moved to the point below, under which it has no outcome.
    if (!symbols.too_low(i))
      grid.lower[i] += symbols.mass(i) * keep;
    else if (i > 0)
      grid.lower[i - 1] += symbols.mass(i) * keep;
  }
  fill_lower_atoms(grid, loose, -static_cast<double>(grid.at.front()), keep);
}

// All outcomes merged: P and Q agree on them up to what was cut away, so the loss is zero.
void fill_lower_with_nothing(GridLaw& grid, const std::vector<Halves>& halves,
                             const std::vector<LooseAtom>& loose, double error) {
  double mass = 0;
  for (const Halves& h : halves) mass += h.on.p + h.left.p + h.right.p;
  for (const LooseAtom& atom : loose) mass += atom.mass;
  const auto zero = std::lower_bound(grid.at.begin(), grid.at.end(), 0);
  if (zero != grid.at.end() && *zero == 0)
    grid.lower[static_cast<std::size_t>(zero - grid.at.begin())] = mass * (1 - error - 8 * kUnit);
}

// Indices from `begin` to `end` at the distances asked for; a wide cell does not reach into a
// narrower range.
std::vector<std::int64_t> lay_points(const GridLaw& grid, std::int64_t begin, std::int64_t end,
                                     const CellWidths& widths) {
  std::vector<std::int64_t> at{begin};
  std::size_t range = 0;  // ranges up to here have begun
  const auto& wide = widths.wide;
  while (at.back() < end) {
    const double here = grid.offset + grid.step * static_cast<double>(at.back());
    while (range < wide.size() && wide[range].from <= here) ++range;
    std::int64_t steps = range > 0 ? wide[range - 1].steps : widths.least;
    const auto reaches_narrower = [&] {
      return range < wide.size() && wide[range].steps < steps &&
             here + grid.step * static_cast<double>(steps) > wide[range].from;
    };
    while (steps > widths.least && reaches_narrower()) steps /= 2;
    at.push_back(at.back() + std::max(steps, widths.least));
  }
  return at;
}

}  // namespace

GridLaw discretise(const LossLaw& law, double step, double tail_below, double tail_above,
                   const CellWidths& widths) {
  DISCREET_CHECK(step > 0, "a grid needs a positive step");
  DISCREET_CHECK(law.atoms().empty() || (widths.least == 1 && widths.wide.empty()),
                 "a law with atoms uses every point");
  GridLaw grid;
  grid.step = step;
  const double cell = step * static_cast<double>(widths.least);
  grid.offset = grid_offset(law, cell);
  const double low = law.range(tail_below).low, high = law.range(tail_above).high;
  const double begin = std::floor((low - grid.offset) / cell - 1e-9);
  const double end = std::ceil((high - grid.offset) / cell + 1e-9);
  DISCREET_CHECK(end - begin < 0x1p27, "a grid this fine does not fit in memory");
  grid.at = lay_points(grid, static_cast<std::int64_t>(begin) * widths.least,
                       static_cast<std::int64_t>(end) * widths.least, widths);
  const std::size_t points = grid.at.size();
  grid.upper.assign(points, 0.0);
  grid.lower.assign(points, 0.0);
  std::vector<Halves> halves(points);

  double below = 0, above = 0;
  if (law.has_density()) {
    std::vector<double> cuts(2 * points - 1), p(2 * points - 2), q(2 * points - 2);
    for (std::size_t i = 0; i < points; ++i) cuts[2 * i] = grid.loss(i);
    for (std::size_t i = 0; i + 1 < points; ++i)
      cuts[2 * i + 1] = cuts[2 * i] + (cuts[2 * i + 2] - cuts[2 * i]) / 2;
    law.cells(cuts, p, q);
    for (std::size_t i = 0; i + 1 < points; ++i) {
      const double scale = std::exp(grid.loss(i));
      halves[i].left = {p[2 * i], q[2 * i] * scale};
      halves[i].right = {p[2 * i + 1], q[2 * i + 1] * scale};
    }
    below = law.mass_below(cuts.front());
    above = law.mass_above(cuts.back());
  }
  const std::vector<LooseAtom> loose = place_atoms(law, grid, halves, below, above);
  if (!law.has_density()) {  // atoms beyond the grid, and outcomes the list leaves out
    below = std::fmax(below, law.mass_below(grid.loss(0) - law.loss_error()));
    above = std::fmax(above, law.mass_above(grid.loss(points - 1) + law.loss_error()));
  }

  const double largest = std::fmax(std::fabs(grid.loss(0)), std::fabs(grid.loss(points - 1)));
  const double error = law.mass_error() + 8 * kUnit + 2 * kUnit * largest;
  fill_upper(grid, halves, loose, error);
  if (narrow(law, cell))
    fill_lower_with_nothing(grid, halves, loose, error);
  else
    fill_lower(grid, halves, loose, error);
  grid.upper.front() += below * (1 + error);
  // Merged at the last point: outcomes above it lose part of their loss.
  grid.infinite_upper = law.infinite_mass() + above * (1 + error);
  grid.infinite_lower = law.infinite_mass() * (1 - error);
  grid.loss_error = law.loss_error() + 8 * kUnit * largest;
  return grid;
}

// What a cell adds to the variance is its mass times the square of its width: each doubling is
// allowed where a 32nd of what the narrow cells add is left.
CellWidths wide_tails(const GridLaw& seen, double tilt, double step, std::int64_t least) {
  CellWidths widths{.least = least, .wide = {}};
  const std::size_t n = seen.upper.size();
  if (n < 3) return widths;
  const double top = seen.loss(n - 1);
  std::vector<double> below(n);  // tilted mass up to and with this entry
  double total = 0;
  for (std::size_t i = 0; i < n; ++i) {
    total += seen.upper[i] * std::exp(tilt * (seen.loss(i) - top));
    below[i] = total;
  }
  if (!(total > 0)) return widths;
  for (std::size_t i = 0; i + 1 < n; ++i) {
    const double above = i > 0 ? total - below[i - 1] : total;
    const double weight = std::fmin(above, below[i + 1]) / total;
    const double widest =
        std::fmin(0.25 / (tilt + 1), seen.loss(i + 1) - seen.loss(i)) / (2 * step);
    std::int64_t steps = least;
    double cost = 32 * 4 * weight;
    while (cost < 1 && static_cast<double>(steps) < widest) {
      steps *= 2;
      cost *= 4;
    }
    if (steps != (widths.wide.empty() ? least : widths.wide.back().steps))
      widths.wide.push_back({seen.loss(i), steps});
  }
  return widths;
}

double common_spacing(const LossLaw& law, std::size_t points_max) {
  const auto atoms = law.atoms();
  if (atoms.size() < 2) return 0;
  const double span = atoms.back().loss - atoms.front().loss;
  const double noise = law.loss_error() + 16 * kUnit * span;
  double spacing = span;
  for (std::size_t i = 1; i < atoms.size(); ++i) {  // Euclid's algorithm up to rounding
    double a = spacing, b = atoms[i].loss - atoms[0].loss;
    while (b > noise * 64) {
      const double rest = std::fabs(a - b * std::round(a / b));
      a = b;
      b = rest;
    }
    spacing = a;
    if (spacing * static_cast<double>(points_max) < span) return 0;
  }
  // Rounding in the chain of remainders: refit to the whole span.
  spacing = span / std::round(span / spacing);
  for (const LossAtom& atom : atoms) {
    const double position = (atom.loss - atoms[0].loss) / spacing;
    if (std::fabs(position - std::round(position)) * spacing > noise) return 0;
  }
  return spacing;
}

}  // namespace discreet
