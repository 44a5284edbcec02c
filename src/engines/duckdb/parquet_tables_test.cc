#include "engines/duckdb/parquet_tables.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <fmt/format.h>

namespace discreet {
namespace {

class ParquetTablesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/discreet_parquet_XXXXXX";
    folder_ = mkdtemp(name);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& rows,
                    const std::string& options = "") {
    const std::filesystem::path path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    DuckDb database = DuckDb::open({}).value();
    EXPECT_TRUE(database.execute(
        fmt::format("COPY ({}) TO '{}' (FORMAT parquet{})", rows, path.string(), options)));
    return path.string();
  }
  bool show(const std::vector<std::string>& files,
            const std::vector<PlainFiles::Constant>& constants = {}) {
    return tables_.show("visits", columns_, {files, constants}).value();
  }
  bool takes(const std::string& sql) { return tables_.engine().check(sql).has_value(); }
  std::string one(const std::string& sql) {
    auto rows = tables_.engine().query("SELECT CAST((" + sql + ") AS VARCHAR)").value();
    return std::string(rows.next().value()->varchar(0, 0));
  }

  std::filesystem::path folder_;
  ParquetTables tables_{DuckDb::open({}).value()};
  std::vector<ParquetTables::Column> columns_ = {
      {"person", "BIGINT"}, {"amount", "INTEGER"}, {"day", "DATE"}};
};

constexpr char kRows[] =
    "SELECT i AS person, CAST(i % 5 AS INTEGER) AS amount, DATE '2024-01-01' AS day FROM range(10) "
    "t(i)";

TEST_F(ParquetTablesTest, AllRowsOfAllFilesAreRead) {
  ASSERT_TRUE(show({write("a.parquet", kRows), write("b.parquet", kRows)}));
  EXPECT_EQ(one("SELECT count(*) FROM visits"), "20");
  EXPECT_EQ(one("SELECT sum(person) FROM visits"), "90");
}

TEST_F(ParquetTablesTest, AColumnThatAFileLacksOrHasOtherwiseIsNotThere) {
  const auto a = write("a.parquet", kRows);
  ASSERT_TRUE(show({a, write("b.parquet", "SELECT CAST(1 AS BIGINT) AS person, 2.5 AS amount")}));
  EXPECT_EQ(one("SELECT count(person) FROM visits"), "11");
  EXPECT_FALSE(takes("SELECT amount FROM visits"));
  EXPECT_FALSE(takes("SELECT day FROM visits"));
  // A number as wide as another engine says, and no other.
  columns_[1].type = "BIGINT";
  ASSERT_TRUE(show({a}));
  EXPECT_FALSE(takes("SELECT amount FROM visits"));
  EXPECT_TRUE(takes("SELECT person, day FROM visits"));
  // Nor one of another name, or a part of another.
  columns_ = {{"Person", "BIGINT"}};
  EXPECT_FALSE(show({a}));
  EXPECT_FALSE(show({write("c.parquet", "SELECT {'Person': CAST(1 AS BIGINT)} AS whole")}));
}

TEST_F(ParquetTablesTest, FilesThatCannotBeReadAreNoFailure) {
  const auto good = write("a.parquet", kRows);
  EXPECT_FALSE(show({}));
  EXPECT_FALSE(show({good, (folder_ / "none.parquet").string()}));
  EXPECT_FALSE(show({folder_.string()}));
  const auto other = (folder_ / "b.parquet").string();
  std::ofstream(other) << "no Parquet";
  EXPECT_FALSE(show({good, other}));
}

TEST_F(ParquetTablesTest, AChangedFileIsLookedAtAnew) {
  const auto file = write("a.parquet", kRows);
  ASSERT_TRUE(show({file}));
  EXPECT_TRUE(takes("SELECT amount FROM visits"));
  write("a.parquet", "SELECT CAST(1 AS BIGINT) AS person, 'x' AS amount FROM range(3)");
  ASSERT_TRUE(show({file}));
  EXPECT_FALSE(takes("SELECT amount FROM visits"));
  EXPECT_EQ(one("SELECT count(*) FROM visits"), "3");
}

TEST_F(ParquetTablesTest, NamesOfFoldersAreNoValues) {
  ASSERT_TRUE(show({write("amount=7/a.parquet", kRows)}));
  EXPECT_EQ(one("SELECT sum(amount) FROM visits"), "20");
  columns_.push_back({"year", "BIGINT"});
  ASSERT_TRUE(show({write("year=2024/a.parquet", kRows)}));
  EXPECT_FALSE(takes("SELECT year FROM visits"));
}

