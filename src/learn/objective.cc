#include "learn/objective.h"

#include <fmt/format.h>

#include <cmath>

#include "base/rounding.h"
#include "learn/logistic_minimum.h"
#include "mechanisms/discrete_gaussian.h"
#include "privacy/gaussian_profile.h"

namespace discreet::learn {
namespace {

constexpr double kNoiseUnit = 1 << 30;      // of the objective's noise
constexpr double kOutputUnit = 1 << 30;     // of released weights
constexpr double kRoundingMax = 32;         // units that a rounded Gaussian is off, but for e^-160
constexpr double kForgotten = 1e-60;        // all chances of that kind together
constexpr double kCoordinateError = 1e-12;  // of epsilon, as in gaussian_budget.cc

}  // namespace

double objective_delta(const ObjectivePlan& plan, double epsilon) {
  const double inner = sub_down(epsilon, mul_up(2, plan.output_epsilon));
  const double flat = sub_down(sub_down(inner, plan.curvature), kCoordinateError);
  const double main =
      flat > 0 ? mul_up(2 + 4 * kCoordinateError, gaussian_delta_up(plan.mu, flat)) : 1;
  const double swapped =
      mul_up(plan.output_delta, add_up(1, exp_up(sub_down(epsilon, plan.output_epsilon))));
  const double forgotten = mul_up(kForgotten, add_up(1, exp_up(epsilon)));
  return add_up(add_up(mul_up(exp_up(plan.output_epsilon), main), swapped), forgotten);
}

Result<ObjectivePlan> plan_objective(ApproxDp target, double curvature_share) {
  const double epsilon = target.epsilon.value(), delta = target.delta.value();
  if (!(epsilon > 0) || !std::isfinite(epsilon))
    return invalid_parameter("epsilon must be positive and finite to learn anything");
  if (!(delta > 0 && delta < 1))
    return invalid_parameter("delta must lie strictly between 0 and 1");
  ObjectivePlan plan;
  plan.curvature = curvature_share * epsilon;
  plan.output_epsilon = 0.005 * epsilon;
  plan.output_delta = 1e-3 * delta / (1 + std::exp(epsilon));
  double low = 0, high = 100 * (1 + epsilon);
  for (int i = 0; i < 200; ++i) {
    plan.mu = 0.5 * (low + high);
    (objective_delta(plan, epsilon) <= delta ? low : high) = plan.mu;
  }
  plan.mu = low;
  if (!(plan.mu > 0))
    return invalid_parameter(
        "epsilon is too small, or above what this proof can price (about 100)");
  return plan;
}

Result<TrainedAdditive> train_objective(const CodedRows& rows, const Coding& coding,
                                        ApproxDp target, RandomSource& random,
                                        const ObjectiveSettings& settings) {
  if (coding.classes() != 2)
    return Error{
        ErrorCode::Refused,
        "objective perturbation is for targets of two classes; use logistic, or ask whether "
        "the target reaches a number (--at-least)"};
  const std::size_t columns = coding.features().size();
  const auto m = static_cast<double>(columns);
  DISCREET_TRY(const ObjectivePlan plan, plan_objective(target, settings.curvature_share));
  DISCREET_TRY(GaussianBudget budget, GaussianBudget::of_mu(plan.mu, target));
  const double table_share = settings.table_share > 0 ? settings.table_share
                             : plan.mu < 0.5          ? 0.35
                                                      : 0.2;
  DISCREET_TRY(ClassTables tables, measure_class_tables(rows, coding, budget, table_share, random));
  const double check_share =
      settings.check_share > 0 ? check_share_for(tables.rows, plan.mu, settings.check_share) : 0;
  const double share = 1 - table_share - check_share;
  const std::uint32_t bins = bins_for(tables.rows, plan.mu, m, settings.bins, 4, 64);
  TrainedAdditive trained;
  AdditiveModel& model = trained.model;
  model.classes = tables.classes;
  model.bins = choose_bins(tables, coding, bins);
  model.prior.assign(1, 0.0);
  const BinnedTables binned = merge_bins(tables, model.bins);
  const double prior = prior_log_odds(tables).front();
  auto weights = shrunk_log_odds(coding, tables, binned);
  for (auto& column : weights)
    for (double& w : column) w = settings.start > 0 ? settings.start * w + prior / m : 0;

  trained.notes.rows = tables.rows;
  const double rows_min = settings.rows_min * std::sqrt(m) / plan.mu;
  if (check_share > 0) {  // else someone else decides
    DISCREET_TRY(const bool gave_up, give_up_early(rows.labels, rows_min, share, budget, random,
                                                   tables, trained.notes));
    if (gave_up) {
      model.weights = std::move(weights);
      damp_additive(tables, model);
      return trained;
    }
  }

  PerturbedLoss loss;
  for (const auto& column : weights)
    loss.centre.insert(loss.centre.end(), column.begin(), column.end());
  const std::size_t size = loss.centre.size();
  const double root_size = std::sqrt(static_cast<double>(size));
  // A row's slope is (one-hot bins) x (p - y), |p - y| < 1: of norm root(m) at most.
  const double norm = settings.one_column_noise ? 1 : sqrt_up(m);
  std::vector<std::int64_t> noise(size, 0);
  DISCREET_TRY(const double sigma, budget.release(noise, mul_up(norm, kNoiseUnit), share, random));
  for (const std::int64_t z : noise) loss.tilt.push_back(static_cast<double>(z) / kNoiseUnit);
  loss.tilt_most = sigma / kNoiseUnit * (root_size + 20);
  // Rank one, of size m p (1 - p): the curvature of all rows changes by a factor 1 + (m / 4) /
  // ridge.
  loss.ridge = div_up(m / 4, std::expm1(plan.curvature) * (1 - 1e-12));
  // The number of rows is bounded by the tables' noisy one.
  double cells = 0;
  for (const auto& counts : tables.counts)
    cells = std::fmax(cells, static_cast<double>(counts.size()));
  loss.rows_most = tables.rows + 20 * tables.sigma * std::sqrt(cells) + 1;
  DISCREET_TRY(const LogisticMinimum found, minimise_logistic(rows, model.bins, loss));

  std::vector<std::int64_t> released(size);
  for (std::size_t i = 0; i < size; ++i)
    released[i] = std::llround(std::fmin(1e8, std::fmax(-1e8, found.weights[i])) * kOutputUnit);
  // The noise's own grid tilts the loss a little, too.
  const double away = found.away + kRoundingMax * root_size / kNoiseUnit / loss.ridge;
  // From the minimum found to the true one, both rounded.
  DISCREET_TRY(const auto distance, L2Sensitivity::make(1.0001 * (away * kOutputUnit + root_size)));
  const double log_delta = -std::log(plan.output_delta);
  const double root = std::sqrt(log_delta + plan.output_epsilon) -
                      std::sqrt(log_delta);  // rho + 2 sqrt(rho log) = eps
  DISCREET_TRY(const Rho rho, Rho::make(0.9999 * root * root));
  DISCREET_TRY(const auto whisper, DiscreteGaussian::make(rho, distance, released.size()));
  whisper.release(released, random);

  model.weights.clear();
  for (std::size_t at = 0; const auto& column : weights) {
    auto& copy = model.weights.emplace_back();
    for (std::size_t i = 0; i < column.size(); ++i)
      copy.push_back(static_cast<double>(released[at++]) / kOutputUnit);
  }
  trained.notes.notes.push_back(fmt::format(
      "about {:.0f} rows; up to {} bins a column; ridge {:.3g}; noise on the minimum {:.2g}",
      tables.rows, bins, loss.ridge, std::sqrt(whisper.sigma2()) / kOutputUnit));
  if (check_share > 0) {
    DISCREET_TRY_VOID(
        finish_additive(rows, tables, rows_min, check_share, budget, random, trained));
  }
  trained.tables = tables;
  trained.binned = binned;
  return trained;
}

}  // namespace discreet::learn
