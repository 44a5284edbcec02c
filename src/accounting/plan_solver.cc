#include <cmath>
#include <limits>
#include <optional>

#include "accounting/atomic_law.h"
#include "accounting/conversion.h"
#include "accounting/optimal_composition.h"
#include "accounting/plan_solver_internal.h"
#include "accounting/profile_law.h"
#include "base/rounding.h"
#include "privacy/gaussian_profile.h"

namespace discreet {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kEnumeratedMax = 20'000;

// The least epsilon >= 0 at which `fits` holds, as the last that does not and the first that does.
template <class Fits>
Bracket bisect(Fits fits) {
  if (fits(0.0)) return {0, 0};
  double low = 0, high = 1;
  while (!fits(high)) {
    low = high;
    high *= 2;
    if (high > 1e9) return {low, kInfinity};
  }
  for (int step = 0; step < 200; ++step) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high || high - low < 1e-14 * high) break;
    (fits(middle) ? high : low) = middle;
  }
  return {low, high};
}

// Answers either question from a profile bracketed at every epsilon.
template <class Profile>
Bracket answer(const Profile& profile, PlanQuestion question) {
  if (!question.wants_epsilon) return profile(question.at);
  const Bracket from_upper = bisect([&](double e) { return profile(e).upper <= question.at; });
  const Bracket from_lower = bisect([&](double e) { return profile(e).lower <= question.at; });
  return {from_lower.lower, from_upper.upper};
}

Bracket gaussian_answer(const LossPlan& plan, PlanQuestion question) {
  const Bracket mu{sqrt_down(plan.gaussian_mu2.lower), sqrt_up(plan.gaussian_mu2.upper)};
  if (mu.upper == 0) return {0, 0};
  return answer(
      [&](double e) {
        return Bracket{gaussian_delta_down(mu.lower, e), gaussian_delta_up(mu.upper, e)};
      },
      question);
}

// The conversion of CKS 2020 is what zCDP alone implies; the bracket is about that conversion.
Result<Bracket> zcdp_answer(const LossPlan& plan, PlanQuestion question) {
  DISCREET_TRY(const Rho rho, Rho::make(plan.rho));
  const double value =
      question.wants_epsilon ? zcdp_epsilon(rho, question.at) : zcdp_delta(rho, question.at);
  // Below the range of doubles a value is rounded up to the least one.
  const double lower = value < 1e-300 ? 0 : value * (1 - 1e-9);
  return Bracket{std::isinf(value) ? value : lower, value};
}

Result<Bracket> one_epsilon_answer(const BinaryCount& releases, PlanQuestion question) {
  DISCREET_TRY(const Epsilon epsilon, Epsilon::make(releases.epsilon));
  if (question.wants_epsilon)
    return Bracket{optimal_epsilon_down(epsilon, Delta::zero(), releases.count, question.at),
                   optimal_epsilon(epsilon, Delta::zero(), releases.count, question.at)};
  return Bracket{optimal_delta_down(epsilon, Delta::zero(), releases.count, question.at),
                 optimal_delta(epsilon, Delta::zero(), releases.count, question.at)};
}

// Everything at delta zero: the largest losses add up.
Bracket largest_loss(const LossPlan& plan) {
  if (plan.gaussian_mu2.upper > 0 || plan.rho > 0) return {kInfinity, kInfinity};
  Bracket sum{0, 0};
  for (const GridInput& part : grid_inputs(plan)) {
    Bracket one = part.upper->loss_max();
    if (part.lower) one.lower = part.lower->loss_max().lower;
    sum.lower = add_down(sum.lower, mul_down(count_down(part.count), one.lower));
    sum.upper = add_up(sum.upper, mul_up(count_up(part.count), one.upper));
  }
  return {std::fmax(0.0, sum.lower), std::fmax(0.0, sum.upper)};
}

// All losses as one list, where that is short.
std::shared_ptr<const AtomicLaw> enumerate(const std::vector<GridInput>& parts) {
  using Law = std::shared_ptr<const AtomicLaw>;
  const auto join = [](const Law& a, const Law& b) {
    return std::dynamic_pointer_cast<const AtomicLaw>(compose_exactly(*a, *b, kEnumeratedMax));
  };
  Law all;
  double work = 0;
  for (const GridInput& part : parts) {
    auto base = std::dynamic_pointer_cast<const AtomicLaw>(part.upper);
    if (!base || part.lower) return nullptr;
    for (std::uint64_t left = part.count; left > 0;) {
      if (left & 1) {
        if (all) work += static_cast<double>(all->atoms().size() * base->atoms().size());
        all = all ? join(all, base) : base;
        if (!all) return nullptr;
      }
      left >>= 1;
      if (left > 0) {
        work += static_cast<double>(base->atoms().size() * base->atoms().size());
        if (work > 4e6) return nullptr;
        base = join(base, base);
        if (!base) return nullptr;
      }
    }
  }
  return all;
}

