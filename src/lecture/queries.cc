#include "lecture/queries.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>

#include "lecture/linear_internal.h"
#include "lecture/people.h"
#include "lecture/plot.h"
#include "mechanisms/discrete_laplace.h"
#include "mechanisms/randomized_response.h"

namespace discreet::lecture {
namespace {

double as_double(std::uint64_t value) {
  return static_cast<double>(value);
}

// Eight standard errors of a frequency: a small one is nearly Poisson, and an honest simulation
// then strays further less than once in 1e7.
double slack(double chance, std::uint64_t runs) {
  return 8 * std::sqrt(std::max(chance * (1 - chance), 1.0 / as_double(runs)) / as_double(runs));
}

}  // namespace

Result<Shown> response(const ResponseOptions& options, RandomSource& random) {
  if (options.people < 10 || options.runs < 10 || options.people * options.runs > 50'000'000)
    return invalid_parameter(
        "--people and --runs must be at least 10, and their product at most 50 million");
  if (!(options.share >= 0 && options.share <= 1))
    return invalid_parameter("--share must lie between 0 and 1");
  DISCREET_TRY(const auto coin, RandomizedResponse::with_truth(options.truth));
  const double n = as_double(options.people), p = options.truth, gain = 2 * p - 1;
  const auto yes = static_cast<std::uint64_t>(std::llround(options.share * n));
  double sum = 0, squares = 0;
  for (std::uint64_t run = 0; run < options.runs; ++run) {
    std::uint64_t said = 0;
    for (std::uint64_t person = 0; person < options.people; ++person)
      said += coin.release(person < yes, random);
    const double estimate = 0.5 + (as_double(said) / n - 0.5) / gain;
    sum += estimate;
    squares += estimate * estimate;
  }
  const double runs = as_double(options.runs), mean = sum / runs;
  const double variance = (squares - sum * mean) / (runs - 1);
  const double share = as_double(yes) / n;
  const double fixed = p * (1 - p) / (gain * gain * n);
  const double sampled = fixed + share * (1 - share) / n;
  Shown shown;
  shown.statement = fmt::format(
      "Randomized response: tell the truth with chance {:g}. epsilon = ln(p / (1 - p)) = {:.6g}.",
      p, std::log(p / (1 - p)));
  shown.columns = {"of the estimated share", "theory", "measured"};
  shown.rows = {{"mean", share, Cell(mean, 4)},
                {"variance, these people", fixed, Cell(variance, 3)},
                {"variance, people sampled too", sampled, "-"},
                {"standard error, these people", std::sqrt(fixed), Cell(std::sqrt(variance), 3)}};
  shown.notes = {
      fmt::format("Estimate: 1/2 + (share of yes - 1/2) / (2p - 1), {} people, {} surveys.",
                  options.people, options.runs),
      fmt::format(
          "Keeping the answer with chance q = {:.4g} and tossing a fair coin otherwise is the "
          "same: (1 + q) / 2 = {:g}, epsilon = ln((1 + q) / (1 - q)).",
          gain, p)};
  // The mean of the runs has standard error sqrt(fixed / runs); the variance of runs normal
  // estimates has relative standard error sqrt(2 / runs).
  shown.holds = std::abs(mean - share) <= 6 * std::sqrt(fixed / runs) &&
                std::abs(variance / fixed - 1) <= 6 * std::sqrt(2 / runs) + 0.02;
  return shown;
}

Result<Shown> laplace_theorem(const LaplaceOptions& options, RandomSource& random) {
  if (options.queries < 1 || options.runs < 100 || options.queries * options.runs > 20'000'000)
    return invalid_parameter("--queries times --runs must lie between 100 and 20 million");
  DISCREET_TRY(const Epsilon epsilon, Epsilon::make(options.epsilon));
  DISCREET_TRY(const auto sensitivity, L1Sensitivity::make(options.sensitivity));
  DISCREET_TRY(const auto mechanism, DiscreteLaplace::make(epsilon, sensitivity));
  std::vector<double> worst(options.runs);
  std::vector<std::int64_t> answers(options.queries);
  for (double& each : worst) {
    std::fill(answers.begin(), answers.end(), 0);
    mechanism.release(answers, random);
    for (const std::int64_t answer : answers)
      each = std::max(each, std::abs(static_cast<double>(answer)));
  }
  const double scale = options.sensitivity / options.epsilon, k = as_double(options.queries);
  const double a = std::exp(-1 / scale);
  Shown shown;
  shown.statement = fmt::format(
      "Laplace noise of scale {:g} on {} answers: the worst error passes ln(k / beta) x scale (+ "
      "1/2 "
      "for whole numbers) with chance at most beta.",
      scale, options.queries);
  shown.columns = {"beta", "bound", "exact chance", "measured", "bound for all k, exact"};
  LinePlot plot{fmt::format("Worst of {} errors, scale {:g}", options.queries, scale),
                "error",
                "chance that the worst is at least this",
                false,
                true,
                {{"theorem", {}, true}, {"exact", {}}, {"measured", {}}}};
  const auto exact_tail = [&](double bound) {
    const double t = std::ceil(bound);
    const double one = t <= 0 ? 1 : 2 * std::pow(a, t) / (1 + a);
    return -std::expm1(k * std::log1p(-std::min(one, 1 - 1e-16)));
  };
  const auto measured_tail = [&](double bound) {
    return as_double(static_cast<std::uint64_t>(std::count_if(
               worst.begin(), worst.end(), [&](double each) { return each >= bound; }))) /
           as_double(options.runs);
  };
  for (const double beta : {0.5, 0.2, 0.1, 0.05, 0.01}) {
    const double bound = mechanism.textbook_error_bound(beta, options.queries);
    const double exact = exact_tail(bound), measured = measured_tail(bound);
    shown.rows.push_back({beta, bound, Cell(exact, 3), Cell(measured, 3),
                          mechanism.error_bound_of_worst(1 - beta, options.queries)});
    shown.holds =
        shown.holds && exact <= beta && std::abs(measured - exact) <= slack(exact, options.runs);
  }
  for (double beta = 0.9; beta > 0.5 / as_double(options.runs); beta /= 1.25) {
    const double bound = mechanism.textbook_error_bound(beta, options.queries);
    plot.lines[0].points.emplace_back(bound, beta);
    plot.lines[1].points.emplace_back(bound, exact_tail(bound));
    if (measured_tail(bound) >= 5 / as_double(options.runs))
      plot.lines[2].points.emplace_back(bound, measured_tail(bound));
  }
  shown.notes = {
      fmt::format("{} releases of {} numbers; the last column is what Discreet tells before "
                  "a release.",
                  options.runs, options.queries)};
  shown.picture = line_picture(plot);
  return shown;
}

}  // namespace discreet::lecture