TEST_F(ParquetTablesTest, AFilesValuesAreThoseOfAllItsRows) {
  columns_ = {{"person", "BIGINT"}, {"year", "INTEGER"}, {"word", "VARCHAR"}, {"first", "DATE"}};
  const auto a = write("year=1/a.parquet", kRows), b = write("b.parquet", kRows);
  // What a file itself has under the name is not asked.
  const auto c =
      write("c.parquet", "SELECT CAST(100 AS BIGINT) AS person, 7 AS year FROM range(3)");
  const PlainFiles::Constant year{"year", {"2024", "-5", std::nullopt}};
  const PlainFiles::Constant word{"word", {"it's", "NULL", ""}};
  const PlainFiles::Constant first{"first", {"2024-02-29", std::nullopt, "0001-01-01"}};
  ASSERT_TRUE(show({a, b, c}, {year, word, first}));
  EXPECT_EQ(one("SELECT string_agg(line, '; ' ORDER BY line) FROM (SELECT concat_ws(' ', "
                "coalesce(CAST(year AS VARCHAR), '-'), word, coalesce(CAST(first AS VARCHAR), "
                "'-'), count(*), sum(person)) AS line FROM visits GROUP BY year, word, first)"),
            "-  0001-01-01 3 300; -5 NULL - 10 45; 2024 it's 2024-02-29 10 45");
  EXPECT_EQ(one("SELECT typeof(any_value(year)) FROM visits"), "INTEGER");
  // In another order they are other rows' values.
  ASSERT_TRUE(show({b, a, c}, {year, word, first}));
  EXPECT_EQ(one("SELECT count(*) FROM visits WHERE year = 2024 AND word = 'it''s'"), "10");
}

TEST_F(ParquetTablesTest, ValuesThatMayMeanSomethingElseAreNotRead) {
  const auto file = write("a.parquet", kRows);
  columns_ = {{"person", "BIGINT"}, {"other", ""}};
  const auto takes_value = [&](const char* type, const char* value) {
    columns_[1].type = type;
    return show({file}, {{"other", {value}}});
  };
  EXPECT_TRUE(takes_value("SMALLINT", "32767"));
  EXPECT_FALSE(takes_value("SMALLINT", "32768"));
  for (const char* odd : {"", "-", " 1", "1 ", "+1", "1e3", "0x1", "1.0", "1_000"})
    EXPECT_FALSE(takes_value("BIGINT", odd)) << odd;
  for (const char* odd : {"2023-02-29", "2024-1-1", "2024-13-01", "today", "epoch", "infinity"})
    EXPECT_FALSE(takes_value("DATE", odd)) << odd;
  EXPECT_TRUE(takes_value("BOOLEAN", "true"));
  for (const char* odd : {"t", "1", "TRUE", "yes"}) EXPECT_FALSE(takes_value("BOOLEAN", odd));
  for (const char* type : {"DOUBLE", "DECIMAL(5,2)", "TIMESTAMP"})
    EXPECT_FALSE(takes_value(type, "1"));
  // Of a column that is not the table's; of rows that have a number of their file themselves.
  columns_.pop_back();
  EXPECT_FALSE(show({file}, {{"other", {"1"}}}));
  columns_ = {{"person", "BIGINT"}, {"other", "BIGINT"}};
  EXPECT_FALSE(show({write("b.parquet", "SELECT CAST(1 AS BIGINT) AS person, 0 AS File_Index")},
                    {{"other", {"1"}}}));
}

/// A file of which only the end is there, until columns are brought from the whole one.
class Partial final : public PartialFiles {
 public:
  Partial(const std::string& whole, std::string path) : path_(std::move(path)) {
    std::stringstream all;
    all << std::ifstream(whole, std::ios::binary).rdbuf();
    bytes_ = all.str();
    std::ofstream(path_, std::ios::binary) << std::string(bytes_.size(), '\0');
    std::uint32_t about = 0;  // what Parquet says of the rest
    std::memcpy(&about, bytes_.data() + bytes_.size() - 8, sizeof about);
    copy(bytes_.size() - about - 8, about + 8);
  }
  std::string state() const override { return path_; }
  bool has(const std::string& column) const override { return columns.contains(column); }
  Result<bool> bring(const std::vector<std::string>& names,
                     const std::vector<Part>& parts) override {
    for (const Part& part : parts) {
      if (part.begin + part.size > bytes_.size()) return false;
      copy(part.begin, part.size);
      brought += part.size;
    }
    columns.insert(names.begin(), names.end());
    return is_willing;
  }

