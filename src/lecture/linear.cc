// Budget -> noise -> error bound -> sample size.
#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "lecture/linear_internal.h"
#include "lecture/plot.h"
#include "lecture/queries.h"
#include "mechanisms/discrete_gaussian.h"
#include "mechanisms/discrete_laplace.h"
#include "mechanisms/randomized_response.h"

namespace discreet::lecture {
namespace {

double as_double(std::uint64_t value) {
  return static_cast<double>(value);
}

struct Plan {
  std::string name, noise;
  std::function<double(double people)> bound;  // of the worst of k answers, as a share
  double people_needed = 0;
  double measured = 0;
};

// Laplace: the k answers together have L1 sensitivity k, so each gets noise of scale k / epsilon.
double laplace_bound(const LinearOptions& o, double people) {
  return as_double(o.queries) * std::log(as_double(o.queries) / o.beta) / (o.epsilon * people);
}

// Gaussian: sigma for L2 sensitivity sqrt(k); a union bound over k two-sided tails.
double gaussian_bound(const LinearOptions& o, double sigma, double people) {
  return sigma * std::sqrt(2 * std::log(2 * as_double(o.queries) / o.beta)) / people;
}

// Randomized response once answers every query: Hoeffding with summands of width 1 / (2p - 1).
double response_bound(const LinearOptions& o, double people) {
  const double width = (std::exp(o.epsilon) + 1) / (std::exp(o.epsilon) - 1);
  return width * std::sqrt(std::log(2 * as_double(o.queries) / o.beta) / (2 * people));
}

Result<void> check(const LinearOptions& o) {
  if (o.queries < 1 || o.people < 10 || o.runs < 1)
    return invalid_parameter("--queries and --runs must be at least 1, --people at least 10");
  if (as_double(o.queries) * as_double(o.people) * as_double(o.runs) > 4e9)
    return invalid_parameter("--queries x --people x --runs must stay below 4 billion");
  if (!(o.error > 0 && o.error < 1 && o.beta > 0 && o.beta < 1))
    return invalid_parameter("--error and --beta must lie strictly between 0 and 1");
  return {};
}

double worst_response(const LinearWorkload& data, const RandomizedResponse& coin,
                      std::uint64_t queries, RandomSource& random) {
  const double p = coin.truth_chance(), n = as_double(data.people());
  std::vector<std::uint64_t> reports(data.words());
  for (std::uint64_t i = 0; i < data.people(); ++i)
    reports[i / 64] |= std::uint64_t{coin.release(data.secret(i), random)} << i % 64;
  double worst = 0;
  for (std::size_t q = 0; q < queries; ++q) {
    std::int64_t said = 0, asked = 0;
    for (std::size_t w = 0; w < data.words(); ++w) {
      said += std::popcount(reports[w] & data.subset(q)[w]);
      asked += std::popcount(data.subset(q)[w]);
    }
    const double estimate =
        0.5 * static_cast<double>(asked) +
        (static_cast<double>(said) - 0.5 * static_cast<double>(asked)) / (2 * p - 1);
    worst = std::max(worst, std::abs(estimate - static_cast<double>(data.exact(q))) / n);
  }
  return worst;
}

}  // namespace

Result<Shown> linear_queries(const LinearOptions& o, RandomSource& random) {
  DISCREET_TRY_VOID(check(o));
  DISCREET_TRY(const Epsilon epsilon, Epsilon::make(o.epsilon));
  DISCREET_TRY(const Delta delta, Delta::make(o.delta));
  const double k = as_double(o.queries);
  DISCREET_TRY(const auto laplace, DiscreteLaplace::make(epsilon, L1Sensitivity::make(k).value()));
  DISCREET_TRY(const auto gaussian,
               DiscreteGaussian::make(ApproxDp{epsilon, delta},
                                      L2Sensitivity::make(std::sqrt(k)).value(), o.queries));
  DISCREET_TRY(const auto coin, RandomizedResponse::make(epsilon));
  const double sigma = std::sqrt(gaussian.sigma2());
  const double width = (std::exp(o.epsilon) + 1) / (std::exp(o.epsilon) - 1);
  std::vector<Plan> plans = {
      {"Laplace", fmt::format("scale {:.4g} on each count", k / o.epsilon),
       [&](double n) { return laplace_bound(o, n); },
       k * std::log(k / o.beta) / (o.epsilon * o.error)},
      {"Gaussian", fmt::format("sigma {:.4g} on each count", sigma),
       [&](double n) { return gaussian_bound(o, sigma, n); },
       gaussian_bound(o, sigma, 1) / o.error},
      {"randomized response", fmt::format("truth with chance {:.4g}", coin.truth_chance()),
       [&](double n) { return response_bound(o, n); },
       width * width * std::log(2 * k / o.beta) / (2 * o.error * o.error)}};
  std::uint64_t passed[3] = {};
  for (std::uint64_t run = 0; run < o.runs; ++run) {
    const LinearWorkload data(o.people, o.queries, o.seed + run);
    double worst[3] = {};
    for (std::size_t q = 0; q < o.queries; ++q) {
      const std::int64_t exact = data.exact(q);
      worst[0] =
          std::max(worst[0], std::abs(static_cast<double>(laplace.release(exact, random) - exact)));
      worst[1] = std::max(worst[1],
                          std::abs(static_cast<double>(gaussian.release(exact, random) - exact)));
    }
    worst[0] /= as_double(o.people);
    worst[1] /= as_double(o.people);
    worst[2] = worst_response(data, coin, o.queries, random);
    for (std::size_t i = 0; i < 3; ++i) {
      plans[i].measured += worst[i] / as_double(o.runs);
      // Whole-number noise may pass a continuous bound by a half.
      passed[i] += worst[i] > plans[i].bound(as_double(o.people)) + 0.5 / as_double(o.people);
    }
  }
  Shown shown;
  shown.statement = fmt::format(
      "{} linear queries about {} people, epsilon {:g} for all of them (delta {:g} where needed).",
      o.queries, o.people, o.epsilon, o.delta);
  shown.columns = {"mechanism", "noise", "all within", "worst, measured",
                   fmt::format("people needed for {:g}", o.error)};
  const double allowed = o.beta * as_double(o.runs) + 6 * std::sqrt(o.beta * as_double(o.runs)) + 4;
  for (std::size_t i = 0; i < 3; ++i) {
    const Plan& plan = plans[i];
    shown.rows.push_back({plan.name, plan.noise, Cell(plan.bound(as_double(o.people)), 3),
                          Cell(plan.measured, 3), Cell(std::ceil(plan.people_needed), 12)});
    shown.holds = shown.holds && as_double(passed[i]) <= allowed;
  }
  shown.notes = {
      fmt::format(
          "\"All within\": every answer, with chance {:g} %, as a share of the people; measured: "
          "mean over {} runs of the worst error.",
          100 * (1 - o.beta), o.runs),
      "Laplace: k ln(k / beta) / (epsilon n). Randomized response: sqrt(ln(2k / beta) / (2n)) / "
      "(2p - 1)."};
  LinePlot plot{fmt::format("{} linear queries, epsilon {:g}", o.queries, o.epsilon),
                "people",
                "every answer within (share of people)",
                true,
                true,
                {}};
  for (const Plan& plan : plans) {
    Line line{plan.name, {}};
    for (double at = 2; at <= 7.01; at += 0.25)
      line.points.emplace_back(std::pow(10.0, at), plan.bound(std::pow(10.0, at)));
    plot.lines.push_back(std::move(line));
  }
  shown.picture = line_picture(plot);
  return shown;
}

}  // namespace discreet::lecture
