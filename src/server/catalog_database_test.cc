// What clients ask of pg_catalog, and what they must not get.
#include "server/catalog_database.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

namespace discreet::server {
namespace {

constexpr char kPolicy[] = R"(
[tables.people]
source = "people.csv"
unit = "id"
[tables.people.columns]
age = { range = [0, 120] }
secret = { hidden = true }
[budgets.default]
epsilon = 1.0
delta = 1e-7
)";

class CatalogDatabaseTest : public ::testing::Test {
 protected:
  CatalogDatabaseTest()
      : policy_(catalog::Policy::parse(kPolicy, "p.toml", {.sources_exist = false}).value()),
        catalog_(CatalogDatabase::open({{policy_.table("people"),
                                         {{"id", "bigint", nullptr},
                                          {"age", "bigint", policy_.table("people")->listed("age")},
                                          {"born", "date", nullptr}}}},
                                       "alice")
                     .value()) {
    std::string text = (std::filesystem::temp_directory_path() / "discreet-cat-XXXXXX").string();
    folder_ = ::mkdtemp(text.data());
    ledger_.emplace(ledger::Ledger::open(folder_ / "l.sqlite",
                                         {{"default", "", Amount::unlimited(), std::nullopt},
                                          {"alice", "default", Amount::unlimited(), std::nullopt},
                                          {"bob", "default", Amount::unlimited(), std::nullopt}},
                                         clock_)
                        .value());
  }
  ~CatalogDatabaseTest() override { std::filesystem::remove_all(folder_); }

  Result<Answer> ask(const std::string& sql, std::vector<sql::Parameter> parameters = {}) {
    return catalog_->query(sql, parameters, *ledger_, {"alice", false});
  }
  std::string first(const std::string& sql) {
    const auto answer = ask(sql);
    if (!answer) return "refused: " + answer.error().message;
    return answer->rows.empty() ? "nothing" : answer->rows[0][0].value_or("NULL");
  }

  catalog::Policy policy_;
  std::shared_ptr<CatalogDatabase> catalog_;
  std::filesystem::path folder_;
  ManualClock clock_{Instant{}};
  std::optional<ledger::Ledger> ledger_;
};

TEST_F(CatalogDatabaseTest, AnswersWhatPsqlAsksForBackslashD) {
  const std::string oid = first(
      "SELECT c.oid, n.nspname, c.relname FROM pg_catalog.pg_class c LEFT JOIN "
      "pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relname OPERATOR(pg_catalog.~) "
      "'^(people)$' COLLATE pg_catalog.default AND pg_catalog.pg_table_is_visible(c.oid) ORDER BY "
      "2, 3");
  EXPECT_EQ(oid, "16400");
  const auto columns = ask(
      "SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), (SELECT "
      "pg_catalog.pg_get_expr(d.adbin, d.adrelid, true) FROM pg_catalog.pg_attrdef d WHERE "
      "d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.atthasdef), a.attnotnull, (SELECT "
      "c.collname FROM pg_catalog.pg_collation c, pg_catalog.pg_type t WHERE c.oid = "
      "a.attcollation AND t.oid = a.atttypid AND a.attcollation <> t.typcollation) AS "
      "attcollation, a.attidentity, a.attgenerated FROM pg_catalog.pg_attribute a WHERE a.attrelid "
      "= '16400' AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum");
  ASSERT_TRUE(columns) << columns.error().message;
  ASSERT_EQ(columns->rows.size(), 3U);
  EXPECT_EQ(columns->rows[1][0], "age");
  EXPECT_EQ(columns->rows[1][1], "bigint");
  EXPECT_EQ(columns->columns[3].type, "boolean");
  EXPECT_TRUE(
      ask("SELECT pol.polname, CASE WHEN pol.polroles = '{0}' THEN NULL ELSE "
          "pg_catalog.array_to_string(array(select rolname from pg_catalog.pg_roles where "
          "oid = any (pol.polroles) order by 1),',') END FROM pg_catalog.pg_policy pol "
          "WHERE pol.polrelid = '16400' ORDER BY 1"));
}

TEST_F(CatalogDatabaseTest, KnowsTheSessionAndTheSchema) {
  EXPECT_EQ(first("select current_user"), "alice");
  EXPECT_EQ(first("select current_schema()"), "public");
  EXPECT_EQ(first("select pg_catalog.current_database()"), "discreet");
  EXPECT_EQ(first("select 'people'::regclass::oid"), "16400");
  EXPECT_EQ(first("select count(*) from information_schema.columns where table_name = 'people'"),
            "3");
  EXPECT_EQ(first("select relname from pg_class where relkind = 'r' and relnamespace = 2200"),
            "people");
  EXPECT_EQ(ask("select version()")->columns[0].name, "version");
  EXPECT_EQ(ask("select 1")->columns[0].name, "?column?");
}

TEST_F(CatalogDatabaseTest, HasNoHiddenColumnAndNoFile) {
  EXPECT_EQ(first("select count(*) from pg_attribute where attname = 'secret'"), "0");
  EXPECT_EQ(first("select count(*) from discreet.columns where name = 'secret'"), "0");
  for (const char* sneaky :
       {"select * from read_text('/etc/passwd')", "select * from read_csv('/etc/passwd')",
        "select * from glob('/etc/*')", "select * from '/etc/passwd'",
        "select 1; create table x as select 1; select * from x",
        "insert into discreet.budget select * from discreet.budget"}) {
    const auto answer = ask(sneaky);
    EXPECT_TRUE(!answer || answer->rows.size() <= 1) << sneaky;
    if (answer) {
      EXPECT_EQ(answer->rows[0][0], "1") << sneaky;
    }
  }
}

TEST_F(CatalogDatabaseTest, ShowsOnesOwnAccountAndTheOneAbove) {
  const auto accounts = ask("select account from discreet.budget order by 1");
  ASSERT_TRUE(accounts);
  ASSERT_EQ(accounts->rows.size(), 2U);
  EXPECT_EQ(accounts->rows[0][0], "alice");
  EXPECT_EQ(first("select count(*) from discreet.ledger where account <> 'alice'"), "0");
}

TEST_F(CatalogDatabaseTest, ParametersAreConstants) {
  const auto found = ask("select count(*) from pg_class where relname = $1",
                         {{std::string("x' or '1' = '1"), "text"}});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rows[0][0], "0");
  const auto kinds = ask("select count(*) from pg_class where relkind = any($1)",
                         {{std::string("{r,\"p\",NULL}"), ""}});
  ASSERT_TRUE(kinds);
  EXPECT_NE(kinds->rows[0][0], "0");
  EXPECT_FALSE(ask("select $2", {{std::string("1"), "int8"}}));
}

}  // namespace
}  // namespace discreet::server
