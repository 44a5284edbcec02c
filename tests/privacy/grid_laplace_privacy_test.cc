// Tries to refute the guarantee of Laplace noise on a grid, where rounding could add to the
// sensitivity.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <vector>

#include "audit/epsilon_lower_bound.h"
#include "mechanisms/discrete_laplace.h"
#include "mechanisms/grid_laplace.h"
#include "support/seeded_random.h"

namespace discreet {
namespace {

constexpr double kStep = 0.5;

// False-alarm rate 1e-9 in every test here (the audit's confidence).
TEST(GridLaplacePrivacyTest, NeighboursStayWithinEpsilonWhereRoundingIsWorst) {
  SeededRandom random(20261140);
  for (const double epsilon : {0.5, 1.0}) {
    const auto mechanism =
        GridLaplace::make(Epsilon::make(epsilon).value(), L1Sensitivity::make(0.6).value(),
                          Grid::make(kStep).value())
            .value();
    const auto run = [&](double exact) -> AuditedRun {
      return [=](RandomSource& source) {
        return static_cast<std::int64_t>(mechanism.release(exact, source) / kStep);
      };
    };
    // 0.2 and 0.8 are 1.2 steps apart and round to 0 and 2.
    const AuditResult found = audit_epsilon(run(0.2), run(0.8), {}, random);
    std::cout << "claimed " << epsilon << ", at least " << found.lower_bound << "\n";
    EXPECT_LE(found.lower_bound, epsilon);
    EXPECT_GE(found.lower_bound, 0.7 * epsilon);
  }
}

TEST(GridLaplacePrivacyTest, VectorsStayWithinEpsilon) {
  SeededRandom random(20261141);
  const auto mechanism =
      GridLaplace::make(Epsilon::make(1).value(), L1Sensitivity::make(1.2).value(),
                        Grid::make(kStep).value(), 2)
          .value();
  const auto run = [&](double exact) -> AuditedRun {
    return [=](RandomSource& source) {
      std::vector<double> answer{exact, exact};
      mechanism.release(answer, source);
      return static_cast<std::int64_t>(std::min(answer[0], answer[1]) / kStep);
    };
  };
  const AuditResult found = audit_epsilon(run(0.2), run(0.8), {}, random);
  std::cout << "claimed 1, at least " << found.lower_bound << "\n";
  EXPECT_LE(found.lower_bound, 1.0);
}

// The broken twin: the sensitivity divided by the step and not rounded up, as if rounding the
// answer to the grid could not stretch a difference.
TEST(GridLaplacePrivacyTest, ForgettingThatRoundingStretchesIsCaught) {
  SeededRandom random(20261142);
  const auto grid = Grid::make(kStep).value();
  const auto noise =
      DiscreteLaplace::make(Epsilon::make(1).value(), L1Sensitivity::make(0.6 / kStep).value())
          .value();
  const auto run = [&](double exact) -> AuditedRun {
    return [&, exact](RandomSource& source) { return noise.release(grid.nearest(exact), source); };
  };
  const AuditResult found = audit_epsilon(run(0.2), run(0.8), {}, random);
  std::cout << "claimed 1, at least " << found.lower_bound << "\n";
  EXPECT_GT(found.lower_bound, 1.0);
}

// The twin that the grid exists for: continuous Laplace noise added to doubles. The last digits of
// the sum show which input it was (Mironov 2012): some outputs of one input are never outputs of
// the other.
TEST(GridLaplacePrivacyTest, NoiseOnDoublesIsCaughtByItsLastDigits) {
  SeededRandom random(20261143);
  const auto run = [](double exact) -> AuditedRun {
    return [=](RandomSource& source) {
      const double u = static_cast<double>(source.bits64() >> 11) * 0x1p-53;
      const double sign = (source.bits64() & 1) != 0 ? 1 : -1;
      const double released = exact - sign * std::log1p(-u);
      // Is the output a multiple of 2^-53? From 1 every output in (0, 2) is; from 0 hardly one
      // below 2^-4.
      const bool coarse = std::floor(released * 0x1p53) == released * 0x1p53;
      return std::int64_t{std::fabs(released) < 0.0625 && !coarse ? 1 : 0};
    };
  };
  const AuditResult found = audit_epsilon(run(0), run(1), {}, random);
  std::cout << "claimed 1, at least " << found.lower_bound << "\n";
  EXPECT_GT(found.lower_bound, 2.0);
}

}  // namespace
}  // namespace discreet
