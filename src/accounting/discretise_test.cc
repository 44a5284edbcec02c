#include "accounting/discretise.h"

#include <cmath>

#include <gtest/gtest.h>

#include "accounting/bounded_range_law.h"
#include "accounting/dominating_pairs.h"
#include "accounting/grid_composition.h"
#include "accounting/shift_mixture_law.h"

namespace discreet {
namespace {

// The profile of masses on a grid, at any real epsilon.
double profile(const GridLaw& grid, const std::vector<double>& masses, double epsilon) {
  double sum = 0;
  for (std::size_t i = 0; i < masses.size(); ++i)
    if (grid.loss(i) > epsilon) sum += masses[i] * -std::expm1(epsilon - grid.loss(i));
  return sum;
}

struct NamedLaw {
  const char* name;
  LossLawPtr law;
};

std::vector<NamedLaw> laws() {
  const auto mixture = [](NoiseShape shape, double scale, std::vector<Shift> p,
                          std::vector<Shift> q) {
    return LossLawPtr(std::make_shared<ShiftMixtureLaw>(shape, scale, std::move(p), std::move(q)));
  };
  const std::vector<Shift> still{{1, 0}};
  return {
      {"gaussian", gaussian_law(0.7)},
      {"sampled gaussian, leaving",
       mixture(NoiseShape::Gaussian, 1, {{0.99, 0}, {0.01, 1}}, still)},
      {"sampled gaussian, joining", mixture(NoiseShape::Gaussian, 1, still, {{0.9, 0}, {0.1, -1}})},
      {"sampled gaussian, replaced",
       mixture(NoiseShape::Gaussian, 2, {{0.8, 0}, {0.2, 1}}, {{0.8, 0}, {0.2, -1}})},
      {"mixture of gaussians",
       mixture(NoiseShape::Gaussian, 1, {{0.2, 0}, {0.6, 1}, {0.2, 2}}, still)},
      {"laplace", mixture(NoiseShape::Laplace, 3, {{1, 1}}, still)},
      {"sampled laplace", mixture(NoiseShape::Laplace, 1, {{0.8, 0}, {0.2, 1}}, still)},
      {"bounded range", bounded_range_law(0.9)},
      {"randomized response", randomized_response_law(0.37)},
      {"randomized response of ten", randomized_response_law(1.1, 10)},
  };
}

// The guarantee of the file, refuted at a thousand epsilons, most of them off the grid.
TEST(DiscretiseTest, UpperMassesDominateTheLawAndLowerMassesAreDominated) {
  for (const auto& [name, law] : laws()) {
    for (const double step : {0.05, 0.0031}) {
      const GridLaw grid = discretise(*law, step, 1e-12, 1e-14);
      for (int i = -500; i <= 500; ++i) {
        const double epsilon = 0.00617 * i;
        const Bracket exact = law->delta(epsilon);
        EXPECT_GE(profile(grid, grid.upper, epsilon - grid.loss_error) + grid.infinite_upper,
                  exact.lower * (1 - 1e-12))
            << name << " step " << step << " epsilon " << epsilon;
        EXPECT_LE(profile(grid, grid.lower, epsilon + grid.loss_error),
                  exact.upper * (1 + 1e-12) + 1e-16)
            << name << " step " << step << " epsilon " << epsilon;
      }
    }
  }
}

// Wherever the wide cells are, also where they are a poor choice.
TEST(DiscretiseTest, CellsOfAnyWidthKeepTheBounds) {
  for (const auto& [name, law] : laws()) {
    if (!law->atoms().empty()) continue;
    for (const CellWidths& widths :
         {CellWidths{4, {}}, CellWidths{1, {{-1, 8}, {0.01, 1}, {0.2, 4}, {0.5, 32}}},
          CellWidths{2, {{-0.3, 64}, {0.0, 2}}}}) {
      const GridLaw grid = discretise(*law, 0.0031, 1e-12, 1e-14, widths);
      for (int i = -500; i <= 500; ++i) {
        const double epsilon = 0.00617 * i;
        const Bracket exact = law->delta(epsilon);
        EXPECT_GE(profile(grid, grid.upper, epsilon - grid.loss_error) + grid.infinite_upper,
                  exact.lower * (1 - 1e-12))
            << name << " epsilon " << epsilon;
        EXPECT_LE(profile(grid, grid.lower, epsilon + grid.loss_error),
                  exact.upper * (1 + 1e-12) + 1e-16)
            << name << " epsilon " << epsilon;
      }
    }
    const GridLaw seen = discretise(*law, 0.02, 1e-14, 1e-16);
    const GridLaw even = discretise(*law, 0.001, 1e-14, 1e-16);
    const GridLaw wide = discretise(*law, 0.001, 1e-14, 1e-16, wide_tails(seen, 2, 0.001, 1));
    EXPECT_LT(wide.at.size(), even.at.size()) << name;
    // What the tilted mean of e^loss gains and loses is hardly more than with even cells.
    const auto gap = [](const GridLaw& grid) {
      return log_moment(grid, true, 2) - log_moment(grid, false, 2);
    };
    EXPECT_LT(gap(wide), 2 * gap(even)) << name;
  }
}

TEST(DiscretiseTest, BothSidesConvergeQuadraticallyWhereTheLossHasADensity) {
  for (const auto& [name, law] : laws()) {
    if (!law->atoms().empty()) continue;
    const auto gap = [&, &the_law = law](double step) {
      const GridLaw grid = discretise(*the_law, step, 1e-14, 1e-16);
      double worst = 0;
      for (int i = 1; i < 40; ++i) {
        const double epsilon = 0.02 * i;
        worst = std::fmax(worst,
                          profile(grid, grid.upper, epsilon) - profile(grid, grid.lower, epsilon));
      }
      return worst;
    };
    EXPECT_LT(gap(0.001), gap(0.004) / 8) << name;
  }
}

TEST(DiscretiseTest, LossesOnALatticeLoseNothing) {
  const LossLawPtr law = randomized_response_law(0.75, 4);
  const double spacing = common_spacing(*law, 1000);
  EXPECT_NEAR(spacing, 0.75, 1e-12);
  const GridLaw grid = discretise(*law, spacing, 1e-12, 1e-14);
  for (std::size_t i = 0; i < grid.upper.size(); ++i)
    EXPECT_NEAR(grid.upper[i], grid.lower[i], 1e-14);
}

}  // namespace
}  // namespace discreet
