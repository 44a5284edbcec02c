// A step is the exact solution of the equation that it claims to solve, and keeps what is smooth.
#include <gtest/gtest.h>

#include <cmath>

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

// How alike two bins are to be: ages and ranks along a line, towns not, the age that is missing
// (its last bin) like nothing else.
double kin(std::size_t column, std::size_t i, std::size_t j) {
  if (i == j) return 1;
  if (column == 1 || (column == 0 && (i == 9 || j == 9))) return 0;
  const double line = column == 0 ? 9 : 5, apart = static_cast<double>(i > j ? i - j : j - i);
  return 0.5 * std::exp(-apart / (0.25 * line));
}

// Of (scale (diag(f) + F F^T - blockdiag(f f^T)) + damping K^-1) x = g: what is left of g goes
// through K and must give x.
TEST(PreconditionerTest, AStepSolvesTheWholeEquation) {
  const Coding coding = some_columns();
  const double scale = 70;
  for (const double damping : {0.01, 3.0, 500.0}) {
    const Preconditioner precondition(coding, kFrequency, scale, damping);
    std::vector<std::vector<double>> g, step;
    for (std::size_t c = 0; c < 3; ++c) {
      g.emplace_back();
      step.emplace_back();
      for (std::size_t b = 0; b < kFrequency[c].size(); ++b) {
        g[c].push_back(std::sin(static_cast<double>(10 * c + 3 * b + 1)));
        step[c].push_back(-1);  // another output's, left alone
        step[c].push_back(g[c][b]);
      }
    }
    precondition.solve(step, 2, 1);
    std::vector<double> along(3, 0);
    for (std::size_t c = 0; c < 3; ++c)
      for (std::size_t b = 0; b < kFrequency[c].size(); ++b)
        along[c] += kFrequency[c][b] * step[c][2 * b + 1];
    const double all = along[0] + along[1] + along[2];
    for (std::size_t c = 0; c < 3; ++c)
      for (std::size_t i = 0; i < kFrequency[c].size(); ++i) {
        double expected = 0;
        for (std::size_t j = 0; j < kFrequency[c].size(); ++j) {
          const double x = step[c][2 * j + 1], f = kFrequency[c][j];
          expected += kin(c, i, j) * (g[c][j] - scale * f * (x + all - along[c])) / damping;
        }
        EXPECT_EQ(step[c][2 * i], -1);
        EXPECT_NEAR(step[c][2 * i + 1], expected, 1e-6)
            << "column " << c << ", damping " << damping;
      }
  }
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
