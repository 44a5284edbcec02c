#include "accounting/renyi_epsilon.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "accounting/conversion.h"
#include "accounting/renyi.h"

namespace discreet {
namespace {

constexpr double kLogFirst = -5, kLogLast = 12, kLogStep = 0.75;  // of ln(order - 1)

double order_at(double x) {
  return 1 + std::exp(x);
}

// Every order gives a valid bound, so the search can miss tightness but not soundness.
template <class BoundAt>
Result<RenyiBound> search(BoundAt bound_at) {
  double best_x = 0, best = std::numeric_limits<double>::infinity();
  for (double x = kLogFirst; x <= kLogLast; x += kLogStep) {
    DISCREET_TRY(const double value, bound_at(order_at(x)));
    if (value < best) {
      best = value;
      best_x = x;
    }
    // Past the best order the bound only rises; high orders are the costly ones.
    if (x > best_x + 4 * kLogStep && std::isfinite(best) && value > 2 * best) break;
  }
  const double golden = (std::sqrt(5.0) - 1) / 2;
  double low = best_x - kLogStep, high = best_x + kLogStep;
  double left = high - golden * (high - low), right = low + golden * (high - low);
  DISCREET_TRY(double at_left, bound_at(order_at(left)));
  DISCREET_TRY(double at_right, bound_at(order_at(right)));
  while (high - low > 1e-5) {
    if (at_left <= at_right) {
      high = right;
      right = left;
      at_right = at_left;
      left = high - golden * (high - low);
      DISCREET_TRY(at_left, bound_at(order_at(left)));
    } else {
      low = left;
      left = right;
      at_left = at_right;
      right = low + golden * (high - low);
      DISCREET_TRY(at_right, bound_at(order_at(right)));
    }
  }
  if (at_left < best) best = at_left, best_x = left;
  if (at_right < best) best = at_right, best_x = right;
  return RenyiBound{best, order_at(best_x)};
}

}  // namespace

Result<RenyiBound> renyi_epsilon(const LossEvent& event, double delta, Neighbours neighbours) {
  if (!(delta > 0 && delta < 1))
    return invalid_parameter(
        fmt::format("a Renyi bound needs a delta strictly between 0 and 1, not {}", delta));
  return search([&](double order) -> Result<double> {
    DISCREET_TRY(const auto cost, approximate_renyi_divergence(event, order, neighbours));
    if (cost.delta >= delta)
      return Error{ErrorCode::Refused,
                   fmt::format("the releases fail with probability {} by themselves, so no epsilon "
                               "holds at delta {}",
                               cost.delta, delta)};
    return rdp_epsilon(order, cost.divergence, sub_down(delta, cost.delta));
  });
}

Result<RenyiBound> renyi_delta(const LossEvent& event, double epsilon, Neighbours neighbours) {
  if (!(epsilon >= 0)) return invalid_parameter("epsilon must not be negative");
  return search([&](double order) -> Result<double> {
    DISCREET_TRY(const auto cost, approximate_renyi_divergence(event, order, neighbours));
    return std::fmin(1.0, add_up(cost.delta, rdp_delta(order, cost.divergence, epsilon)));
  });
}

}  // namespace discreet