  std::set<std::string> columns;
  std::uint64_t brought = 0;
  bool is_willing = true;

 private:
  void copy(std::uint64_t begin, std::uint64_t size) const {
    std::fstream file(path_, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(begin));
    file.write(bytes_.data() + begin, static_cast<std::streamsize>(size));
  }
  std::string path_, bytes_;
};

TEST_F(ParquetTablesTest, OfPartialFilesWhatAStatementNamesIsBrought) {
  // Columns with a dictionary, a filter for what it holds, and without; several groups of rows.
  const auto whole = write("a.parquet",
                           "SELECT i AS person, CAST(i * 7919 % 100 AS INTEGER) AS amount, "
                           "md5(CAST(i AS VARCHAR)) AS \"the \"\"word\", 'x' || i % 3 AS word FROM "
                           "range(300000) t(i)");
  columns_ = {
      {"person", "BIGINT"}, {"amount", "INTEGER"}, {"the \"word", "VARCHAR"}, {"word", "VARCHAR"}};
  const std::string path = (folder_ / "partial.parquet").string();
  PlainFiles plain{{path}, {}, std::make_shared<Partial>(whole, path)};
  auto& partial = static_cast<Partial&>(*plain.partial);
  const auto reads = [&](const std::string& sql) {
    EXPECT_TRUE(tables_.show("visits", columns_, plain).value());
    EXPECT_TRUE(tables_.bring("visits", plain, {sql}).value()) << sql;
    const std::string found = one(sql);
    EXPECT_TRUE(tables_.show("visits", columns_, {{whole}, {}, {}}).value());
    EXPECT_EQ(found, one(sql)) << sql;
  };
  reads("SELECT count(*) FROM visits");
  EXPECT_EQ(partial.brought, 0U);
  reads(R"(SELECT sum("amount") FROM "visits")");
  EXPECT_EQ(partial.columns, std::set<std::string>{"amount"});
  const auto first = partial.brought;
  EXPECT_LT(first, 600'000U);
  reads(R"(SELECT sum("amount") FROM "visits" WHERE "amount" = 77)");
  EXPECT_EQ(partial.brought, first);
  reads(R"(SELECT sum("person") FROM "visits" WHERE "word" = 'x1' AND "amount" < 50)");
  EXPECT_EQ(partial.columns, (std::set<std::string>{"amount", "person", "word"}));
  // What was not brought cannot be read, rather than read as something else.
  ASSERT_TRUE(tables_.show("visits", columns_, plain).value());
  auto rows = tables_.engine().query(R"(SELECT max("the ""word") FROM visits)");
  EXPECT_FALSE(rows && rows->next());
  reads(R"(SELECT max("the ""word") FROM "visits")");
  EXPECT_GT(partial.brought, 9'000'000U);
}

TEST_F(ParquetTablesTest, WhatIsNotBroughtIsNotRead) {
  const auto whole = write("a.parquet", kRows);
  const std::string path = (folder_ / "partial.parquet").string();
  const auto partial = std::make_shared<Partial>(whole, path);
  partial->is_willing = false;
  const PlainFiles plain{{path}, {}, partial};
  ASSERT_TRUE(tables_.show("visits", columns_, plain).value());
  EXPECT_FALSE(tables_.bring("visits", plain, {R"(SELECT sum("amount") FROM t)"}).value());
}

TEST_F(ParquetTablesTest, DaysOfAnOlderCalendarAreLeftToWhoWroteThem) {
  const auto with = [&](const std::string& key, const std::string& value) {
    return write("k.parquet", kRows, fmt::format(", KV_METADATA {{'{}': '{}'}}", key, value));
  };
  EXPECT_TRUE(show({with("org.apache.spark.version", "4.3.0")}));
  EXPECT_FALSE(show({with("org.apache.spark.legacyDateTime", "")}));
  EXPECT_FALSE(show({with("org.apache.spark.legacyINT96", "")}));
  EXPECT_FALSE(show({with("org.apache.spark.version", "2.4.8")}));
}

}  // namespace
}  // namespace discreet
