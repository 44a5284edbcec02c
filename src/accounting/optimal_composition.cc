#include "accounting/optimal_composition.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "accounting/binomial_internal.h"
#include "base/rounding.h"

namespace discreet {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Covers one anchor, the ratios in long double, and -expm1 of a difference with two roundings.
constexpr long double kRelativeSlack = 1e-13L;
constexpr long double kNegligible = 1e-19L;

struct Range {
  double lower;
  double upper;
};

// sum_j P[Bin(k, p) = j] (1 - e^{epsilon - (2j - k) e})_+ with odds e^e: every term is positive,
// and only about sqrt(k) of them matter.
class BinomialHockeyStick {
 public:
  BinomialHockeyStick(double e, std::uint64_t k, double epsilon)
      : e_(e), k_(k), epsilon_(epsilon), odds_(std::exp(static_cast<long double>(e))) {}

  Range value() const {
    const long double threshold =
        (static_cast<long double>(k_) + static_cast<long double>(epsilon_) / e_) / 2;
    if (threshold >= static_cast<long double>(k_)) return {0, 0};
    const std::uint64_t first =
        threshold < 0 ? 0 : static_cast<std::uint64_t>(std::floor(threshold)) + 1;
    if (first > k_) return {0, 0};
    const long double mode = static_cast<long double>(k_) / (1 + 1 / odds_);
    const std::uint64_t anchor =
        std::min(k_, std::max(first, static_cast<std::uint64_t>(std::floor(mode))));
    long double sum = 0, tail = 0, mass = 1;
    std::uint64_t steps = 0;
    for (std::uint64_t j = anchor;; ++j, ++steps) {
      sum += mass * share(j);
      if (j == k_) break;
      const long double ratio = up_ratio(j);
      if (ratio < 1 && mass * ratio < kNegligible * sum * (1 - ratio)) {
        tail += mass * ratio / (1 - ratio);
        break;
      }
      mass *= ratio;
    }
    mass = 1;
    for (std::uint64_t j = anchor; j > first; ++steps) {
      const long double ratio = 1 / up_ratio(j - 1);
      if (ratio < 1 && mass * ratio < kNegligible * sum * (1 - ratio)) {
        tail += mass * ratio / (1 - ratio);
        break;
      }
      mass *= ratio;
      --j;
      sum += mass * share(j);
    }
    const long double scale = std::exp(log_binomial(k_, anchor, e_));
    const long double slack = kRelativeSlack + 1e-18L * static_cast<long double>(steps);
    return {next_down(static_cast<double>(scale * sum * (1 - slack))),
            next_up(static_cast<double>(scale * (sum + tail) * (1 + slack)))};
  }

 private:
  // P[j + 1] / P[j].
  long double up_ratio(std::uint64_t j) const {
    return static_cast<long double>(k_ - j) / static_cast<long double>(j + 1) * odds_;
  }
  // The part of the outcome j that counts. Its argument carries an error of about 1e-19 of k e.
  long double share(std::uint64_t j) const {
    const long double loss = (2 * static_cast<long double>(j) - static_cast<long double>(k_)) *
                             static_cast<long double>(e_);
    return std::fmax(0.0L, -std::expm1(static_cast<long double>(epsilon_) - loss));
  }

  double e_;
  std::uint64_t k_;
  double epsilon_;
  long double odds_;
};

// 1 - (1-d)^k (1 - h), with (1-d)^k between the two given numbers.
double with_failures_up(double log_rest_down, double hockey) {
  const double rest = std::fmin(1.0, exp_down(log_rest_down));
  return std::fmin(1.0, add_up(-expm1_down(log_rest_down), mul_up(rest, hockey)) *
                            (1 + 4 * std::numeric_limits<double>::epsilon()));
}
double with_failures_down(double log_rest_up, double hockey) {
  return std::fmax(0.0, add_down(-expm1_up(log_rest_up), mul_down(exp_down(log_rest_up), hockey)));
}

// k ln(1 - d), as a range; minus infinity for d = 1.
Range log_rest(double delta, std::uint64_t k) {
  if (k == 0 || delta == 0) return {0, 0};
  if (delta >= 1) return {-kInfinity, -kInfinity};
  return {mul_down(count_up(k), log1p_down(-delta)), mul_up(count_down(k), log1p_up(-delta))};
}

Range hockey_stick(double e, std::uint64_t k, double epsilon) {
  if (epsilon < 0) epsilon = 0;
  if (e == 0 || k == 0) return {0, 0};
  if (e > 700) return {0, 1};
  return BinomialHockeyStick(e, k, epsilon).value();
}

// The least epsilon in [0, high] with delta_at(epsilon) <= target, from above.
template <class DeltaAt>
double bisect_up(double high, double target, DeltaAt delta_at) {
  if (delta_at(0.0) <= target) return 0;
  if (!(delta_at(high) <= target)) return kInfinity;
  double bad = 0, good = high;
  while (good - bad > 1e-14 * good) {
    const double middle = bad + (good - bad) / 2;
    if (middle <= bad || middle >= good) break;
    (delta_at(middle) <= target ? good : bad) = middle;
  }
  return good;
}

double total_epsilon_up(Epsilon one, std::uint64_t k) {
  return (k * one).value();
}

}  // namespace

