#include "engines/row_owners.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "engines/duckdb/placed_rows_fixture.h"
#include "engines/unit_rows.h"

namespace discreet {
namespace {

class RowOwnersTest : public PlacedRowsFixture {
 protected:
  /// Count and sum of every unit and key, with and without owners: equal, or what is shown differs.
  std::multiset<std::string> added_up(const std::string& sql,
                                      std::shared_ptr<const RowOwners> owners, bool keys,
                                      const std::string& link = "",
                                      std::optional<GroupLimit> limit = std::nullopt,
                                      std::optional<UnitRowsShape::KeyRange> range = {}) {
    UnitRowsShape shape = {
        "unit",
        {},
        {{"v", -50, 800}},
        {},
        {{RowFeature::Kind::Rows}, {RowFeature::Kind::Count, 0}, {RowFeature::Kind::Sum, 0}}};
    if (keys) shape.keys = {"k"};
    if (range) shape.key_ranges = {range};
    shape.link_sql = owners ? "" : link;
    shape.owners = std::move(owners);
    const auto loaded = UnitRows::load(engine_, sql, shape, 1 << 30).value();
    if (!loaded) return {"nothing"};
    const auto number = [&](const std::vector<EngineValue>& key) -> std::optional<std::uint32_t> {
      if (!keys) return 0;
      const auto* whole = std::get_if<std::int64_t>(&key[0]);
      return whole == nullptr ? 99 : static_cast<std::uint32_t>(*whole);
    };
    const auto partials = loaded->add_up(number, limit).value();
    std::multiset<std::string> all;
    for (std::size_t unit = 0; unit < partials.units; ++unit) {
      std::string line;
      for (std::size_t row = partials.begin(unit); row < partials.end(unit); ++row) {
        line += fmt::format("{}:", partials.group(row));
        for (std::size_t f = 0; f < 3; ++f)
          line += fmt::format(" {}", static_cast<std::int64_t>(partials.numbers[row * 3 + f]));
        line += "; ";
      }
      all.insert(line);
    }
    return all;
  }
  /// On whole tables and parts of them.
  void compare(const std::string& unit, const std::string& link = "") {
    const auto found = owners(unit, link);
    ASSERT_NE(found, nullptr) << unit;
    for (const char* part : {"true", "v % 3 = 1", "k = 2", "k > 10000"})
      for (const bool keys : {false, true}) {
        const auto plain =
            added_up(fmt::format("SELECT {} AS unit, k, v FROM visits WHERE {}", unit, part),
                     nullptr, keys, link);
        const auto placed =
            added_up(fmt::format("SELECT \"{}\" AS unit, k, v FROM placed WHERE {}", kPlace, part),
                     found, keys);
        EXPECT_EQ(plain, placed) << unit << " where " << part << (keys ? " by k" : "");
        // With a cell for every group, and with numbers for more groups than there are; some keys
        // are not expected.
        for (const std::int64_t last : {1, 4, 7, 8, 500})
          if (keys) {
            EXPECT_EQ(plain,
                      added_up(fmt::format("SELECT \"{}\" AS unit, k, v FROM placed WHERE {}",
                                           kPlace, part),
                               found, true, "", std::nullopt, UnitRowsShape::KeyRange{1, last}))
                << unit << " where " << part << " up to " << last;
          }
        EXPECT_EQ(plain.empty(), part[0] == 'k' && part[2] == '>');
      }
  }
};

TEST_F(RowOwnersTest, SumsAreThoseOfRowsReadWithTheirUnits) {
  write({rows_of(20'000, 1), rows_of(1, 2), rows_of(7'001, 3)});
  // Close together, far from each other, texts, numbers of 128 bits, days, nobody at all.
  for (const char* unit : {"person", "person - 100", "person * 1000000007", "'person ' || person",
                           "person::HUGEINT * 10000000000000000",
                           "DATE '2020-01-01' + person::INTEGER", "NULLIF(person, person)"}) {
    if (unit[0] != 'N') compare(unit);
    EXPECT_NE(owners(unit), nullptr) << unit;
  }
  EXPECT_EQ(owners("NULLIF(person, person)")->units(), 0u);
}

// Chunks of values within bounds, and chunks where some are next to them or as far away as can be.
TEST_F(RowOwnersTest, ValuesOutsideOfTheirBounds) {
  write(
      {"SELECT i % 997 AS person, (i % 5)::INTEGER AS k, CASE WHEN i % 6001 < 6000 OR i < 10000 "
       "THEN i % 851 - 50 ELSE ([-51, -50, 800, 801, -9223372036854775808, -9223372036854775800, "
       "9223372036854775807, -9223372036854775808 + 750, 9223372036854775807 - 49]::BIGINT[])[1 + "
       "i // 6001 % 9] END AS v FROM range(90000) t(i)"});
  compare("person");
}

TEST_F(RowOwnersTest, UnitsAreNumberedAsTheyFirstAppear) {
  write({"SELECT * FROM (VALUES (9, 0, 0), (9, 0, 0), (NULL, 0, 0), (4, 0, 0)) t(person, k, v)",
         "SELECT * FROM (VALUES (4, 0, 0), (11, 0, 0), (9, 0, 0)) t(person, k, v)"});
  for (const std::int64_t factor : {1, 1'000'000'007}) {
    const auto found = owners(fmt::format("person::BIGINT * {}", factor));
    ASSERT_NE(found, nullptr);
    ASSERT_EQ(found->units(), 3u);
    const auto numbers = [&](std::int64_t file, std::size_t rows) {
      const std::uint32_t* of = found->of(file << RowOwners::kRowBits, rows);
      return std::vector<std::uint32_t>(of, of + rows);
    };
    EXPECT_EQ(numbers(0, 4), (std::vector<std::uint32_t>{0, 0, 3, 1}));
    EXPECT_EQ(numbers(1, 3), (std::vector<std::uint32_t>{1, 2, 0}));
    EXPECT_EQ(found->name(0), 9 * factor);
    EXPECT_EQ(found->name(1), 4 * factor);
    EXPECT_EQ(found->name(2), 11 * factor);
  }
}

TEST_F(RowOwnersTest, OneFileAndNoRows) {
  write({rows_of(5'000, 4)});
  compare("person");
  write({rows_of(0, 4)});
  const auto none = owners();
  ASSERT_NE(none, nullptr);
  EXPECT_EQ(none->units(), 0u);
  EXPECT_TRUE(added_up("SELECT \"#place\" AS unit, k, v FROM placed", none, true).empty());
}

TEST_F(RowOwnersTest, ThroughALinkToo) {
  write({rows_of(9'000, 5), rows_of(3'000, 6)});
  const std::string link =
      "SELECT o AS link, 'person ' || (o % 50) AS unit FROM range(900) t(o) WHERE o % 10 <> 3 "
      "UNION ALL SELECT 950, NULL";
  compare("person", link);
  EXPECT_EQ(owners("person", "SELECT 1 AS link, 1 AS unit UNION ALL SELECT 1, 2"), nullptr)
      << "a key with two owners";
  EXPECT_EQ(owners("'a'", link), nullptr) << "a key that is no whole number";
}

// The groups that a limit keeps of a unit depend on its name, not on how its rows were read.
TEST_F(RowOwnersTest, ALimitKeepsTheSameGroups) {
  write({rows_of(20'000, 7)});
  for (const char* unit : {"person - 100", "person * 1000000007"})
    for (const std::uint64_t most : {0ull, 1ull, 3ull, 6ull}) {
      const GroupLimit limit{most, {17, 42}};
      const auto plain = added_up(fmt::format("SELECT {} AS unit, k, v FROM visits", unit), nullptr,
                                  true, "", limit);
      EXPECT_EQ(plain, added_up("SELECT \"#place\" AS unit, k, v FROM placed", owners(unit), true,
                                "", limit));
      EXPECT_EQ(plain.empty(), most == 0);
    }
}

TEST_F(RowOwnersTest, WhatDoesNotFitIsNotHeld) {
  write({rows_of(5'000, 8)});
  const std::uint64_t needed = 4 * 5'000 + 8 * owners()->units();
  EXPECT_EQ(RowOwners::load(engine_, asked(), 4 * 4'999).value(), nullptr);
  EXPECT_EQ(RowOwners::load(engine_, asked(), needed - 1).value(), nullptr);
  EXPECT_NE(RowOwners::load(engine_, asked(), needed).value(), nullptr);
  OwnersAsked twice = asked();
  twice.sql += " UNION ALL " + twice.sql;
  EXPECT_EQ(RowOwners::load(engine_, twice, 1 << 30).value(), nullptr) << "a place twice";
  OwnersAsked holes = asked();
  holes.sql += " WHERE v % 2 = 1";
  EXPECT_EQ(RowOwners::load(engine_, holes, 1 << 30).value(), nullptr) << "places left out";
  // Places that are not there are no rows.
  const auto some = owners();
  write({rows_of(5'001, 8)});
  EXPECT_EQ(added_up("SELECT \"#place\" AS unit, k, v FROM placed", some, true),
            std::multiset<std::string>{"nothing"});
}

TEST_F(RowOwnersTest, AColumnThatHasThePlacesNameStandsInTheWay) {
  for (const char* name : {"file_row_number", "FILE_INDEX", "#PLACE"})
    EXPECT_FALSE(placed_rows_sql("rows", "*", kPlace, {"person", name}, true).has_value());
  EXPECT_TRUE(placed_rows_sql("rows", "*", kPlace, {"person", "place"}, true).has_value());
}

TEST_F(RowOwnersTest, AFileThatIsWrittenHasAnotherState) {
  write({rows_of(100, 9)});
  const std::string before = engine_.files_state({"visits"});
  EXPECT_FALSE(before.empty());
  EXPECT_EQ(engine_.files_state({"visits"}), before);
  EXPECT_EQ(engine_.connect().value().files_state({"visits"}), before);
  EXPECT_EQ(engine_.files_state({"visits", "elsewhere"}), "") << "no file is known";
  write({rows_of(100, 10)});
  EXPECT_NE(engine_.files_state({"visits"}), before);
  std::filesystem::remove(folder_ / "0.parquet");
  EXPECT_EQ(engine_.files_state({"visits"}), "");
  // What was written just now may be written again before the clock moves on.
  DuckDb careful = DuckDb::open({}).value();
  write({rows_of(100, 11)});
  careful.lies_in("visits", {(folder_ / "0.parquet").string()});
  EXPECT_EQ(careful.files_state({"visits"}), "");
}

TEST_F(RowOwnersTest, ATablesRowsAreCountedOnceForEveryStateOfItsFiles) {
  write({rows_of(5'000, 18), rows_of(300, 19)});
  for (int times = 0; times < 2; ++times) EXPECT_EQ(engine_.row_count("visits").value(), 5'300u);
  EXPECT_EQ(engine_.connect().value().row_count("visits").value(), 5'300u);
  EXPECT_EQ(engine_.row_count("elsewhere").value(), std::nullopt) << "no file is known";
  // It is not counted again, and what was known of an earlier state is not taken for this one's:
  // rows that only this view has are seen after the files have changed.
  ASSERT_TRUE(engine_.execute(
      "CREATE OR REPLACE VIEW visits AS SELECT * FROM placed UNION ALL SELECT * FROM placed"));
  EXPECT_EQ(engine_.row_count("visits").value(), 5'300u);
  std::filesystem::copy_file(folder_ / "1.parquet", folder_ / "0.parquet",
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(engine_.row_count("visits").value(), 1'200u);
  // What was written just now has to be counted.
  DuckDb careful = DuckDb::open({}).value();
  write({rows_of(100, 20)});
  ASSERT_TRUE(careful.execute(
      fmt::format("CREATE VIEW visits AS FROM '{}'", (folder_ / "0.parquet").string())));
  careful.lies_in("visits", {(folder_ / "0.parquet").string()});
  EXPECT_EQ(careful.row_count("visits").value(), std::nullopt);
}

// The broken twin: owners of files that were replaced give persons other people's rows. This is
// what files_state() before and after every use is there for.
TEST_F(RowOwnersTest, OwnersOfAnEarlierFileWouldBeWrong) {
  write({rows_of(5'000, 12)});
  const auto earlier = owners();
  write({rows_of(5'000, 13)});
  const auto truth = added_up("SELECT person AS unit, k, v FROM visits", nullptr, false);
  EXPECT_NE(added_up("SELECT \"#place\" AS unit, k, v FROM placed", earlier, false), truth);
  EXPECT_EQ(added_up("SELECT \"#place\" AS unit, k, v FROM placed", owners(), false), truth);
}

TEST_F(RowOwnersTest, TheyAreReadWhenAskedForTheSecondTimeAndForgottenWithTheirFiles) {
  write({rows_of(5'000, 14)});
  OwnersKept& kept = *engine_.owners_kept();
  const auto find = [&] {
    return kept.find(engine_, asked(), engine_.files_state({"visits"})).value();
  };
  EXPECT_EQ(find(), nullptr);
  const auto first = find();
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(find(), first);
  EXPECT_EQ(kept.find(engine_, asked("v"), engine_.files_state({"visits"})).value(), nullptr)
      << "another statement is asked for the first time";
  write({rows_of(5'000, 15)});
  EXPECT_EQ(find(), nullptr);
  EXPECT_NE(find(), first);
}

TEST_F(RowOwnersTest, FilesThatChangeWhileTheyAreReadAreNotKept) {
  write({rows_of(5'000, 16)});
  OwnersKept& kept = *engine_.owners_kept();
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(kept.find(engine_, asked(), "what it was a moment ago").value(), nullptr);
  OwnersAsked broken = asked();
  broken.sql = "SELECT 1 FROM nowhere";
  const std::string state = engine_.files_state({"visits"});
  EXPECT_EQ(kept.find(engine_, broken, state).value(), nullptr);
  EXPECT_FALSE(kept.find(engine_, broken, state).has_value()) << "a failure is one";
}

TEST_F(RowOwnersTest, ThoseAskedForLastAreKeptWithinTheLimit) {
  write({rows_of(5'000, 17)});
  const std::string state = engine_.files_state({"visits"});
  const auto first = RowOwners::load(engine_, asked("person"), 1 << 20).value();
  OwnersKept kept(2 * first->bytes() + 1'000);  // two, and no third
  const auto get = [&](const char* unit) {
    static_cast<void>(kept.find(engine_, asked(unit), state).value());
    return kept.find(engine_, asked(unit), state).value();
  };
  const auto one = get("person"), two = get("person + 1");
  EXPECT_EQ(get("person"), one);
  const auto three = get("person + 2");
  EXPECT_EQ(get("person"), one);
  EXPECT_EQ(get("person + 2"), three);
  EXPECT_NE(get("person + 1"), two) << "it was read anew";
}

}  // namespace
}  // namespace discreet
