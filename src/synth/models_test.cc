// The mixture's arithmetic against slow loops, and the graphical model against exact answers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/seeded_random.h"
#include "synth/graphical_model.h"
#include "synth/marginals.h"
#include "synth/mixture.h"
#include "synth/records.h"

namespace discreet::synth {
namespace {

struct Factors {
  std::size_t lanes;
  std::vector<std::uint32_t> sizes;
  std::vector<FloatBuffer> p, gradient;

  Factors(std::size_t components, std::vector<std::uint32_t> wanted, Dice& dice)
      : lanes((components + kLanes - 1) / kLanes * kLanes), sizes(std::move(wanted)) {
    for (const std::uint32_t size : sizes) {
      p.emplace_back(size * lanes);
      gradient.emplace_back(size * lanes);
      for (std::size_t v = 0; v < size; ++v)
        for (std::size_t i = 0; i < components; ++i)
          p.back().data()[v * lanes + i] = static_cast<float>(dice.unit());
    }
  }
  std::vector<FactorView> views() {
    std::vector<FactorView> out;
    for (std::size_t f = 0; f < sizes.size(); ++f)
      out.push_back({p[f].data(), gradient[f].data(), sizes[f]});
    return out;
  }
  double cell(std::vector<std::size_t> values) const {
    double sum = 0;
    for (std::size_t i = 0; i < lanes; ++i) {
      double product = 1;
      for (std::size_t f = 0; f < sizes.size(); ++f)
        product *= static_cast<double>(p[f].data()[values[f] * lanes + i]);
      sum += product;
    }
    return sum;
  }
};

// Odd sizes and component counts reach every edge of the blocked product.
TEST(MixtureKernelTest, MarginalsEqualTheSumOfProducts) {
  Dice dice(1, 1);
  for (const auto& sizes :
       std::vector<std::vector<std::uint32_t>>{{3, 5, 7}, {37, 2, 9}, {6, 1, 41}}) {
    Factors factors(21, sizes, dice);
    for (std::size_t left = 1; left < 3; ++left) {
      auto views = factors.views();
      const std::span<const FactorView> all(views);
      std::vector<float> marginal(sizes[0] * sizes[1] * sizes[2]);
      MarginalScratch scratch;
      mixture_marginal({.left = all.first(left),
                        .right = all.subspan(left),
                        .lanes = factors.lanes,
                        .scale = 2,
                        .marginal = marginal.data()},
                       scratch);
      for (std::size_t a = 0; a < sizes[0]; ++a)
        for (std::size_t b = 0; b < sizes[1]; ++b)
          for (std::size_t c = 0; c < sizes[2]; ++c)
            ASSERT_NEAR(marginal[(a * sizes[1] + b) * sizes[2] + c], 2 * factors.cell({a, b, c}),
                        1e-3);
    }
  }
}

TEST(MixtureKernelTest, GradientsAreThoseOfTheSquaredDistance) {
  Dice dice(2, 1);
  const std::vector<std::uint32_t> sizes = {4, 3, 6};
  Factors factors(19, sizes, dice);
  std::vector<float> target(4 * 3 * 6);
  for (float& t : target) t = static_cast<float>(10 * dice.unit());
  const auto loss = [&] {
    double sum = 0;
    for (std::size_t a = 0; a < 4; ++a)
      for (std::size_t b = 0; b < 3; ++b)
        for (std::size_t c = 0; c < 6; ++c)
          sum += 0.25 * std::pow(3 * factors.cell({a, b, c}) -
                                     static_cast<double>(target[(a * 3 + b) * 6 + c]),
                                 2);
    return sum;
  };
  auto views = factors.views();
  const std::span<const FactorView> all(views);
  MarginalScratch scratch;
  for (std::size_t left = 1; left < 3; ++left) {
    mixture_marginal({.left = all.first(left),
                      .right = all.subspan(left),
                      .lanes = factors.lanes,
                      .scale = 3,
                      .target = target.data(),
                      .weight = 0.5f},
                     scratch);
    for (std::size_t f = 0; f < 3; ++f)
      for (const std::size_t at : {std::size_t{0}, factors.lanes + 5, 2 * factors.lanes + 18}) {
        float& x = factors.p[f].data()[at];
        const float kept = x;
        const float h = 1e-2f;
        x = kept + h;
        const double up = loss();
        x = kept - h;
        const double down = loss();
        x = kept;
        const double slope = (up - down) / (2 * static_cast<double>(h));
        EXPECT_NEAR(factors.gradient[f].data()[at], slope, 2e-3 * std::abs(slope) + 1e-2);
      }
  }
}

Domain small_domain() {
  return Domain::parse(R"({"a": 4, "b": 3, "c": 5, "d": 2})").value();
}

// d follows a; b follows a; c follows b.
CodedTable chain_table(std::size_t rows, std::uint64_t seed) {
  Dice dice(seed, 0);
  CodedTable table{small_domain(), std::vector<std::vector<std::uint16_t>>(4)};
  for (std::size_t i = 0; i < rows; ++i) {
    const auto a = dice.below(4);
    const auto b = dice.unit() < 0.8 ? a % 3 : dice.below(3);
    const auto c = dice.unit() < 0.7 ? b + 1 : dice.below(5);
    const auto d = dice.unit() < 0.9 ? a % 2 : dice.below(2);
    const std::uint64_t values[] = {a, b, c, d};
    for (std::size_t column = 0; column < 4; ++column)
      table.columns[column].push_back(static_cast<std::uint16_t>(values[column]));
  }
  return table;
}

TEST(JunctionTreeTest, HoldsEveryCliqueAndRunsConnected) {
  const Domain domain =
      Domain::parse(R"({"a": 2, "b": 3, "c": 4, "d": 5, "e": 6, "f": 2})").value();
  const std::vector<Clique> cliques = {{0, 1}, {1, 2}, {2, 3}, {0, 3}, {4}};
  const JunctionTree tree = JunctionTree::make(domain, cliques);
  for (const Clique& clique : cliques) EXPECT_GE(tree.node_of(clique), 0);
  EXPECT_GE(tree.node_of(Clique{5}), 0);
  // Running intersection: the nodes that hold an attribute form one connected part.
  for (std::uint32_t a = 0; a < domain.size(); ++a) {
    int tops = 0;
    for (const TreeNode& node : tree.nodes) {
      const auto holds = [a](const Clique& clique) {
        return std::find(clique.begin(), clique.end(), a) != clique.end();
      };
      if (holds(node.attributes) && !holds(node.separator)) ++tops;
    }
    EXPECT_EQ(tops, 1) << a;
  }
}

TEST(GraphicalModelTest, FitsTheChainsPairsAndImpliesTheRest) {
  const CodedTable table = chain_table(50'000, 1);
  std::vector<ModelMeasurement> measurements;
  std::vector<Clique> cliques = {{0, 1}, {1, 2}, {0, 3}};
  for (const Clique& clique : cliques) {
    const auto counts = count_marginal(table, clique);
    measurements.push_back({clique, {counts.begin(), counts.end()}, 10});
  }
  GraphicalModel model(table.domain, 50'000, JunctionTree::make(table.domain, cliques));
  model.fit(measurements, 2000);
  for (const auto& measurement : measurements) {
    const auto fitted = model.marginal(measurement.attributes);
    for (std::size_t c = 0; c < fitted.size(); ++c)
      EXPECT_NEAR(fitted[c], measurement.counts[c], 30);
  }
  // a and c are independent given b, so the records have the pair (a, c) right too.
  Dice dice(5, 0);
  const CodedTable records = model.sample(50'000, dice);
  const auto real = count_marginal(table, Clique{0, 2});
  const auto twin = count_marginal(records, Clique{0, 2});
  for (std::size_t c = 0; c < real.size(); ++c)
    EXPECT_NEAR(static_cast<double>(twin[c]), static_cast<double>(real[c]), 500);
}

TEST(GraphicalModelTest, MovingToAWiderTreeKeepsTheDistribution) {
  const CodedTable table = chain_table(20'000, 2);
  std::vector<Clique> cliques = {{0, 1}, {2}, {3}};
  std::vector<ModelMeasurement> measurements;
  for (const Clique& clique : cliques) {
    const auto counts = count_marginal(table, clique);
    measurements.push_back({clique, {counts.begin(), counts.end()}, 10});
  }
  GraphicalModel model(table.domain, 20'000, JunctionTree::make(table.domain, cliques));
  model.fit(measurements, 500);
  cliques.push_back({1, 2, 3});
  const GraphicalModel wider = model.on(JunctionTree::make(table.domain, cliques));
  const auto before = model.marginal(Clique{0, 1}), after = wider.marginal(Clique{0, 1});
  for (std::size_t c = 0; c < before.size(); ++c) EXPECT_NEAR(before[c], after[c], 1e-6 * 20'000);
}

TEST(RecordsTest, LocalSearchBringsCountsToTheirTargets) {
  const CodedTable wanted = chain_table(4'000, 3);
  CodedTable records = wanted;
  Dice dice(4, 0);
  for (auto& column : records.columns)  // the same one-ways, nothing else
    for (std::size_t i = column.size(); i > 1; --i) std::swap(column[i - 1], column[dice.below(i)]);
  std::vector<SearchTarget> targets;
  for (const Clique& clique : {Clique{0, 1, 2}, Clique{0, 1, 3}}) {
    const auto counts = count_marginal(wanted, clique);
    targets.push_back({clique, {counts.begin(), counts.end()}});
  }
  const auto distance = [&] {
    double sum = 0;
    for (const SearchTarget& target : targets) {
      const auto counts = count_marginal(records, target.attributes);
      for (std::size_t c = 0; c < counts.size(); ++c)
        sum += std::abs(static_cast<double>(counts[c]) - static_cast<double>(target.counts[c]));
    }
    return sum;
  };
  const double before = distance();
  ASSERT_TRUE(local_search(records, targets, 400'000, dice, nullptr));
  EXPECT_LT(distance(), before / 20);
}

}  // namespace
}  // namespace discreet::synth