double optimal_delta(Epsilon one, Delta delta, std::uint64_t k, double epsilon) {
  const Range rest = log_rest(delta.value(), k);
  return with_failures_up(rest.lower, hockey_stick(one.value(), k, epsilon).upper);
}

double optimal_delta_down(Epsilon one, Delta delta, std::uint64_t k, double epsilon) {
  const Range rest = log_rest(delta.value(), k);
  return with_failures_down(rest.upper, hockey_stick(one.value(), k, epsilon).lower);
}

double optimal_epsilon(Epsilon one, Delta delta, std::uint64_t k, double target_delta) {
  return bisect_up(total_epsilon_up(one, k), target_delta,
                   [&](double epsilon) { return optimal_delta(one, delta, k, epsilon); });
}

double optimal_epsilon_down(Epsilon one, Delta delta, std::uint64_t k, double target_delta) {
  const auto exceeds = [&](double epsilon) {
    return optimal_delta_down(one, delta, k, epsilon) > target_delta;
  };
  if (!exceeds(0)) return 0;
  double good = 0, bad = total_epsilon_up(one, k);  // good: still above the target
  if (exceeds(bad)) return kInfinity;
  while (bad - good > 1e-14 * bad) {
    const double middle = good + (bad - good) / 2;
    if (middle <= good || middle >= bad) break;
    (exceeds(middle) ? good : bad) = middle;
  }
  return good;
}

namespace {

// Releases grouped by epsilon, and what their deltas leave.
struct Workload {
  std::map<double, std::uint64_t> counts;
  Range rest{0, 0};
};

Workload gather(std::span<const ApproxDp> releases) {
  Workload workload;
  for (const ApproxDp& release : releases) {
    if (release.epsilon.value() > 0) ++workload.counts[release.epsilon.value()];
    const Range one = log_rest(release.delta.value(), 1);
    workload.rest = {add_down(workload.rest.lower, one.lower),
                     add_up(workload.rest.upper, one.upper)};
  }
  return workload;
}

// The law of the total loss of one answer pattern: what every epsilon is then asked of.
struct Law {
  std::vector<double> losses, masses;
  double relative_error = 0;

  Range hockey_stick(double epsilon) const {
    long double running = 0;
    double uncertain = 0;
    for (std::size_t i = 0; i < losses.size(); ++i) {
      if (losses[i] <= epsilon - loss_error()) continue;
      running += masses[i] * std::fmax(0.0, -std::expm1(epsilon - losses[i]));
      uncertain += masses[i] * loss_error();
    }
    const auto sum = static_cast<double>(running);
    const double slack = relative_error + 1e-15 + 1e-19 * static_cast<double>(losses.size());
    return {std::fmax(0.0, sum * (1 - slack) - uncertain),
            std::fmin(1.0, sum * (1 + slack) + uncertain + std::numeric_limits<double>::min())};
  }

