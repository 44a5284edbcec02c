#include "accounting/profile_law.h"

#include <algorithm>
#include <cmath>

#include "accounting/atomic_law.h"
#include "base/rounding.h"

namespace discreet {
namespace {

struct Knot {
  double epsilon;
  double ratio;  // e^epsilon
  double delta;
};

double slope(const Knot& a, const Knot& b) {
  return (b.delta - a.delta) / (b.ratio - a.ratio);
}

}  // namespace

LossLawPtr law_of_symmetric_profile(const std::function<double(double)>& delta, double epsilon_max,
                                    std::size_t points) {
  // delta(-e) = 1 - e^{-e} + e^{-e} delta*(e), with delta* of the other direction.
  std::vector<Knot> knots{{-HUGE_VAL, 0, 1}};
  const double step = epsilon_max / static_cast<double>(points);
  for (std::size_t i = points; i > 0; --i) {
    const double e = step * static_cast<double>(i);
    knots.push_back({-e, std::exp(-e), -std::expm1(-e) + std::exp(-e) * delta(e)});
  }
  for (std::size_t i = 0; i <= points; ++i) {
    const double e = step * static_cast<double>(i);
    knots.push_back({e, std::exp(e), delta(e)});
  }
  std::vector<Knot> hull;
  for (const Knot& knot : knots) {
    while (hull.size() >= 2 &&
           slope(hull[hull.size() - 2], hull.back()) >= slope(hull.back(), knot))
      hull.pop_back();
    hull.push_back(knot);
  }
  // Where the slope in e^epsilon grows by m, Q has mass m and P has mass m e^epsilon; what is left
  // at the last knot is a loss that may be anything.
  std::vector<LossAtom> atoms;
  double finite = 0;
  for (std::size_t i = 1; i < hull.size(); ++i) {
    const double after = i + 1 < hull.size() ? slope(hull[i], hull[i + 1]) : 0;
    const double mass = (after - slope(hull[i - 1], hull[i])) * hull[i].ratio;
    if (mass > 0) atoms.push_back({hull[i].epsilon, mass});
    finite += std::fmax(0.0, mass);
  }
  const double infinite = next_up(std::fmax(hull.back().delta, 0.0));
  // Rounding in the slopes is made up for by giving every atom a share more.
  const double short_of_one = std::fmax(0.0, 1 - infinite - finite);
  for (LossAtom& atom : atoms) atom.mass *= 1 + 1e-13 + short_of_one;
  return std::make_shared<AtomicLaw>(std::move(atoms), infinite, 0, 1e-14 * (1 + epsilon_max));
}

}  // namespace discreet
