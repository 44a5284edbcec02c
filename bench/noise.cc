// How many samples a second does the exact noise core draw, from cryptographic bits, on one core?
// The generator itself is measured beside them: it is the physical limit.
#include <benchmark/benchmark.h>

#include <vector>

#include "random/discrete_gaussian_sampler.h"
#include "random/discrete_laplace_sampler.h"
#include "random/exponential_weights.h"
#include "random/geometric.h"
#include "random/secure_random.h"

namespace discreet {
namespace {

constexpr std::size_t kBatch = 1 << 16;

Rational scale_of(const benchmark::State& state) {
  return Rational(state.range(0));
}

template <class Sampler>
void draw_many(benchmark::State& state, const Sampler& sampler) {
  SecureRandom random;
  std::vector<std::int64_t> out(kBatch);
  for (auto _ : state) {
    sampler.draw_many(out, random);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kBatch));
}

template <class Sampler>
void draw_one(benchmark::State& state, const Sampler& sampler) {
  SecureRandom random;
  for (auto _ : state) benchmark::DoNotOptimize(sampler.draw(random));
  state.SetItemsProcessed(state.iterations());
}

void RandomBits(benchmark::State& state) {
  SecureRandom random;
  std::vector<std::uint64_t> out(kBatch);
  for (auto _ : state) {
    random.fill(out);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetBytesProcessed(state.iterations() *
                          static_cast<std::int64_t>(kBatch * sizeof(std::uint64_t)));
}

void GeometricMany(benchmark::State& state) {
  draw_many(state, GeometricSampler::make(1 / scale_of(state)).value());
}
void DiscreteLaplaceMany(benchmark::State& state) {
  draw_many(state, DiscreteLaplaceSampler::make(1 / scale_of(state)).value());
}
void DiscreteLaplaceOne(benchmark::State& state) {
  draw_one(state, DiscreteLaplaceSampler::make(1 / scale_of(state)).value());
}
void DiscreteGaussianMany(benchmark::State& state) {
  draw_many(state, DiscreteGaussianSampler::make(scale_of(state) * scale_of(state)).value());
}
void DiscreteGaussianOne(benchmark::State& state) {
  draw_one(state, DiscreteGaussianSampler::make(scale_of(state) * scale_of(state)).value());
}
void DiscreteLaplacePrepare(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(DiscreteLaplaceSampler::make(1 / scale_of(state)));
}
void DiscreteGaussianPrepare(benchmark::State& state) {
  for (auto _ : state)
    benchmark::DoNotOptimize(DiscreteGaussianSampler::make(scale_of(state) * scale_of(state)));
}
// Choosing one of range(0) candidates whose scores differ by one, at weight exp(-1/1000) per step.
void ExponentialChoice(benchmark::State& state) {
  std::vector<std::uint64_t> distances(static_cast<std::size_t>(state.range(0)));
  for (std::size_t i = 0; i < distances.size(); ++i) distances[i] = i;
  SecureRandom random;
  for (auto _ : state)
    benchmark::DoNotOptimize(
        ExponentialWeights::make(distances, Rational(1, 1000)).value().draw(random));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

BENCHMARK(RandomBits);
BENCHMARK(GeometricMany)->Arg(10)->Arg(1'000'000);
BENCHMARK(DiscreteLaplaceMany)->Arg(10)->Arg(1'000)->Arg(1'000'000);
BENCHMARK(DiscreteLaplaceOne)->Arg(10)->Arg(1'000'000);
BENCHMARK(DiscreteGaussianMany)->Arg(10)->Arg(1'000)->Arg(1'000'000);
BENCHMARK(DiscreteGaussianOne)->Arg(10)->Arg(1'000'000);
BENCHMARK(DiscreteLaplacePrepare)->Arg(10)->Arg(1'000'000);
BENCHMARK(DiscreteGaussianPrepare)->Arg(10)->Arg(1'000'000);
BENCHMARK(ExponentialChoice)->Arg(1'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace discreet

BENCHMARK_MAIN();
