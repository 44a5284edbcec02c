#include "audit/epsilon_lower_bound.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include <fmt/format.h>
#include <boost/math/distributions/beta.hpp>

#include "base/check.h"

namespace discreet {
namespace {

enum class Shape { Point, AtMost, AtLeast };

struct Event {
  Shape shape = Shape::Point;
  std::int64_t at = 0;
  bool first_on_top = true;  // which run's probability is the larger
};

bool contains(const Event& event, std::int64_t output) {
  switch (event.shape) {
    case Shape::Point:
      return output == event.at;
    case Shape::AtMost:
      return output <= event.at;
    case Shape::AtLeast:
      return output >= event.at;
  }
  fail_check("known shape", "an event of no shape");
}

std::vector<std::int64_t> sample(const AuditedRun& run, std::uint64_t trials,
                                 RandomSource& random) {
  std::vector<std::int64_t> outputs(trials);
  for (auto& output : outputs) output = run(random);
  return outputs;
}

// The bound that limits (p_low - delta) / q_high would give, were these counts the measuring half.
double bound(std::uint64_t top, std::uint64_t bottom, std::uint64_t trials, double alpha,
             double delta) {
  const double p = probability_at_least(top, trials, alpha) - delta;
  const double q = probability_at_most(bottom, trials, alpha);
  return p > 0 ? std::log(p / q) : -1;
}

Event most_telling(std::span<const std::int64_t> first, std::span<const std::int64_t> second,
                   double delta) {
  std::map<std::int64_t, std::pair<std::uint64_t, std::uint64_t>> counts;
  for (const auto output : first) ++counts[output].first;
  for (const auto output : second) ++counts[output].second;
  const std::uint64_t trials = first.size();
  constexpr double kSelectionAlpha = 1e-3;  // only ranks candidates; the measuring half decides

  Event best;
  double best_bound = -2;
  const auto consider = [&](Shape shape, std::int64_t at, std::uint64_t a, std::uint64_t b) {
    for (const bool first_on_top : {true, false}) {
      const std::uint64_t top = first_on_top ? a : b, bottom = first_on_top ? b : a;
      // A cheap screen before the exact limits: the plain ratio must be worth it.
      if (top < 10 ||
          std::log((static_cast<double>(top) + 1) / (static_cast<double>(bottom) + 1)) < best_bound)
        continue;
      const double candidate = bound(top, bottom, trials, kSelectionAlpha, delta);
      if (candidate > best_bound) {
        best_bound = candidate;
        best = {shape, at, first_on_top};
      }
    }
  };
  std::uint64_t below_first = 0, below_second = 0;
  for (const auto& [output, count] : counts) {
    consider(Shape::AtLeast, output, trials - below_first, trials - below_second);
    below_first += count.first;
    below_second += count.second;
    consider(Shape::Point, output, count.first, count.second);
    consider(Shape::AtMost, output, below_first, below_second);
  }
  return best;
}

}  // namespace

double probability_at_least(std::uint64_t hits, std::uint64_t trials, double alpha) {
  if (hits == 0) return 0;
  const auto h = static_cast<double>(hits), n = static_cast<double>(trials);
  return boost::math::quantile(boost::math::beta_distribution<>(h, n - h + 1), alpha);
}

double probability_at_most(std::uint64_t hits, std::uint64_t trials, double alpha) {
  if (hits == trials) return 1;
  const auto h = static_cast<double>(hits), n = static_cast<double>(trials);
  return boost::math::quantile(
      boost::math::complement(boost::math::beta_distribution<>(h + 1, n - h), alpha));
}

AuditResult audit_outputs(std::span<const std::int64_t> first, std::span<const std::int64_t> second,
                          const AuditOptions& options) {
  const std::size_t half = std::min(first.size(), second.size()) / 2;
  if (half == 0) return {0, "too few outputs to tell anything"};
  const Event event = most_telling(first.first(half), second.first(half), options.delta);
  const auto hits = [&](std::span<const std::int64_t> outputs) {
    return static_cast<std::uint64_t>(
        std::count_if(outputs.begin(), outputs.end(),
                      [&](std::int64_t output) { return contains(event, output); }));
  };
  const std::uint64_t hits_first = hits(first.subspan(half, half)),
                      hits_second = hits(second.subspan(half, half));
  const std::uint64_t top = event.first_on_top ? hits_first : hits_second;
  const std::uint64_t bottom = event.first_on_top ? hits_second : hits_first;
  const double alpha = (1 - options.confidence) / 2;  // two limits, each may fail
  const char* relation = event.shape == Shape::Point    ? "="
                         : event.shape == Shape::AtMost ? "<="
                                                        : ">=";
  return {std::max(0.0, bound(top, bottom, half, alpha, options.delta)),
          fmt::format("output {} {}: {} of {} against {}", relation, event.at, top, half, bottom)};
}

AuditResult audit_epsilon(const AuditedRun& first, const AuditedRun& second,
                          const AuditOptions& options, RandomSource& random) {
  const std::uint64_t trials = std::max<std::uint64_t>(options.trials, 2);
  const auto outputs_first = sample(first, trials, random);
  const auto outputs_second = sample(second, trials, random);
  return audit_outputs(outputs_first, outputs_second, options);
}

}  // namespace discreet