Result<Bracket> solve_finite(const LossPlan& plan, PlanQuestion question,
                             const PldAccuracy& accuracy) {
  if (plan.only_gaussian()) return gaussian_answer(plan, question);
  if (plan.only_zcdp()) return zcdp_answer(plan, question);
  const Bracket largest = largest_loss(plan);
  if (question.wants_epsilon && question.at == 0) return largest;
  if (!question.wants_epsilon && question.at >= largest.upper) return Bracket{0, 0};
  if (plan.only_binary() && plan.binary.size() == 1)
    return one_epsilon_answer(plan.binary.front(), question);
  const auto parts = grid_inputs(plan);
  if (parts.empty()) return Bracket{0, 0};
  if (parts.size() == 1 && parts[0].count == 1) {
    const LossLaw& upper = *parts[0].upper;
    const LossLaw& lower = parts[0].lower ? *parts[0].lower : upper;
    if (plan.rho == 0)
      return answer([&](double e) { return Bracket{lower.delta(e).lower, upper.delta(e).upper}; },
                    question);
  }
  if (const auto list = enumerate(parts))
    return answer([&](double e) { return list->delta(e); }, question);
  return solve_on_grid(plan, question, accuracy);
}

}  // namespace

std::vector<GridInput> grid_inputs(const LossPlan& plan) {
  std::vector<GridInput> parts;
  for (const LawCount& law : plan.laws) parts.push_back({law.law, law.lower, law.count});
  for (const BinaryCount& releases : plan.binary)
    if (releases.epsilon > 0)
      parts.push_back({randomized_response_law(releases.epsilon), nullptr, releases.count});
  if (plan.gaussian_mu2.upper > 0) {
    const double up = sqrt_up(plan.gaussian_mu2.upper), down = sqrt_down(plan.gaussian_mu2.lower);
    // Rounding of mu shows in the last digits only; two laws would double the work for nothing, so
    // the lower one is used only where the gap is visible.
    parts.push_back({gaussian_law(up), up - down > 1e-12 * up ? gaussian_law(down) : nullptr, 1});
  }
  if (plan.rho > 0) {
    const auto rho = Rho::make(plan.rho);
    if (rho) {
      const auto profile = [&](double e) { return zcdp_delta(*rho, e); };
      const double far = zcdp_epsilon(*rho, 1e-25);
      parts.push_back(
          {law_of_symmetric_profile(profile, far, 1500), gaussian_law(sqrt_down(2 * plan.rho)), 1});
    }
  }
  return parts;
}

// Releases fail outright with their own deltas: delta = 1 - F (1 - delta of the rest), where F is
// the probability that none does.
Result<Bracket> solve(const LossPlan& plan, PlanQuestion question, const PldAccuracy& accuracy) {
  if (plan.log_finite.upper == 0 && plan.log_finite.lower == 0)
    return solve_finite(plan, question, accuracy);
  const double fail_up = std::fmin(plan.failures, -expm1_down(plan.log_finite.lower));
  const double fail_down = std::fmax(0.0, -expm1_up(plan.log_finite.upper));
  if (!question.wants_epsilon) {
    DISCREET_TRY(const Bracket rest, solve_finite(plan, question, accuracy));
    const auto join = [](double fail, double delta) { return fail + (1 - fail) * delta; };
    return Bracket{join(fail_down, rest.lower) * (1 - 0x1p-50),
                   std::fmin(1.0, join(fail_up, rest.upper) * (1 + 0x1p-50))};
  }
  // What the rest may use: 1 - (1 - delta) / F.
  const auto left = [&](double fail) { return (question.at - fail) / (1 - fail); };
  const double least = left(fail_up) * (1 - 0x1p-50), most = left(fail_down) * (1 + 0x1p-50);
  Bracket result{kInfinity, kInfinity};
  if (least >= 0) {
    DISCREET_TRY(const Bracket strict,
                 solve_finite(plan, {true, std::fmin(1.0, least), question.floor}, accuracy));
    result = strict;
  }
  if (most >= 0 && most != least) {
    DISCREET_TRY(const Bracket lax,
                 solve_finite(plan, {true, std::fmin(1.0, most), question.floor}, accuracy));
    result.lower = lax.lower;
  }
  return result;
}

}  // namespace discreet
