#include "accounting/conversion.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "accounting/interval_internal.h"
#include "privacy/zcdp_conversion.h"

namespace discreet {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The root of a function that rises in ln(order - 1). The theorem holds at every order, so an
// inexact root costs tightness only, never soundness.
template <class Rising>
double best_order(Rising rising) {
  double low = -50, high = 50;
  for (int step = 0; step < 100 && high - low > 1e-13 * std::fabs(low + high); ++step) {
    const double middle = (low + high) / 2;
    (rising(1 + std::exp(middle)) < 0 ? low : high) = middle;
  }
  return 1 + std::exp((low + high) / 2);
}

// ln(1 - 1/a) + ln(1/a)/(a - 1): the part of the conversion that depends on the order alone.
Interval log_gap(double order) {
  const Interval a = order;
  return log1p(Interval(-1) / a) - log(a) / (a - 1);
}

Interval log_delta(double order, Interval rdp, double epsilon) {
  return (Interval(order) - 1) * (rdp - epsilon + log_gap(order));
}

Interval epsilon_at(double order, Interval rdp, double delta) {
  return rdp + log_gap(order) - log(Interval(delta)) / (Interval(order) - 1);
}

// Bretagnolle and Huber 1979: total variation <= sqrt(1 - exp(-KL)), and KL is at most the
// divergence of any order above 1. It bounds delta at every epsilon >= 0, and is the better bound
// when the divergence is tiny.
double total_variation_up(double rdp) {
  return sqrt_up(-expm1_down(-rdp));
}

// A product of finite numbers may overflow; the loss is then infinite, as a sum's would be.
Rho rho_or_infinity(double value) {
  const double largest = std::numeric_limits<double>::max();
  if (value <= largest) return Rho::make(value).value();
  return Rho::make(largest).value() + Rho::make(largest).value();
}

Result<void> check_curve(std::span<const double> orders, std::span<const double> rdp) {
  if (orders.empty() || orders.size() != rdp.size())
    return invalid_parameter(
        fmt::format("a Renyi curve needs as many divergences as orders, and "
                    "at least one; got {} orders and {} divergences",
                    orders.size(), rdp.size()));
  for (const double order : orders)
    if (!(order > 1) || std::isinf(order))
      return invalid_parameter(fmt::format("a Renyi order must be above 1, not {}", order));
  for (const double value : rdp)
    if (!(value >= 0))
      return invalid_parameter(
          fmt::format("a Renyi divergence must not be negative, not {}", value));
  return {};
}

}  // namespace

double zcdp_delta(Rho rho, double epsilon) {
  if (rho.value() == 0) return epsilon >= 0 ? 0 : std::fmin(1.0, -expm1_down(epsilon));
  if (std::isinf(rho.value())) return 1;
  return zcdp_delta_up(rho, epsilon);
}

double zcdp_epsilon(Rho rho, double delta) {
  if (rho.value() == 0 || delta >= 1) return 0;
  if (!(delta > 0) || std::isinf(rho.value())) return kInfinity;
  // The derivative in a of epsilon(a) has the sign of rho (a - 1)^2 + ln(a delta).
  const double order = best_order(
      [&](double a) { return rho.value() * (a - 1) * (a - 1) + std::log(a) + std::log(delta); });
  return std::fmax(0.0, epsilon_at(order, Interval(order) * rho.value(), delta).hi);
}

double zcdp_epsilon_textbook(Rho rho, double delta) {
  if (rho.value() == 0 || delta >= 1) return 0;
  if (!(delta > 0)) return kInfinity;
  const Interval r = rho.value();
  return (r + Interval(2) * sqrt(r * -log(Interval(delta)))).hi;
}

Result<Rho> zcdp_rho(ApproxDp target) {
  const double delta = target.delta.value();
  if (!(delta > 0 && delta < 1))
    return invalid_parameter(
        fmt::format("a zCDP budget needs a delta strictly between 0 and 1, not {}", delta));
  if (target.epsilon.value() > 0x1p500)
    return invalid_parameter("the epsilon of a zCDP budget is too large");
  // Where no rho can be represented that fits, the budget is worth nothing.
  const auto found = zcdp_meeting(target);
  if (!found) return Rho::zero();
  // Both ways of asking agree on it: the two conversions round at different places.
  double rho = found->value();
  for (double less = 0x1p-52; zcdp_epsilon(Rho::make(rho).value(), delta) > target.epsilon.value();
       less *= 2)
    rho *= 1 - less;
  return Rho::make(rho);
}

Rho pure_to_zcdp(Epsilon epsilon) {
  return rho_or_infinity(mul_up(epsilon.value(), epsilon.value()) / 2);
}

Rho bounded_range_to_zcdp(Epsilon epsilon) {
  return rho_or_infinity(mul_up(epsilon.value(), epsilon.value()) / 8);
}

double rdp_epsilon(double order, double rdp, double delta) {
  if (rdp == 0 || delta >= 1 || total_variation_up(rdp) <= delta) return 0;
  if (!(delta > 0) || std::isinf(rdp)) return kInfinity;
  return std::fmax(0.0, epsilon_at(order, rdp, delta).hi);
}

double rdp_delta(double order, double rdp, double epsilon) {
  if (rdp == 0) return 0;
  if (std::isinf(rdp)) return 1;
  return std::fmin(std::fmin(1.0, total_variation_up(rdp)),
                   exp_up(log_delta(order, rdp, epsilon).hi));
}

double rdp_budget(double order, ApproxDp target) {
  if (target.delta.value() <= 0) return -kInfinity;
  const Interval rest =
      log_gap(order) - log(Interval(target.delta.value())) / (Interval(order) - 1);
  return sub_down(target.epsilon.value(), rest.hi);
}

Result<double> rdp_curve_epsilon(std::span<const double> orders, std::span<const double> rdp,
                                 double delta) {
  DISCREET_TRY_VOID(check_curve(orders, rdp));
  DISCREET_TRY_VOID(Delta::make(delta));
  double best = kInfinity;
  for (std::size_t i = 0; i < orders.size(); ++i)
    best = std::min(best, rdp_epsilon(orders[i], rdp[i], delta));
  return best;
}

Result<double> rdp_curve_delta(std::span<const double> orders, std::span<const double> rdp,
                               double epsilon) {
  DISCREET_TRY_VOID(check_curve(orders, rdp));
  if (!(epsilon >= 0)) return invalid_parameter("epsilon must not be negative");
  double best = 1;
  for (std::size_t i = 0; i < orders.size(); ++i)
    best = std::min(best, rdp_delta(orders[i], rdp[i], epsilon));
  return best;
}

}  // namespace discreet
