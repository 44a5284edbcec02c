#include "accounting/tilted_product.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "accounting/band_sum.h"
#include "accounting/dominating_pairs.h"
#include "accounting/grid_composition.h"
#include "accounting/shift_mixture_law.h"

namespace discreet {
namespace {

constexpr double kTilt = 3;
constexpr double kStep = 1e-3;
constexpr std::size_t kPoints = 1 << 14;

LossLawPtr mixture(NoiseShape shape, double scale, std::vector<Shift> p) {
  return std::make_shared<ShiftMixtureLaw>(shape, scale, std::move(p), std::vector<Shift>{{1, 0}});
}

struct NamedLaw {
  const char* name;
  LossLawPtr law;
  std::uint64_t count;
};

std::vector<NamedLaw> laws() {
  return {{"gaussian", gaussian_law(0.05), 300},
          {"sampled gaussian", mixture(NoiseShape::Gaussian, 1, {{0.97, 0}, {0.03, 1}}), 900},
          {"laplace", mixture(NoiseShape::Laplace, 20, {{1, 1}}), 900},
          {"randomized response of five", randomized_response_law(0.05, 5), 400}};
}

// The claim of lasting_frequencies() is about every frequency: here every one of them is computed.
TEST(TiltedProductTest, FrequenciesSaidToVanishDo) {
  for (const auto& [name, law, count] : laws()) {
    const GridLaw grid = discretise(*law, kStep, 1e-14, 1e-16);
    const GridPart part{&grid, count};
    const auto lasting = lasting_frequencies({&part, 1}, kTilt, kPoints);
    const TiltedMasses masses(grid, kTilt);
    std::vector<std::complex<double>> up(kPoints), low(kPoints);
    for (std::size_t i = 0; i < grid.at.size(); ++i) {
      up[static_cast<std::size_t>(grid.at[i]) & (kPoints - 1)] += masses.up[i];
      low[static_cast<std::size_t>(grid.at[i]) & (kPoints - 1)] += masses.low[i];
    }
    Fft(kPoints).forward(up);
    Fft(kPoints).forward(low);
    double largest = -1e300;  // of what is left out
    for (std::uint32_t j = 0; j <= kPoints / 2; ++j) {
      if (std::binary_search(lasting.begin(), lasting.end(), j)) continue;
      const double modulus = std::fmax(std::abs(up[j]), std::abs(low[j]));
      largest = std::fmax(largest, static_cast<double>(count) * std::log(modulus));
    }
    EXPECT_LE(largest, -40) << name;
    EXPECT_LT(lasting.size(), kPoints / 8) << name << ": nothing was found to vanish";
  }
}

// With the count overstated the claim is false, and the check above would say so.
TEST(TiltedProductTest, TheCheckCatchesAnOverstatedCount) {
  const GridLaw grid = discretise(*gaussian_law(0.05), kStep, 1e-14, 1e-16);
  const GridPart overstated{&grid, 3000};
  const auto lasting = lasting_frequencies({&overstated, 1}, kTilt, kPoints);
  const TiltedMasses masses(grid, kTilt);
  std::complex<double> next;  // at the first frequency left out
  for (std::size_t i = 0; i < grid.at.size(); ++i)
    next += masses.up[i] * unit_root(grid.at[i] * (lasting.back() + 1), kPoints, -1);
  EXPECT_GT(300 * std::log(std::abs(next)), -40);
}

TEST(TiltedProductTest, FewFrequenciesGiveTheMassesThatAllOfThemGive) {
  for (const auto& [name, law, count] : laws()) {
    const GridLaw grid = discretise(*law, kStep, 1e-14, 1e-16);
    const GridPart part{&grid, count};
    TiltedProduct whole(kStep, kTilt, kPoints);
    TiltedProduct few(kStep, kTilt, kPoints, lasting_frequencies({&part, 1}, kTilt, kPoints));
    whole.multiply(part);
    few.multiply(part);
    const auto a = whole.masses(), b = few.masses();
    double distance = 0;
    for (std::size_t i = 0; i < kPoints; ++i) distance += std::norm(a[i] - b[i]);
    EXPECT_LE(std::sqrt(distance), whole.rounding() + few.rounding()) << name;
    EXPECT_LT(few.rounding(), 1e-9) << name;
  }
}

TEST(TiltedProductTest, SumsByFrequencyAreSumsOfMasses) {
  const GridLaw grid = discretise(*gaussian_law(0.05), kStep, 1e-14, 1e-16);
  const GridPart part{&grid, 300};
  TiltedProduct product(kStep, kTilt, kPoints);
  product.multiply(part);
  const auto masses = product.masses();
  constexpr std::int64_t kFirst = -3000;
  for (const double decay : {kTilt * kStep, 1e-7}) {
    for (const bool upper : {true, false}) {
      const BandSum sum(product, upper, kFirst, decay);
      double expected = 0, keep = std::exp(-decay);
      std::vector<double> from(kPoints);
      for (std::size_t i = kPoints; i-- > 0;) {
        const auto slot =
            static_cast<std::size_t>(kFirst + static_cast<std::int64_t>(i)) & (kPoints - 1);
        expected = expected * keep + (upper ? masses[slot].real() : masses[slot].imag());
        from[i] = expected;
      }
      for (const std::size_t i : {std::size_t{0}, std::size_t{1}, kPoints / 3, kPoints - 1})
        EXPECT_NEAR(sum.from(i), from[i], sum.error() + 1e-12) << i;
      EXPECT_EQ(sum.from(kPoints), 0);
    }
  }
}

TEST(TiltedProductTest, RootsOfUnityAreReducedExactly) {
  for (const std::int64_t index : {0L, 1L, 5L, 1L << 40, -(1L << 40) - 3}) {
    const auto n = static_cast<long double>(kPoints);
    const long double turn = 2 * 3.14159265358979323846264338327950288L / n *
                             static_cast<long double>(index % static_cast<std::int64_t>(kPoints));
    EXPECT_NEAR(unit_root(index, kPoints, +1).real(), static_cast<double>(std::cos(turn)), 4e-16);
    EXPECT_NEAR(unit_root(index, kPoints, -1).imag(), static_cast<double>(-std::sin(turn)), 4e-16);
  }
}

}  // namespace
}  // namespace discreet
