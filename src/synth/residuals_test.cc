// Reconstruction from residuals against exact answers and against least squares over all cells.
#include "synth/residuals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "support/seeded_random.h"
#include "synth/marginals.h"
#include "synth/score.h"
#include "synth/synthesize.h"

namespace discreet::synth {
namespace {

Domain small() {
  return Domain::parse(R"({"a": 3, "b": 4, "c": 2, "d": 3})").value();
}

CodedTable random_rows(const Domain& domain, std::size_t rows, std::uint64_t seed) {
  Dice dice(seed, 0);
  CodedTable table{domain, std::vector<std::vector<std::uint16_t>>(domain.size())};
  for (std::size_t i = 0; i < rows; ++i) {
    const auto hidden = dice.below(5);
    for (std::size_t a = 0; a < domain.size(); ++a)
      table.columns[a].push_back(static_cast<std::uint16_t>(
          (dice.unit() < 0.6 ? hidden * (a + 1) : dice.below(100)) % domain[a].size));
  }
  return table;
}

std::vector<double> exact(const CodedTable& table, const Clique& clique) {
  const auto counts = count_marginal(table, clique);
  return {counts.begin(), counts.end()};
}

TEST(ResidualsTest, SplittingAndJoiningGivesTheSameCounts) {
  Dice dice(1, 0);
  const std::vector<std::uint32_t> sizes = {3, 1, 4, 2};
  std::vector<double> counts(24);
  for (double& x : counts) x = 100 * dice.normal();
  const auto parts = split_residuals(sizes, counts);
  ASSERT_EQ(parts.size(), 16U);
  // A residual has no mean along any of its attributes.
  for (std::size_t v = 0; v < 3; ++v)
    EXPECT_NEAR(parts[0b101][v * 4] + parts[0b101][v * 4 + 1] + parts[0b101][v * 4 + 2] +
                    parts[0b101][v * 4 + 3],
                0, 1e-9);
  const auto again = join_residuals(sizes, parts);
  for (std::size_t c = 0; c < counts.size(); ++c) EXPECT_NEAR(again[c], counts[c], 1e-9);
}

TEST(ResidualsTest, WithoutNoiseEveryMarginalInsideAMeasuredOneIsExact) {
  const CodedTable table = random_rows(small(), 5'000, 2);
  Residuals residuals(table.domain);
  for (const Clique& clique : {Clique{0, 1, 2}, Clique{1, 3}, Clique{0, 3}})
    residuals.add({clique, exact(table, clique), 1});
  for (const Clique& clique :
       {Clique{}, Clique{1}, Clique{3}, Clique{0, 2}, Clique{1, 3}, Clique{0, 1, 2}}) {
    const auto rebuilt = residuals.marginal(clique);
    const auto wanted = exact(table, clique);
    for (std::size_t c = 0; c < wanted.size(); ++c) EXPECT_NEAR(rebuilt[c], wanted[c], 1e-6);
  }
  // Of {0, 1, 3} the pairs are known, so its sums are right; what only it says is taken as zero.
  const auto rebuilt = residuals.marginal(Clique{0, 1, 3});
  const auto pair = exact(table, {0, 3});
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t d = 0; d < 3; ++d) {
      double sum = 0;
      for (std::size_t b = 0; b < 4; ++b) sum += rebuilt[(a * 4 + b) * 3 + d];
      EXPECT_NEAR(sum, pair[a * 3 + d], 1e-6);
    }
  EXPECT_TRUE(std::isinf(residuals.variance({0, 1, 3})));
}

// Conjugate gradients from zero on the normal equations: the least squares solution of least norm
// over all 72 cells of the full table.
std::vector<double> dense_least_squares(const Domain& domain,
                                        const std::vector<ModelMeasurement>& measurements) {
  const Clique all = {0, 1, 2, 3};
  std::vector<std::vector<std::uint32_t>> maps;
  for (const auto& m : measurements) maps.push_back(projection(domain, all, m.attributes));
  const std::size_t n = domain.cells(all);
  // sum over measurements of M^T (M x - y) / sigma^2
  const auto gradient = [&](const std::vector<double>& x, bool with_data) {
    std::vector<double> g(n, 0);
    for (std::size_t m = 0; m < maps.size(); ++m) {
      std::vector<double> model(measurements[m].counts.size(), 0);
      for (std::size_t c = 0; c < n; ++c) model[maps[m][c]] += x[c];
      for (std::size_t c = 0; c < n; ++c)
        g[c] += (model[maps[m][c]] - (with_data ? measurements[m].counts[maps[m][c]] : 0)) /
                (measurements[m].sigma * measurements[m].sigma);
    }
    return g;
  };
  std::vector<double> x(n, 0), r = gradient(x, true);
  for (double& v : r) v = -v;
  std::vector<double> p = r;
  double rr = std::inner_product(r.begin(), r.end(), r.begin(), 0.0);
  for (int i = 0; i < 400 && rr > 1e-18; ++i) {
    const auto hp = gradient(p, false);
    const double step = rr / std::inner_product(p.begin(), p.end(), hp.begin(), 0.0);
    for (std::size_t c = 0; c < n; ++c) {
      x[c] += step * p[c];
      r[c] -= step * hp[c];
    }
    const double next = std::inner_product(r.begin(), r.end(), r.begin(), 0.0);
    for (std::size_t c = 0; c < n; ++c) p[c] = r[c] + next / rr * p[c];
    rr = next;
  }
  return x;
}

TEST(ResidualsTest, IsTheLeastSquaresAnswerOfLeastNorm) {
  const CodedTable table = random_rows(small(), 2'000, 3);
  Dice dice(4, 0);
  std::vector<ModelMeasurement> measurements;
  Residuals residuals(table.domain);
  double worst_unweighted = 0;
  Residuals broken(table.domain);  // takes every measurement for equally noisy
  int i = 0;
  for (const Clique& clique : {Clique{0}, Clique{1}, Clique{0, 1}, Clique{1, 2}, Clique{1, 2, 3},
                               Clique{0, 1}, Clique{0, 2}, Clique{3}}) {
    const double sigma = 5 * ++i;
    auto counts = exact(table, clique);
    for (double& count : counts) count += sigma * dice.normal();
    measurements.push_back({clique, counts, sigma});
    residuals.add(measurements.back());
    broken.add({clique, counts, 1});
  }
  const auto x = dense_least_squares(table.domain, measurements);
  for (const Clique& clique : {Clique{0, 1}, Clique{1, 2, 3}, Clique{0, 3}, Clique{0, 1, 2}}) {
    const auto map = projection(table.domain, Clique{0, 1, 2, 3}, clique);
    std::vector<double> dense(table.domain.cells(clique), 0);
    for (std::size_t c = 0; c < x.size(); ++c) dense[map[c]] += x[c];
    const auto rebuilt = residuals.marginal(clique), wrong = broken.marginal(clique);
    for (std::size_t c = 0; c < dense.size(); ++c) {
      EXPECT_NEAR(rebuilt[c], dense[c], 1e-5);
      worst_unweighted = std::max(worst_unweighted, std::abs(wrong[c] - dense[c]));
    }
  }
  std::printf("equal weights would be off by up to %.2f\n", worst_unweighted);
  EXPECT_GT(worst_unweighted, 1);
}

TEST(ResidualsTest, AGuessStandsInForWhatWasNotMeasuredAndYieldsToWhatWas) {
  const CodedTable table = random_rows(small(), 20'000, 5);
  const Clique clique = {0, 1, 3};
  const auto truth = exact(table, clique);
  // The guess has the right three-way and wrong sums; the pairs are measured nearly exactly.
  std::vector<double> guess = truth;
  for (std::size_t c = 0; c < guess.size(); ++c) guess[c] += c % 3 == 0 ? 200 : -100;
  Residuals residuals(table.domain);
  for (const Clique& pair : {Clique{0, 1}, Clique{0, 3}, Clique{1, 3}})
    residuals.add({pair, exact(table, pair), 0.1});
  const auto rebuilt = residuals.marginal(clique, guess);
  for (std::size_t c = 0; c < truth.size(); ++c) EXPECT_NEAR(rebuilt[c], truth[c], 1);
  // Under noise that could explain the distance the guess stays.
  Residuals loud(table.domain);
  loud.add({clique, guess, 1e6});
  const auto kept = loud.marginal(clique, truth);
  double moved = 0;
  for (std::size_t c = 0; c < truth.size(); ++c)
    moved = std::max(moved, std::abs(kept[c] - truth[c]));
  EXPECT_LT(moved, 1e-6);
}

TEST(ResidualsTest, NonNegativityKeepsTheTotalAndIsTheNearestPoint) {
  Dice dice(6, 0);
  std::vector<double> counts(50);
  for (double& x : counts) x = 20 * dice.normal() + 5;
  std::vector<double> projected = counts;
  make_nonnegative(projected, 300);
  EXPECT_NEAR(std::accumulate(projected.begin(), projected.end(), 0.0), 300, 1e-9);
  EXPECT_GE(*std::min_element(projected.begin(), projected.end()), 0);
  const auto distance = [&](const std::vector<double>& x) {
    double sum = 0;
    for (std::size_t c = 0; c < x.size(); ++c) sum += (x[c] - counts[c]) * (x[c] - counts[c]);
    return sum;
  };
  for (int i = 0; i < 200; ++i) {  // no allowed step brings it nearer
    std::vector<double> other = projected;
    const auto from = dice.below(50), to = dice.below(50);
    const double step = std::min(other[from], dice.unit());
    other[from] -= step;
    other[to] += step;
    EXPECT_GE(distance(other), distance(projected) - 1e-9);
  }
  // The broken way, cutting off what is negative, adds rows that nobody has.
  double cut = 0;
  for (const double x : counts) cut += std::max(0.0, x);
  EXPECT_GT(cut, std::accumulate(counts.begin(), counts.end(), 0.0) + 100);
  make_nonnegative(projected, -5);
  EXPECT_EQ(*std::max_element(projected.begin(), projected.end()), 0);
}

// Ten columns that lean on one hidden class: no small junction tree holds all pairs.
TEST(ResidualsTest, AimAnswersAWorkloadThatItsModelCannotHold) {
  std::vector<Attribute> attributes;
  for (int a = 0; a < 10; ++a) attributes.push_back({"x" + std::to_string(a), 6});
  const CodedTable table = random_rows(Domain::make(attributes).value(), 20'000, 7);
  const Workload workload = Workload::all(table.domain, 2, 1'000).value();
  const auto error = [&](Reconstruction how, std::size_t threads) {
    Workers workers(threads);
    SeededRandom random(8);
    const FitContext context{.workers = workers, .random = random};
    SynthesisSettings settings{.method = Method::Aim};
    settings.aim.reconstruction = how;
    settings.aim.model_bytes = 4'000;
    settings.aim.proposals = 1'000'000;
    const ApproxDp target{Epsilon::make(10).value(), Delta::make(1e-9).value()};
    const Twin twin = synthesize(table, workload, target, settings, context).value();
    EXPECT_LE(twin.rho.value(), 1.2);
    return score_twin(table, twin.tables[0], workload, workers).mean_tvd;
  };
  const double model = error(Reconstruction::Model, 1);
  const double residual = error(Reconstruction::Residual, 1);
  const double chosen = error(Reconstruction::Auto, 3);
  std::printf("mean TVD: model %.4f, residuals %.4f, auto %.4f\n", model, residual, chosen);
  EXPECT_LT(residual, 0.7 * model);
  EXPECT_EQ(chosen, residual) << "auto is the same twin, whatever the threads";
}

}  // namespace
}  // namespace discreet::synth
