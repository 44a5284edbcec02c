#include "accounting/discretise.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace discreet {
namespace {

constexpr double kUnit = 0x1p-53;

double grid_offset(const LossLaw& law) {
  const auto atoms = law.atoms();
  if (atoms.empty()) return 0;
  return std::max_element(atoms.begin(), atoms.end(),
                          [](const LossAtom& a, const LossAtom& b) { return a.mass < b.mass; })
      ->loss;
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

void place_atoms(const LossLaw& law, GridLaw& grid, std::vector<Halves>& halves, double& below,
                 double& above) {
  const double n = static_cast<double>(halves.size());
  for (const LossAtom& atom : law.atoms()) {
    const double position = (atom.loss - grid.offset) / grid.step - static_cast<double>(grid.first);
    const double nearest = std::round(position);
    const double distance = (position - nearest) * grid.step;
    const bool on_grid = std::fabs(distance) <= law.loss_error() + 4 * kUnit * std::fabs(atom.loss);
    if (on_grid) {
      if (nearest < 0)
        below += atom.mass;
      else if (nearest >= n)
        above += atom.mass;
      else
        halves[static_cast<std::size_t>(nearest)].on += {atom.mass, atom.mass};
    } else if (position < 0) {
      below += atom.mass;
    } else if (position >= n - 1) {
      above += atom.mass;
    } else {
      Halves& cell = halves[static_cast<std::size_t>(position)];
      const double rise = (position - std::floor(position)) * grid.step;
      (2 * rise <= grid.step ? cell.left : cell.right) += {atom.mass, atom.mass * std::exp(-rise)};
    }
  }
}

// Connects the dots: of a cell's mass, the share (p - q e^{l_i}) / (1 - e^{-step}) goes up.
void fill_upper(GridLaw& grid, const std::vector<Halves>& halves, double error) {
  const double drop = -std::expm1(-grid.step) * (1 - 4 * kUnit);
  for (std::size_t i = 0; i < halves.size(); ++i) {
    const Halves& h = halves[i];
    const double p = (h.left.p + h.right.p) * (1 + error);
    const double q = (h.left.q + h.right.q) * (1 - error);
    const double up = std::clamp((p - q) / drop, 0.0, p);
    grid.upper[i] += (p - up) + h.on.p * (1 + error);
    if (i + 1 < halves.size()) grid.upper[i + 1] += up;
  }
}

// Merges the outcomes nearest to each grid point into its symbol and then moves shares of half
// cells between neighbouring symbols until each symbol's loss is at, and never below, its point.
// `excess` is Q e^{l_i} - P of a symbol: positive when its loss is below the point.
void fill_lower(GridLaw& grid, std::vector<Halves>& halves, double error) {
  const std::size_t n = halves.size();
  const double grow = std::exp(grid.step);
  const auto at_next = [grow](const Mass& m) { return m.q * grow - m.p; };  // excess at l_{i+1}
  const auto at_own = [](const Mass& m) { return m.q - m.p; };              // excess at l_i

  // Outcomes on a point stay there; `mass` and `excess` count the others. `gross` never shrinks, so
  // that it bounds the rounding in `excess`.
  std::vector<double> excess(n), mass(n), gross(n);
  for (std::size_t i = 0; i < n; ++i) {
    mass[i] = halves[i].left.p;
    excess[i] = at_own(halves[i].left);
    if (i > 0) {
      mass[i] += halves[i - 1].right.p;
      excess[i] += at_next(halves[i - 1].right);
    }
    gross[i] = mass[i];
  }
  const auto margin = [&](std::size_t i) { return 6 * (error + 8 * kUnit) * gross[i]; };

  for (std::size_t i = n - 1; i > 0; --i) {  // symbols with a loss too high take mass from below
    const double wanted = -excess[i] - 2 * margin(i);
    const Mass& lower = halves[i - 1].left;
    const double gain = at_next(lower);
    if (!(wanted > 0) || !(gain > 0)) continue;
    const double share = std::fmin(1.0, wanted / gain);
    excess[i] += share * gain;
    excess[i - 1] -= share * at_own(lower);
    mass[i] += share * lower.p;
    gross[i] += share * lower.p;
    mass[i - 1] -= share * lower.p;
  }
  for (std::size_t i = 0; i < n; ++i) {  // symbols with a loss too low take mass from above
    double needed = excess[i] + margin(i);
    if (needed > 0 && i + 1 < n) {
      const Mass& above = halves[i].right;
      const double gain = -at_own(above);
      if (gain > 0) {
        const double share = std::fmin(1.0, 1.001 * needed / gain);
        excess[i] -= share * gain;
        excess[i + 1] -= share * at_next(above);
        mass[i] += share * above.p;
        gross[i] += share * above.p;
        mass[i + 1] -= share * above.p;
        needed = excess[i] + margin(i);
      }
    }
    const double keep = 1 - error - 8 * kUnit;
    grid.lower[i] += halves[i].on.p * keep;
    // A symbol still too low is moved to the point below, under which it has no outcome.
    if (needed <= 0)
      grid.lower[i] += std::fmax(0.0, mass[i]) * keep;
    else if (i > 0)
      grid.lower[i - 1] += std::fmax(0.0, mass[i]) * keep;
  }
}

}  // namespace

GridLaw discretise(const LossLaw& law, double step, double tail_below, double tail_above) {
  DISCREET_CHECK(step > 0, "a grid needs a positive step");
  GridLaw grid;
  grid.step = step;
  grid.offset = grid_offset(law);
  const double low = law.range(tail_below).low, high = law.range(tail_above).high;
  const double begin = std::floor((low - grid.offset) / step - 1e-9);
  const double end = std::ceil((high - grid.offset) / step + 1e-9);
  const auto points = static_cast<std::size_t>(end - begin) + 1;
  grid.first = static_cast<std::int64_t>(begin);
  grid.upper.assign(points, 0.0);
  grid.lower.assign(points, 0.0);
  std::vector<Halves> halves(points);

  double below = 0, above = 0;
  if (law.has_density()) {
    std::vector<double> cuts(2 * points - 1), p(2 * points - 2), q(2 * points - 2);
    for (std::size_t j = 0; j < cuts.size(); ++j)
      cuts[j] = grid.loss(j / 2) + (j % 2 == 1 ? step / 2 : 0);
    law.cells(cuts, p, q);
    for (std::size_t i = 0; i + 1 < points; ++i) {
      const double scale = std::exp(grid.loss(i));
      halves[i].left = {p[2 * i], q[2 * i] * scale};
      halves[i].right = {p[2 * i + 1], q[2 * i + 1] * scale};
    }
    below = law.mass_below(cuts.front());
    above = law.mass_above(cuts.back());
  }
  place_atoms(law, grid, halves, below, above);
  if (!law.has_density()) {  // atoms beyond the grid, and outcomes the list leaves out
    below = std::fmax(below, law.mass_below(grid.loss(0) - law.loss_error()));
    above = std::fmax(above, law.mass_above(grid.loss(points - 1) + law.loss_error()));
  }

  const double largest = std::fmax(std::fabs(grid.loss(0)), std::fabs(grid.loss(points - 1)));
  const double error = law.mass_error() + 8 * kUnit + 2 * kUnit * largest;
  fill_upper(grid, halves, error);
  fill_lower(grid, halves, error);
  grid.upper.front() += below * (1 + error);
  // Merged at the last point: outcomes above it lose part of their loss.
  grid.infinite_upper = law.infinite_mass() + above * (1 + error);
  grid.infinite_lower = law.infinite_mass() * (1 - error);
  grid.loss_error = law.loss_error() + 8 * kUnit * largest;
  return grid;
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
