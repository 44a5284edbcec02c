// The basis of one attribute: orthogonal, of integers, and as long as it says.
#include "tables/axis.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace discreet::tables {
namespace {

// Rows of the basis, row 0 of ones.
std::vector<std::vector<double>> rows_of(const Axis& axis) {
  std::vector<std::vector<double>> rows(axis.size(), std::vector<double>(axis.size()));
  std::vector<std::uint64_t> scratch(2 * axis.size() + 1);
  for (std::uint32_t j = 0; j < axis.size(); ++j) {
    std::vector<std::uint64_t> unit(axis.size(), 0);
    unit[j] = 1;
    axis.analyse(unit, scratch);
    for (std::uint32_t k = 0; k < axis.size(); ++k)
      rows[k][j] = static_cast<double>(static_cast<std::int64_t>(unit[k]));
  }
  return rows;
}

double dot(const std::vector<double>& x, const std::vector<double>& y) {
  return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
}

std::vector<Axis> examples() {
  std::vector<Axis> axes;
  for (const std::uint32_t n : {1u, 2u, 3u, 7u, 16u, 42u, 100u}) {
    axes.push_back(Axis::cells("cells", n).value());
    axes.push_back(Axis::ranges("ranges", n).value());
  }
  axes.push_back(Axis::hierarchy("place", 11, {{0, 6}, {0, 2, 3, 6, 9}}).value());
  return axes;
}

TEST(AxisTest, RowsAreOrthogonalWholeNumbersOfTheStatedLength) {
  for (const Axis& axis : examples()) {
    const auto rows = rows_of(axis);
    ASSERT_EQ(axis.contrasts().size() + 1, axis.size());
    for (std::uint32_t k = 0; k < axis.size(); ++k)
      for (std::uint32_t l = 0; l < axis.size(); ++l) {
        const double length2 =
            k == 0 ? axis.size() : static_cast<double>(axis.contrasts()[k - 1].norm2);
        EXPECT_EQ(dot(rows[k], rows[l]), k == l ? length2 : 0) << axis.name() << axis.size();
      }
  }
}

TEST(AxisTest, EveryValueMovesThePartsByOneOfTheProfiles) {
  for (const Axis& axis : examples()) {
    const auto rows = rows_of(axis);
    for (std::uint32_t j = 0; j < axis.size(); ++j) {
      std::vector<double> loads(axis.parts(), 0);
      loads[0] = 1;
      for (std::uint32_t k = 0; k + 1 < axis.size(); ++k)
        loads[axis.contrasts()[k].part] +=
            rows[k + 1][j] * rows[k + 1][j] / static_cast<double>(axis.contrasts()[k].norm2);
      for (const std::size_t most : {1000u, 2u, 1u}) {
        const auto profiles = axis.profiles_at_most(most);
        EXPECT_LE(profiles.size(), most);
        EXPECT_TRUE(std::any_of(profiles.begin(), profiles.end(), [&](const auto& profile) {
          for (std::uint32_t part = 0; part < axis.parts(); ++part)
            if (loads[part] > profile[part] * (1 + 1e-14)) return false;
          return true;
        }));
      }
    }
  }
}

TEST(AxisTest, CellsMoveAllContrastsByOneLessOneInSizeWhateverTheValue) {
  const Axis axis = Axis::cells("age", 85).value();
  ASSERT_EQ(axis.profiles().size(), 1u);
  EXPECT_NEAR(axis.profiles()[0][1], 84.0 / 85, 1e-15);
  EXPECT_NEAR(axis.mean_load(1), 84.0 / 85, 1e-15);
}

TEST(AxisTest, SynthesisUndoesAnalysis) {
  for (const Axis& axis : examples()) {
    std::vector<double> values(axis.size()), scratch(2 * axis.size() + 1);
    for (std::uint32_t j = 0; j < axis.size(); ++j) values[j] = std::sin(j + 1.0);
    auto unit = values;
    axis.analyse_unit(unit, scratch);
    EXPECT_NEAR(dot(unit, unit), dot(values, values), 1e-9);
    axis.synthesise_unit(unit, scratch);
    for (std::uint32_t j = 0; j < axis.size(); ++j) EXPECT_NEAR(unit[j], values[j], 1e-12);
  }
}

TEST(AxisTest, WeightsAreSumsOverTheQuestions) {
  for (const Axis& axis : examples()) {
    for (std::uint32_t part = 0; part < axis.parts(); ++part) {
      double cells = 0, prefixes = 0, ranges = 0;
      for (std::uint32_t s = 0; s < axis.size(); ++s) {
        cells += axis.projection(s, s + 1, part);
        prefixes += axis.projection(0, s + 1, part);
        for (std::uint32_t t = s; t < axis.size(); ++t) ranges += axis.projection(s, t + 1, part);
      }
      EXPECT_NEAR(axis.weight(Questions::Cells, part), cells, 1e-9 * (1 + cells));
      EXPECT_NEAR(axis.weight(Questions::Prefixes, part), prefixes, 1e-9 * (1 + prefixes));
      EXPECT_NEAR(axis.weight(Questions::Ranges, part), ranges, 1e-9 * (1 + ranges));
    }
  }
}

TEST(AxisTest, ALevelOfAHierarchyNeedsNoFinerContrasts) {
  const Axis axis = Axis::hierarchy("place", 11, {{0, 6}, {0, 2, 3, 6, 9}}).value();
  ASSERT_EQ(axis.parts(), 4u);
  EXPECT_GT(axis.weight(Questions::Level, 1, 0), 0);
  EXPECT_NEAR(axis.weight(Questions::Level, 2, 0), 0, 1e-20);
  EXPECT_NEAR(axis.weight(Questions::Level, 3, 1), 0, 1e-20);
  EXPECT_NEAR(axis.weight(Questions::Level, 3, 2), axis.weight(Questions::Cells, 3), 1e-12);
}

TEST(AxisTest, RefusesEmptyAttributesAndLevelsThatDoNotNest) {
  EXPECT_FALSE(Axis::cells("none", 0));
  EXPECT_FALSE(Axis::cells("huge", Axis::kSizeMax + 1));
  EXPECT_FALSE(Axis::hierarchy("late", 4, {{1}}));
  EXPECT_FALSE(Axis::hierarchy("beyond", 4, {{0, 4}}));
  EXPECT_FALSE(Axis::hierarchy("crossing", 6, {{0, 3}, {0, 2, 4}}));
}

}  // namespace
}  // namespace discreet::tables
