// The adaptive grid: a coarse look to find the tilt, then steps fine enough for the asked width.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "accounting/discretise.h"
#include "accounting/grid_composition.h"
#include "accounting/plan_solver_internal.h"

namespace discreet {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kCoarsePoints = 500;
constexpr double kFewestPoints = 6;
constexpr double kCellsMax = 6e6;  // over all laws, of one discretisation
constexpr int kRounds = 8;
constexpr std::size_t kManyLaws = 20;
constexpr double kWorkMax = 6e7;  // grid points transformed in all rounds together

struct Grid {
  std::vector<GridLaw> laws;
  std::vector<GridPart> parts;  // pointing into `laws`, whose entries stay put when moved
};

// Laws without atoms lose O(step^2) only and may use every so many points: `smooth` is the step
// they need. `seen` is an earlier grid of the same laws, if there was one.
Grid discretise_all(const std::vector<GridInput>& inputs, double base, double smooth,
                    double tail_below, double tail_above, const Grid& seen, double tilt) {
  Grid grid;
  grid.laws.reserve(inputs.size());
  for (const GridInput& input : inputs) {
    CellWidths widths;
    if (input.upper->atoms().empty() && !input.lower) {
      while (static_cast<double>(2 * widths.least) * base <= smooth) widths.least *= 2;
      if (!seen.laws.empty())
        widths = wide_tails(seen.laws[grid.laws.size()], tilt, base, widths.least);
    }
    GridLaw law = discretise(*input.upper, base, tail_below, tail_above, widths);
    if (input.lower) {
      // Both sides share one array: the other law's masses are laid onto the same indices.
      const GridLaw other = discretise(*input.lower, base, tail_below, tail_above);
      const auto shift =
          static_cast<std::int64_t>(std::floor((other.offset - law.offset) / base + 1e-9)) -
          law.at.front();
      std::fill(law.lower.begin(), law.lower.end(), 0.0);
      for (std::size_t i = 0; i < other.lower.size(); ++i) {
        const std::int64_t at = other.at[i] + shift;
        if (at < 0) continue;  // dropped: the lower side may lose mass
        const auto last = static_cast<std::int64_t>(law.lower.size()) - 1;
        law.lower[static_cast<std::size_t>(std::min(at, last))] += other.lower[i];
      }
      law.infinite_lower = other.infinite_lower;
      law.loss_error = std::fmax(law.loss_error, other.loss_error);
    }
    grid.laws.push_back(std::move(law));
  }
  for (std::size_t i = 0; i < inputs.size(); ++i)
    grid.parts.push_back({&grid.laws[i], inputs[i].count});
  return grid;
}

// Steps that divide the spacing of the atoms which are used most: those atoms then cost nothing.
struct Alignment {
  double spacing = 0;  // zero: nothing to align with
  double weight = 0;   // releases whose atoms are on the grid, times the atoms' mass
};

Alignment alignment(const std::vector<GridInput>& inputs) {
  double weight = 0, spacing = 0;
  for (const GridInput& input : inputs) {
    double atoms = 0;
    for (const LossAtom& atom : input.upper->atoms()) atoms += atom.mass;
    const double here = atoms * static_cast<double>(input.count);
    const double own = here > weight ? common_spacing(*input.upper, 100'000) : 0;
    if (own > 0) {
      weight = here;
      spacing = own;
    }
  }
  return {spacing, weight};
}

double fit_step(const Alignment& aligned, double step) {
  // A spacing below the step would force a needlessly fine grid on all.
  if (aligned.spacing < step) return step;
  return aligned.spacing / std::ceil(aligned.spacing / step);
}

// The best tilt for Chernoff's bound may weigh rare large losses so heavily that the tilted sum
// spreads far beyond the epsilon in question. A smaller tilt then needs a shorter window; up to
// three digits of accuracy in delta are given for it.
double narrow_tilt(std::span<const GridPart> parts, double best, PlanQuestion question) {
  const Cumulants at_best = cumulants(parts, best);
  double epsilon = question.at;
  if (question.wants_epsilon) epsilon = (at_best.value - std::log(question.at)) / best;
  const double least = at_best.value - best * epsilon;
  double chosen = best, curvature = 0.6 * at_best.curvature;
  for (const double share : {0.85, 0.7, 0.55, 0.4}) {
    const Cumulants k = cumulants(parts, share * best);
    if (k.value - share * best * epsilon > least + std::log(1e3)) break;
    if (k.curvature < curvature) {
      chosen = share * best;
      curvature = 0.8 * k.curvature;
    }
  }
  return chosen;
}

}  // namespace

Result<Bracket> solve_on_grid(const LossPlan& plan, PlanQuestion question,
                              const PldAccuracy& accuracy) {
  const auto inputs = grid_inputs(plan);
  double count = 0, width = 0;
  bool only_atoms = true;
  for (const GridInput& input : inputs) {
    count += static_cast<double>(input.count);
    const LossLaw::Range range = input.upper->range(1e-12);
    width = std::fmax(width, range.high - range.low);
    only_atoms = only_atoms && !input.upper->has_density();
  }
  if (!(width > 0)) return Bracket{0, 0};

  const Alignment aligned = alignment(inputs);
  std::size_t with_atoms = 0;
  for (const GridInput& input : inputs) with_atoms += input.upper->atoms().empty() ? 0 : 1;
  const bool loose = with_atoms > (aligned.spacing > 0 ? 1 : 0);
  double delta_guess = question.wants_epsilon ? question.at : 1e-12;
  double step = width / kCoarsePoints;
  // One law whose losses lie on a lattice needs no discretisation at all.
  const double lattice =
      inputs.size() == 1 && only_atoms ? common_spacing(*inputs[0].upper, 1'000'000) : 0;
  Bracket best{0, question.wants_epsilon ? kInfinity : 1};
  bool coarse = true;
  double smooth = 0;  // the step of laws without atoms; zero: as the others
  double work = 0, previous = kInfinity;
  int stalls = 0;
  double finest = 0;  // the step expected to suffice, where coarser ones are tried first
  Grid grid;          // of the last round
  double tilt = 0;
  for (int round = 0; round < kRounds; ++round) {
    const double fitted = lattice > 0 ? lattice : fit_step(aligned, step);
    grid = discretise_all(inputs, fitted, smooth, 1e-10 / count, delta_guess * 1e-7 / count, grid,
                          tilt);
    tilt = question.wants_epsilon ? tilt_for_delta(grid.parts, question.at)
                                  : tilt_for_epsilon(grid.parts, question.at);
    const auto wanted = [&](double value) {  // the width to reach, as a width in epsilon
      if (!question.wants_epsilon) return accuracy.delta_relative / std::fmax(tilt, 0.1);
      // Many laws off the grid are dear: one part in a thousand is enough then.
      if (with_atoms > kManyLaws) return accuracy.epsilon_relative_many * value;
      return std::fmin(accuracy.epsilon_absolute, accuracy.epsilon_relative * value);
    };
    // Each release adds about step^2 / 6 to the variance and step^2 / 12 to the mean; see
    // docs/proofs/privacy_loss_distribution.md.
    if (coarse && lattice == 0) {
      coarse = false;
      const Cumulants k = cumulants(grid.parts, tilt);
      double guess = question.at;
      if (question.wants_epsilon) {
        guess = std::fmax(1e-3, (k.value - std::log(question.at)) / tilt);
      } else {
        // Chernoff's bound, less what it is usually loose by. A guess far off means that the tail
        // cut away held what decides the answer: look again with a longer one.
        const double before = delta_guess;
        delta_guess = std::clamp(std::exp(k.value - tilt * question.at) / (1 + tilt) /
                                     (1 + 2.5 * tilt * std::sqrt(k.curvature)),
                                 1e-290, 1.0);
        if (delta_guess < 1e-3 * before && round < 3) {
          coarse = true;
          continue;
        }
      }
      const double spread_out = std::fmax(count - aligned.weight, 1e-3 * count);
      const double needed = std::sqrt(5.4 * wanted(guess) / (spread_out * (tilt + 1)));
      finest = std::clamp(needed, width * static_cast<double>(inputs.size()) / kCellsMax,
                          width / kFewestPoints);
      // Another plan may be known to be worse than some value: a coarse grid may then show this one
      // to be below it, and is tried first.
      step = question.floor > 0 ? std::fmax(finest, fitted) : finest;
      if (fit_step(aligned, step) != fitted) continue;
    }
    const GridComposition composed(grid.parts, narrow_tilt(grid.parts, tilt, question),
                                   accuracy.points_max);
    if (!composed.ok()) {
      if (lattice > 0) return Error{ErrorCode::Refused, "the losses span too many lattice points"};
      step = fitted * 2;
      continue;
    }
    const Bracket now =
        question.wants_epsilon ? composed.epsilon(question.at) : composed.delta(question.at);
    best = {std::fmax(best.lower, now.lower), std::fmin(best.upper, now.upper)};
    if (best.upper <= question.floor || lattice > 0) break;
    const double reached = question.wants_epsilon ? best.width()
                                                  : best.width() / std::fmax(best.upper, 1e-300) /
                                                        std::fmax(tilt, 0.1);
    const double target = wanted(best.upper);
    if (reached <= target) break;
    // Some brackets cannot close: zCDP has no worst mechanism, only a bound and an example.
    stalls = reached > 0.85 * previous ? stalls + 1 : 0;
    previous = reached;
    if (stalls >= 2) break;
    double cells = 0;
    for (const GridLaw& law : grid.laws) cells += static_cast<double>(law.upper.size());
    const double least = std::fmax(cells / kCellsMax, static_cast<double>(composed.points()) /
                                                          static_cast<double>(accuracy.points_max));
    work += static_cast<double>(composed.points()) * static_cast<double>(inputs.size() + 1);
    if (least > 0.75 || work > kWorkMax / 2) break;  // no finer grid is allowed
    if (question.floor > 0 && finest < fitted / 4) {
      step = fitted / 4;
    } else {
      // Atoms off the grid make the lower side converge like the step, not like its square.
      const double share = loose ? 0.95 * target / reached : std::sqrt(0.7 * target / reached);
      step = fitted * std::clamp(share, std::fmax(0.06, least), 0.75);
      smooth = loose ? std::fmax(smooth, finest) * 0.6 : 0;
      if (question.floor > 0) step = std::fmax(step, std::fmin(finest, fitted * 0.75));
    }
  }
  if (best.upper == kInfinity && best.lower == 0)
    return Error{
        ErrorCode::Refused,
        fmt::format("composing {} releases needs more grid points than are allowed", count)};
  return best;
}

}  // namespace discreet
