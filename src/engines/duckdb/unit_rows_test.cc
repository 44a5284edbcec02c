#include "engines/unit_rows.h"

#include "engines/duckdb/database.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <set>

namespace discreet {
namespace {

using Keys = std::vector<EngineValue>;

std::string text(Int128 value) {
  if (value < 0) return "-" + text(-value);
  std::string digits;
  do digits.insert(0, 1, static_cast<char>('0' + static_cast<int>(value % 10)));
  while ((value /= 10) != 0);
  return digits;
}

/// Hostile on purpose: NULL everywhere, equal units in far places, long texts, extreme values.
std::string random_rows(const std::string& unit, std::uint64_t rows, int seed) {
  return "SELECT " + unit + " AS unit, k1, k2, q1, q2, p1 FROM (SELECT hash(i, " +
         std::to_string(seed) +
         ") AS h, CASE WHEN h % 41 = 0 THEN NULL ELSE (h // 64) % 997 END AS u, "
         "CASE WHEN h % 13 = 0 THEN NULL ELSE 'key ' || ((h // 7) % 11) || repeat('x', "
         "((h // 7) % 11)::INTEGER) END AS k1, "
         "CASE WHEN h % 17 = 0 THEN NULL WHEN h % 17 = 1 THEN 'NaN'::DOUBLE ELSE ((h // 5) % 4) / "
         "2.0 "
         "END AS k2, CASE WHEN h % 7 = 0 THEN NULL WHEN h % 7 = 1 THEN -4611686018427387904 ELSE "
         "((h // 3) % 1000)::BIGINT - 500 END AS q1, CASE WHEN h % 5 = 0 THEN NULL ELSE ((h // 11) "
         "% "
         "100)::BIGINT END AS q2, CASE WHEN h % 3 = 0 THEN NULL ELSE (h // 2) % 2 = 0 END AS p1 "
         "FROM "
         "range(" +
         std::to_string(rows) + ") t(i))";
}
/// Rows of nobody are left out by whoever adds up.
std::string somebodys(const std::string& rows) {
  return "SELECT * FROM (" + rows + ") WHERE unit IS NOT NULL";
}

const UnitRowsShape kShape = {"unit",
                              {"k1", "k2"},
                              {{"q1", -(std::int64_t{1} << 62), 400}, {"q2", 0, 1000}},
                              {"p1"},
                              {{RowFeature::Kind::Rows},
                               {RowFeature::Kind::Rows, 0, 0, 0},
                               {RowFeature::Kind::Count, 0},
                               {RowFeature::Kind::Sum, 0},
                               {RowFeature::Kind::Count, 1},
                               {RowFeature::Kind::SumOfProducts, 0, 1},
                               {RowFeature::Kind::SumOfProducts, 1, 1}}};
const std::string kFeatures =
    "count(*), count(*) FILTER (WHERE p1), count(q1), coalesce(sum(CASE WHEN q1 > 400 THEN 400 "
    "ELSE q1 END), 0), count(q2), "
    "coalesce(sum((CASE WHEN q1 > 400 THEN 400 ELSE q1 END)::HUGEINT * q2), 0), coalesce(sum(q2 * "
    "q2), 0)";

struct Numbered {
  std::vector<Keys> keys;
  std::uint32_t number(const Keys& tuple) {
    for (std::uint32_t i = 0; i < keys.size(); ++i)
      if (same(keys[i], tuple)) return i;
    keys.push_back(tuple);
    return static_cast<std::uint32_t>(keys.size() - 1);
  }
  /// NaN is one group.
  static bool same(const Keys& a, const Keys& b) { return shown(a) == shown(b); }
  static std::vector<std::string> shown(const Keys& tuple) {
    std::vector<std::string> parts;
    for (const EngineValue& value : tuple) {
      if (const auto* word = std::get_if<std::string>(&value))
        parts.push_back(*word);
      else if (const auto* real = std::get_if<double>(&value))
        parts.push_back(std::isnan(*real) ? "nan" : std::to_string(*real));
      else
        parts.emplace_back(value.index() == 0 ? "NULL" : "?");
    }
    return parts;
  }
};

/// What the engine adds up by itself: (keys, features) of every unit, without the unit's name.
std::multiset<std::vector<std::string>> by_engine(DuckDb& engine, const std::string& rows) {
  auto result = engine.query(
      "SELECT k1, k2, CAST(COLUMNS(f -> f NOT IN ('unit', 'k1', 'k2')) AS "
      "VARCHAR) FROM (SELECT unit, k1, k2, " +
      kFeatures + " FROM (" + somebodys(rows) + ") GROUP BY unit, k1, k2)");
  std::multiset<std::vector<std::string>> all;
  for (auto chunk = result->next(); chunk.value(); chunk = result->next())
    for (std::size_t row = 0; row < (*chunk)->size(); ++row) {
      Keys keys(2);
      if (!(*chunk)->is_null(0, row)) keys[0] = std::string((*chunk)->varchar(0, row));
      if (!(*chunk)->is_null(1, row)) keys[1] = (*chunk)->doubles(1)[row];
      auto line = Numbered::shown(keys);
      for (std::size_t f = 2; f < result->columns().size(); ++f)
        line.emplace_back((*chunk)->varchar(f, row));
      all.insert(std::move(line));
    }
  return all;
}

std::multiset<std::vector<std::string>> by_stream(const UnitPartials& partials,
                                                  const Numbered& groups) {
  std::multiset<std::vector<std::string>> all;
  const std::size_t features = kShape.features.size();
  for (std::size_t unit = 0; unit < partials.units; ++unit)
    for (std::size_t row = partials.begin(unit); row < partials.end(unit); ++row) {
      auto line = Numbered::shown(groups.keys[partials.group(row)]);
      for (std::size_t f = 0; f < features; ++f)
        line.push_back(text(partials.numbers[row * features + f]));
      all.insert(std::move(line));
    }
  return all;
}

/// The groups of unit after unit.
std::vector<std::uint32_t> groups_of(const UnitPartials& partials) {
  std::vector<std::uint32_t> all;
  for (std::size_t unit = 0; unit < partials.units; ++unit)
    for (std::size_t row = partials.begin(unit); row < partials.end(unit); ++row)
      all.push_back(partials.group(row));
  return all;
}

TEST(UnitRowsTest, BothFormsGiveIdenticalPartials) {
  for (const std::uint32_t threads : {1u, 2u, 3u})
    for (const char* unit : {"u::BIGINT", "u::INTEGER", "'person ' || u",
                             "u::HUGEINT * 10000000000000", "DATE '2020-01-01' + u::INTEGER"})
      for (const std::uint64_t rows : {0ull, 1ull, 3000ull, 60'000ull}) {
        SCOPED_TRACE(std::string(unit) + ", " + std::to_string(rows) + " rows, " +
                     std::to_string(threads) + " threads");
        DuckDb engine = DuckDb::open({.threads = threads}).value();
        const std::string sql = random_rows(unit, rows, static_cast<int>(threads));
        const auto loaded = UnitRows::load(engine, sql, kShape, 1 << 30);
        ASSERT_TRUE(loaded.has_value() && loaded->has_value());
        Numbered groups;
        const auto partials =
            (*loaded)
                ->add_up([&](const Keys& keys) { return std::optional(groups.number(keys)); },
                         std::nullopt)
                .value();
        EXPECT_EQ(by_stream(partials, groups), by_engine(engine, sql));
        // Rows of a unit are together, its groups different.
        for (std::size_t u = 0; u < partials.units; ++u)
          for (std::size_t row = partials.begin(u) + 1; row < partials.end(u); ++row)
            EXPECT_LT(partials.group(row - 1), partials.group(row));
      }
}

// Counts and small sums go to cells at the unit's own place, as far as they fit: units close
// together and far apart, below zero, with more rows than a cell counts, with more groups than a
// unit has cells, without a value.
TEST(UnitRowsTest, SumsInPlaceAreThoseOfTheEngine) {
  const auto rows = [](const std::string& unit, const std::string& key) {
    return "SELECT " + unit + " AS unit, " + key +
           " AS k1, CASE WHEN h % 97 = 0 THEN NULL ELSE ((h // 3) % 3000)::BIGINT - 500 END AS q1 "
           "FROM (SELECT i, hash(i) AS h FROM range(" +
           (unit.starts_with("CASE") ? "300000" : "60000") + ") t(i))";
  };
  const std::vector<std::string> units = {
      "(h // 64) % 20011",                                     // close together
      "((h // 64) % 20011)::BIGINT - 10000",                   // around zero
      "nullif((h // 64) % 20011, 7)",                          // some are nobody's
      "((h // 64) % 20011)::BIGINT * 1000003",                 // each in a block of its own
      "CASE WHEN h % 9 > 0 THEN 7 ELSE (h // 64) % 5003 END",  // 7 has more rows than a cell holds
      "'person ' || (h // 64) % 5003"};
  const std::vector<std::string> keys = {"(h // 7) % 3", "(h // 7) % 11", "i % 65536 * 1000"};
  // Cells are wide where nothing is known of the groups, and narrow for few of them, also where
  // there are more in the end.
  struct Limits {
    std::uint64_t memory_max;
    std::optional<std::uint64_t> groups_known;
  };
  for (const auto& [memory_max, groups_known] :
       {Limits{1 << 22, {}}, {1 << 30, 3}, {1 << 30, 70'000}})
    for (const std::string& unit : units)
      for (std::size_t k = 0; k <= keys.size(); ++k) {
        const std::string key = k < keys.size() ? keys[k] : "0";
        SCOPED_TRACE(unit + " by " + key + ", " + std::to_string(memory_max) + " bytes, " +
                     std::to_string(groups_known.value_or(0)) + " groups known");
        DuckDb engine = DuckDb::open({.threads = 2}).value();
        UnitRowsShape shape = {
            "unit",
            {"k1"},
            {{"q1", -100, 2000}},
            {},
            {{RowFeature::Kind::Rows}, {RowFeature::Kind::Count, 0}, {RowFeature::Kind::Sum, 0}}};
        if (k == keys.size()) shape.keys.clear();
        shape.groups_known = groups_known;
        const std::string sql = rows(unit, key);
        const auto loaded = UnitRows::load(engine, sql, shape, memory_max).value();
        ASSERT_TRUE(loaded.has_value());
        const auto number = [](const Keys& tuple) {
          return tuple.empty()
                     ? std::optional<std::uint32_t>(0)
                     : std::optional(static_cast<std::uint32_t>(std::get<std::int64_t>(tuple[0])));
        };
        const UnitPartials found = loaded->add_up(number, std::nullopt).value();
        // A unit's groups as one text, so that rows of two units cannot stand for each other.
        std::multiset<std::string> here, there;
        for (std::size_t u = 0; u < found.units; ++u) {
          std::string all;
          for (std::size_t row = found.begin(u); row < found.end(u); ++row) {
            if (row > found.begin(u)) {
              EXPECT_LT(found.group(row - 1), found.group(row));
            }
            all += std::to_string(found.group(row));
            for (std::size_t f = 0; f < 3; ++f) all += ":" + text(found.numbers[row * 3 + f]);
            all += " ";
          }
          here.insert(all);
        }
        auto expected = engine
                            .query(
                                "SELECT string_agg(k || ':' || n || ':' || c || ':' || s || ' ', "
                                "'' ORDER BY k) FROM (SELECT unit, k1 AS k, count(*) AS n, "
                                "count(q1) AS c, coalesce(sum(CASE WHEN q1 < -100 THEN -100 "
                                "WHEN q1 > 2000 THEN 2000 ELSE q1 END), 0)::BIGINT AS s FROM (" +
                                somebodys(sql) + ") GROUP BY unit, k1) GROUP BY unit")
                            .value();
        for (auto chunk = expected.next(); chunk.value(); chunk = expected.next())
          for (std::size_t row = 0; row < (*chunk)->size(); ++row)
            there.emplace((*chunk)->varchar(0, row));
        EXPECT_TRUE(here == there) << here.size() << " units here, " << there.size() << " there";

        // A limit keeps the same groups whether or not a unit fits its cells.
        const UnitPartials few = loaded->add_up(number, GroupLimit{2, {5, 6}}).value();
        ASSERT_EQ(few.units, found.units);
        for (std::size_t u = 0; u < few.units; ++u)
          EXPECT_EQ(few.end(u) - few.begin(u),
                    std::min<std::size_t>(2, found.end(u) - found.begin(u)));
      }
}

TEST(UnitRowsTest, GroupsWithoutANumberAreDroppedBeforeTheLimit) {
  DuckDb engine = DuckDb::open({.threads = 2}).value();
  const auto loaded =
      UnitRows::load(engine, random_rows("u::BIGINT", 60'000, 9), kShape, 1 << 30).value();
  Numbered groups;
  const auto number = [&](const Keys& keys) -> std::optional<std::uint32_t> {
    const std::uint32_t found = groups.number(keys);
    return found % 2 == 0 ? std::optional(found) : std::nullopt;
  };
  const auto all = loaded->add_up(number, std::nullopt).value();
  const auto few = loaded->add_up(number, GroupLimit{3, {1, 2}}).value();
  const auto again = loaded->add_up(number, GroupLimit{3, {1, 2}}).value();
  const auto other = loaded->add_up(number, GroupLimit{3, {1, 3}}).value();
  EXPECT_EQ(groups_of(few), groups_of(again));
  EXPECT_NE(groups_of(few), groups_of(other)) << "the choice must follow the key";
  ASSERT_EQ(few.units, all.units);
  for (std::size_t u = 0; u < all.units; ++u) {
    const std::size_t had = all.end(u) - all.begin(u), has = few.end(u) - few.begin(u);
    EXPECT_EQ(has, std::min<std::size_t>(3, had));
  }
  for (const std::uint32_t group : groups_of(all)) EXPECT_EQ(group % 2, 0u);
}

// Every group of a unit is kept with the same chance: 400 keys, one unit with 8 groups of which 2
// stay. Bounds of six standard deviations of a binomial: a false alarm is rarer than 1e-8 a group.
TEST(UnitRowsTest, TheChoiceOfGroupsIsUniform) {
  DuckDb engine = DuckDb::open({.threads = 1}).value();
  UnitRowsShape shape = {"unit", {"k1"}, {}, {}, {{RowFeature::Kind::Rows}}};
  const auto loaded =
      UnitRows::load(engine, "SELECT 5 AS unit, i AS k1 FROM range(8) t(i)", shape, 1 << 30)
          .value();
  std::map<std::uint32_t, int> kept;
  const auto number = [](const Keys& keys) {
    return std::optional(static_cast<std::uint32_t>(std::get<std::int64_t>(keys[0])));
  };
  for (std::uint64_t key = 0; key < 4000; ++key) {
    const UnitPartials chosen = loaded->add_up(number, GroupLimit{2, {key, 77}}).value();
    for (const std::uint32_t group : groups_of(chosen)) ++kept[group];
  }
  for (std::uint32_t group = 0; group < 8; ++group)
    EXPECT_NEAR(kept[group], 1000, 6 * 27.4) << "group " << group;
}

TEST(UnitRowsTest, RowsOverTheMemoryLimitGoThroughAFileAndGiveTheSamePartials) {
  DuckDb engine = DuckDb::open({.threads = 2}).value();
  const std::string sql = random_rows("u::BIGINT", 60'000, 4);
  const auto expected = by_engine(engine, sql);
  for (const std::uint64_t memory_max : {0ull, 1ull << 19, 1ull << 30}) {
    const auto loaded = UnitRows::load(engine, sql, kShape, memory_max).value();
    ASSERT_TRUE(loaded.has_value());
    Numbered groups;
    const auto number = [&](const Keys& keys) { return std::optional(groups.number(keys)); };
    for (int time = 0; time < 2; ++time)
      EXPECT_EQ(by_stream(loaded->add_up(number, std::nullopt).value(), groups), expected)
          << memory_max;
  }
  UnitRowsShape wide = kShape;
  wide.conditions.assign(40, "p1");
  EXPECT_FALSE(UnitRows::fits(wide));
}

TEST(UnitRowsTest, WithoutRoomForTheFileTheEngineIsLeftToAddUp) {
  DuckDb engine = DuckDb::open({.threads = 2}).value();
  const char* before = std::getenv("TMPDIR");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("TMPDIR", "/nowhere/at/all", 1);
  const auto loaded = UnitRows::load(engine, random_rows("u::BIGINT", 5'000, 1), kShape, 0);
  before == nullptr ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", kept.c_str(), 1);
  ASSERT_TRUE(loaded.has_value());
  EXPECT_FALSE(loaded->has_value());
}

// Rows of one unit that follow each other share a stored row: 1,000 of them, more than it can
// stand for, and a value that is sometimes absent.
TEST(UnitRowsTest, RowsThatFollowEachOtherAreCountedOneByOne) {
  DuckDb engine = DuckDb::open({.threads = 1}).value();
  const UnitRowsShape shape = {"unit",
                               {"k"},
                               {{"v", -100, 100}},
                               {"p"},
                               {{RowFeature::Kind::Rows},
                                {RowFeature::Kind::Rows, 0, 0, 0},
                                {RowFeature::Kind::Count, 0},
                                {RowFeature::Kind::Sum, 0}}};
  const std::string rows =
      "SELECT i // 1000 AS unit, (i // 2) % 2 AS k, CASE WHEN i % 5 = 0 THEN NULL ELSE i % 7 - 3 "
      "END AS v, i % 3 = 0 AS p FROM range(20000) t(i)";
  const auto partials =
      UnitRows::load(engine, rows, shape, 1 << 30)
          .value()
          ->add_up(
              [](const Keys& keys) {
                return std::optional(static_cast<std::uint32_t>(std::get<std::int64_t>(keys[0])));
              },
              std::nullopt)
          .value();
  ASSERT_EQ(groups_of(partials).size(), 40u);
  auto exact = engine.query(
      "SELECT CAST(COLUMNS(*) AS VARCHAR) FROM (SELECT sum(n), sum(p), sum(c), sum(s) FROM (SELECT "
      "count(*) n, count(*) FILTER (WHERE p) p, count(v) c, sum(v) s FROM (" +
      rows + ")))");
  const auto chunk = exact->next();
  for (std::size_t f = 0; f < 4; ++f) {
    Int128 total = 0;
    for (std::size_t unit = 0; unit < partials.units; ++unit)
      for (std::size_t row = partials.begin(unit); row < partials.end(unit); ++row) {
        total += partials.numbers[row * 4 + f];
        if (f == 0) {
          EXPECT_EQ(text(partials.numbers[row * 4]), "500");
        }
      }
    EXPECT_EQ(text(total), (*chunk)->varchar(f, 0)) << f;
  }
}

std::multiset<std::vector<std::string>> linked(DuckDb& engine, const std::string& rows,
                                               const std::string& owners, bool& leads) {
  UnitRowsShape shape = kShape;
  shape.link_sql = owners;
  const auto loaded = UnitRows::load(engine, rows, shape, 1 << 30).value();
  leads = loaded.has_value();
  if (!leads) return {};
  Numbered groups;
  const auto number = [&](const Keys& keys) { return std::optional(groups.number(keys)); };
  return by_stream(loaded->add_up(number, std::nullopt).value(), groups);
}

TEST(UnitRowsTest, ALinkGivesWhatTheJoinGives) {
  DuckDb engine = DuckDb::open({.threads = 2}).value();
  const std::string rows = random_rows("u::BIGINT", 20'000, 6);
  bool leads = false;
  // Some keys lead nowhere, some owners have no name, some keys have no owner; keys near and far.
  for (const char* owner : {"o % 50", "'person ' || (o % 50)"})
    for (const char* key : {"o", "CASE WHEN o < 500 THEN o ELSE o * 1000000000 END"}) {
      const std::string owners = std::string("SELECT ") + key + " AS link, " + owner +
                                 " AS unit FROM range(900) t(o) WHERE o % 10 <> 3 UNION ALL SELECT "
                                 "950, NULL UNION ALL SELECT NULL, " +
                                 (owner[0] == 'o' ? "7" : "'x'");
      const std::string joined = "SELECT o.unit AS unit, k1, k2, q1, q2, p1 FROM (" + rows +
                                 ") r JOIN (" + owners + ") o ON r.unit = o.link WHERE o.unit IS " +
                                 "NOT NULL";
      EXPECT_EQ(linked(engine, rows, owners, leads), by_engine(engine, joined));
      EXPECT_TRUE(leads) << owners;
    }
  linked(engine, rows, "SELECT o % 500 AS link, o AS unit FROM range(900) t(o)", leads);
  EXPECT_FALSE(leads) << "a key with two owners makes two rows of one";
  linked(engine, rows, "SELECT 'a' AS link, 1 AS unit", leads);
  EXPECT_FALSE(leads) << "a key that is no whole number";
  EXPECT_TRUE(linked(engine, rows, "SELECT 1 AS link, 1 AS unit LIMIT 0", leads).empty());
  EXPECT_TRUE(leads);
}

TEST(UnitRowsTest, DecimalsAreReadByTheirDigitsAndMovedToTheirBounds) {
  DuckDb engine = DuckDb::open({.threads = 1}).value();
  for (const char* type : {"DECIMAL(4,2)", "DECIMAL(9,2)", "DECIMAL(18,2)", "DECIMAL(38,2)"}) {
    const std::string sql = std::string("SELECT 1 AS unit, (i - 40)::") + type +
                            " + 0.25 AS v FROM range(100) t(i) UNION ALL SELECT 1, NULL";
    UnitRowsShape shape = {"unit",
                           {},
                           {{"v", -1000, 2000, 2}},
                           {},
                           {{RowFeature::Kind::Sum, 0}, {RowFeature::Kind::Count, 0}}};
    const auto loaded = UnitRows::load(engine, sql, shape, 1 << 30);
    ASSERT_TRUE(loaded.has_value() && loaded->has_value()) << type;
    const auto partials =
        (*loaded)
            ->add_up([](const Keys&) { return std::optional(std::uint32_t{0}); }, std::nullopt)
            .value();
    // -40 to -11 become -10; -10 to 19 stay, with a quarter; the other 40 become 20.
    EXPECT_EQ(text(partials.numbers[0]), text(30 * -1000 + (135 * 100 + 30 * 25) + 40 * 2000))
        << type;
    EXPECT_EQ(text(partials.numbers[1]), "100");
    shape.values[0].decimal_digits = 3;
    EXPECT_FALSE(UnitRows::load(engine, sql, shape, 1 << 30).value().has_value());
  }
}

TEST(UnitRowsTest, AStatementThatFailsIsAnErrorWithoutTheBackendsWords) {
  DuckDb engine = DuckDb::open({}).value();
  UnitRowsShape shape = {"unit", {}, {}, {}, {{RowFeature::Kind::Rows}}};
  const auto failed = UnitRows::load(engine,
                                     "SELECT CAST(CASE WHEN i = 99000 THEN 'HIV' ELSE '1' END AS "
                                     "INTEGER) AS unit FROM range(100000) t(i)",
                                     shape, 1 << 30);
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().message.find("HIV"), std::string::npos);
  EXPECT_FALSE(UnitRows::load(engine, "SELECT 1.5::DOUBLE AS unit", shape, 1 << 30).has_value());
}

TEST(VisitTest, EveryRowIsShownOnceOnSeveralThreads) {
  DuckDb engine = DuckDb::open({.threads = 4}).value();
  std::array<std::uint64_t, 16> sums{}, busy{};
  const auto visited = engine.visit("SELECT i, 7 AS same FROM range(1000000) t(i)", {"i", "same"},
                                    [&](const DuckDbChunk& chunk, std::size_t lane) {
                                      for (const std::int64_t value : chunk.int64s(0))
                                        sums[lane] += static_cast<std::uint64_t>(value);
                                      busy[lane] = 1;
                                      return true;
                                    });
  ASSERT_TRUE(visited.has_value());
  EXPECT_EQ(visited->rows, 1'000'000u);
  std::uint64_t sum = 0;
  for (const std::uint64_t part : sums) sum += part;
  EXPECT_EQ(sum, 499'999'500'000u);
  const auto stopped = engine.visit("SELECT i FROM range(1000000) t(i)", {"i"},
                                    [](const DuckDbChunk&, std::size_t) { return false; });
  ASSERT_TRUE(stopped.has_value());
  EXPECT_TRUE(stopped->stopped);
}

}  // namespace
}  // namespace discreet
