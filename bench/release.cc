// How long does a release of ten million noisy values take, values in and noisy values out? What
// callers of the library pay, beside which bench/peers/python.py sets the Python package.
#include <benchmark/benchmark.h>

#include <vector>

#include "mechanisms/grid_gaussian.h"
#include "mechanisms/grid_laplace.h"
#include "random/secure_random.h"

namespace discreet {
namespace {

constexpr std::size_t kValues = 10'000'000;

/// A copy of the exact values is what one hands in: they are kept for the next release.
template <class T, class Mechanism>
void release(benchmark::State& state, const Mechanism& mechanism) {
  SecureRandom random;
  const std::vector<T> exact(kValues);
  for (auto _ : state) {
    std::vector<T> noisy(exact);
    mechanism.release(noisy, random);
    benchmark::DoNotOptimize(noisy.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kValues));
}

const Epsilon kEpsilon = Epsilon::make(0.1).value();
const Rho kRho = Rho::make(0.005).value();

void LaplaceRelease(benchmark::State& state) {
  release<std::int64_t>(state, DiscreteLaplace::make(kEpsilon, L1Sensitivity{1}).value());
}
void LaplaceReleaseReal(benchmark::State& state) {
  release<double>(state, GridLaplace::make(kEpsilon, L1Sensitivity{1}, kValues).value());
}
void GaussianRelease(benchmark::State& state) {
  release<std::int64_t>(state, DiscreteGaussian::make(kRho, L2Sensitivity{1}, kValues).value());
}

BENCHMARK(LaplaceRelease)->Unit(benchmark::kMillisecond);
BENCHMARK(LaplaceReleaseReal)->Unit(benchmark::kMillisecond);
BENCHMARK(GaussianRelease)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace discreet

BENCHMARK_MAIN();
