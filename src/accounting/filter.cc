#include "accounting/filter.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "accounting/conversion.h"
#include "accounting/renyi.h"
#include "privacy/gaussian_profile.h"

namespace discreet {
namespace {

using nlohmann::json;

Error exhausted(std::string message) {
  return Error{ErrorCode::BudgetExhausted, std::move(message)};
}

// A saved state: {"filter": kind, "version": 1, numbers...}.
class SavedState {
 public:
  static Result<SavedState> parse(std::string_view text, const char* kind) {
    json object = json::parse(text.begin(), text.end(), nullptr, false);
    if (!object.is_object() || object.value("filter", json()) != kind ||
        object.value("version", json()) != 1)
      return invalid_input(fmt::format("not a saved {} filter of version 1", kind));
    return SavedState(std::move(object));
  }

  Result<double> number(const char* name) const {
    const auto found = object_.find(name);
    if (found == object_.end() || !found->is_number() || !(found->get<double>() >= 0))
      return invalid_input(fmt::format("{}: must be a number that is not negative", name));
    return found->get<double>();
  }
  Result<std::vector<double>> numbers(const char* name) const {
    const auto found = object_.find(name);
    if (found == object_.end() || !found->is_array())
      return invalid_input(fmt::format("{}: must be a list of numbers", name));
    std::vector<double> values;
    for (const json& value : *found) {
      // An infinite sum is stored as null: nothing fits it any more.
      if (value.is_null())
        values.push_back(HUGE_VAL);
      else if (value.is_number() && value.get<double>() >= 0)
        values.push_back(value.get<double>());
      else
        return invalid_input(fmt::format("{}: must hold numbers that are not negative", name));
    }
    return values;
  }
  template <class Number>
  Result<Number> checked(const char* name) const {
    DISCREET_TRY(const double value, number(name));
    auto made = Number::make(value);
    if (!made) return invalid_input(fmt::format("{}: {}", name, made.error().message));
    return *made;
  }

