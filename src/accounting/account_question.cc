#include "accounting/account_question.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "accounting/conversion.h"
#include "accounting/lattice_noise.h"
#include "accounting/loss_event_json.h"
#include "accounting/pld.h"
#include "accounting/renyi.h"
#include "accounting/shuffle.h"
#include "base/rounding.h"
#include "privacy/gaussian_profile.h"

namespace discreet {
namespace {

using nlohmann::json;

constexpr double kTightRelative = 1e-9;  // of conversions and bounds that are rounded one way only

Result<double> number(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) return invalid_input(fmt::format("\"{}\" is missing", name));
  if (!found->is_number()) return invalid_input(fmt::format("\"{}\" must be a number", name));
  return found->get<double>();
}

Result<std::uint64_t> whole(const json& object, const char* name, std::uint64_t least) {
  DISCREET_TRY(const double value, number(object, name));
  if (!(value >= static_cast<double>(least) && value <= 0x1p53 && value == std::floor(value)))
    return invalid_input(fmt::format("\"{}\" must be a whole number of at least {}", name, least));
  return static_cast<std::uint64_t>(value);
}

Result<std::string> text(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) return invalid_input(fmt::format("\"{}\" is missing", name));
  if (!found->is_string()) return invalid_input(fmt::format("\"{}\" must be a text", name));
  return found->get<std::string>();
}

Result<std::vector<double>> numbers(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_array())
    return invalid_input(fmt::format("\"{}\" must be a list of numbers", name));
  std::vector<double> list;
  for (const json& entry : *found) {
    if (!entry.is_number())
      return invalid_input(fmt::format("\"{}\" must be a list of numbers", name));
    list.push_back(entry.get<double>());
  }
  return list;
}

// The scale of a discrete Laplace entry, which may be given as its inverse `a`. Rounded down, so
// that no more noise is claimed than was meant.
Result<double> discrete_laplace_scale(const json& params) {
  if (!params.contains("a")) return number(params, "scale");
  DISCREET_TRY(const double a, number(params, "a"));
  if (!(a > 0) || std::isinf(a)) return invalid_input("\"a\" must be positive and finite");
  return div_down(1, a);
}

Result<LossEvent> sampled(const json& params, const char* scale_name, const char* mechanism) {
  DISCREET_TRY(const double q, number(params, "sampling_probability"));
  if (!(q >= 0 && q <= 1)) return invalid_input("\"sampling_probability\" must be in [0, 1]");
  json inner{{"mechanism", mechanism}};
  DISCREET_TRY(const double scale, number(params, scale_name));
  double sensitivity = 1;
  if (params.contains("sensitivity")) {
    DISCREET_TRY(sensitivity, number(params, "sensitivity"));
  }
  // A noise multiplier is the noise per unit of sensitivity.
  const bool multiplier = std::string(scale_name) == "noise_multiplier";
  inner[multiplier ? "sigma" : "scale"] = scale;
  inner["sensitivity"] = multiplier ? 1.0 : sensitivity;
  DISCREET_TRY(LossEvent event, loss_event_from_json(inner));
  return LossEvent(loss::PoissonSubsampled{q, std::make_shared<LossEvent>(std::move(event))});
}

Result<LossEvent> kary(const json& params) {
  DISCREET_TRY(const double p, number(params, "noise_parameter"));
  DISCREET_TRY(const std::uint64_t buckets, whole(params, "num_buckets", 2));
  if (!(p > 0 && p <= 1)) return invalid_input("\"noise_parameter\" must be in (0, 1]");
  const double other = div_down(p, count_up(buckets));
  const double epsilon = log1p_up(div_up(sub_up(1, p), other));
  DISCREET_TRY(const Epsilon bound, Epsilon::make(epsilon));
  return LossEvent(loss::RandomizedResponse{bound, buckets});
}

Result<LossEvent> heterogeneous(const json& params) {
  const auto parts = params.find("parts");
  if (parts == params.end() || !parts->is_array())
    return invalid_input("\"parts\" must be a list of mechanisms");
  loss::Composed all;
  for (const json& part : *parts) {
    if (!part.is_object()) return invalid_input("each of \"parts\" must be an object");
    json own = part;
    std::uint64_t count = 1;
    if (own.contains("count")) {
      DISCREET_TRY(count, whole(own, "count", 0));
      own.erase("count");
    }
    DISCREET_TRY(const std::string mechanism, text(own, "mechanism"));
    own.erase("mechanism");
    DISCREET_TRY(LossEvent event, event_of_entry(mechanism, own));
    all.parts.push_back(loss::Repeated{count, std::make_shared<LossEvent>(std::move(event))});
  }
  return LossEvent(std::move(all));
}

