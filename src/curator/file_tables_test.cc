#include "curator/file_tables.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <fmt/format.h>

namespace discreet {
namespace {

namespace fs = std::filesystem;

class FileTablesTest : public ::testing::Test {
 protected:
  FileTablesTest() {
    std::string text = (fs::temp_directory_path() / "discreet-files-XXXXXX").string();
    folder_ = ::mkdtemp(text.data());
  }
  ~FileTablesTest() override { fs::remove_all(folder_); }

  std::string path(const char* file) const { return (folder_ / file).string(); }
  void write(const char* rows, const char* file) {
    ASSERT_TRUE(engine_.execute(fmt::format("COPY ({}) TO {}", rows, sql_literal(path(file)))));
  }
  Result<FileTables> open(const char* source) {
    policy_.emplace(
        catalog::Policy::parse(fmt::format("[tables.t]\nsource = \"{}\"\nunit = \"row\"\n"
                                           "[budgets.default]\nepsilon = 1.0\n",
                                           source),
                               folder_ / "discreet.toml")
            .value());
    return FileTables::open(*policy_, engine_);
  }
  /// The one number of a statement, or "NULL", or "fails".
  std::string number(const std::string& sql) {
    auto rows = engine_.query(sql);
    if (!rows) return "fails";
    const auto chunk = rows->next();
    if (!chunk || !*chunk) return "fails";
    if ((*chunk)->is_null(0, 0)) return "NULL";
    return std::to_string(static_cast<long long>((*chunk)->int128(0, 0)));
  }