 private:
  // A loss is a sum of at most 20 products, each rounded relative to the largest loss.
  double loss_error() const { return 3e-15 * (losses.empty() ? 0 : losses.back()); }
};

// Exact enumeration over the numbers of true answers per distinct epsilon, feasible while the
// product of (count + 1) is small.
constexpr double kPatternsMax = 1 << 20;

double patterns(const Workload& workload) {
  double product = 1;
  for (const auto& [e, count] : workload.counts) product *= static_cast<double>(count) + 1;
  return product;
}

Law exact_law(const Workload& workload) {
  Law law{{0.0}, {1.0}, 1e-14};
  for (const auto& [e, count] : workload.counts) {
    Law next{{}, {}, law.relative_error};
    for (std::uint64_t j = 0; j <= count; ++j) {
      const double loss = e * (2 * static_cast<double>(j) - static_cast<double>(count));
      const auto mass = static_cast<double>(std::exp(log_binomial(count, j, e)));
      for (std::size_t i = 0; i < law.losses.size(); ++i) {
        next.losses.push_back(law.losses[i] + loss);
        next.masses.push_back(law.masses[i] * mass);
      }
    }
    law = std::move(next);
  }
  return law;  // the last entry is the largest loss
}

// All epsilons as whole multiples of one step, rounded up (or down): the total then lives on a
// grid. Rounding an epsilon up describes a weaker promise, so the result stays valid.
Law grid_law(const Workload& workload, double step, bool up) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> steps;  // multiple, count
  std::uint64_t total = 0;
  double releases = 0;
  for (const auto& [e, count] : workload.counts) {
    const double multiple = up ? std::ceil(div_up(e, step)) : std::floor(div_down(e, step));
    steps.emplace_back(static_cast<std::uint64_t>(multiple), count);
    total += steps.back().first * count;
    releases += static_cast<double>(count);
  }
  std::vector<double> mass(total + 1, 0.0);
  mass[0] = 1;
  std::uint64_t reach = 0;
  for (const auto& [multiple, count] : steps) {
    if (multiple == 0) continue;
    const double e = static_cast<double>(multiple) * step;
    const double truth = 1 / (1 + std::exp(-e)), lie = 1 / (1 + std::exp(e));
    for (std::uint64_t n = 0; n < count; ++n) {
      reach += multiple;
      for (std::uint64_t s = reach; s >= multiple; --s)
        mass[s] = mass[s] * lie + mass[s - multiple] * truth;
      for (std::uint64_t s = 0; s < multiple; ++s) mass[s] *= lie;
    }
  }
  Law law{{}, std::move(mass), 1e-15 * (releases + 16)};
  for (std::uint64_t s = 0; s <= total; ++s)
    law.losses.push_back((2 * static_cast<double>(s) - static_cast<double>(total)) * step);
  return law;
}

std::uint64_t cells_for(std::size_t releases) {
  constexpr std::uint64_t kWork = 100'000'000;
  return std::clamp<std::uint64_t>(kWork / releases, 1 << 14, 1 << 20);
}

// What the hockey stick is asked of: built once, then priced at many epsilons.
class Composition {
 public:
  Composition(std::span<const ApproxDp> releases, std::uint64_t cells)
      : workload_(gather(releases)) {
    if (workload_.counts.size() < 2) return;
    if (patterns(workload_) <= kPatternsMax) {
      upper_ = exact_law(workload_);
      return;
    }
    double total = 0;
    for (const auto& [e, count] : workload_.counts) total += e * static_cast<double>(count);
    const double step = total / static_cast<double>(cells > 0 ? cells : cells_for(releases.size()));
    upper_ = grid_law(workload_, step, true);
    lower_ = grid_law(workload_, step, false);
  }

  CertifiedDelta delta(double epsilon) const {
    const Range hockey = hockey_stick_at(epsilon);
    return {with_failures_down(workload_.rest.upper, hockey.lower),
            with_failures_up(workload_.rest.lower, hockey.upper)};
  }

 private:
  Range hockey_stick_at(double epsilon) const {
    if (workload_.counts.empty()) return {0, 0};
    if (workload_.counts.size() == 1)
      return hockey_stick(workload_.counts.begin()->first, workload_.counts.begin()->second,
                          epsilon);
    const Range above = upper_.hockey_stick(epsilon);
    if (lower_.losses.empty()) return above;
    return {lower_.hockey_stick(epsilon).lower, above.upper};
  }

  Workload workload_;
  Law upper_, lower_;
};

Result<void> check(std::span<const ApproxDp> releases, std::uint64_t cells) {
  if (releases.empty()) return invalid_parameter("a composition needs at least one release");
  constexpr double kWorkMax = 4e9;
  const auto count = static_cast<double>(releases.size());
  if (count * (static_cast<double>(cells) + count) > kWorkMax)
    return invalid_parameter(
        "this many different releases are too many for the grid; use a privacy loss distribution");
  if (cells == 1) return invalid_parameter("the grid of a composition needs at least two cells");
  for (const ApproxDp& release : releases)
    if (!(release.epsilon.value() <= 700))
      return invalid_parameter("optimal composition is offered for epsilons up to 700");
  return {};
}

}  // namespace

Result<CertifiedDelta> optimal_delta(std::span<const ApproxDp> releases, double epsilon,
                                     std::uint64_t cells) {
  DISCREET_TRY_VOID(check(releases, cells));
  return Composition(releases, cells).delta(std::fmax(0.0, epsilon));
}

Result<double> optimal_epsilon(std::span<const ApproxDp> releases, double target_delta,
                               std::uint64_t cells) {
  DISCREET_TRY_VOID(check(releases, cells));
  const Composition composition(releases, cells);
  Epsilon total = Epsilon::zero();
  for (const ApproxDp& release : releases) total = total + release.epsilon;
  return bisect_up(total.value(), target_delta,
                   [&](double epsilon) { return composition.delta(epsilon).upper; });
}

}  // namespace discreet