AccountAnswer one_sided(Bracket bracket) {
  return {bracket.upper, bracket};
}

// For a value that is only rounded up: the bracket is around the formula, not the true optimum.
AccountAnswer rounded_up(double value) {
  return {value, {value * (1 - kTightRelative), value}};
}

AccountAnswer two_sided(Bracket bracket) {
  return {bracket.lower + bracket.width() / 2, bracket};
}

Result<AccountAnswer> about_noise(const std::string& mechanism, const json& params,
                                  const std::string& quantity, double at) {
  const bool variance = quantity == "variance";
  if (mechanism == "discrete_laplace") {
    DISCREET_TRY(const double scale, discrete_laplace_scale(params));
    DISCREET_TRY(const Bracket b,
                 variance ? discrete_laplace_variance(scale) : discrete_laplace_tail(scale, at));
    return two_sided(b);
  }
  if (mechanism == "discrete_gaussian") {
    DISCREET_TRY(const double sigma2, number(params, "sigma2"));
    DISCREET_TRY(const Bracket b, variance ? discrete_gaussian_variance(sigma2)
                                           : discrete_gaussian_tail(sigma2, at));
    return two_sided(b);
  }
  return invalid_input(fmt::format("the {} of \"{}\" noise is not known", quantity, mechanism));
}

Result<AccountAnswer> least_sigma(const json& params, double delta, double factor,
                                  std::uint64_t compositions) {
  DISCREET_TRY(const double epsilon, number(params, "epsilon"));
  DISCREET_TRY(const double sensitivity, number(params, "sensitivity"));
  if (!(sensitivity > 0) || std::isinf(sensitivity))
    return invalid_input("\"sensitivity\" must be positive and finite");
  DISCREET_TRY(const Epsilon e, Epsilon::make(epsilon));
  DISCREET_TRY(const Delta d, Delta::make(delta));
  DISCREET_TRY(const double multiplier, gaussian_noise_multiplier({e, d}));
  const double scale = mul_up(mul_up(sensitivity, factor), sqrt_up(count_up(compositions)));
  const double sigma = mul_up(multiplier, scale);
  // From below: a multiplier at which the lower bound on delta still exceeds the target.
  double below = multiplier;
  for (double step = 1e-14; step < 1e-6; step *= 4) {
    below = multiplier * (1 - step);
    if (gaussian_delta_down(1 / below * (1 - 0x1p-52), epsilon) > delta) break;
  }
  return AccountAnswer{sigma, {below * scale * (1 - 0x1p-50), sigma}};
}

Result<AccountAnswer> about_curve(const json& params, const std::string& quantity, double at,
                                  std::uint64_t compositions) {
  DISCREET_TRY(const auto orders, numbers(params, "orders"));
  DISCREET_TRY(auto rdp, numbers(params, "rdp"));
  for (double& r : rdp) r = mul_up(count_up(compositions), r);
  if (quantity == "epsilon_at_delta") {
    DISCREET_TRY(const double value, rdp_curve_epsilon(orders, rdp, at));
    return rounded_up(value);
  }
  if (quantity == "delta_at_epsilon") {
    DISCREET_TRY(const double value, rdp_curve_delta(orders, rdp, at));
    return rounded_up(value);
  }
  return invalid_input(fmt::format("an rdp_curve has no {}", quantity));
}

Result<AccountAnswer> about_shuffle(const std::string& mechanism, const json& params,
                                    const std::string& quantity, double at) {
  DISCREET_TRY(const std::uint64_t n, whole(params, "n", 1));
  DISCREET_TRY(const double epsilon0, number(params, "epsilon0"));
  const bool clones = mechanism == "shuffle_clones_bound";
  if (quantity == "epsilon_at_delta" && clones) {
    DISCREET_TRY(const double value, shuffle_clones_epsilon(n, epsilon0, at));
    return rounded_up(value);
  }
  if (quantity != "delta_at_epsilon")
    return invalid_input(fmt::format("{} has no {}", mechanism, quantity));
  if (clones) {
    DISCREET_TRY(const double value, shuffle_clones_delta(n, epsilon0, at));
    return rounded_up(value);
  }
  DISCREET_TRY(const double lower, shuffled_randomized_response_delta_lower(n, epsilon0, at));
  const double upper = lower * (1 + kTightRelative);
  return AccountAnswer{upper, {lower, upper}};
}

}  // namespace

