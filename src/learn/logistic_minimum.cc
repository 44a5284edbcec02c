#include "learn/logistic_minimum.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <cmath>

namespace discreet::learn {
namespace {

using Vector = Eigen::VectorXd;

constexpr double kWeightUnit = 0x1p44;      // weights are multiples of 2^-44, scores their sums
constexpr double kScoreMost = 0x1p18;       // so that a score fits 63 bits
constexpr double kResidualUnit = 0x1p40;    // residuals are summed as whole numbers of 2^-40
constexpr double kResidualError = 0x1p-39;  // of one row: its residual, and adding up slopes
constexpr std::size_t kBlock = std::size_t{1} << 22;  // rows whose residuals fit 63 bits

Vector snapped(const Vector& weights) {
  return (weights * kWeightUnit).array().round() / kWeightUnit;
}

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

  /// The largest score, either way, that any row could have.
  double reach(const Vector& weights) const {
    double sum = 0;
    for (std::size_t c = 0; c + 1 < begins_.size(); ++c) {
      double most = 0;
      for (std::size_t i = begins_[c]; i < begins_[c + 1]; ++i)
        most = std::fmax(most, std::fabs(weights[static_cast<Eigen::Index>(i)]));
      sum += most;
    }
    return sum;
  }

  /// The gradient at snapped weights; and where asked for the Hessian.
  Vector gradient(const Vector& weights, Eigen::MatrixXd* hessian) const {
    const std::size_t m = binned_.size();
    std::vector<std::int64_t> whole(size()), sums(size(), 0);
    for (std::size_t i = 0; i < whole.size(); ++i)
      whole[i] = std::llround(weights[static_cast<Eigen::Index>(i)] * kWeightUnit);
    Vector total = Vector::Zero(weights.size());
    if (hessian != nullptr) hessian->setZero(weights.size(), weights.size());
    for (std::size_t row = 0; row < rows_.rows; ++row) {
      std::int64_t score = 0;
      for (std::size_t c = 0; c < m; ++c) score += whole[binned_[c][row]];
      const double chance = 1 / (1 + std::exp(static_cast<double>(-score) / kWeightUnit));
      const double residual = chance - (rows_.labels[row] == 1 ? 1.0 : 0.0);
      const std::int64_t rounded = std::llround(residual * kResidualUnit);
      for (std::size_t c = 0; c < m; ++c) sums[binned_[c][row]] += rounded;
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

}  // namespace

Result<LogisticMinimum> minimise_logistic(const CodedRows& rows, const std::vector<Bins>& bins,
                                          const PerturbedLoss& perturbed, double careless) {
  const LogisticLoss loss(rows, bins);
  const auto size = static_cast<Eigen::Index>(loss.size());
  const Vector centre = Eigen::Map<const Vector>(perturbed.centre.data(), size);
  const Vector tilt = Eigen::Map<const Vector>(perturbed.tilt.data(), size);
  const double ridge = perturbed.ridge, rows_most = perturbed.rows_most;
  const auto m = static_cast<double>(bins.size());
  const double steepest = ridge + rows_most * m / 4;

  // The minimum is no higher than the centre: it lies within `range` of it.
  const double centre_reach = loss.reach(centre) + 1;
  const double range =
      std::sqrt(2 * rows_most * (centre_reach + 1) / ridge) + 2 * perturbed.tilt_most / ridge + 1;
  if (!(centre_reach + 4 * std::sqrt(m) * range < kScoreMost))
    return Error{ErrorCode::Refused,
                 "so many rows or so large an epsilon are more than objective perturbation is "
                 "proved for here; use logistic"};

  // What sums may be off by, and the slope next to the minimum on the grid of weights.
  const double root_size = std::sqrt(static_cast<double>(size));
  const double enough =
      careless * (rows_most * kResidualError * std::sqrt(m) + steepest * root_size / kWeightUnit);
  const auto full = [&](const Vector& at, Eigen::MatrixXd* hessian) -> Vector {
    return loss.gradient(at, hessian) + ridge * (at - centre) + tilt;
  };
  Vector at = snapped(centre);
  Eigen::MatrixXd hessian;
  constexpr int kSteps = 100'000;
  for (int step = 0; step < kSteps; ++step) {
    const Vector slope = full(at, &hessian);
    if (slope.norm() <= enough)
      return LogisticMinimum{{at.data(), at.data() + size}, 2 * enough / careless / ridge};
    hessian.diagonal().array() += ridge;
    const Vector move = hessian.selfadjointView<Eigen::Lower>().llt().solve(slope);
    // Newton's step, shortened until the slope shrinks; failing that a plain one, which always
    // comes nearer.
    double length = 1;
    Vector next;
    for (; length > 1e-6; length /= 2) {
      next = snapped(at - length * move);
      if ((next - centre).norm() <= 2 * range &&
          full(next, nullptr).norm() < (1 - length / 4) * slope.norm())
        break;
    }
    at = length > 1e-6 ? next : snapped(at - slope / steepest);
  }
  DISCREET_CHECK(false, "a strongly convex loss has a minimum that is found");
  return LogisticMinimum{};
}

}  // namespace discreet::learn
