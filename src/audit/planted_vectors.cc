// Bugs in releases of many numbers: no single coordinate gives them away, all together do.
#include "audit/planted.h"
#include "mechanisms/discrete_gaussian.h"
#include "mechanisms/discrete_laplace.h"

namespace discreet::planted {
namespace {

constexpr std::size_t kCells = 12;

AuditedVectorRun gaussian_vector(Rho rho, L2Sensitivity sensitivity, std::int64_t exact) {
  const auto noise = DiscreteGaussian::make(rho, sensitivity).value();
  return [=](RandomSource& random) {
    std::vector<double> out(kCells);
    for (double& cell : out) cell = static_cast<double>(noise.release(exact, random));
    return out;
  };
}

// Each cell is answered sixteen times with noise for one answer, and their mean is shown.
constexpr std::size_t kAveraged = 4;
AuditedVectorRun laplace_vector(std::int64_t exact) {
  const auto noise =
      DiscreteLaplace::make(Epsilon::make(1.0 / kAveraged).value(), L1Sensitivity{1}).value();
  return [=](RandomSource& random) {
    std::vector<double> out(kAveraged);
    for (double& cell : out) {
      double sum = 0;
      for (int draw = 0; draw < 16; ++draw)
        sum += static_cast<double>(noise.release(exact, random));
      cell = sum / 16;
    }
    return out;
  };
}

}  // namespace

std::vector<AuditSubject> vectors() {
  const Rho half = Rho::make(0.5).value();
  const ApproxDp one{Epsilon::make(1).value(), Delta::zero()};
  return {
      {"gaussian-largest-coordinate",
       "noise for the largest coordinate's change, where twelve change together (rho)", half,
       gaussian_vector(half, L2Sensitivity{1}, 0), gaussian_vector(half, L2Sensitivity{1}, 1),
       60'000},
      {"cells-averaged",
       "each of four cells is the mean of sixteen noisy answers and one is charged", one,
       laplace_vector(0), laplace_vector(1), 60'000},
  };
}

}  // namespace discreet::planted
