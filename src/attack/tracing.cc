#include "attack/tracing.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "attack/served.h"
#include "mechanisms/discrete_gaussian.h"

namespace discreet::attack {
namespace {

using Bits = std::vector<std::uint8_t>;

// How common each attribute is, between 10 and 90 per cent.
std::vector<double> population(std::size_t attributes, RandomSource& random) {
  std::vector<double> shares(attributes);
  for (double& share : shares)
    share = 0.1 + 0.8 * std::ldexp(static_cast<double>(random.bits64() >> 11), -53);
  return shares;
}

Bits person(const std::vector<double>& shares, RandomSource& random) {
  Bits bits(shares.size());
  for (std::size_t j = 0; j < shares.size(); ++j)
    bits[j] = std::ldexp(static_cast<double>(random.bits64() >> 11), -53) < shares[j];
  return bits;
}

double score(const Bits& target, const std::vector<double>& shares,
             const std::vector<double>& means) {
  double sum = 0;
  for (std::size_t j = 0; j < means.size(); ++j)
    sum += (target[j] - shares[j]) * (means[j] - shares[j]);
  return sum;
}

using Answering = std::function<std::int64_t(std::int64_t)>;

// One study: the attack on one member or one stranger.
bool verdict_is_right(const TracingOptions& options, const Answering& answering,
                      RandomSource& random) {
  const auto shares = population(options.attributes, random);
  std::vector<std::int64_t> counts(options.attributes);
  Bits member;
  for (std::size_t i = 0; i < options.people; ++i) {
    member = person(shares, random);
    for (std::size_t j = 0; j < counts.size(); ++j) counts[j] += member[j];
  }
  std::vector<double> means;
  for (const std::int64_t count : counts)
    means.push_back(static_cast<double>(answering(count)) / static_cast<double>(options.people));
  const bool truth = (random.bits64() & 1) != 0;
  const Bits target = truth ? member : person(shares, random);
  double expected = 0;
  for (const double share : shares)
    expected += share * (1 - share) / static_cast<double>(options.people);
  return (score(target, shares, means) > expected / 2) == truth;
}

}  // namespace

Result<Report> tracing(const TracingOptions& options, RandomSource& random) {
  if (options.people < 1 || options.attributes < 1 || options.attempts < 2)
    return invalid_parameter("Tracing needs people, attributes and at least two attempts.");
  const auto epsilon = Epsilon::make(options.epsilon);
  if (!epsilon) return epsilon.error();
  const auto delta = Delta::make(options.delta);
  if (!delta) return delta.error();
  // One person moves every count by at most one.
  const auto sensitivity =
      L2Sensitivity::make(std::sqrt(static_cast<double>(options.attributes))).value();
  const auto noise = DiscreteGaussian::make(ApproxDp{*epsilon, *delta}, sensitivity);
  if (!noise) return noise.error();
  const auto loose =
      DiscreteGaussian::make(ApproxDp{Epsilon::make(100).value(), *delta}, sensitivity);
  if (!loose) return loose.error();
  Report report{"Membership (tracing)",
                fmt::format("share of right verdicts: {} people, averages of {} attributes",
                            options.people, options.attributes),
                {}};
  const std::pair<std::string, Answering> targets[] = {
      {"exact averages", [](std::int64_t count) { return count; }},
      {"noise at epsilon 100", [&](std::int64_t count) { return loose->release(count, random); }},
      {fmt::format("Discreet, epsilon {:g} in all", options.epsilon),
       [&](std::int64_t count) { return noise->release(count, random); }}};
  for (const auto& [name, answering] : targets) {
    const auto start = std::chrono::steady_clock::now();
    std::uint64_t hits = 0;
    for (std::size_t i = 0; i < options.attempts; ++i)
      hits += verdict_is_right(options, answering, random);
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const bool ours = &name == &targets[2].first;
    report.outcomes.push_back(
        outcome(name, hits, options.attempts, 0.5, seconds,
                ours ? bit_accuracy_bound(options.epsilon, options.delta) : 1));
  }
  DISCREET_TRY(auto served,
               served_tracing({.attempts = std::clamp<std::size_t>(options.attempts / 4, 2, 200),
                               .epsilon = options.epsilon},
                              random));
  report.outcomes.push_back(std::move(served));
  return report;
}

}  // namespace discreet::attack
