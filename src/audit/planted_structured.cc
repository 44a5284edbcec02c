#include "audit/planted.h"

#include <cmath>
#include <numeric>

#include "mechanisms/discrete_laplace.h"
#include "mechanisms/nonnegative.h"
#include "mechanisms/quantile.h"
#include "mechanisms/subsample.h"
#include "mechanisms/tree.h"

namespace discreet::planted {
namespace {

ApproxDp claim(double epsilon, double delta = 0) {
  return {Epsilon::make(epsilon).value(), Delta::make(delta).value()};
}

DiscreteLaplace laplace(double epsilon) {
  return DiscreteLaplace::make(Epsilon::make(epsilon).value(), L1Sensitivity{1}).value();
}

// Keeps a key when at least twenty units have it, and draws nothing.
AuditedRun bare_threshold(std::int64_t units) {
  return [=](RandomSource&) -> std::int64_t { return units >= 20; };
}

// The ninth decile with the weight of the wrong tail: 2 min(q, 1 - q) under the line.
AuditedRun wrong_tail_quantile(std::vector<std::int64_t> sorted) {
  const Rational q(9, 10);
  const ExpPowers powers = quantile_powers(q, Rational(9));  // max / min = 9 times epsilon 1
  return [=](RandomSource& random) { return draw_quantile(sorted, {0, 1}, q, powers, random); };
}

// The third largest value as it is: rows are let go beyond the answer, but no weight is drawn.
AuditedRun bare_extreme(std::vector<std::int64_t> descending) {
  return [=](RandomSource&) { return descending[2]; };
}

// Thirty-one quantiles, each drawn from all rows with the whole epsilon, where the recursion would
// give a row to five of them with a fifth each. The key counts the answers at the lower end.
AuditedRun undivided_quantiles(std::vector<std::int64_t> sorted) {
  std::vector<std::pair<Rational, ExpPowers>> draws;
  for (int i = 1; i <= 31; ++i) {
    const Rational q(i, 32);
    draws.emplace_back(q, quantile_powers(q, Rational(1)));
  }
  return [=](RandomSource& random) {
    std::int64_t low = 0;
    for (const auto& [q, powers] : draws)
      low += draw_quantile(sorted, {0, 1}, q, powers, random) == 0;
    return low;
  };
}

// Four levels, each with the whole epsilon. The key tells whether the path to leaf 0 came out low.
AuditedRun overspent_tree(std::int64_t rows) {
  const auto tree = Tree::laplace(Epsilon::make(4).value(), 16, 2).value();
  std::vector<std::int64_t> counts(16);
  counts[0] = rows;
  return [=](RandomSource& random) -> std::int64_t {
    const auto release = tree.release(counts, random);
    bool low = true;
    for (const auto& level : release.noisy()) low &= level[0] <= 0;
    return low;
  };
}

// Count, sum and sum of squares of a value in [-1, 1], each with the whole epsilon.
AuditedRun overspent_moments(std::int64_t rows) {
  const auto noise = laplace(1);
  return [=](RandomSource& random) -> std::int64_t {
    bool low = true;
    for (int feature = 0; feature < 3; ++feature) low &= noise.release(rows, random) <= 0;
    return low;
  };
}

// Two counts over parts that both hold the row, charged as if the parts were disjoint.
AuditedRun overlapping_parts(std::int64_t rows) {
  const auto noise = laplace(1);
  return [=](RandomSource& random) -> std::int64_t {
    const bool first = noise.release(rows, random) <= 0;
    const bool second = noise.release(rows, random) <= 0;
    return first && second;
  };
}

// A sample of one in ten, with the places of the sampled rows in the release.
AuditedRun public_sample(std::int64_t bit) {
  const auto sample = FixedSample::make(1, 10).value();
  const auto noise = laplace(1);
  return [=](RandomSource& random) -> std::int64_t {
    const bool sampled = sample.draw(random)[0] == 0;
    const std::int64_t noisy = noise.release(sampled ? bit : 0, random);
    return sampled ? 1000 + noisy : 0;
  };
}

// Ten blocks that all hold all rows, combined with noise for one block's change.
AuditedRun overlapping_blocks(std::int64_t rows) {
  const auto noise = laplace(1);
  return [=](RandomSource& random) {
    std::int64_t sum = 0;
    for (int block = 0; block < 10; ++block) sum += rows > 0;
    return noise.release(sum, random);
  };
}

// Noisy cells moved to the exact total.
AuditedRun exact_total(std::int64_t rows) {
  const auto noise = laplace(1);
  return [=](RandomSource& random) -> std::int64_t {
    std::vector<double> cells;
    for (int cell = 0; cell < 4; ++cell)
      cells.push_back(static_cast<double>(noise.release(cell == 0 ? rows : 3, random)));
    const auto projected = nonnegative_with_total(cells, static_cast<double>(rows + 9)).value();
    return std::llround(std::accumulate(projected.begin(), projected.end(), 0.0));
  };
}

// A count with noise for one unit, claimed for families of three.
AuditedRun unit_noise_for_groups(std::int64_t rows) {
  const auto noise = laplace(1);
  return [=](RandomSource& random) { return noise.release(rows, random); };
}

}  // namespace

std::vector<AuditSubject> structured() {
  const std::vector<std::int64_t> nine_and_one = {0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  std::vector<std::int64_t> nine_and_two = nine_and_one;
  nine_and_two.push_back(1);
  return {
      {"threshold-without-noise", "keys are shown when enough units have them, without any noise",
       claim(1, 1e-6), bare_threshold(19), bare_threshold(20)},
      {"quantile-wrong-tail",
       "a quantile's weights divide by min(q, 1 - q) where the proof has max", claim(1),
       wrong_tail_quantile(nine_and_one), wrong_tail_quantile(nine_and_two)},
      {"extreme-without-noise", "a maximum that leaves two rows out and draws nothing", claim(1),
       bare_extreme({5, 5, 0, 0}), bare_extreme({5, 5, 5, 0, 0})},
      {"quantiles-undivided", "each of 31 quantiles sees all rows, and one is charged", claim(1),
       undivided_quantiles({0}), undivided_quantiles({0, 1})},
      {"tree-level-each", "every level of a tree spends the whole epsilon", claim(1),
       overspent_tree(0), overspent_tree(1)},
      {"moments-feature-each", "count, sum and squares each spend the whole epsilon", claim(1),
       overspent_moments(0), overspent_moments(1)},
      {"parallel-overlapping", "parts that share a row are charged as if they were disjoint",
       claim(1), overlapping_parts(0), overlapping_parts(1)},
      {"sample-not-secret", "the places of the sampled rows are released, amplification is claimed",
       amplified(claim(1), 0.1), public_sample(0), public_sample(1)},
      {"blocks-overlapping", "sample-and-aggregate over blocks that all hold the row", claim(1),
       overlapping_blocks(0), overlapping_blocks(1)},
      {"exact-total", "noisy cells are made to add up to the exact total", claim(1), exact_total(5),
       exact_total(6)},
      {"group-as-one", "noise for one unit is claimed to hide a group of three", claim(1),
       unit_noise_for_groups(0), unit_noise_for_groups(3)},
  };
}

}  // namespace discreet::planted