Result<LossEvent> event_of_entry(const std::string& mechanism, const json& params) {
  if (!params.is_object()) return invalid_input("\"params\" must be an object");
  if (mechanism == "heterogeneous") return heterogeneous(params);
  if (mechanism == "kary_randomized_response") return kary(params);
  if (mechanism == "poisson_subsampled_gaussian")
    return sampled(params, "noise_multiplier", "gaussian");
  if (mechanism == "poisson_subsampled_laplace") return sampled(params, "scale", "laplace");
  json object = params;
  object["mechanism"] = mechanism;
  if (mechanism == "discrete_laplace" && params.contains("a")) {
    DISCREET_TRY(const double scale, discrete_laplace_scale(params));
    object.erase("a");
    object["scale"] = scale;
  }
  if (mechanism == "randomized_response" && object.contains("delta0")) {
    DISCREET_TRY(const double delta0, number(object, "delta0"));
    if (delta0 != 0)
      object["mechanism"] = "approx_dp";
    else
      object.erase("delta0");
  }
  return loss_event_from_json(object);
}

Result<AccountAnswer> answer_entry(const json& entry) {
  if (!entry.is_object()) return invalid_input("an entry must be an object");
  DISCREET_TRY(const std::string mechanism, text(entry, "mechanism"));
  DISCREET_TRY(const std::string quantity, text(entry, "quantity"));
  const auto params = entry.find("params");
  if (params == entry.end() || !params->is_object())
    return invalid_input("\"params\" must be an object");
  double at = 0;
  if (entry.contains("at") || quantity != "variance") {
    DISCREET_TRY(at, number(entry, "at"));
  }
  std::uint64_t compositions = 1;
  if (entry.contains("compositions")) {
    DISCREET_TRY(compositions, whole(entry, "compositions", 1));
  }
  if (quantity == "variance" || quantity == "tail_probability")
    return about_noise(mechanism, *params, quantity, at);

  DISCREET_TRY(const std::string neighbouring, text(entry, "neighbouring"));
  if (neighbouring != "add_remove" && neighbouring != "replace_one")
    return invalid_input("\"neighbouring\" must be add_remove or replace_one");
  const Neighbours neighbours =
      neighbouring == "add_remove" ? Neighbours::AddRemove : Neighbours::ReplaceOne;

  if (quantity == "sigma_at_epsilon_delta") {
    if (mechanism != "gaussian") return invalid_input("only the gaussian mechanism has a sigma");
    return least_sigma(*params, at, add_remove_steps(neighbours), compositions);
  }
  if (mechanism == "rdp_curve") return about_curve(*params, quantity, at, compositions);
  if (mechanism == "shuffle_clones_bound" || mechanism == "shuffled_binary_rr_fixed_pair") {
    if (compositions != 1)
      return Error{ErrorCode::Refused, "shuffled reports are accounted one round at a time"};
    return about_shuffle(mechanism, *params, quantity, at);
  }

  DISCREET_TRY(LossEvent one, event_of_entry(mechanism, *params));
  const LossEvent all = loss::Repeated{compositions, std::make_shared<LossEvent>(std::move(one))};
  if (quantity == "rdp_at_order") {
    DISCREET_TRY(const double value, renyi_divergence(all, at, neighbours));
    return rounded_up(value);
  }
  if (quantity != "epsilon_at_delta" && quantity != "delta_at_epsilon")
    return invalid_input(fmt::format("\"{}\" is not a quantity that can be asked for", quantity));
  DISCREET_TRY(const auto pld, PrivacyLossDistribution::make(all, neighbours));
  DISCREET_TRY(const Bracket bracket,
               quantity == "epsilon_at_delta" ? pld.epsilon(at) : pld.delta(at));
  if (!std::isfinite(bracket.upper))
    return Error{ErrorCode::Refused, fmt::format("no finite epsilon holds at delta {}", at)};
  return one_sided(bracket);
}

}  // namespace discreet
