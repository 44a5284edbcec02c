// Whole tables: no negative cell, whole numbers that add up, invariants kept, smaller error.
#include "tables/full_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "support/seeded_random.h"

namespace discreet::tables {
namespace {

// A sparse table of 12 x 9 x 4 cells, most of them empty.
struct Sparse {
  std::vector<Axis> axes;
  std::vector<std::int64_t> cells;
  std::shared_ptr<const Plan> plan;

  explicit Sparse(double rho, bool geography = false) {
    axes.push_back(geography ? Axis::hierarchy("block", 12, {{0, 5}, {0, 2, 5, 9}}).value()
                             : Axis::cells("a", 12).value());
    axes.push_back(Axis::cells("b", 9).value());
    axes.push_back(Axis::cells("c", 4).value());
    for (std::int64_t i = 0; i < 432; ++i) cells.push_back(i % 7 == 0 ? i * i % 97 : 0);
    auto marginals = all_marginals(axes, 3, Weighting::Marginals, true);
    if (geography)
      for (const std::uint32_t level : {0u, 1u})
        marginals.push_back(
            {.attributes = {0}, .questions = {Questions::Level}, .levels = {level}});
    plan = std::make_shared<const Plan>(
        Plan::make(axes, std::move(marginals), Rho::make(rho).value()).value());
  }
  Released released(std::uint64_t seed) const {
    SeededRandom random(seed);
    return release(
               plan,
               [&](const Attributes& a) -> Result<std::vector<std::int64_t>> {
                 return marginal_of<std::int64_t>(axes, cells, a);
               },
               random)
        .value();
  }
  double error(std::span<const double> table) const {
    double sum = 0;
    for (std::size_t i = 0; i < table.size(); ++i)
      sum += std::pow(table[i] - static_cast<double>(cells[i]), 2);
    return std::sqrt(sum / static_cast<double>(table.size()));
  }
};

TEST(FullTableTest, NonNegativeTablesAreNearerThanNoisyOnes) {
  for (const bool geography : {false, true}) {
    const Sparse sparse(0.02, geography);
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const Released released = sparse.released(seed);
      const auto table = nonnegative_table(released, std::nullopt).value();
      EXPECT_GE(*std::min_element(table.begin(), table.end()), 0);
      const auto whole = round_table(*sparse.plan, table, std::nullopt).value();
      EXPECT_GE(*std::min_element(whole.begin(), whole.end()), 0);
      const double before = sparse.error(released.marginal({0, 1, 2})), after = sparse.error(table);
      const double rounded = sparse.error(std::vector<double>(whole.begin(), whole.end()));
      std::printf("error a cell: noisy %.2f, non-negative %.2f, whole %.2f\n", before, after,
                  rounded);
      EXPECT_LT(after, before);
      EXPECT_LT(rounded, before);
    }
  }
}

TEST(FullTableTest, IsTheLikeliestTableWithoutNegativeCells) {
  // At the optimum the gradient is zero in cells above zero, and not negative in empty ones.
  const Sparse sparse(0.02);
  const Released released = sparse.released(4);
  const auto table =
      nonnegative_table(released, std::nullopt, {.rounds = 5000, .tolerance = 1e-9}).value();
  // The loss as a function of the cells, by the spaces' own coefficients.
  const auto loss = [&](const std::vector<double>& x) {
    double sum = 0;
    for (std::size_t s = 0; s < sparse.plan->spaces().size(); ++s) {
      const Space& space = sparse.plan->spaces()[s];
      auto box = marginal_of<double>(sparse.axes, x, space.attributes);
      std::vector<double> noisy(released.coefficients(s).begin(), released.coefficients(s).end());
      const auto variances = coefficient_variances(*sparse.plan, space);
      // Direct sums over rows: slow, and independent of the transforms.
      for (std::size_t k = 0; k < noisy.size(); ++k) {
        double value = 0;
        for (std::size_t cell = 0; cell < box.size(); ++cell) {
          double entry = 1;
          std::size_t rest_k = k, rest_cell = cell;
          for (std::size_t i = space.attributes.size(); i-- > 0;) {
            const Axis& axis = sparse.axes[space.attributes[i]];
            const auto& c = axis.contrasts()[rest_k % (axis.size() - 1)];
            const auto v = static_cast<std::uint32_t>(rest_cell % axis.size());
            entry *= v < c.begin || v >= c.end ? 0
                     : v < c.middle            ? static_cast<double>(c.left)
                                               : -static_cast<double>(c.right);
            rest_k /= axis.size() - 1;
            rest_cell /= axis.size();
          }
          value += entry * box[cell];
        }
        sum += std::pow(value - noisy[k], 2) / (2 * variances[k]);
      }
    }
    return sum;
  };
  const double here = loss(table);
  for (const std::size_t cell : {0u, 7u, 100u, 211u, 350u, 431u}) {
    auto more = table;
    more[cell] += 1e-3;
    EXPECT_GT(loss(more), here - 1e-7) << cell;
    if (table[cell] > 1e-2) {
      auto less = table;
      less[cell] -= 1e-3;
      EXPECT_GT(loss(less), here - 1e-7) << cell;
    }
  }
}

TEST(FullTableTest, WholeNumbersKeepTheInvariantExactly) {
  const Sparse sparse(0.001);
  const auto total = std::accumulate(sparse.cells.begin(), sparse.cells.end(), std::int64_t{0});
  for (const Attributes& kept : std::vector<Attributes>{{}, {1}, {0, 2}}) {
    const Invariant invariant{kept, marginal_of<std::int64_t>(sparse.axes, sparse.cells, kept)};
    const auto table = nonnegative_table(sparse.released(9), invariant).value();
    const auto whole = round_table(*sparse.plan, table, invariant).value();
    EXPECT_GE(*std::min_element(whole.begin(), whole.end()), 0);
    EXPECT_EQ(marginal_of<std::int64_t>(sparse.axes, whole, kept), invariant.counts);
    EXPECT_EQ(std::accumulate(whole.begin(), whole.end(), std::int64_t{0}), total);
  }
}

// Counts of the nodes of a hierarchy, alone and together with another attribute.
TEST(FullTableTest, WholeNumbersKeepTheCountsOfALevel) {
  const std::vector<Axis> axes{Axis::hierarchy("town", 7, {{0, 4}, {0, 1, 4}}).value(),
                               Axis::cells("sex", 3).value()};
  std::vector<Marginal> marginals = all_marginals(axes, 2, Weighting::Marginals);
  const auto plan = std::make_shared<const Plan>(
      Plan::make(axes, std::move(marginals), Rho::make(0.005).value()).value());
  std::vector<std::int64_t> cells(21);
  for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = i % 5 == 0 ? 40 : 0;
  SeededRandom random(12);
  const auto counter = [&](const Attributes& attributes) -> Result<std::vector<std::int64_t>> {
    return marginal_of<std::int64_t>(axes, cells, attributes);
  };
  const Released released = release(plan, counter, random).value();
  for (Invariant known : {Invariant{{0}, {}, {0}}, Invariant{{0}, {}, {1}},
                          Invariant{{0, 1}, {}, {1, Invariant::kLeaves}}, Invariant{{0}, {}, {}}}) {
    const auto part = parts_of(axes, known);
    const auto sums = [&](std::span<const std::int64_t> table) {
      std::vector<std::int64_t> made(*std::max_element(part.begin(), part.end()) + 1, 0);
      for (std::size_t i = 0; i < part.size(); ++i) made[part[i]] += table[i];
      return made;
    };
    known.counts = sums(cells);
    const auto table = nonnegative_table(released, known).value();
    const auto whole = round_table(*plan, table, known).value();
    EXPECT_GE(*std::min_element(whole.begin(), whole.end()), 0);
    EXPECT_EQ(sums(whole), known.counts);
    // The real numbers come close to them before they are rounded.
    std::vector<double> real(known.counts.size(), 0.0);
    for (std::size_t i = 0; i < part.size(); ++i) real[part[i]] += table[i];
    for (std::size_t i = 0; i < real.size(); ++i)
      EXPECT_NEAR(real[i], static_cast<double>(known.counts[i]), 1);
  }
  EXPECT_TRUE((Invariant{{0, 1}, {}, {1, Invariant::kLeaves}}.tells({0}, std::vector{0u})));
  EXPECT_FALSE((Invariant{{0}, {}, {0}}.tells({0}, std::vector{1u})));
  EXPECT_FALSE(nonnegative_table(released, Invariant{{0}, {1, 2}, {5}}));
  EXPECT_FALSE(nonnegative_table(released, Invariant{{1}, {1, 2}, {0}}));
}

TEST(FullTableTest, RoundingMovesMarginalsByLittle) {
  const Sparse sparse(0.1);
  const auto table = nonnegative_table(sparse.released(5), std::nullopt).value();
  const auto whole = round_table(*sparse.plan, table, std::nullopt).value();
  double worst = 0;
  for (const Marginal& marginal : sparse.plan->marginals()) {
    const auto real = marginal_of<double>(sparse.axes, table, marginal.attributes);
    const auto integer = marginal_of<std::int64_t>(sparse.axes, whole, marginal.attributes);
    for (std::size_t i = 0; i < real.size(); ++i)
      worst = std::max(worst, std::fabs(real[i] - static_cast<double>(integer[i])));
  }
  std::printf("rounding moves a cell of a marginal by at most %.2f\n", worst);
  EXPECT_LT(worst, 4);
}

TEST(FullTableTest, RefusesTablesTooLargeAndInvariantsThatDoNotFit) {
  const Sparse sparse(0.1);
  const Released released = sparse.released(6);
  EXPECT_FALSE(nonnegative_table(released, Invariant{{}, {1, 2}}));
  EXPECT_FALSE(nonnegative_table(released, Invariant{{}, {-1}}));
  EXPECT_FALSE(nonnegative_table(released, Invariant{{5}, {1}}));
  std::vector<Axis> axes;
  for (int i = 0; i < 3; ++i) axes.push_back(Axis::cells("a", 256).value());
  const auto plan = std::make_shared<const Plan>(
      Plan::make(axes, all_marginals(axes, 1, Weighting::Cells), Rho::make(1).value()).value());
  SeededRandom random(7);
  const auto wide = release(
                        plan,
                        [&](const Attributes& a) -> Result<std::vector<std::int64_t>> {
                          return std::vector<std::int64_t>(plan->cells(a), 0);
                        },
                        random)
                        .value();
  EXPECT_FALSE(nonnegative_table(wide, std::nullopt));
}

}  // namespace
}  // namespace discreet::tables