  fs::path folder_;
  DuckDb engine_ = DuckDb::open({}).value();
  std::optional<catalog::Policy> policy_;
};

// A file may be replaced between the look at its columns and the reading of its rows.
TEST_F(FileTablesTest, NoStatementFailsForWhatARowOfAnotherTypeHolds) {
  write("SELECT i::INTEGER AS v FROM range(10) t(i)", "t.parquet");
  ASSERT_TRUE(open("t.parquet"));
  ASSERT_TRUE(engine_.execute(fmt::format("CREATE VIEW twin AS SELECT * FROM read_parquet({})",
                                          sql_literal(path("t.parquet")))));
  const auto sum = [&](const char* view) {
    return number(fmt::format("SELECT sum(CAST(v AS INTEGER)) FROM {}", view));
  };
  EXPECT_EQ(sum("t"), "45");
  EXPECT_EQ(sum("twin"), "45");
  write("SELECT i::VARCHAR AS v FROM range(10) t(i)", "t.parquet");
  EXPECT_EQ(sum("t"), "45");
  EXPECT_EQ(sum("twin"), "45");
  // One row more, and the broken twin tells that it is there.
  write("SELECT i::VARCHAR AS v FROM range(10) t(i) UNION ALL SELECT 'x'", "t.parquet");
  EXPECT_EQ(sum("t"), "45");
  EXPECT_EQ(sum("twin"), "fails");
  write("SELECT 5000000000 + i AS v FROM range(10) t(i)", "t.parquet");
  EXPECT_EQ(sum("t"), "NULL");
  EXPECT_EQ(sum("twin"), "fails");
}

TEST_F(FileTablesTest, StatesNameFilesAndColumnsAreLookedAtWhenTheyChange) {
  write("SELECT i AS v FROM range(10) t(i)", "t-1.parquet");
  auto opened = open("t-*.parquet");
  ASSERT_TRUE(opened) << opened.error().message;
  const auto state = [&] { return opened->state({"t"}, engine_); };
  const std::string one = state().value();
  EXPECT_EQ(state().value(), one);
  EXPECT_EQ(opened->state({"elsewhere"}, engine_).value(), "");
  write("SELECT 1 AS more, i AS v FROM range(10) t(i)", "t-2.parquet");
  EXPECT_NE(state().value(), one) << "another file";
  write("SELECT i / 2 AS v FROM range(10) t(i)", "t-2.parquet");
  EXPECT_FALSE(state()) << "another type";
  write("SELECT i AS w FROM range(10) t(i)", "t-2.parquet");
  EXPECT_FALSE(state()) << "another name";
  fs::remove(folder_ / "t-2.parquet");
  EXPECT_EQ(state().value(), one);
  fs::remove(folder_ / "t-1.parquet");
  EXPECT_FALSE(state()) << "no file";
}

TEST_F(FileTablesTest, FoldersNamesAreColumnsToo) {
  for (const char* folder : {"year=2025", "year=2026"}) {
    fs::create_directory(folder_ / folder);
    write("SELECT i AS v FROM range(10) t(i)", fmt::format("{}/t.parquet", folder).c_str());
  }
  auto opened = open("year=*/t.parquet");
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(number("SELECT count(*) FROM t WHERE CAST(year AS VARCHAR) = '2026'"), "10");
  EXPECT_TRUE(opened->state({"t"}, engine_));
}

// Only folders' names tell columns, and only where they do so of every file.
TEST_F(FileTablesTest, AFilesOwnNameIsNoColumn) {
  write("SELECT i::INTEGER AS v FROM range(10) t(i)", "v=1.parquet");
  write("SELECT 'x' AS v", "v=2.parquet");
  EXPECT_FALSE(open("v=*.parquet"));
  fs::create_directory(folder_ / "v=3");
  fs::rename(folder_ / "v=2.parquet", folder_ / "v=3/w.parquet");
  EXPECT_FALSE(open("**/*.parquet"));
  write("SELECT i::INTEGER AS v FROM range(10) t(i)", "v=3/w.parquet");
  auto opened = open("**/*.parquet");
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(number("SELECT sum(v) FROM t"), "90");
}

TEST_F(FileTablesTest, AFoldersNameComesBeforeAFilesOwnColumn) {
  fs::create_directory(folder_ / "v=3");
  write("SELECT 5::INTEGER AS v, 1 AS w FROM range(10)", "v=3/a.parquet");
  for (const char* source : {"v=3/a.parquet", "v=*/*.parquet"}) {
    auto opened = open(source);
    ASSERT_TRUE(opened) << opened.error().message;
    EXPECT_EQ(number("SELECT sum(v) FROM t"), "30") << source;
    EXPECT_TRUE(opened->state({"t"}, engine_));
  }
}

TEST_F(FileTablesTest, QuotesMayComeLater) {
  const auto write_csv = [&](const char* text, const char* file) {
    std::ofstream(folder_ / file) << text;
  };
  write_csv("id,town,v\n1,x,2\n", "q-1.csv");
  write_csv("id,town,v\n2,\"x, y\",2\n", "q-2.csv");
  write_csv("\"id\",\"town\",\"v\"\n3,\"z\",2\n", "q-3.csv");
  for (const char* source : {"q-*.csv", "q-1.csv"}) {
    auto opened = open(source);
    ASSERT_TRUE(opened) << opened.error().message;
    if (std::string_view(source) == "q-1.csv") {
      write_csv("id,town,v\n1,x,2\n2,\"x, y\",2\n3,\"z\",2\n", "q-1.csv");
      EXPECT_TRUE(opened->state({"t"}, engine_));
    }
    EXPECT_EQ(number("SELECT count(*) FROM t"), "3") << source;
    EXPECT_EQ(number("SELECT count(*) FROM t WHERE town IN ('x', 'x, y', 'z')"), "3") << source;
  }
}

TEST_F(FileTablesTest, NamesOfACsvFileAreInItsFirstLine) {
  const auto write_csv = [&](const char* text, const char* file = "t.csv") {
    std::ofstream(folder_ / file) << text;
  };
  write_csv("person;score\nann;1\nbob;2\n");
  auto opened = open("t.csv");
  ASSERT_TRUE(opened) << opened.error().message;
  const auto known = [&] { return opened->state({"t"}, engine_).has_value(); };
  EXPECT_TRUE(known());
  write_csv("person;score\nann;1\nbob;no number\n;;;;\n\"open");
  EXPECT_TRUE(known()) << "rows are not looked at";
  write_csv("person;score\n");
  EXPECT_TRUE(known());
  write_csv(("person;score\n" + std::string(5'000'000, 'x') + ";1\n\xFF\xFE;2\nann").c_str());
  EXPECT_TRUE(known()) << "rows are not looked at";
  for (const char* other :
       {"score;person\n1;ann\n2;bob\n", "person;age\nann;1\nbob;2\n", "person\nann\n",
        "person;score;more\nann;1;2\nbob;2;3\n", "person,score\nann,1\nbob,2\n", "ann;1\nbob;2\n",
        "", "person;score;more\nann;1;2\nperson;score\n", "pers\xFFon;score\nann;1\n"}) {
    write_csv(other);
    EXPECT_FALSE(known()) << other;
  }
  // Names and form are every file's.
  write_csv("a,b\n1,2\n", "p-1.csv");
  write_csv("a,b\n3,4\n", "p-2.csv");
  opened = open("p-*.csv");
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(number("SELECT sum(a) FROM t"), "4");
  write_csv("a,b\n3;4;5\n'x,\"y\n5,6\n", "p-2.csv");
  EXPECT_TRUE(known()) << "rows are not looked at";
  EXPECT_EQ(number("SELECT count(*) FROM t").find("fails"), std::string::npos);
  write_csv("b,a\n3,4\n", "p-3.csv");
  EXPECT_FALSE(known());
  EXPECT_FALSE(open("p-*.csv"));
  // Without names there is nothing to compare.
  write_csv("1,2\n3,4\n", "u.csv");
  opened = open("u.csv");
  ASSERT_TRUE(opened) << opened.error().message;
  write_csv("5,6\n", "u.csv");
  EXPECT_TRUE(known());
}

TEST_F(FileTablesTest, FilesOfAPatternThatDifferAreRefusedWhenTheyAreOpened) {
  write("SELECT i::INTEGER AS v FROM range(10) t(i)", "t-1.parquet");
  write("SELECT i::BIGINT AS v FROM range(10) t(i)", "t-2.parquet");
  const auto opened = open("t-*.parquet");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::Unavailable);
  EXPECT_NE(opened.error().message.find("t-2.parquet' has others than the first"),
            std::string::npos)
      << opened.error().message;
}

}  // namespace
}  // namespace discreet
