// Parquet files with hostile rows, and views over them with rows' places.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engines/duckdb/database.h"
#include "engines/row_owners.h"

namespace discreet {

inline constexpr char kPlace[] = "#place";

class PlacedRowsFixture : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/discreet_owners_XXXXXX";
    folder_ = mkdtemp(name);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// Files of these statements' rows, and views over them: `visits`, and `placed` with places.
  void write(const std::vector<std::string>& rows) {
    std::vector<std::string> files;
    for (const std::string& sql : rows) {
      files.push_back((folder_ / fmt::format("{}.parquet", files.size())).string());
      ASSERT_TRUE(engine_.execute(fmt::format(
          "COPY ({}) TO '{}' (FORMAT parquet, ROW_GROUP_SIZE 3000)", sql, files.back())));
    }
    const auto placed =
        placed_rows_sql(fmt::format("read_parquet(['{}'])", fmt::join(files, "', '")), "*", kPlace,
                        {"person", "k", "v"}, files.size() == 1);
    ASSERT_TRUE(placed.has_value());
    ASSERT_TRUE(engine_.execute(
        fmt::format("CREATE OR REPLACE VIEW placed AS {}; CREATE OR REPLACE VIEW visits AS SELECT "
                    "* EXCLUDE (\"{}\") FROM placed",
                    *placed, kPlace)));
    engine_.lies_in("visits", files);
  }
  std::shared_ptr<const RowOwners> owners(const std::string& unit = "person",
                                          const std::string& link = "") {
    return RowOwners::load(engine_, asked(unit, link), 1 << 30).value();
  }
  static OwnersAsked asked(const std::string& unit = "person", const std::string& link = "") {
    return {fmt::format("SELECT \"{}\" AS place, {} AS unit FROM placed", kPlace, unit),
            link,
            {"visits"}};
  }

  std::filesystem::path folder_;
  DuckDb engine_ = DuckDb::open({.threads = 3, .files_settle_s = 0}).value();
};

/// Hostile on purpose: rows of nobody, absent keys and values, values out of bounds, units with
/// more groups than cells, and one with more rows than a cell counts.
inline std::string rows_of(std::uint64_t rows, int seed) {
  return fmt::format(
      "SELECT CASE WHEN h % 41 = 0 THEN NULL WHEN h % 37 = 0 THEN 7 ELSE ((h // 64) % 997)::BIGINT "
      "END AS person, CASE WHEN h % 13 = 0 THEN NULL ELSE ((h // 7) % 9)::INTEGER END AS k, CASE "
      "WHEN h % 7 = 0 THEN NULL ELSE ((h // 3) % 1000)::INTEGER - 100 END AS v FROM (SELECT "
      "hash(i, {}) AS h FROM range({}) t(i))",
      seed, rows);
}

}  // namespace discreet
