// A small clinic on disk and a curator over it, with repeatable noise.
//
// people: one row a person, every age from 0 to 100 once, so that quantiles are exact positions.
// visits: several rows a person (the person with number 7 has most), linked to people.
// survey: every row a unit of its own.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "curator/curator.h"
#include "curator/released_view.h"
#include "support/seeded_random.h"

namespace discreet {

inline constexpr char kClinicTables[] = R"(
[tables.people]
source = "people.parquet"
unit = "person_id"
max_rows_per_unit = 1
[tables.people.columns]
age = { range = [0, 100] }
height = { range = [0, 200] }
sex = { values = ["F", "M", "X"] }

[tables.visits]
source = "visits.csv"
unit = "person_id -> people.person_id"
[tables.visits.columns]
cost = { range = [0, 100] }
kind = { values = ["check", "repair", "never"] }

[tables.survey]
source = "survey.csv"
unit = "row"
[tables.survey.columns]
score = { range = [0, 10] }
other = { range = [0, 10] }
answer = { values = ["yes", "no", "unsure"] }
)";
inline constexpr char kUnlimited[] =
    "[budgets.default]\nepsilon = \"unlimited\"\ndelta = \"unlimited\"\n";

namespace fs = std::filesystem;
using TextRows = std::vector<std::vector<std::optional<std::string>>>;

class CuratorFixture : public ::testing::Test {
 protected:
  CuratorFixture() {
    std::string text = (fs::temp_directory_path() / "discreet-curator-XXXXXX").string();
    folder_ = ::mkdtemp(text.data());
    const auto copy = [&](const std::string& rows, const char* file) {
      const auto done =
          plain_.execute("COPY (" + rows + ") TO " + sql_literal((folder_ / file).string()));
      ASSERT_TRUE(done) << done.error().message;
    };
    copy(
        "SELECT i AS person_id, i * 37 % 101 AS age, 100 + i * 13 % 90 AS height, "
        "CASE WHEN i % 3 = 0 THEN 'F' ELSE 'M' END AS sex, "
        "CASE WHEN i < 60 THEN 'Aville' ELSE 'Btown' END AS town FROM range(101) t(i)",
        "people.parquet");
    copy(
        "SELECT i AS visit_id, CASE WHEN i % 5 = 0 THEN 7 ELSE i * 7 % 101 END AS person_id, "
        "i * 31 % 101 AS cost, CASE WHEN i % 4 = 0 THEN 'check' ELSE 'repair' END AS kind "
        "FROM range(300) t(i)",
        "visits.csv");
    copy(
        "SELECT i * 7 % 11 AS score, (i * 7 % 11 + i % 3) % 11 AS other, "
        "CASE WHEN i % 4 = 0 THEN 'no' ELSE 'yes' END AS answer FROM range(200) t(i)",
        "survey.csv");
    const auto view = [&](const char* name, const char* reader, const char* file,
                          const char* options) {
      const std::string path = sql_literal((folder_ / file).string());
      ASSERT_TRUE(plain_.execute(std::string("CREATE VIEW ") + name + " AS FROM " + reader + "(" +
                                 path + options + ")"));
    };
    view("people", "read_parquet", "people.parquet", "");
    view("visits", "read_csv", "visits.csv", "");
    view("survey", "read_csv", "survey.csv", ", types = {'answer': 'VARCHAR'}");
  }
  ~CuratorFixture() override { fs::remove_all(folder_); }

  /// A curator over the clinic with these budgets and analysts. Its noise starts anew.
  Curator& open(const std::string& budgets = kUnlimited) {
    curator_.reset();
    policy_.emplace(
        catalog::Policy::parse(kClinicTables + budgets, folder_ / "discreet.toml").value());
    curator_.emplace(Curator::open(*policy_, clock_, random_, [](std::string_view words) {
                       std::cout << words << "\n";
                     }).value());
    return *curator_;
  }

  static Question ask(const std::string& sql, double epsilon,
                      const std::string& account = "default") {
    Question question;
    question.sql = sql;
    question.account = account;
    question.epsilon = Epsilon::make(epsilon).value();
    return question;
  }

  TextRows exactly(const std::string& sql, std::size_t columns) {
    // A table keeps the statement's order, which a subquery need not.
    EXPECT_TRUE(plain_.execute("CREATE OR REPLACE TEMP TABLE exact_rows AS " + sql)) << sql;
    std::string casts;
    for (std::size_t i = 0; i < columns; ++i)
      casts += fmt::format("{}CAST(#{} AS VARCHAR)", i == 0 ? "" : ", ", i + 1);
    auto rows = read_texts("SELECT " + casts + " FROM exact_rows", columns, plain_);
    EXPECT_TRUE(rows) << sql;
    return rows ? *rows : TextRows{};
  }

  double spent(const std::string& account = "default") {
    return curator_->balance(account).value().spent.epsilon.value();
  }

  fs::path folder_;
  DuckDb plain_ = DuckDb::open({}).value();
  SystemClock clock_;
  SeededRandom random_{20261116};
  std::optional<catalog::Policy> policy_;
  std::optional<Curator> curator_;
};

}  // namespace discreet
