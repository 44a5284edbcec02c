// The correct mechanisms, on neighbours that use up most of what each claims.
#include <algorithm>
#include <cmath>

#include "audit/float_grain.h"
#include "audit/subject.h"
#include "mechanisms/bivariate.h"
#include "mechanisms/bound_search.h"
#include "mechanisms/bounded_output.h"
#include "mechanisms/box_norm.h"
#include "mechanisms/discrete_gaussian.h"
#include "mechanisms/discrete_laplace.h"
#include "mechanisms/exponential.h"
#include "mechanisms/extreme.h"
#include "mechanisms/grid_gaussian.h"
#include "mechanisms/grid_laplace.h"
#include "mechanisms/knorm.h"
#include "mechanisms/noisy_max.h"
#include "mechanisms/partition_selection.h"
#include "mechanisms/permute_and_flip.h"
#include "mechanisms/quantile.h"
#include "mechanisms/quantiles.h"
#include "mechanisms/randomized_response.h"
#include "mechanisms/sample_and_aggregate.h"
#include "mechanisms/sparse_vector.h"
#include "mechanisms/staircase.h"
#include "mechanisms/subsample.h"
#include "mechanisms/top_k.h"
#include "mechanisms/tree.h"

namespace discreet {
namespace {

using Values = std::vector<std::int64_t>;

const Epsilon kOne = Epsilon::make(1).value();
const ApproxDp kPure{kOne, Delta::zero()};
const ApproxDp kApproximate{kOne, Delta::make(0.01).value()};

AuditedRun laplace(std::int64_t exact) {
  const auto noise = DiscreteLaplace::make(kOne, L1Sensitivity{1}).value();
  return [=](RandomSource& random) { return noise.release(exact, random); };
}

// The last bits of a release on a grid: what gives textbook noise away says nothing here.
AuditedRun grid_laplace_bits(double exact) {
  const auto noise =
      GridLaplace::make(kOne, L1Sensitivity::make(1).value(), Grid::make(0.0009765625).value())
          .value();
  return [=](RandomSource& random) { return lowest_bit(noise.release(exact, random)); };
}

AuditedRun gaussian(std::int64_t exact) {
  const auto noise = DiscreteGaussian::make(kApproximate, L2Sensitivity{2}).value();
  return [=](RandomSource& random) { return noise.release(exact, random); };
}

AuditedRun gaussian_rho(std::int64_t exact) {
  const auto noise = DiscreteGaussian::make(Rho::make(0.5).value(), L2Sensitivity{1}).value();
  return [=](RandomSource& random) { return noise.release(exact, random); };
}

// A vector that moves by (3, 4): its projection on that direction is the whole of the loss.
AuditedRun grid_gaussian(double a, double b) {
  const auto noise =
      GridGaussian::make(kApproximate, L2Sensitivity{5}, Grid::make(1.0).value(), 2).value();
  return [=](RandomSource& random) {
    std::vector<double> answer{a, b};
    noise.release(answer, random);
    return static_cast<std::int64_t>(3 * answer[0] + 4 * answer[1]);
  };
}

AuditedRun staircase(std::int64_t exact) {
  const auto noise = Staircase::make(kOne, L1Sensitivity{5}).value();
  return [=](RandomSource& random) { return noise.release(exact, random); };
}

AuditedRun bounded(std::int64_t exact, BoundedForm form) {
  const auto noise = BoundedLaplace::make(kOne, L1Sensitivity{1}, {0, 10}, form).value();
  return [=](RandomSource& random) { return noise.release(exact, random); };
}

AuditedRun response(std::uint64_t value, std::uint64_t values) {
  const auto coin = RandomizedResponse::make(kOne, values).value();
  return
      [=](RandomSource& random) { return static_cast<std::int64_t>(coin.release(value, random)); };
}

AuditedRun exponential(const Values& scores) {
  const auto weights =
      ExponentialMechanism::make(kOne, {LInfSensitivity{1}}).value().weights(scores);
  return [weights = weights.value()](RandomSource& random) {
    return static_cast<std::int64_t>(weights.draw(random));
  };
}

AuditedRun flip(const Values& scores) {
  const auto mechanism = PermuteAndFlip::make(kOne, {LInfSensitivity{1}}).value();
  return [=](RandomSource& random) {
    return static_cast<std::int64_t>(mechanism.release(scores, random).value());
  };
}

AuditedRun noisy_max(const Values& scores) {
  const auto mechanism =
      NoisyMax::make(kOne, {LInfSensitivity{1}}, MaxNoise::DiscreteLaplace).value();
  return [=](RandomSource& random) {
    return static_cast<std::int64_t>(mechanism.release(scores, random).value());
  };
}

AuditedRun top_two(const Values& scores) {
  const auto mechanism = TopK::within(kOne, 2, {LInfSensitivity{1}}).value();
  return [=](RandomSource& random) {
    const auto chosen = mechanism.release(scores, random).value();
    return static_cast<std::int64_t>(chosen[0] * scores.size() + chosen[1]);
  };
}

AuditedRun above_threshold(const Values& stream) {
  const auto sparse = SparseVector::above_threshold(kOne, LInfSensitivity{1}).value();
  return [=](RandomSource& random) {
    auto run = sparse.start(0, random);
    std::int64_t key = 0;
    for (const std::int64_t exact : stream)
      key = 2 * key + (run.above(exact, random).value_or(false) ? 1 : 0);
    return key;
  };
}

AuditedRun quantile(double q, const Values& values) {
  const auto mechanism = Quantile::make(kOne, q, {0, 3}).value();
  return [=](RandomSource& random) { return mechanism.release(values, random); };
}

AuditedRun quartiles(const Values& values) {
  const auto mechanism =
      Quantiles::make(kOne, {0.25, 0.5, 0.75}, {0, 3}, QuantilesMethod::Tree).value();
  return [=](RandomSource& random) {
    std::int64_t code = 0;
    for (const auto value : mechanism.release(values, random)) code = 4 * code + value;
    return code;
  };
}

AuditedRun maximum(const Values& values) {
  const auto mechanism = Extreme::make(kOne, ExtremeSide::Maximum, {0, 3}).value();
  return [=](RandomSource& random) { return mechanism.release(values, random); };
}

AuditedRun selection(std::uint64_t units) {
  const auto mechanism = NoisyPartitionSelection::make(kApproximate, {}).value();
  return [=](RandomSource& random) { return mechanism.release(units, random).value_or(-1000); };
}

AuditedRun tree(std::int64_t rows) {
  const auto mechanism = Tree::laplace(kOne, 16, 2).value();
  return [=](RandomSource& random) {
    Values counts(16);
    counts[0] = rows;
    const auto release = mechanism.release(counts, random);
    std::int64_t high = 0;
    for (const auto& level : release.noisy()) high += level[0] > 0;
    return high;
  };
}

// Count, sum and squares in one draw; the key is the sign of each.
AuditedRun moments(bool with) {
  const auto mechanism = KNorm::make(kOne, {{{0, 4}, true}}).value();
  std::vector<Int128> sums(mechanism.features());
  if (with) mechanism.add_row(Values{4}, sums);
  return [=](RandomSource& random) {
    std::int64_t code = 0;
    for (const Int128 feature : mechanism.release(sums, random)) code = 2 * code + (feature > 0);
    return code;
  };
}

// Sums of different sizes in one draw; the key is the sign of each.
AuditedRun sums_of_sizes(bool with) {
  const auto mechanism = BoxNorm::make(kOne, {1, 100, 10'000}).value();
  const std::vector<Int128> sums =
      with ? std::vector<Int128>{1, 100, 10'000} : std::vector<Int128>(3);
  return [=](RandomSource& random) {
    std::int64_t code = 0;
    for (const double sum : mechanism.release(sums, random)) code = 2 * code + (sum > 0);
    return code;
  };
}

// How many people lie above each of four bounds; one person more lies above them all.
AuditedRun bound_search(std::int64_t above) {
  const auto mechanism = BoundSearch::make(kOne, 2).value();
  return [=](RandomSource& random) {
    return static_cast<std::int64_t>(mechanism.release(Values(4, above), random));
  };
}

// One row in the corner of two columns' ranges; the key is its cell, in rows.
AuditedRun covariance_cells(bool with) {
  const auto mechanism = Bivariate::make(kOne, {0, 4}, {0, 4}, BivariateDegree::Covariance).value();
  Values sums(mechanism.cells());
  if (with) mechanism.add_row(4, 4, sums);
  return [=](RandomSource& random) {
    const auto release = mechanism.release(sums, random);
    return static_cast<std::int64_t>(std::floor(static_cast<double>(release.noisy().back()) /
                                                static_cast<double>(mechanism.scale())));
  };
}

// Eight rows that say nothing, and a ninth that makes its block say one.
AuditedRun blocks(std::size_t rows) {
  const auto mechanism = SampleAndAggregate::make(kOne, 4, {0, 1}, BlockAggregate::Mean).value();
  return [=](RandomSource& random) {
    const double mean = mechanism.release(
        rows,
        [](std::span<const std::size_t> block) {
          return std::int64_t{std::find(block.begin(), block.end(), 8U) != block.end()};
        },
        random);
    return static_cast<std::int64_t>(std::floor(4 * mean + 0.5));
  };
}

AuditedRun sampled(std::size_t units) {
  const auto noise = DiscreteLaplace::make(kOne, L1Sensitivity{1}).value();
  const auto sample = PoissonSample::make(0.3).value();
  return [=](RandomSource& random) {
    return noise.release(static_cast<std::int64_t>(sample.draw(units, random).size()), random);
  };
}

// Twelve cells that all move: the whole of the loss is in no single one.
constexpr std::size_t kCells = 12;

AuditedVectorRun gaussian_vector(std::int64_t exact) {
  const auto noise =
      DiscreteGaussian::make(Rho::make(0.5).value(),
                             L2Sensitivity::make(std::sqrt(static_cast<double>(kCells))).value(),
                             kCells)
          .value();
  return [=](RandomSource& random) {
    std::vector<double> out(kCells);
    for (double& cell : out) cell = static_cast<double>(noise.release(exact, random));
    return out;
  };
}

AuditedVectorRun laplace_vector(std::int64_t exact) {
  const auto noise = DiscreteLaplace::make(kOne, L1Sensitivity{kCells}).value();
  return [=](RandomSource& random) {
    std::vector<double> out(kCells);
    for (double& cell : out) cell = static_cast<double>(noise.release(exact, random));
    return out;
  };
}

}  // namespace

std::vector<AuditSubject> audited_mechanisms() {
  const Values nine_and_one = {0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  Values nine_and_two = nine_and_one;
  nine_and_two.push_back(1);
  return {
      {"laplace", "discrete Laplace, a count", kPure, laplace(0), laplace(1)},
      {"grid-laplace", "Laplace on a grid, judged by its last bits", kPure, grid_laplace_bits(0),
       grid_laplace_bits(1)},
      {"gaussian", "discrete Gaussian, a count", kApproximate, gaussian(0), gaussian(2)},
      {"grid-gaussian", "Gaussian on a grid, a vector", kApproximate, grid_gaussian(0, 0),
       grid_gaussian(3, 4)},
      {"staircase", "staircase noise, sensitivity 5", kPure, staircase(0), staircase(5)},
      {"bounded-laplace", "Laplace truncated to a range", kPure, bounded(0, BoundedForm::Truncated),
       bounded(1, BoundedForm::Truncated)},
      {"randomized-response", "a coin for one bit", kPure, response(0, 2), response(1, 2)},
      {"k-ary-response", "randomized response over eight values", kPure, response(0, 8),
       response(5, 8)},
      {"exponential", "exponential mechanism, two candidates", kPure, exponential({0, 6}),
       exponential({1, 5})},
      {"permute-and-flip", "permute-and-flip, two candidates", kPure, flip({0, 2}), flip({1, 1})},
      {"noisy-max", "noisy max, two candidates", kPure, noisy_max({0, 2}), noisy_max({1, 1})},
      {"top-k", "the two best of four", kPure, top_two({0, 0, 2, 2}), top_two({1, 1, 1, 1}),
       20'000},
      {"sparse-vector", "AboveThreshold on six questions", kPure,
       above_threshold({0, 0, 0, 0, 0, 1}), above_threshold({1, 1, 1, 1, 1, 0})},
      {"quantile", "the ninth decile of ten rows", kPure, quantile(0.9, nine_and_one),
       quantile(0.9, nine_and_two), 60'000},
      {"quantiles", "three quartiles of four rows", kPure, quartiles({0, 1, 2, 3}),
       quartiles({0, 1, 2, 3, 3}), 60'000},
      {"maximum", "the largest of two rows", kPure, maximum({3, 3}), maximum({3, 3, 3}), 60'000},
      {"partition-selection", "a key held by four or by five people", kApproximate, selection(4),
       selection(5)},
      {"tree", "a path through four levels", kPure, tree(0), tree(1), 100'000},
      {"moments", "count, sum and squares in one draw", kPure, moments(false), moments(true)},
      {"gaussian-vector", "twelve cells with Gaussian noise, by a classifier (rho)",
       Rho::make(0.5).value(), gaussian_vector(0), gaussian_vector(1), 60'000},
      {"laplace-vector", "twelve cells with Laplace noise, by a classifier", kPure,
       laplace_vector(0), laplace_vector(1), 60'000},
      {"gaussian-rho", "discrete Gaussian, a count (rho)", Rho::make(0.5).value(), gaussian_rho(0),
       gaussian_rho(1)},
      {"box-norm", "sums of different sizes in one draw", kPure, sums_of_sizes(false),
       sums_of_sizes(true)},
      {"bound-search", "a bound above which few people lie", kPure, bound_search(1),
       bound_search(2)},
      {"covariance-cells", "cells of two columns, their corner", kPure, covariance_cells(false),
       covariance_cells(true)},
      {"sample-and-aggregate", "the mean of four blocks' answers", kPure, blocks(8), blocks(9)},
      {"subsample", "a count of a secret sample of 0.3", amplified(kPure, 0.3), sampled(0),
       sampled(1)},
  };
}

}  // namespace discreet
