#include "accounting/renyi_subsampled_internal.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <boost/math/quadrature/gauss.hpp>

#include "base/rounding.h"

namespace discreet {
namespace {

constexpr std::size_t kNodesMax = 60'000;
constexpr double kLinearExponentMax = 600;  // beyond it sums are carried as logarithms
// Quadrature errors below are under 1e-17 and sums have at most kNodesMax terms of one sign, each
// good to about 1e-14; this covers them together.
constexpr double kSumSlack = 1e-11;

struct Node {
  double loss;   // ln R
  double log_q;  // ln of the weight under Q
};

double log_normal_density(double u) {
  return -u * u / 2 - 0.5 * std::log(2 * std::numbers::pi);
}

// Trapezoid rule for E_Q[f(R)], u standard normal, ln R = mu u - mu^2/2. The integrand is analytic
// for |Im u| < pi / mu and there |f| <= f(|.|), because |1 - q + q e^z| <= 1 - q + q e^{Re z}; so
// with b = min(pi / mu, 9) the error is at most 2 e^{b^2/2} / (e^{2 pi b / h} - 1) of the value
// (Trefethen and Weideman 2014). The step h makes that e^-44.
std::optional<std::vector<Node>> gaussian_nodes(double mu, double order) {
  const double b = std::fmin(0.999 * std::numbers::pi / mu, 9.0);
  const double h = 2 * std::numbers::pi * b / (44 + b * b / 2);
  const double low = -9.8, high = order * mu + 9.8;
  if (!((high - low) / h < static_cast<double>(kNodesMax))) return std::nullopt;
  std::vector<Node> nodes;
  nodes.reserve(static_cast<std::size_t>((high - low) / h) + 2);
  const double log_h = std::log(h);
  for (double i = std::floor(low / h); i <= std::ceil(high / h); ++i) {
    const double u = i * h;
    nodes.push_back({mu * u - mu * mu / 2, log_h + log_normal_density(u)});
  }
  return nodes;
}

// Gauss-Legendre panels of the given greatest half-width. For f growing like e^{g x}, half-width
// 1/g or less and 15 nodes, the ellipse of parameter 8 bounds the error by 64/15 e^{4.1} 8^{-30}.
template <class Add>
void add_panels(double low, double high, double half_width, Add add) {
  using Rule = boost::math::quadrature::gauss<double, 15>;
  const double panels = std::fmax(1, std::ceil((high - low) / (2 * half_width)));
  const double r = (high - low) / (2 * panels);
  for (double i = 0; i < panels; ++i) {
    const double centre = low + (2 * i + 1) * r;
    for (std::size_t n = 0; n < Rule::abscissa().size(); ++n) {
      const double x = Rule::abscissa()[n], weight = std::log(Rule::weights()[n] * r);
      add(centre + r * x, weight);
      if (x > 0) add(centre - r * x, weight);
    }
  }
}

bool panels_fit(double length, double half_width) {
  return length / half_width * 8 < static_cast<double>(kNodesMax);
}

// Half of the line, where R > 1: the integrand has a kink at R = 1, so panels start there.
std::optional<std::vector<Node>> gaussian_nodes_above(double mu, double order) {
  const double low = mu / 2, high = order * mu + 9.8;
  const double half_width = 1 / (order * mu + 10);
  if (!panels_fit(high - low, half_width)) return std::nullopt;
  std::vector<Node> nodes;
  add_panels(low, high, half_width, [&](double u, double weight) {
    nodes.push_back({mu * u - mu * mu / 2, weight + log_normal_density(u)});
  });
  return nodes;
}

// Under Q: mass e^{-e}/2 at loss e, 1/2 at -e, density e^{-(l + e)/2} / 4 between.
std::optional<std::vector<Node>> laplace_nodes(double e, double order, bool above_only) {
  const double half_width = std::fmin(0.5, 1 / (order + 1));
  const double low = above_only ? 0 : -e;
  if (!panels_fit(e - low, half_width)) return std::nullopt;
  std::vector<Node> nodes{{e, -e - std::numbers::ln2}};
  if (!above_only) nodes.push_back({-e, -std::numbers::ln2});
  add_panels(low, e, half_width, [&](double l, double weight) {
    nodes.push_back({l, weight - (l + e) / 2 - 2 * std::numbers::ln2});
  });
  return nodes;
}

std::optional<std::vector<Node>> nodes_of(const DominatingPair& pair, double order, bool above) {
  if (const auto* gaussian = std::get_if<GaussianPair>(&pair))
    return above ? gaussian_nodes_above(gaussian->mu, order) : gaussian_nodes(gaussian->mu, order);
  if (const auto* laplace = std::get_if<LaplacePair>(&pair))
    return laplace_nodes(laplace->epsilon, order, above);
  std::vector<Node> nodes;
  for (const auto& atom : std::get<FinitePair>(pair).atoms)
    if (!above || atom.loss > 0) nodes.push_back({atom.loss, atom.log_q});
  return nodes;
}

// ln((1-q) + q e^l), accurate near l = 0 and for l too large for e^l.
double mixture_loss(double q, double l) {
  if (l > 700) return l + std::log(q) + std::log1p((1 - q) / q * std::exp(-l));
  return std::log1p(q * std::expm1(l));
}

// (ln(1 + excess)) / (a - 1), up.
double from_excess(double excess, double order) {
  const double up = excess * (1 + kSumSlack);
  return std::fmax(0.0, div_up(log1p_up(up), sub_down(order, 1)));
}

double from_log(double log_moment, double order) {
  return std::fmax(
      0.0, div_up(log_moment + kSumSlack * (1 + std::fabs(log_moment)) / 16, sub_down(order, 1)));
}

// Both moments: a sum of terms >= 0 whose logarithm, or whose excess over 1, is wanted.
template <class LogTerm, class Excess>
double sum_nodes(const std::vector<Node>& nodes, double order, LogTerm log_term, Excess excess) {
  double largest = -HUGE_VAL;
  for (const Node& node : nodes) largest = std::fmax(largest, log_term(node));
  if (largest > kLinearExponentMax) {
    double sum = 0;
    for (const Node& node : nodes) sum += std::exp(log_term(node) - largest);
    // Adding 1 (for the part of the moment that excess leaves out) is lost below e^600.
    return from_log(largest + std::log(sum), order);
  }
  double sum = 0;
  for (const Node& node : nodes) {
    // Where the ratio's power alone would overflow, what is subtracted from it is too small to see.
    const double exponent = log_term(node);
    sum += exponent - node.log_q > kLinearExponentMax ? std::exp(exponent)
                                                      : std::exp(node.log_q) * excess(node);
  }
  DISCREET_CHECK(sum >= 0, "a Renyi moment must be a number");
  return from_excess(sum, order);
}

double log_choose(double n, double k) {
  return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
}

double log_add(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == -HUGE_VAL ? a : a + std::log1p(std::exp(b - a));
}

// (a - 1) D_a is convex in a and zero at a = 1, so between whole orders the chord is a bound.
template <class Whole>
Result<double> between_whole_orders(double order, Whole whole) {
  const double low = std::floor(order), high = std::ceil(order);
  DISCREET_TRY(const double at_high, whole(high));
  if (low == high) return at_high;
  double at_low = 0;
  if (low > 1) {
    DISCREET_TRY(at_low, whole(low));
  }
  const double moment = add_up(mul_up(high - order, mul_up(low - 1, at_low)),
                               mul_up(order - low, mul_up(high - 1, at_high)));
  return div_up(moment, sub_down(order, 1));
}

constexpr double kGeneralOrderMax = 512;
constexpr double kWholeOrderMax = 4096;

}  // namespace

FinitePair randomized_response_pair(double epsilon, double values) {
  // Q: the answer that is true for P has mass 1/(e^e + k - 1), that of Q e^e times it.
  const double log_total = epsilon > 700 ? epsilon : std::log(std::exp(epsilon) + values - 1);
  FinitePair pair{{{epsilon, -log_total}, {-epsilon, epsilon - log_total}}};
  if (values > 2) pair.atoms.push_back({0, std::log(values - 2) - log_total});
  return pair;
}

std::optional<FinitePair> discrete_laplace_pair(double rate, double shift) {
  if (!(shift < static_cast<double>(kNodesMax))) return std::nullopt;
  // Q's masses at x = 0 (all of the far side of P), 1, ..., shift; see docs/accounting.md.
  const double log_norm = std::log(-std::expm1(-rate)) - std::log1p(std::exp(-rate));
  const double log_end = -std::log(-std::expm1(-rate));
  FinitePair pair;
  for (double x = 0; x <= shift; ++x) {
    const double loss = rate * (shift - 2 * x);
    double log_p = log_norm - rate * x;
    if (x == 0 || x == shift) log_p += log_end;
    pair.atoms.push_back({loss, log_p - loss});
  }
  return pair;
}

std::optional<FinitePair> discrete_gaussian_pair(double sigma2, double shift, double order) {
  const double reach = 10 * std::sqrt(sigma2) + 2;
  const double low = std::floor(-reach), high = std::ceil(order * shift + reach);
  if (!(high - low < static_cast<double>(kNodesMax))) return std::nullopt;
  double total = 0;
  for (double x = 0; x <= std::ceil(reach); ++x)
    total += (x == 0 ? 1 : 2) * std::exp(-x * x / (2 * sigma2));
  const double log_total = std::log(total);
  FinitePair pair;
  for (double x = low; x <= high; ++x)
    pair.atoms.push_back(
        {(2 * x * shift - shift * shift) / (2 * sigma2), -x * x / (2 * sigma2) - log_total});
  return pair;
}

std::optional<double> renyi_mixture(const DominatingPair& pair, double q, double order) {
  const auto nodes = nodes_of(pair, order, false);
  if (!nodes) {
    // Little noise or a huge order: whole orders still have a short sum.
    const auto* gaussian = std::get_if<GaussianPair>(&pair);
    if (!gaussian || !(order <= kWholeOrderMax) || !std::isfinite(gaussian->mu))
      return std::nullopt;
    return between_whole_orders(order,
                                [&](double whole) -> Result<double> {
                                  return renyi_mixture_gaussian_whole(gaussian->mu, q, whole);
                                })
        .value();
  }
  // E[R'^a] - 1 = E[R'^a - 1 - a (R' - 1)], whose terms are all >= 0.
  return sum_nodes(
      *nodes, order, [&](const Node& n) { return n.log_q + order * mixture_loss(q, n.loss); },
      [&](const Node& n) {
        const double y = mixture_loss(q, n.loss);
        return std::fmax(0.0, std::expm1(order * y) - order * std::expm1(y));
      });
}

std::optional<double> renyi_mixture_both_ways(const DominatingPair& pair, double q, double order) {
  const auto nodes = nodes_of(pair, order, true);
  if (!nodes) return std::nullopt;
  return sum_nodes(
      *nodes, order, [&](const Node& n) { return n.log_q + order * mixture_loss(q, n.loss); },
      [&](const Node& n) {
        const double y = mixture_loss(q, n.loss);
        return std::expm1(order * y) * -std::expm1((1 - order) * y);
      });
}

std::optional<double> renyi_gaussian_replace(double mu, double q, double order) {
  // Trapezoid rule as in gaussian_nodes. In the strip |mu Im u| <= theta the second factor is at
  // most cos(theta)^{1-a} times its value on the line, which theta = 1/sqrt(a) keeps below e.
  const double b = std::fmin(1 / (std::sqrt(order) * mu), 9.0);
  const double h = 2 * std::numbers::pi * b / (46 + b * b / 2);
  const double low = -9.8, high = order * mu + 9.8;
  if (!((high - low) / h < static_cast<double>(kNodesMax))) return std::nullopt;
  std::vector<Node> nodes;
  const double log_h = std::log(h);
  for (double i = std::floor(low / h); i <= std::ceil(high / h); ++i) {
    const double u = i * h, away = mixture_loss(q, -mu * u - mu * mu / 2);
    // Weights under the second mixture, losses of the first against it.
    nodes.push_back(
        {mixture_loss(q, mu * u - mu * mu / 2) - away, log_h + log_normal_density(u) + away});
  }
  return sum_nodes(
      nodes, order, [&](const Node& n) { return n.log_q + order * n.loss; },
      [&](const Node& n) {
        return std::fmax(0.0, std::expm1(order * n.loss) - order * std::expm1(n.loss));
      });
}

double renyi_mixture_gaussian_whole(double mu, double q, double a) {
  double log_excess = -HUGE_VAL;
  for (double j = 2; j <= a; ++j) {
    const double exponent = j * (j - 1) / 2 * mu * mu;
    const double gain = exponent > 30 ? exponent : std::log(std::expm1(exponent));
    const double rest = j == a ? 0 : (a - j) * std::log1p(-q);
    log_excess = log_add(log_excess, log_choose(a, j) + rest + j * std::log(q) + gain);
  }
  // lgamma of numbers up to a few thousand is good to about 1e-11 in the exponent's unit.
  log_excess += kSumSlack * (1 + std::fabs(log_excess));
  const double log_moment = log_excess > 600 ? log_excess : log1p_up(exp_up(log_excess));
  return div_up(log_moment, sub_down(a, 1));
}

Result<double> renyi_poisson_general(const RenyiCurve& inner, double q, double order) {
  return between_whole_orders(order, [&](double a) -> Result<double> {
    DISCREET_TRY(const double plain, inner(a));  // a sample is never worse than the whole
    if (a > kGeneralOrderMax) return plain;
    double log_excess = -HUGE_VAL;
    for (double j = 2; j <= a; ++j) {
      DISCREET_TRY(const double divergence, inner(j));
      const double exponent = mul_up(j - 1, divergence);
      // e^x - 1 for j = 2 and 3 e^x - 1 beyond: the terms' excess over binomial weights.
      const double gain = j == 2 ? (exponent > 30 ? exponent : std::log(std::expm1(exponent)))
                                 : exponent + std::log(3 - std::exp(-exponent));
      const double rest = j == a ? 0 : (a - j) * std::log1p(-q);
      log_excess = log_add(log_excess, log_choose(a, j) + rest + j * std::log(q) + gain);
    }
    log_excess += kSumSlack * (1 + std::fabs(log_excess));
    const double log_moment = log_excess > 600 ? log_excess + 1e-9 : log1p_up(exp_up(log_excess));
    return std::fmin(plain, div_up(log_moment, sub_down(a, 1)));
  });
}

Result<double> renyi_replace_general(const RenyiCurve& inner, double q, double order) {
  return between_whole_orders(order, [&](double a) -> Result<double> {
    DISCREET_TRY(const double plain, inner(a));
    if (a > kGeneralOrderMax) return plain;
    double log_excess = -HUGE_VAL;
    for (double j = 2; j <= a; ++j) {
      DISCREET_TRY(const double divergence, inner(j));
      const double exponent = mul_up(j - 1, divergence);
      double gain = exponent + std::numbers::ln2;
      if (j == 2) gain = std::fmin(gain, std::log(4 * std::expm1(std::fmin(exponent, 600))));
      log_excess = log_add(log_excess, log_choose(a, j) + j * std::log(q) + gain);
    }
    log_excess += kSumSlack * (1 + std::fabs(log_excess));
    const double log_moment = log_excess > 600 ? log_excess + 1e-9 : log1p_up(exp_up(log_excess));
    return std::fmin(plain, div_up(log_moment, sub_down(a, 1)));
  });
}

}  // namespace discreet
