#include "learn/objective.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <cmath>

#include "base/rounding.h"
#include "mechanisms/discrete_gaussian.h"
#include "privacy/gaussian_profile.h"

namespace discreet::learn {
namespace {

using Vector = Eigen::VectorXd;

constexpr double kNoiseUnit = 1 << 30;      // of the objective's noise
constexpr double kResidualUnit = 0x1p40;    // residuals are summed as whole numbers of 2^-40
constexpr double kResidualError = 0x1p-39;  // of one row: rounding, exp() and the score's additions
constexpr double kOutputUnit = 1 << 30;     // of released weights
constexpr double kRoundingMax = 32;         // units that a rounded Gaussian is off, but for e^-160
constexpr double kForgotten = 1e-60;        // all chances of that kind together
constexpr double kCoordinateError = 1e-12;  // of epsilon, as in gaussian_budget.cc
constexpr std::size_t kBlock = std::size_t{1} << 22;  // rows whose residuals fit 63 bits

// The loss and its derivatives over one-hot bins. Sums are exact; each row's part is rounded.
class LogisticLoss {
 public:
  LogisticLoss(const CodedRows& rows, const std::vector<Bins>& bins) : rows_(rows), begins_{0} {
    for (std::size_t c = 0; c < bins.size(); ++c) {
      auto& codes = binned_.emplace_back(rows.rows);
      for (std::size_t row = 0; row < rows.rows; ++row)
        codes[row] =
            static_cast<std::uint32_t>(begins_[c]) + bins[c].bin_of_code[rows.columns[c][row]];
      begins_.push_back(begins_[c] + bins[c].size);
    }
  }

  std::size_t size() const { return begins_.back(); }
  std::size_t begin(std::size_t column) const { return begins_[column]; }

  /// The gradient; and where asked for the Hessian.
  Vector gradient(const Vector& weights, Eigen::MatrixXd* hessian) const {
    const std::size_t m = binned_.size();
    Vector total = Vector::Zero(weights.size());
    if (hessian != nullptr) hessian->setZero(weights.size(), weights.size());
    std::vector<std::int64_t> sums(size(), 0);
    for (std::size_t row = 0; row < rows_.rows; ++row) {
      double score = 0;
      for (std::size_t c = 0; c < m; ++c) score += weights[binned_[c][row]];
      const double chance = 1 / (1 + std::exp(-score));
      const double residual = chance - (rows_.labels[row] == 1 ? 1.0 : 0.0);
      const std::int64_t whole = std::llround(residual * kResidualUnit);
      for (std::size_t c = 0; c < m; ++c) sums[binned_[c][row]] += whole;
      if (hessian != nullptr) {
        const double curvature = chance * (1 - chance);
        for (std::size_t a = 0; a < m; ++a)
          for (std::size_t b = 0; b <= a; ++b)
            (*hessian)(binned_[a][row], binned_[b][row]) += curvature;
      }
      if ((row + 1) % kBlock == 0) add(sums, total);
    }
    add(sums, total);
    return total;
  }

 private:
  static void add(std::vector<std::int64_t>& sums, Vector& total) {
    for (std::size_t i = 0; i < sums.size(); ++i) {
      total[static_cast<Eigen::Index>(i)] += static_cast<double>(sums[i]) / kResidualUnit;
      sums[i] = 0;
    }
  }

