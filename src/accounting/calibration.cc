#include "accounting/calibration.h"

#include <cmath>

#include <fmt/format.h>

#include "accounting/pld.h"
#include "accounting/renyi_epsilon.h"

namespace discreet {
namespace {

LossEvent repeated(LossEvent event, std::uint64_t count) {
  if (count == 1) return event;
  return loss::Repeated{count, std::make_shared<LossEvent>(std::move(event))};
}

// Shares in the given proportions, rounded down twice so that their upward sum stays within.
template <class Number>
Result<std::vector<Number>> split(std::span<const WeightedQuestion> questions, Number total,
                                  double (*proportion)(const WeightedQuestion&)) {
  if (questions.empty()) return invalid_parameter("a workload has at least one question");
  double sum = 0;
  for (const WeightedQuestion& question : questions) {
    if (!(question.sensitivity > 0 && std::isfinite(question.sensitivity) && question.weight > 0 &&
          std::isfinite(question.weight)))
      return invalid_parameter("sensitivities and weights must be positive and finite");
    sum = add_up(sum, proportion(question));
  }
  if (!std::isfinite(sum)) return invalid_parameter("the workload's weights are too large");
  const double slack = 1 - 4e-16 * static_cast<double>(questions.size() + 2);
  std::vector<Number> shares;
  for (const WeightedQuestion& question : questions) {
    const double part = mul_down(div_down(proportion(question), sum), slack);
    DISCREET_TRY(const Number share, Number::make(mul_down(total.value(), part)));
    shares.push_back(share);
  }
  return shares;
}

}  // namespace

Pricing renyi_pricing(Neighbours neighbours) {
  return [neighbours](const LossEvent& event, Delta delta) -> Result<double> {
    DISCREET_TRY(const RenyiBound bound, renyi_epsilon(event, delta.value(), neighbours));
    return bound.value;
  };
}

Pricing tight_pricing(Neighbours neighbours) {
  return [neighbours](const LossEvent& event, Delta delta) -> Result<double> {
    DISCREET_TRY(const auto pld, PrivacyLossDistribution::make(event, neighbours));
    DISCREET_TRY(const Bracket epsilon, pld.epsilon(delta.value()));
    return epsilon.upper;
  };
}

Result<double> least_noise(const EventFamily& family, std::uint64_t releases, ApproxDp target,
                           const Pricing& pricing, const NoiseSearch& search) {
  if (releases == 0) return invalid_parameter("calibration needs at least one release");
  if (!(search.noise_min > 0 && search.noise_min < search.noise_max &&
        search.relative_tolerance > 0))
    return invalid_parameter("a noise search needs 0 < noise_min < noise_max and a tolerance");
  const auto meets = [&](double noise) -> Result<bool> {
    DISCREET_TRY(LossEvent event, family(noise));
    DISCREET_TRY(const double epsilon, pricing(repeated(std::move(event), releases), target.delta));
    return epsilon <= target.epsilon.value();
  };
  // Bracket by doubling from 1, then halve the bracket in logarithms.
  double good = std::fmin(std::fmax(1.0, search.noise_min), search.noise_max), bad = 0;
  for (;;) {
    DISCREET_TRY(const bool fits, meets(good));
    if (fits) break;
    if (good >= search.noise_max)
      return Error{ErrorCode::Refused,
                   fmt::format("noise {} does not meet epsilon {} at delta {}", search.noise_max,
                               target.epsilon.value(), target.delta.value())};
    bad = good;
    good = std::fmin(search.noise_max, 2 * good);
  }
  while (bad == 0) {
    if (good <= search.noise_min) return good;
    const double less = std::fmax(search.noise_min, good / 2);
    DISCREET_TRY(const bool fits, meets(less));
    (fits ? good : bad) = less;
  }
  while (good > bad * (1 + search.relative_tolerance)) {
    const double middle = std::sqrt(bad) * std::sqrt(good);
    if (middle <= bad || middle >= good) break;
    DISCREET_TRY(const bool fits, meets(middle));
    (fits ? good : bad) = middle;
  }
  return good;
}

Result<std::uint64_t> most_releases(const LossEvent& event, ApproxDp target, const Pricing& pricing,
                                    std::uint64_t limit) {
  return most_counted_releases(
      [&](std::uint64_t count) -> Result<LossEvent> { return repeated(event, count); }, target,
      pricing, limit);
}

Result<std::uint64_t> most_counted_releases(const CountFamily& family, ApproxDp target,
                                            const Pricing& pricing, std::uint64_t limit) {
  const auto fits = [&](std::uint64_t count) -> Result<bool> {
    DISCREET_TRY(const LossEvent event, family(count));
    const auto epsilon = pricing(event, target.delta);
    // Releases whose own deltas exceed the target are refused by the pricing: they do not fit.
    if (!epsilon && epsilon.error().code == ErrorCode::Refused && count > 1) return false;
    if (!epsilon) return epsilon.error();
    return *epsilon <= target.epsilon.value();
  };
  if (limit == 0) return std::uint64_t{0};
  DISCREET_TRY(const bool one, fits(1));
  if (!one) return std::uint64_t{0};
  std::uint64_t good = 1, bad = limit;
  while (good < limit) {
    const std::uint64_t next = good > limit / 2 ? limit : 2 * good;
    DISCREET_TRY(const bool enough, fits(next));
    if (!enough) {
      bad = next;
      break;
    }
    good = next;
  }
  while (good < limit && bad - good > 1) {
    const std::uint64_t middle = good + (bad - good) / 2;
    DISCREET_TRY(const bool enough, fits(middle));
    (enough ? good : bad) = middle;
  }
  return good;
}

Result<std::vector<Epsilon>> split_for_laplace(std::span<const WeightedQuestion> questions,
                                               Epsilon total) {
  return split<Epsilon>(questions, total, [](const WeightedQuestion& q) {
    return std::cbrt(q.weight) * std::cbrt(q.sensitivity) * std::cbrt(q.sensitivity);
  });
}

Result<std::vector<Epsilon>> split_for_laplace_absolute(std::span<const WeightedQuestion> questions,
                                                        Epsilon total) {
  return split<Epsilon>(questions, total, [](const WeightedQuestion& q) {
    return std::sqrt(q.weight) * std::sqrt(q.sensitivity);
  });
}

Result<std::vector<Rho>> split_for_gaussian(std::span<const WeightedQuestion> questions,
                                            Rho total) {
  return split<Rho>(questions, total,
                    [](const WeightedQuestion& q) { return q.sensitivity * std::sqrt(q.weight); });
}

}  // namespace discreet