 private:
  explicit SavedState(json object) : object_(std::move(object)) {}
  json object_;
};

}  // namespace

Result<BasicRule> BasicRule::after(const Cost& cost) const {
  const ApproxDp next{spent.epsilon + cost.epsilon, spent.delta + cost.delta};
  if (next.epsilon > budget.epsilon || next.delta > budget.delta)
    return exhausted(fmt::format(
        "the release costs epsilon {} and delta {}, and epsilon {} of {} and delta {} of {} are "
        "spent",
        cost.epsilon.value(), cost.delta.value(), spent.epsilon.value(), budget.epsilon.value(),
        spent.delta.value(), budget.delta.value()));
  return BasicRule{budget, next};
}

std::string BasicRule::save() const {
  return json{{"filter", "basic"},
              {"version", 1},
              {"epsilon", budget.epsilon.value()},
              {"delta", budget.delta.value()},
              {"epsilon_spent", spent.epsilon.value()},
              {"delta_spent", spent.delta.value()}}
      .dump();
}

Result<BasicRule> BasicRule::restore(std::string_view text) {
  DISCREET_TRY(const SavedState state, SavedState::parse(text, "basic"));
  DISCREET_TRY(const Epsilon epsilon, state.checked<Epsilon>("epsilon"));
  DISCREET_TRY(const Delta delta, state.checked<Delta>("delta"));
  DISCREET_TRY(const Epsilon epsilon_spent, state.checked<Epsilon>("epsilon_spent"));
  DISCREET_TRY(const Delta delta_spent, state.checked<Delta>("delta_spent"));
  return BasicRule{{epsilon, delta}, {epsilon_spent, delta_spent}};
}

Result<ConcentratedRule> ConcentratedRule::make(ApproxDp target, Delta for_events) {
  DISCREET_TRY(const Delta rest,
               Delta::make(std::fmax(0.0, sub_down(target.delta.value(), for_events.value()))));
  DISCREET_TRY(const Rho rho, zcdp_rho({target.epsilon, rest}));
  return ConcentratedRule{{rho, for_events}};
}

Result<ConcentratedRule> ConcentratedRule::after(const Cost& cost) const {
  const ConcentratedCost next{spent.rho + cost.rho, spent.delta + cost.delta};
  if (next.rho > budget.rho || next.delta > budget.delta)
    return exhausted(fmt::format(
        "the release costs rho {} and delta {}, and rho {} of {} and delta {} of {} are spent",
        cost.rho.value(), cost.delta.value(), spent.rho.value(), budget.rho.value(),
        spent.delta.value(), budget.delta.value()));
  return ConcentratedRule{budget, next};
}

std::string ConcentratedRule::save() const {
  return json{{"filter", "zcdp"},
              {"version", 1},
              {"rho", budget.rho.value()},
              {"delta", budget.delta.value()},
              {"rho_spent", spent.rho.value()},
              {"delta_spent", spent.delta.value()}}
      .dump();
}

Result<ConcentratedRule> ConcentratedRule::restore(std::string_view text) {
  DISCREET_TRY(const SavedState state, SavedState::parse(text, "zcdp"));
  DISCREET_TRY(const Rho rho, state.checked<Rho>("rho"));
  DISCREET_TRY(const Delta delta, state.checked<Delta>("delta"));
  DISCREET_TRY(const Rho rho_spent, state.checked<Rho>("rho_spent"));
  DISCREET_TRY(const Delta delta_spent, state.checked<Delta>("delta_spent"));
  return ConcentratedRule{{rho, delta}, {rho_spent, delta_spent}};
}

namespace {

// ln(a - 1) for the order at which most releases of this event fit a target met with this share of
// what is left of its delta.
Result<double> typical_order(const LossEvent& typical, Neighbours neighbours, ApproxDp target,
                             Delta for_events, double share) {
  const double rest = sub_down(target.delta.value(), for_events.value());
  if (!(rest > 0 && target.delta.value() < 1 && target.epsilon.value() > 0))
    return invalid_parameter(
        "a Renyi filter needs an epsilon above 0 and a delta between 0 and 1 that exceeds what is "
        "set aside for events");
  const ApproxDp nearly{target.epsilon, Delta::make(share * rest).value()};
  double best_count = 0, best = 0;
  for (double x = -4; x < 14; x += 0.125) {
    const double order = 1 + std::exp(x), budget = rdp_budget(order, nearly);
    if (!(budget > 0)) continue;
    DISCREET_TRY(const auto cost, approximate_renyi_divergence(typical, order, neighbours));
    const double count = budget / cost.divergence;
    if (count > best_count) best_count = count, best = x;
    if (count < best_count / 4) break;  // past the peak; high orders are costly to price
  }
  if (best_count == 0) return invalid_parameter("no Renyi order can meet this target");
  return best;
}

}  // namespace

Result<RenyiRule> RenyiRule::make(ApproxDp target, Delta for_events) {
  const LossEvent noise = loss::Gaussian{1, 1};
  const LossEvent sample = loss::PoissonSubsampled{0.01, std::make_shared<LossEvent>(noise)};
  DISCREET_TRY(const double high,
               typical_order(noise, Neighbours::AddRemove, target, for_events, 0.5));
  DISCREET_TRY(const double low,
               typical_order(sample, Neighbours::AddRemove, target, for_events, 0.5));
  if (high == low) return make(target, for_events, {1 + std::exp(high)}, {1.0});
  return make(target, for_events, {1 + std::exp(high), 1 + std::exp(low)}, {0.5, 0.5});
}

Result<RenyiRule> RenyiRule::make_for(const LossEvent& typical, Neighbours neighbours,
                                      ApproxDp target, Delta for_events) {
  constexpr double kTypicalShare = 0.75;
  DISCREET_TRY(const double best,
               typical_order(typical, neighbours, target, for_events, kTypicalShare));
  std::vector<double> orders{1 + std::exp(best)}, shares{kTypicalShare};
  // The others pay ln(1/share) / (a - 1): the lower the order, the larger its share.
  double total = 0;
  std::vector<double> weights;
  for (const int step : {-3, -2, -1, 1, 2, 3}) {
    orders.push_back(1 + std::exp(best + step * 0.7));
    weights.push_back(std::exp(-0.35 * step));
    total += weights.back();
  }
  for (const double weight : weights) shares.push_back((1 - kTypicalShare) * weight / total);
  return make(target, for_events, std::move(orders), std::move(shares));
}

Result<RenyiRule> RenyiRule::make(ApproxDp target, Delta for_events, std::vector<double> orders,
                                  std::vector<double> shares) {
  if (orders.empty() || orders.size() != shares.size())
    return invalid_parameter("a Renyi filter needs as many shares as orders, and at least one");
  double total = 0;
  for (std::size_t i = 0; i < orders.size(); ++i) {
    if (!(orders[i] > 1 && std::isfinite(orders[i]) && shares[i] > 0))
      return invalid_parameter("orders must be above 1 and shares above 0");
    total = add_up(total, shares[i]);
  }
  if (total > 1 + 1e-12) return invalid_parameter("the shares of delta exceed the whole");
  const double rest = sub_down(target.delta.value(), for_events.value());
  if (!(rest > 0))
    return invalid_parameter("nothing of the delta is left for the Renyi conversion");
  RenyiRule rule;
  rule.delta_budget = for_events.value();
  for (std::size_t i = 0; i < orders.size(); ++i) {
    const double share = mul_down(rest, div_down(shares[i], std::fmax(1.0, total)));
    const double budget = rdp_budget(orders[i], {target.epsilon, Delta::make(share).value()});
    if (!(budget > 0)) continue;
    rule.orders.push_back(orders[i]);
    rule.budgets.push_back(budget);
    rule.spent.push_back(0);
  }
  if (rule.orders.empty())
    return invalid_parameter("no Renyi order can meet this target; give larger orders");
  return rule;
}

Result<RenyiRule> RenyiRule::after(const Cost& cost) const {
  if (cost.divergences.size() != orders.size())
    return invalid_parameter("the cost was computed for other orders than the filter's");
  RenyiRule next = *this;
  next.delta_spent = add_up(delta_spent, cost.delta);
  bool fits = false;
  for (std::size_t i = 0; i < orders.size(); ++i) {
    if (!(cost.divergences[i] >= 0))
      return invalid_parameter("a Renyi divergence must not be negative");
    next.spent[i] = add_up(spent[i], cost.divergences[i]);
    fits = fits || next.spent[i] <= budgets[i];
  }
  if (!(cost.delta >= 0)) return invalid_parameter("a delta must not be negative");
  if (!fits || next.delta_spent > delta_budget)
    return exhausted(fmt::format(
        "the release does not fit: no Renyi order has budget left for it, or its delta {} exceeds "
        "what is left of {}",
        cost.delta, delta_budget));
  return next;
}

std::string RenyiRule::save() const {
  return json{{"filter", "renyi"},         {"version", 1},   {"orders", orders},
              {"budgets", budgets},        {"spent", spent}, {"delta", delta_budget},
              {"delta_spent", delta_spent}}
      .dump();
}

Result<RenyiRule> RenyiRule::restore(std::string_view text) {
  DISCREET_TRY(const SavedState state, SavedState::parse(text, "renyi"));
  RenyiRule rule;
  DISCREET_TRY(rule.orders, state.numbers("orders"));
  DISCREET_TRY(rule.budgets, state.numbers("budgets"));
  DISCREET_TRY(rule.spent, state.numbers("spent"));
  DISCREET_TRY(rule.delta_budget, state.number("delta"));
  DISCREET_TRY(rule.delta_spent, state.number("delta_spent"));
  if (rule.orders.empty() || rule.orders.size() != rule.budgets.size() ||
      rule.orders.size() != rule.spent.size())
    return invalid_input("orders, budgets and spent must have the same length");
  for (std::size_t i = 0; i < rule.orders.size(); ++i)
    if (!(rule.orders[i] > 1) || std::isinf(rule.orders[i]) || std::isinf(rule.budgets[i]))
      return invalid_input("orders must be above 1, and orders and budgets finite");
  return rule;
}

Result<GaussianRule> GaussianRule::make(ApproxDp target) {
  DISCREET_TRY(const double multiplier, gaussian_noise_multiplier(target));
  const double mu = div_down(1, multiplier);
  return GaussianRule{mul_down(mu, mu), 0};
}

Result<GaussianRule> GaussianRule::after(const Cost& cost) const {
  if (!(cost >= 0)) return invalid_parameter("a cost must not be negative");
  const double next = add_up(spent, cost);
  if (next > budget)
    return exhausted(
        fmt::format("the release costs mu^2 {}, and {} of {} is spent", cost, spent, budget));
  return GaussianRule{budget, next};
}

std::string GaussianRule::save() const {
  return json{{"filter", "gaussian"}, {"version", 1}, {"budget", budget}, {"spent", spent}}.dump();
}

Result<GaussianRule> GaussianRule::restore(std::string_view text) {
  DISCREET_TRY(const SavedState state, SavedState::parse(text, "gaussian"));
  DISCREET_TRY(const double budget, state.number("budget"));
  DISCREET_TRY(const double spent, state.number("spent"));
  return GaussianRule{budget, spent};
}

}  // namespace discreet