  const CodedRows& rows_;
  std::vector<std::vector<std::uint32_t>> binned_;
  std::vector<std::size_t> begins_;
};

// The weights at which the perturbed loss is flat to within `enough`. Newton's step shrinks the
// gradient when it is short enough; a plain step always does.
Vector minimise(const LogisticLoss& loss, const Vector& centre, const Vector& tilt, double ridge,
                double steepest, double enough) {
  const auto full = [&](const Vector& at, Eigen::MatrixXd* hessian) -> Vector {
    return loss.gradient(at, hessian) + ridge * (at - centre) + tilt;
  };
  Vector at = centre;
  Eigen::MatrixXd hessian;
  constexpr int kSteps = 100'000;
  for (int step = 0; step < kSteps; ++step) {
    const Vector slope = full(at, &hessian);
    if (slope.norm() <= enough) return at;
    hessian.diagonal().array() += ridge;
    const Vector move = hessian.selfadjointView<Eigen::Lower>().llt().solve(slope);
    double length = 1;
    for (; length > 1e-6; length /= 2)
      if (full(at - length * move, nullptr).norm() < (1 - length / 4) * slope.norm()) break;
    if (length > 1e-6)
      at -= length * move;
    else
      at -= slope / steepest;
  }
  DISCREET_CHECK(false, "a strongly convex loss has a minimum that is found");
  return at;
}

}  // namespace

double objective_delta(const ObjectivePlan& plan, double epsilon) {
  const double inner = sub_down(epsilon, mul_up(2, plan.output_epsilon));
  const double flat = sub_down(sub_down(inner, plan.curvature), kCoordinateError);
  const double main = flat > 0 ? mul_up(2, gaussian_delta_up(plan.mu, flat)) : 1;
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
  const double share = 1 - table_share - settings.check_share;
  const std::uint32_t bins = bins_for(tables.rows, plan.mu, m, settings.bins, 4, 64);
  TrainedAdditive trained;
  AdditiveModel& model = trained.model;
  model.classes = tables.classes;
  model.bins = choose_bins(tables, coding, bins);
  model.prior.assign(1, 0.0);
  const BinnedTables binned = merge_bins(tables, model.bins);
  const double prior = prior_log_odds(tables).front();
  auto weights = shrunk_log_odds(tables, binned);
  for (auto& column : weights)
    for (double& w : column) w = settings.start > 0 ? settings.start * w + prior / m : 0;

  trained.notes.rows = tables.rows;
  const double rows_min = settings.rows_min * std::sqrt(m) / plan.mu;
  if (settings.check_share > 0) {  // else someone else decides
    DISCREET_TRY(const bool gave_up, give_up_early(rows.labels, rows_min, share, budget, random,
                                                   tables, trained.notes));
    if (gave_up) {
      model.weights = std::move(weights);
      damp_additive(tables, model);
      return trained;
    }
  }

  const LogisticLoss loss(rows, model.bins);
  const auto size = static_cast<Eigen::Index>(loss.size());
  Vector centre(size), tilt(size);
  for (std::size_t c = 0; c < columns; ++c)
    for (std::size_t i = 0; i < weights[c].size(); ++i)
      centre[static_cast<Eigen::Index>(loss.begin(c) + i)] = weights[c][i];
  // A row's slope is (one-hot bins) x (p - y), |p - y| < 1: of norm root(m) at most.
  const double norm = settings.one_column_noise ? 1 : sqrt_up(m);
  std::vector<std::int64_t> noise(loss.size(), 0);
  DISCREET_TRY_VOID(budget.release(noise, mul_up(norm, kNoiseUnit), share, random));
  for (Eigen::Index i = 0; i < size; ++i)
    tilt[i] = static_cast<double>(noise[static_cast<std::size_t>(i)]) / kNoiseUnit;
  // Rank one, of size m p (1 - p): the curvature of all rows changes by a factor 1 + (m / 4) /
  // ridge.
  const double ridge = div_up(m / 4, std::expm1(plan.curvature) * (1 - 1e-12));

  // How far from the true minimum: what sums may be off, what is left of the slope, and the noise's
  // own grid, all divided by the ridge. The number of rows is bounded by the tables' noisy one.
  double cells = 0;
  for (const auto& counts : tables.counts)
    cells = std::fmax(cells, static_cast<double>(counts.size()));
  const double rows_most = tables.rows + 20 * tables.sigma * std::sqrt(cells) + 1;
  const double enough = rows_most * kResidualError * std::sqrt(m);
  const double root_size = std::sqrt(static_cast<double>(size));
  const double away = (2 * enough + kRoundingMax * root_size / kNoiseUnit) / ridge;
  const Vector found = minimise(loss, centre, tilt, ridge, ridge + rows_most * m / 4, enough);

  std::vector<std::int64_t> released(loss.size());
  for (std::size_t i = 0; i < released.size(); ++i)
    released[i] = std::llround(
        std::fmin(1e8, std::fmax(-1e8, found[static_cast<Eigen::Index>(i)])) * kOutputUnit);
  // From the minimum found to the true one, both rounded.
  DISCREET_TRY(const auto distance, L2Sensitivity::make(1.0001 * (away * kOutputUnit + root_size)));
  const double log_delta = -std::log(plan.output_delta);
  const double root = std::sqrt(log_delta + plan.output_epsilon) -
                      std::sqrt(log_delta);  // rho + 2 sqrt(rho log) = eps
  DISCREET_TRY(const Rho rho, Rho::make(0.9999 * root * root));
  DISCREET_TRY(const auto whisper, DiscreteGaussian::make(rho, distance, released.size()));
  whisper.release(released, random);

  model.weights.clear();
  for (std::size_t c = 0; c < columns; ++c) {
    auto& column = model.weights.emplace_back();
    for (std::size_t i = loss.begin(c); i < loss.begin(c + 1); ++i)
      column.push_back(static_cast<double>(released[i]) / kOutputUnit);
  }
  trained.notes.notes.push_back(fmt::format(
      "about {:.0f} rows; up to {} bins a column; ridge {:.3g}; noise on the minimum {:.2g}",
      tables.rows, bins, ridge, std::sqrt(whisper.sigma2()) / kOutputUnit));
  if (settings.check_share > 0) {
    DISCREET_TRY_VOID(
        finish_additive(rows, tables, rows_min, settings.check_share, budget, random, trained));
  }
  trained.tables = tables;
  trained.binned = binned;
  return trained;
}

}  // namespace discreet::learn
