#include "accounting/comparison.h"

#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "accounting/conversion.h"
#include "accounting/event_cost.h"
#include "accounting/optimal_composition.h"
#include "accounting/pld.h"
#include "accounting/renyi_epsilon.h"
#include "accounting/textbook.h"

namespace discreet {
namespace {

constexpr std::size_t kReleasesMax = 200'000;

struct Release {
  const LossEvent* event;
  std::uint64_t count;
};

void flatten(const LossEvent& event, std::uint64_t count, std::vector<Release>& out) {
  if (const auto* repeated = std::get_if<loss::Repeated>(&event.kind)) {
    if (repeated->count > 0 && count <= UINT64_MAX / repeated->count)
      flatten(*repeated->inner, count * repeated->count, out);
  } else if (const auto* composed = std::get_if<loss::Composed>(&event.kind)) {
    for (const LossEvent& part : composed->parts) flatten(part, count, out);
  } else {
    out.push_back({&event, count});
  }
}

// Each release as (epsilon, delta): with an epsilon of its own, or with an equal share of half the
// delta where it has none (Gaussian noise), as the theorems for (epsilon, delta) need.
struct Stated {
  ApproxDp one;
  std::uint64_t count;
};

Result<std::vector<Stated>> state_all(const std::vector<Release>& releases, double delta,
                                      Neighbours neighbours) {
  double needy = 0;
  for (const Release& release : releases)
    if (!basic_cost(*release.event, neighbours)) needy += static_cast<double>(release.count);
  std::vector<Stated> stated;
  for (const Release& release : releases) {
    if (const auto own = basic_cost(*release.event, neighbours)) {
      stated.push_back({*own, release.count});
      continue;
    }
    const double share = delta / 2 / needy;
    DISCREET_TRY(const auto pld, PrivacyLossDistribution::make(*release.event, neighbours));
    DISCREET_TRY(const Bracket cost, pld.epsilon(share));
    DISCREET_TRY(const Epsilon epsilon, Epsilon::make(cost.upper));
    DISCREET_TRY(const Delta used, Delta::make(share));
    stated.push_back({{epsilon, used}, release.count});
  }
  return stated;
}

double own_delta(const std::vector<Stated>& stated) {
  double sum = 0;
  for (const Stated& s : stated) sum = add_up(sum, mul_up(count_up(s.count), s.one.delta.value()));
  return sum;
}

Result<double> basic(const std::vector<Stated>& stated, double delta) {
  if (own_delta(stated) > delta) return Error{ErrorCode::Refused, "the deltas add up to more"};
  double sum = 0;
  for (const Stated& s : stated) sum = add_up(sum, (s.count * s.one.epsilon).value());
  return sum;
}

Result<double> advanced(const std::vector<Stated>& stated, double delta) {
  const double slack = sub_down(delta, own_delta(stated));
  if (!(slack > 0)) return Error{ErrorCode::Refused, "the deltas leave no slack"};
  if (stated.size() == 1) {
    DISCREET_TRY(const ApproxDp all, advanced_composition(stated[0].one, stated[0].count, slack));
    return all.epsilon.value();
  }
  std::vector<ApproxDp> list;
  for (const Stated& s : stated) {
    if (list.size() + s.count > kReleasesMax)
      return Error{ErrorCode::Refused, "too many different releases for this table"};
    list.insert(list.end(), s.count, s.one);
  }
  DISCREET_TRY(const ApproxDp all, advanced_composition(list, slack));
  return all.epsilon.value();
}

Result<double> optimal(const std::vector<Stated>& stated, double delta) {
  loss::Composed all;
  for (const Stated& s : stated)
    all.parts.push_back(loss::Repeated{
        s.count, std::make_shared<LossEvent>(loss::Approximate{s.one.epsilon, s.one.delta})});
  DISCREET_TRY(const auto pld, PrivacyLossDistribution::make(all, Neighbours::ReplaceOne));
  DISCREET_TRY(const Bracket epsilon, pld.epsilon(delta));
  return epsilon.upper;
}

Result<double> concentrated(const LossEvent& event, double delta, Neighbours neighbours) {
  DISCREET_TRY(const ConcentratedCost cost, concentrated_cost(event, neighbours));
  const double left = sub_down(delta, cost.delta.value());
  if (!(left > 0)) return Error{ErrorCode::Refused, "the event's own delta is larger"};
  return zcdp_epsilon(cost.rho, left);
}

}  // namespace

std::vector<ComparisonLine> compare_theorems(const LossEvent& event, double delta,
                                             Neighbours neighbours) {
  std::vector<ComparisonLine> lines;
  const auto add = [&](std::string method, std::string theorem, const Result<double>& value) {
    ComparisonLine line{std::move(method), std::move(theorem), {}, {}, {}};
    if (value && std::isfinite(*value))
      line.epsilon = *value;
    else
      line.remark = value ? "no finite epsilon" : value.error().message;
    lines.push_back(std::move(line));
  };
  std::vector<Release> releases;
  flatten(event, 1, releases);
  const auto stated = state_all(releases, delta, neighbours);
  const auto from_stated = [&](auto&& method) -> Result<double> {
    if (!stated) return stated.error();
    return method(*stated, delta);
  };
  add("basic", "Dwork and Roth 2014", from_stated(basic));
  add("advanced", "Dwork, Rothblum and Vadhan 2010", from_stated(advanced));
  add("optimal", "Kairouz, Oh and Viswanath 2015", from_stated(optimal));
  add("zCDP", "Bun and Steinke 2016; CKS 2020", concentrated(event, delta, neighbours));
  const auto renyi = [&]() -> Result<double> {
    DISCREET_TRY(const RenyiBound bound, renyi_epsilon(event, delta, neighbours));
    return bound.value;
  };
  add("RDP", "Mironov 2017; CKS 2020", renyi());
  const auto tight = [&]() -> Result<Bracket> {
    DISCREET_TRY(const auto pld, PrivacyLossDistribution::make(event, neighbours));
    return pld.epsilon(delta);
  }();
  add("PLD", "tight; Dong, Roth and Su 2019",
      tight ? Result<double>(tight->upper) : Result<double>(tight.error()));
  if (tight && std::isfinite(tight->upper)) lines.back().lower = tight->lower;
  return lines;
}

}  // namespace discreet
