#include "audit/classifier.h"

#include <algorithm>
#include <cmath>

#include <Eigen/Dense>

#include "base/check.h"

namespace discreet {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kFar = 6;            // standard deviations at which a coordinate is cut off
constexpr double kStepsPerUnit = 50;  // of the score, for keys

// 1, the coordinates in units of their spread, and their squares.
class Features {
 public:
  Features(std::span<const std::vector<double>> first, std::span<const std::vector<double>> second)
      : size_(static_cast<Eigen::Index>(first.front().size())) {
    centre_ = VectorXd::Zero(size_);
    spread_ = VectorXd::Zero(size_);
    // Medians, so that a heavy tail does not flatten the rest.
    std::vector<double> column;
    for (Eigen::Index i = 0; i < size_; ++i) {
      column.clear();
      for (const auto& outputs : {first, second})
        for (const auto& output : outputs) column.push_back(output[static_cast<std::size_t>(i)]);
      const auto quantile = [&](double share) {
        const auto at = column.begin() +
                        static_cast<std::ptrdiff_t>(share * static_cast<double>(column.size() - 1));
        std::nth_element(column.begin(), at, column.end());
        return *at;
      };
      centre_[i] = quantile(0.5);
      const double width = quantile(0.84) - quantile(0.16);
      spread_[i] = width > 0 ? width / 2 : 1;
    }
  }
  Eigen::Index columns() const { return 1 + 2 * size_; }
  void write(const std::vector<double>& output, Eigen::Ref<VectorXd> row) const {
    row[0] = 1;
    for (Eigen::Index i = 0; i < size_; ++i) {
      const double raw = (output[static_cast<std::size_t>(i)] - centre_[i]) / spread_[i];
      const double x = std::isfinite(raw) ? std::clamp(raw, -kFar, kFar) : kFar;
      row[1 + i] = x;
      row[1 + size_ + i] = x * x - 1;
    }
  }

 private:
  Eigen::Index size_;
  VectorXd centre_, spread_;
};

// Newton's method on the penalised likelihood; a few steps are plenty for a score.
VectorXd logistic_regression(const MatrixXd& rows, const VectorXd& sides) {
  VectorXd weights = VectorXd::Zero(rows.cols());
  for (int step = 0; step < 8; ++step) {
    const VectorXd chance = (1 / (1 + (-(rows * weights)).array().exp())).matrix();
    const VectorXd variance = chance.array() * (1 - chance.array()) + 1e-9;
    MatrixXd curvature = rows.transpose() * variance.asDiagonal() * rows;
    curvature.diagonal().array() += 1.0;
    const VectorXd slope = rows.transpose() * (sides - chance) - weights;
    weights += curvature.ldlt().solve(slope);
  }
  return weights;
}

}  // namespace

AuditResult audit_vectors(std::span<const std::vector<double>> first,
                          std::span<const std::vector<double>> second,
                          const AuditOptions& options) {
  const std::size_t runs = std::min(first.size(), second.size()), third = runs / 3;
  if (third == 0 || first.front().empty()) return {0, "too few outputs to tell anything"};
  const Features features(first.first(third), second.first(third));
  MatrixXd rows(static_cast<Eigen::Index>(2 * third), features.columns());
  VectorXd sides(rows.rows()), row(features.columns());
  for (std::size_t i = 0; i < third; ++i)
    for (const bool on_second : {false, true}) {
      const auto at = static_cast<Eigen::Index>(2 * i + (on_second ? 1 : 0));
      features.write((on_second ? second : first)[i], row);
      rows.row(at) = row.transpose();
      sides[at] = on_second ? 1 : 0;
    }
  const VectorXd weights = logistic_regression(rows, sides);
  const auto keys = [&](std::span<const std::vector<double>> outputs) {
    std::vector<std::int64_t> scores;
    scores.reserve(outputs.size());
    for (const auto& output : outputs) {
      DISCREET_CHECK(output.size() == first.front().size(), "all outputs must be as long");
      features.write(output, row);
      const double score = std::clamp(row.dot(weights), -50.0, 50.0);
      scores.push_back(static_cast<std::int64_t>(std::floor(score * kStepsPerUnit)));
    }
    return scores;
  };
  const auto a = keys(first.subspan(third, runs - third)),
             b = keys(second.subspan(third, runs - third));
  AuditResult found = audit_outputs(a, b, options);
  found.event = "score of a classifier, in fiftieths: " + found.event;
  return found;
}

AuditResult audit_vectors(const AuditedVectorRun& first, const AuditedVectorRun& second,
                          const AuditOptions& options, RandomSource& random) {
  const auto sample = [&](const AuditedVectorRun& run) {
    std::vector<std::vector<double>> outputs(std::max<std::uint64_t>(options.trials, 3));
    for (auto& output : outputs) output = run(random);
    return outputs;
  };
  const auto a = sample(first), b = sample(second);
  return audit_vectors(a, b, options);
}

}  // namespace discreet
