// A step is the exact solution of the equation that it claims to solve, and keeps what is smooth.
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>

#include "learn/kinship_internal.h"
#include "learn/preconditioner_internal.h"

namespace discreet::learn {
namespace {

Coding some_columns() {
  const auto specs =
      synth::parse_specs(
          R"({"age": {"range": [0, 8]}, "town": {"values": ["x", "y", "z", "u"], "nullable": false},
              "rank": 5, "y": 2})")
          .value();
  return Coding::make(specs, "y").value();
}
const std::vector<std::vector<double>> kFrequency = {
    {.1, .2, .05, .15, .1, .1, .1, .1, .05, .05}, {.4, .3, .2, .1}, {.2, .2, .2, .2, .2}};

// scale (diag(f) + F F^T - blockdiag(f f^T)) + damping K^-1, written out.
Eigen::MatrixXd whole_matrix(const Coding& coding, double scale, double damping) {
  std::vector<double> all;
  for (const auto& f : kFrequency) all.insert(all.end(), f.begin(), f.end());
  const auto n = static_cast<Eigen::Index>(all.size());
  const Eigen::Map<const Eigen::VectorXd> f(all.data(), n);
  Eigen::MatrixXd matrix = scale * f * f.transpose();
  matrix.diagonal() += scale * f;
  Eigen::Index from = 0;
  for (std::size_t c = 0; c < kFrequency.size(); ++c) {
    const auto size = static_cast<Eigen::Index>(kFrequency[c].size());
    const Eigen::VectorXd part = f.segment(from, size);
    auto block = matrix.block(from, from, size, size);
    block -= scale * part * part.transpose();
    const ColumnCoder& feature = coding.features()[c];
    const Eigen::MatrixXd kin = along_line(feature, kFrequency[c].size())
                                    ? kinship(feature, kFrequency[c].size(), 0.5)
                                    : Eigen::MatrixXd::Identity(size, size);
    block += damping * kin.inverse();
    from += size;
  }
  return matrix;
}

TEST(PreconditionerTest, AStepSolvesTheWholeEquation) {
  const Coding coding = some_columns();
  for (const double damping : {0.01, 3.0, 500.0}) {
    const Preconditioner precondition(coding, kFrequency, 70, damping);
    std::vector<std::vector<double>> step;
    Eigen::VectorXd flat(19);
    Eigen::Index at = 0;
    for (const auto& f : kFrequency) {
      auto& column = step.emplace_back();
      for (std::size_t b = 0; b < f.size(); ++b) {
        flat(at) = std::sin(static_cast<double>(3 * at + 1));
        column.push_back(-1);  // another output's, left alone
        column.push_back(flat(at++));
      }
    }
    precondition.solve(step, 2, 1);
    const Eigen::VectorXd expected = whole_matrix(coding, 70, damping).partialPivLu().solve(flat);
    at = 0;
    for (const auto& column : step)
      for (std::size_t i = 0; i < column.size(); i += 2) {
        EXPECT_EQ(column[i], -1);
        EXPECT_NEAR(column[i + 1], expected(at), 1e-9 * (1 + std::fabs(expected(at))));
        ++at;
      }
  }
}

TEST(PreconditionerTest, TextsWithoutAnOrderAndWhatIsMissingAreLikeNothingElse) {
  const Coding coding = some_columns();
  EXPECT_TRUE(along_line(coding.features()[0], 10));
  EXPECT_FALSE(along_line(coding.features()[1], 4));
  EXPECT_TRUE(along_line(coding.features()[2], 5));
  const auto kin = kinship(coding.features()[0], 10, 0.5);  // the last bin is for what is missing
  EXPECT_GT(kin(0, 1), kin(0, 4));
  EXPECT_GT(kin(0, 8), 0);
  EXPECT_EQ(kin(8, 9), 0);
}

TEST(PreconditionerTest, NoiseIsDampedMoreThanATrend) {
  const Coding coding = some_columns();
  const Preconditioner precondition(coding, kFrequency, 1, 100);
  std::vector<std::vector<double>> trend(3), noise(3);
  for (std::size_t c = 0; c < 3; ++c)
    for (std::size_t b = 0; b < kFrequency[c].size(); ++b) {
      trend[c].push_back(c == 2 ? static_cast<double>(b) - 2 : 0);
      noise[c].push_back(c == 2 ? (b == 2 ? 2.0 : b % 2 == 0 ? 1.5 : -2.5) : 0);
    }
  const auto length = [](const std::vector<std::vector<double>>& v) {
    double sum = 0;
    for (const double x : v[2]) sum += x * x;
    return std::sqrt(sum);
  };
  const double trend_before = length(trend), noise_before = length(noise);
  precondition.solve(trend, 1, 0);
  precondition.solve(noise, 1, 0);
  EXPECT_GT(length(trend) / trend_before, 1.5 * length(noise) / noise_before);
}

}  // namespace
}  // namespace discreet::learn
