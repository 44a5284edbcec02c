#include "accounting/textbook.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "accounting/interval_internal.h"

namespace discreet {
namespace {

Delta delta_capped(double value) {
  return Delta::make(std::fmin(1.0, value)).value();
}

Result<void> check_slack(double slack) {
  if (!(slack > 0 && slack <= 1))
    return invalid_parameter(
        fmt::format("the slack of advanced composition must be in (0, 1], not {}", slack));
  return {};
}

Interval sampled_epsilon(double epsilon, Interval q) {
  if (epsilon > 700) return {0, epsilon};  // not worth amplifying
  const Interval amplified = log1p(q * expm1(Interval(epsilon)));
  return {std::fmin(amplified.lo, epsilon), std::fmin(amplified.hi, epsilon)};
}

}  // namespace

ApproxDp basic_composition(std::span<const ApproxDp> releases) {
  ApproxDp sum{Epsilon::zero(), Delta::zero()};
  for (const ApproxDp& release : releases)
    sum = {sum.epsilon + release.epsilon, sum.delta + release.delta};
  return sum;
}

ApproxDp basic_composition(ApproxDp one, std::uint64_t count) {
  if (count == 0) return {Epsilon::zero(), Delta::zero()};
  return {count * one.epsilon, delta_capped(mul_up(count_up(count), one.delta.value()))};
}

ApproxDp parallel_composition(std::span<const ApproxDp> parts, Neighbours neighbours) {
  const std::size_t touched = std::min<std::size_t>(add_remove_steps(neighbours), parts.size());
  std::vector<Epsilon> epsilons;
  std::vector<Delta> deltas;
  for (const ApproxDp& part : parts) {
    epsilons.push_back(part.epsilon);
    deltas.push_back(part.delta);
  }
  std::sort(epsilons.begin(), epsilons.end(), std::greater<>());
  std::sort(deltas.begin(), deltas.end(), std::greater<>());
  ApproxDp sum{Epsilon::zero(), Delta::zero()};
  for (std::size_t i = 0; i < touched; ++i)
    sum = {sum.epsilon + epsilons[i], sum.delta + deltas[i]};
  return sum;
}

Result<ApproxDp> advanced_composition(ApproxDp one, std::uint64_t count, double slack) {
  DISCREET_TRY_VOID(check_slack(slack));
  const Interval e = one.epsilon.value(), k(count_down(count), count_up(count));
  const Interval log_term = -log(Interval(slack));
  const Interval epsilon = e * sqrt(Interval(2) * k * log_term) + k * e * expm1(e);
  DISCREET_TRY(const Epsilon bound, Epsilon::make(epsilon.hi));
  return ApproxDp{bound, delta_capped(add_up(mul_up(k.hi, one.delta.value()), slack))};
}

Result<ApproxDp> advanced_composition(std::span<const ApproxDp> releases, double slack) {
  DISCREET_TRY_VOID(check_slack(slack));
  Interval squares = 0;
  double deltas = slack;
  for (const ApproxDp& release : releases) {
    const Interval e = release.epsilon.value();
    squares = squares + e * e;
    deltas = add_up(deltas, release.delta.value());
  }
  const Interval epsilon = squares / 2 + sqrt(Interval(2) * -log(Interval(slack)) * squares);
  DISCREET_TRY(const Epsilon bound, Epsilon::make(epsilon.hi));
  return ApproxDp{bound, delta_capped(deltas)};
}

Result<Epsilon> advanced_composition_share(ApproxDp target, std::uint64_t count) {
  if (count == 0) return invalid_parameter("a budget has at least one share");
  DISCREET_TRY_VOID(check_slack(target.delta.value()));
  const auto fits = [&](double e) {
    const auto total = advanced_composition({Epsilon::make(e).value(), Delta::zero()}, count,
                                            target.delta.value());
    return total && total->epsilon <= target.epsilon;
  };
  double good = 0, bad = std::fmax(1.0, target.epsilon.value());
  while (bad - good > 1e-15 * bad) {
    const double middle = good + (bad - good) / 2;
    if (middle <= good || middle >= bad) break;
    (fits(middle) ? good : bad) = middle;
  }
  return Epsilon::make(good);
}

Result<ApproxDp> amplify_by_poisson_sampling(ApproxDp inner, double probability) {
  if (!(probability >= 0 && probability <= 1))
    return invalid_parameter(
        fmt::format("a sampling probability must be between 0 and 1, not {}", probability));
  DISCREET_TRY(const Epsilon epsilon,
               Epsilon::make(sampled_epsilon(inner.epsilon.value(), probability).hi));
  return ApproxDp{epsilon, delta_capped(mul_up(probability, inner.delta.value()))};
}

Result<ApproxDp> amplify_by_sampling_without_replacement(ApproxDp inner, std::uint64_t sample,
                                                         std::uint64_t population) {
  if (population == 0 || sample > population)
    return invalid_parameter("a sample cannot be larger than its population");
  return amplify_by_poisson_sampling(
      inner, std::fmin(1.0, div_up(count_up(sample), count_down(population))));
}

Result<ApproxDp> inner_budget_for_poisson_sampling(ApproxDp target, double probability) {
  if (!(probability > 0 && probability <= 1))
    return invalid_parameter(
        fmt::format("a sampling probability must be above 0 and at most 1, not {}", probability));
  const Interval epsilon = log1p(expm1(Interval(target.epsilon.value())) / Interval(probability));
  const double delta = std::fmin(1.0, div_down(target.delta.value(), probability));
  double inner = std::isfinite(epsilon.lo) ? std::fmax(epsilon.lo, target.epsilon.value())
                                           : target.epsilon.value();
  // The forward direction rounds up by itself; step down until the round trip fits.
  const auto fits = [&] {
    const auto round_trip =
        amplify_by_poisson_sampling({Epsilon::make(inner).value(), Delta::zero()}, probability);
    return round_trip && round_trip->epsilon <= target.epsilon;
  };
  for (int step = 0; step < 64 && inner > target.epsilon.value() && !fits(); ++step)
    inner = std::fmax(target.epsilon.value(), inner - std::ldexp(inner, step - 54));
  if (!fits()) inner = target.epsilon.value();
  DISCREET_TRY(const Epsilon share, Epsilon::make(inner));
  DISCREET_TRY(const Delta rest, Delta::make(delta));
  return ApproxDp{share, rest};
}

}  // namespace discreet
