#include "engines/unit_totals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <set>

#include <fmt/format.h>

#include "engines/duckdb/placed_rows_fixture.h"

namespace discreet {
namespace {

// Against GROUP BY of the engine. Absent keys and those above 6 are of no group.
class UnitTotalsTest : public PlacedRowsFixture {
 protected:
  static constexpr std::size_t kGroups = 7;
  using Key = std::pair<std::int64_t, std::uint32_t>;  // person, group
  using Sums = std::vector<std::int64_t>;

  static std::optional<std::uint32_t> number(const std::vector<EngineValue>& key) {
    const auto* whole = std::get_if<std::int64_t>(&key[0]);
    if (whole == nullptr || *whole < 0 || *whole >= std::int64_t{kGroups}) return std::nullopt;
    return static_cast<std::uint32_t>(kGroups - 1) - static_cast<std::uint32_t>(*whole);
  }
  std::map<Key, Sums> by_engine(const std::string& from, const UnitRowsShape& shape) {
    std::string features;
    for (const RowFeature& one : shape.features)
      features += one.kind == RowFeature::Kind::Rows ? ", count(*)"
                  : one.kind == RowFeature::Kind::Count
                      ? ", count(v)"
                      : fmt::format(
                            ", coalesce(sum(least(greatest(coalesce(v, {0}), {0}), {1})) "
                            "FILTER (v IS NOT NULL), 0)::BIGINT",
                            shape.values[0].lower, shape.values[0].upper);
    auto rows = engine_
                    .query(fmt::format("SELECT person, k{} FROM {} AND person IS NOT NULL AND k "
                                       "BETWEEN 0 AND 6 GROUP BY person, k",
                                       features, from))
                    .value();
    std::map<Key, Sums> all;
    while (const auto chunk = rows.next().value())
      for (std::size_t row = 0; row < chunk->size(); ++row) {
        const auto group = number({chunk->int64s(1)[row]});
        auto& sums = all[{chunk->int64s(0)[row], *group}];
        for (std::size_t f = 0; f < shape.features.size(); ++f)
          sums.push_back(static_cast<std::int64_t>(chunk->int128(2 + f, row)));
      }
    return all;
  }
  static Sums sums_of(const UnitPartials& partials, std::size_t row) {
    Sums sums;
    for (std::size_t f = 0; f < partials.features; ++f)
      sums.push_back(static_cast<std::int64_t>(partials.numbers[row * partials.features + f]));
    return sums;
  }
  /// Of all units that `is_apart` takes apart, and of all others.
  static void compare_split(const UnitTotals& made, const RowOwners& owners,
                            const std::map<Key, Sums>& expected, std::size_t features,
                            const std::function<bool(std::uint32_t)>& is_apart) {
    std::vector<bool> apart;
    for (std::uint32_t unit = 0; unit < owners.units(); ++unit) apart.push_back(is_apart(unit));
    apart.push_back(false);  // nobody
    const auto split = made.split(apart, kGroups);
    std::map<Key, Sums> found;
    for (std::size_t i = 0; i < split.units.size(); ++i) {
      EXPECT_TRUE(apart[split.units[i]]);
      for (std::size_t row = split.apart.begin(i); row < split.apart.end(i); ++row)
        EXPECT_TRUE(found
                        .emplace(Key{owners.name(split.units[i]), split.apart.group(row)},
                                 sums_of(split.apart, row))
                        .second);
    }
    std::map<std::int64_t, std::uint32_t> unit_of;
    for (std::uint32_t unit = 0; unit < owners.units(); ++unit) unit_of[owners.name(unit)] = unit;
    std::vector<Int128> others(features * kGroups);
    for (const auto& [key, sums] : expected) {
      if (apart[unit_of.at(key.first)]) {
        // Values that are all absent add nothing: they need not be there.
        if (std::any_of(sums.begin(), sums.end(), [](std::int64_t sum) { return sum != 0; })) {
          EXPECT_EQ(found[key], sums) << key.first << " " << key.second;
        }
        found.erase(key);
      } else {
        for (std::size_t f = 0; f < features; ++f) others[f * kGroups + key.second] += sums[f];
      }
    }
    EXPECT_TRUE(found.empty());
    EXPECT_TRUE(split.others == others);
  }
};

TEST_F(UnitTotalsTest, AreThoseOfTheEngine) {
  using Kind = RowFeature::Kind;
  int tried = 0;
  for (const char* value : {"v", "coalesce(v, 3)"})
    for (const char* key : {"k", "k % 4 + 1"})
      for (const std::int64_t upper : {800, 1 << 20, 1 << 29})
        for (const bool counts : {false, true})
          for (const char* part : {"true", "v % 3 = 1", "k < 0"})
            for (const bool ranged : {false, true}) {
              if (tried % 24 == 0)
                write({rows_of(30'000, 100 + tried), rows_of(2'500, 200 + tried)});
              UnitRowsShape shape{"unit", {"k"}, {}, {}, {{Kind::Count, 0}, {Kind::Sum, 0}}};
              if (counts)
                shape.features = {{Kind::Rows}};
              else
                shape.values = {{"v", -50, upper}};
              if (ranged) shape.key_ranges = {UnitRowsShape::KeyRange{0, 9}};
              shape.groups_known = kGroups;
              shape.owners = owners();
              const auto from = [&](const char* table, const char* also) {
                return fmt::format("(SELECT {}, {} AS k, {} AS v FROM {} WHERE {}) t WHERE true",
                                   also, key, value, table, part);
              };
              const std::string sql =
                  "SELECT \"#place\" AS unit, k, v FROM " + from("placed", "\"#place\"");
              SCOPED_TRACE(sql);
              const auto made =
                  UnitTotals::load(engine_, sql, shape, number, nullptr, 1 << 30).value();
              ASSERT_TRUE(made.has_value());
              const auto expected = by_engine(from("visits", "person"), shape);
              EXPECT_EQ(expected.empty(), part[0] == 'k');
              const std::size_t features = shape.features.size();
              std::map<std::int64_t, Sums> of_unit;
              for (const auto& [at, sums] : expected) {
                Sums& total = of_unit[at.first];
                total.resize(features);
                for (std::size_t f = 0; f < features; ++f) total[f] += sums[f];
              }
              const auto totals = made->totals();
              ASSERT_EQ(totals.units, shape.owners->units() + 1);
              for (std::uint32_t unit = 0; unit < totals.units; ++unit) {
                const auto at = unit == shape.owners->units()
                                    ? of_unit.end()  // nobody
                                    : of_unit.find(shape.owners->name(unit));
                EXPECT_EQ(sums_of(totals, unit), at == of_unit.end() ? Sums(features) : at->second);
              }
              const RowOwners& by = *shape.owners;
              compare_split(*made, by, expected, features, [](std::uint32_t) { return false; });
              compare_split(*made, by, expected, features, [](std::uint32_t) { return true; });
              compare_split(*made, by, expected, features,
                            [](std::uint32_t unit) { return unit % 5 == 2; });
              ++tried;
            }
  std::printf("%d statements\n", tried);
}

// By name: units lie close together, in several places, below zero too; taken apart are those whose
// totals say so, since here only totals tell who is who.
TEST_F(UnitTotalsTest, ByNamesToo) {
  using Kind = RowFeature::Kind;
  write({rows_of(40'000, 41), rows_of(9'000, 42)});
  const auto line = [](std::uint32_t group, const Sums& sums) {
    return fmt::format("{}: {}; ", group, fmt::join(sums, " "));
  };
  for (const char* unit : {"person", "person - 600", "person + 40000000000",
                           "person % 5 * 100000000 + person", "person * 512"})
    for (const char* part : {"true", "k = 3", "v > 500"})
      for (const bool counts : {false, true}) {
        UnitRowsShape shape{"unit", {"k"}, {}, {}, {{Kind::Count, 0}, {Kind::Sum, 0}}};
        if (counts)
          shape.features = {{Kind::Rows}};
        else
          shape.values = {{"v", -50, 700}};
        shape.groups_known = kGroups;
        const std::string from = fmt::format(
            "(SELECT {} AS person, k, v FROM visits WHERE {}) t WHERE true", unit, part);
        SCOPED_TRACE(from);
        const auto made = UnitTotals::load(engine_, "SELECT person AS unit, k, v FROM " + from,
                                           shape, number, nullptr, 1 << 30)
                              .value();
        ASSERT_TRUE(made.has_value());
        const auto expected = by_engine(from, shape);
        const std::size_t features = shape.features.size();
        const auto nothing = [](const Sums& sums) {
          return std::all_of(sums.begin(), sums.end(), [](std::int64_t sum) { return sum == 0; });
        };
        std::map<std::int64_t, Sums> of_unit;
        for (const auto& [at, sums] : expected) {
          Sums& total = of_unit[at.first];
          total.resize(features);
          for (std::size_t f = 0; f < features; ++f) total[f] += sums[f];
        }
        std::multiset<std::string> expected_totals, found_totals, expected_apart, found_apart;
        for (const auto& [name, sums] : of_unit)
          if (!nothing(sums)) expected_totals.insert(line(0, sums));
        const auto totals = made->totals();
        std::vector<bool> apart;
        const auto is_apart = [](const Sums& total) { return total[0] % 3 == 1; };
        for (std::size_t row = 0; row < totals.units; ++row) {
          const Sums sums = sums_of(totals, row);
          apart.push_back(is_apart(sums));
          if (!nothing(sums)) found_totals.insert(line(0, sums));
        }
        EXPECT_EQ(found_totals, expected_totals);
        const auto split = made->split(apart, kGroups);
        std::vector<Int128> others(features * kGroups);
        std::map<std::int64_t, std::string> lines;
        for (const auto& [at, sums] : expected)
          if (is_apart(of_unit[at.first]))
            lines[at.first] += nothing(sums) ? "" : line(at.second, sums);
          else
            for (std::size_t f = 0; f < features; ++f) others[f * kGroups + at.second] += sums[f];
        for (const auto& [name, text] : lines) expected_apart.insert(text);
        for (std::size_t i = 0; i < split.units.size(); ++i) {
          std::string text;
          for (std::size_t row = split.apart.begin(i); row < split.apart.end(i); ++row)
            text += line(split.apart.group(row), sums_of(split.apart, row));
          found_apart.insert(text);
        }
        EXPECT_FALSE(found_apart.empty());
        EXPECT_EQ(found_apart, expected_apart);
        EXPECT_TRUE(split.others == others);
      }
}

TEST_F(UnitTotalsTest, WhatHasNoFormIsLeftToOthers) {
  write({rows_of(9'000, 31)});
  const std::string sql = "SELECT \"#place\" AS unit, k, v FROM placed";
  using Kind = RowFeature::Kind;
  UnitRowsShape good{"unit", {"k"}, {{"v", 0, 900}}, {}, {{Kind::Sum, 0}}};
  good.groups_known = kGroups;
  good.owners = owners();
  const auto loads = [&](UnitRowsShape shape, std::uint64_t memory = 1 << 30) {
    return UnitTotals::load(engine_, sql, std::move(shape), number, nullptr, memory)
        .value()
        .has_value();
  };
  EXPECT_TRUE(loads(good));
  EXPECT_FALSE(loads(good, 1 << 20)) << "a row takes four bytes, in pages";
  auto shape = good;
  shape.features.push_back({Kind::Rows});  // some rows have no value
  EXPECT_FALSE(loads(shape));
  shape = good;
  shape.features = {{Kind::SumOfProducts, 0, 0}};
  EXPECT_FALSE(loads(shape));
  shape = good;
  shape.groups_known = 1;  // there are more keys than that
  EXPECT_FALSE(loads(shape));
  shape.groups_known.reset();
  EXPECT_FALSE(loads(shape));
  shape = good;
  shape.values[0].upper = std::int64_t{1} << 40;
  EXPECT_FALSE(loads(shape));
  // Units by name: scattered ones, and texts.
  shape = good;
  shape.owners = nullptr;
  const auto loads_by_name = [&](const char* unit) {
    return UnitTotals::load(engine_, fmt::format("SELECT {} AS unit, k, v FROM visits", unit),
                            shape, number, nullptr, 1 << 30)
        .value()
        .has_value();
  };
  EXPECT_TRUE(loads_by_name("person"));
  EXPECT_FALSE(loads_by_name("hash(v, k, person)::HUGEINT::BIT::VARCHAR"));
  write({"SELECT (hash(i) >> 2)::BIGINT AS person, 1 AS k, 1 AS v FROM range(100000) t(i)"});
  EXPECT_FALSE(loads_by_name("person"));
}

}  // namespace
}  // namespace discreet
