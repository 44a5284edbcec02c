#include "accounting/renyi_closed_internal.h"

#include <algorithm>
#include <cmath>

#include "accounting/interval_internal.h"

namespace discreet {
namespace {

// Beyond this e^x overflows; the caller then falls back to D_a <= epsilon, which is nearly tight.
constexpr double kExponentMax = 700;

double finish(Interval excess, double order, double epsilon) {
  const double value = (log1p(excess) / (Interval(order) - 1)).hi;
  return std::fmax(0.0, std::fmin(value, epsilon));  // D_a <= D_infinity <= epsilon
}

}  // namespace

double renyi_randomized_response(double epsilon, std::uint64_t values, double order) {
  if (epsilon == 0) return 0;
  const Interval e = epsilon, a = order;
  if ((a * e).hi > kExponentMax) {
    if ((e.hi) > kExponentMax) return epsilon;
    // (e^{a e} + e^{(1-a) e} + k - 2) / (e^e + k - 1) <= e^{a e} (1 + k e^{-a e}) / (e^e + k - 1).
    const Interval others = Interval(count_down(values - 1), count_up(values - 1));
    const Interval top = a * e + log1p(Interval(count_up(values)) * exp(-(a * e)));
    const Interval value = (top - log(exp(e) + others)) / (a - 1);
    return std::fmin(value.hi, epsilon);
  }
  // E_Q[(P/Q)^a] - 1 = (e^{a e} - 1)(1 - e^{(1-a) e}) / (e^e + k - 1): no cancellation.
  const Interval others = Interval(count_down(values - 1), count_up(values - 1));
  const Interval excess = expm1(a * e) * -expm1(-((a - 1) * e)) / (exp(e) + others);
  return finish(excess, order, epsilon);
}

double renyi_laplace(double epsilon, double order) {
  const double pure = renyi_randomized_response(epsilon, 2, order);
  const Interval e = epsilon, a = order;
  const Interval two_a_less_one = Interval(2) * a - 1;
  if (((a - 1) * e).hi > kExponentMax) {
    const Interval rest = exp(-(two_a_less_one * e));
    const Interval value = (a - 1) * e + log((a + (a - 1) * rest) / two_a_less_one);
    return std::fmin(pure, (value / (a - 1)).hi);
  }
  const Interval excess = (a * expm1((a - 1) * e) + (a - 1) * expm1(-(a * e))) / two_a_less_one;
  // For tiny epsilon the two terms cancel and randomized response, which agrees to second order,
  // is the sharper of two valid bounds.
  return std::fmin(pure, finish(excess, order, epsilon));
}

double renyi_discrete_laplace(double rate, double shift, double order) {
  const double epsilon = mul_up(rate, shift);
  const double pure = renyi_randomized_response(epsilon, 2, order);
  if (shift <= 1) return pure;  // exactly randomized response
  // Losses rate (s - 2x) for x = 0..s; the middle ones are a geometric series of ratio
  // g = e^{-rate (2a - 1)}. Everything is divided by e^{(a-1) rate s} first.
  const Interval t = rate, s = shift, a = order;
  const Interval r = exp(-t);
  const Interval one_less_r = -expm1(-t);
  const Interval g_log = -(t * (Interval(2) * a - 1));
  if (one_less_r.lo <= 0 || g_log.hi >= 0) return pure;
  const Interval middle = exp(g_log) * -expm1(g_log * (s - 1)) / -expm1(g_log);
  const Interval ends = (Interval(1) + exp(-(t * s * (Interval(2) * a - 1)))) / one_less_r;
  const Interval total = one_less_r / (Interval(1) + r) * (ends + middle);
  const Interval value = t * s + log(total) / (a - 1);
  return std::fmax(0.0, std::fmin(pure, value.hi));
}

double renyi_gaussian(double mu, double order) {
  return mul_up(order, mul_up(mu, mu) / 2);
}

double renyi_bounded_range(double epsilon, double order) {
  if (epsilon == 0) return 0;
  const double concentrated = mul_up(order, mul_up(epsilon, epsilon) / 8);
  const Interval e = epsilon, a = order;
  // Ratios e^t and e^{t - e}, with the share that makes Q a distribution; the moment is largest at
  // e^t = w = (a-1)(1 - e^{-a e}) / (a (e^{-e} - e^{-a e})), where it is
  // w^{a-1} (1 - e^{-a e}) / (a (1 - e^{-e})).
  const Interval one_less = -expm1(-(a * e));
  const Interval w_log =
      log((a - 1) * one_less / (a * -expm1(-((a - 1) * e)))) + e;  // e^{-e} taken out
  const Interval value = w_log + log(one_less / (a * -expm1(-e))) / (a - 1);
  return std::fmax(0.0, std::min({concentrated, value.hi, epsilon}));
}

}  // namespace discreet
