#include "audit/epsilon_lower_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <boost/math/distributions/beta.hpp>

#include "base/check.h"

namespace discreet {
namespace {

enum class Shape { Point, AtMost, AtLeast, Set };

struct Event {
  Shape shape = Shape::Point;
  std::int64_t at = 0;
  bool first_on_top = true;  // which run's probability is the larger
  std::set<std::int64_t> members = {};
};

bool contains(const Event& event, std::int64_t output) {
  switch (event.shape) {
    case Shape::Point:
      return output == event.at;
    case Shape::AtMost:
      return output <= event.at;
    case Shape::AtLeast:
      return output >= event.at;
    case Shape::Set:
      return event.members.contains(output);
  }
  fail_check("known shape", "an event of no shape");
}

std::vector<std::int64_t> sample(const AuditedRun& run, std::uint64_t trials,
                                 RandomSource& random) {
  std::vector<std::int64_t> outputs(trials);
  for (auto& output : outputs) output = run(random);
  return outputs;
}

// The bound that these counts would give, were they the measuring half.
double bound(std::uint64_t top, std::uint64_t bottom, std::uint64_t trials, double alpha,
             const AuditOptions& options) {
  const double p = probability_at_least(top, trials, alpha);
  const double q = probability_at_most(bottom, trials, alpha);
  if (options.concentrated) return p > q ? concentrated_lower_bound(p, q) : -1;
  return p > options.delta ? std::log((p - options.delta) / q) : -1;
}

Event most_telling(std::span<const std::int64_t> first, std::span<const std::int64_t> second,
                   const AuditOptions& options) {
  using Counts = std::map<std::int64_t, std::pair<std::uint64_t, std::uint64_t>>;
  Counts counts;
  for (const auto output : first) ++counts[output].first;
  for (const auto output : second) ++counts[output].second;
  const std::uint64_t trials = first.size();
  // Candidates are ranked by the very limits that will measure the best of them: laxer ones would
  // prefer rare events, which look telling here and say little there.
  const double alpha = (1 - options.confidence) / 2;

  Event best;
  double best_bound = -2;
  const auto consider = [&](Shape shape, std::int64_t at, std::uint64_t a, std::uint64_t b,
                            std::uint64_t of) {
    for (const bool first_on_top : {true, false}) {
      const std::uint64_t top = first_on_top ? a : b, bottom = first_on_top ? b : a;
      // A cheap screen before the exact limits: the plain ratio must be worth it.
      const double plain =
          std::log((static_cast<double>(top) + 1) / (static_cast<double>(bottom) + 1));
      if (top < 10 || (options.concentrated ? plain <= 0 : plain < best_bound)) continue;
      const double candidate = bound(top, bottom, of, alpha, options);
      if (candidate > best_bound) {
        best_bound = candidate;
        best = Event{shape, at, first_on_top};
      }
    }
  };
  std::uint64_t below_first = 0, below_second = 0;
  for (const auto& [output, count] : counts) {
    consider(Shape::AtLeast, output, trials - below_first, trials - below_second, trials);
    below_first += count.first;
    below_second += count.second;
    consider(Shape::Point, output, count.first, count.second, trials);
    consider(Shape::AtMost, output, below_first, below_second, trials);
  }

  // Outputs by how much likelier they are on one side: the set of all above some factor is the best
  // event of its size. Ordered by one half and weighed by the other, or rare outputs would flatter
  // it.
  constexpr std::uint64_t kSeenMin = 10;
  Counts seen, weighed;
  for (std::size_t i = 0; i < trials; ++i) {
    Counts& part = i % 2 == 0 ? seen : weighed;
    ++part[first[i]].first;
    ++part[second[i]].second;
  }
  std::vector<std::pair<double, std::int64_t>> by_ratio;
  for (const auto& [output, count] : seen)
    if (count.first + count.second >= kSeenMin)
      by_ratio.emplace_back(
          (static_cast<double>(count.first) + 1) / (static_cast<double>(count.second) + 1), output);
  std::sort(by_ratio.begin(), by_ratio.end());
  for (const bool from_top : {false, true}) {
    std::uint64_t a = 0, b = 0;
    for (std::size_t size = 1; size <= by_ratio.size(); ++size) {
      const std::int64_t output = by_ratio[from_top ? by_ratio.size() - size : size - 1].second;
      a += weighed[output].first, b += weighed[output].second;
      const double so_far = best_bound;
      consider(Shape::Set, 0, a, b, trials / 2);
      if (best_bound == so_far) continue;
      best.members.clear();
      for (std::size_t i = 1; i <= size; ++i)
        best.members.insert(by_ratio[from_top ? by_ratio.size() - i : i - 1].second);
    }
  }
  return best;
}

}  // namespace

double concentrated_lower_bound(double p, double q) {
  if (!(p > q) || !(q >= 0)) return 0;
  if (q == 0) return std::numeric_limits<double>::infinity();
  // D_a / a in u = ln(a - 1); concave enough that a scan and a refinement find a good order.
  const auto at = [&](double u) {
    const double less = std::exp(u), a = 1 + less;
    const double yes = a * std::log(p) - less * std::log(q);
    const double no = p < 1 ? a * std::log1p(-p) - less * std::log1p(-q)
                            : -std::numeric_limits<double>::infinity();
    const double high = std::max(yes, no);
    return (high + std::log(std::exp(yes - high) + std::exp(no - high))) / (less * a);
  };
  double best = 0, where = 0;
  for (double u = -6; u <= 8; u += 0.25)
    if (const double value = at(u); value > best) best = value, where = u;
  for (double u = where - 0.25; u <= where + 0.25; u += 0.02) best = std::max(best, at(u));
  return best * (1 - 1e-9);
}

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
  const Event event = most_telling(first.first(half), second.first(half), options);
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
  const std::string what = event.shape == Shape::Set
                               ? fmt::format("in a set of {}", event.members.size())
                           : event.shape == Shape::Point  ? fmt::format("= {}", event.at)
                           : event.shape == Shape::AtMost ? fmt::format("<= {}", event.at)
                                                          : fmt::format(">= {}", event.at);
  return {std::max(0.0, bound(top, bottom, half, alpha, options)),
          fmt::format("output {}: {} of {} against {}", what, top, half, bottom)};
}

AuditResult audit_epsilon(const AuditedRun& first, const AuditedRun& second,
                          const AuditOptions& options, RandomSource& random) {
  const std::uint64_t trials = std::max<std::uint64_t>(options.trials, 2);
  const auto outputs_first = sample(first, trials, random);
  const auto outputs_second = sample(second, trials, random);
  return audit_outputs(outputs_first, outputs_second, options);
}

}  // namespace discreet
