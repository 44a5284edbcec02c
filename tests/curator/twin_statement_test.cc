// CREATE TABLE ... AS SYNTHESIZE: charged like a question, then public and free.
#include "curator_fixture.h"

namespace discreet {
namespace {

constexpr char kBudget[] = R"(
[budgets.default]
epsilon = 3
delta = 1e-6
filter = "basic"
[analysts.ann]
budget = { epsilon = 2, delta = 1e-7, of = "default" }
tables = ["people"]
[analysts.bob]
budget = { epsilon = 2, delta = 1e-7, of = "default" }
tables = ["survey"]
)";
constexpr char kMake[] =
    "CREATE TABLE twin AS SYNTHESIZE people WITH (epsilon = 1, fast = true, workload = '2way')";

class TwinStatementTest : public CuratorFixture {
 protected:
  Result<Answer> answer(const std::string& sql, const std::string& account = "default") {
    Question question;
    question.sql = sql;
    question.account = account;
    return curator_->answer(question);
  }
  double rows_of_twin() {
    const auto counted = answer("SELECT count(*) FROM twin");
    EXPECT_TRUE(counted) << counted.error().message;
    return counted ? std::stod(*counted->rows[0][0]) : -1;
  }
};

TEST_F(TwinStatementTest, IsChargedOnceAndThenFreeToAsk) {
  open(kBudget);
  const auto made = answer(kMake, "ann");
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_DOUBLE_EQ(spent(), 1);
  EXPECT_DOUBLE_EQ(spent("ann"), 1);
  EXPECT_EQ(made->rows[0][0], "twin");
  const double rows = std::stod(*made->rows[0][1]);
  EXPECT_GT(rows, 0);

  EXPECT_EQ(rows_of_twin(), rows);
  // Rows of nobody may be shown, in the types of the original, to analysts of other tables too.
  const auto seen = answer("SELECT age, sex FROM twin WHERE age >= 0 ORDER BY age LIMIT 3", "bob");
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_EQ(seen->columns[0].type, "bigint");
  EXPECT_EQ(seen->cost.epsilon, 0);
  EXPECT_FALSE(answer("SELECT person_id FROM twin"));  // the unit stays out
  const auto again = answer(kMake, "ann");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->repeated);
  EXPECT_DOUBLE_EQ(spent(), 1);
}

TEST_F(TwinStatementTest, ExplainedIsNotMadeAndLookingForARepeatMakesNothing) {
  open(kBudget);
  const auto explained = answer(std::string("EXPLAIN ") + kMake);
  ASSERT_FALSE(explained);
  EXPECT_EQ(explained.error().code, ErrorCode::Refused);
  Question question;
  question.sql = kMake;
  const auto repeat = curator_->repeat(question);
  ASSERT_TRUE(repeat) << repeat.error().message;
  EXPECT_FALSE(*repeat);
  EXPECT_DOUBLE_EQ(spent(), 0);
}

TEST_F(TwinStatementTest, IsThereForOtherThreadsAndAfterARestart) {
  open(kBudget);
  SeededRandom random(1);
  auto other = curator_->connect(random).value();
  ASSERT_TRUE(answer(kMake));
  const double rows = rows_of_twin();
  const auto elsewhere = other.answer(ask("SELECT count(*) FROM twin", 1));
  ASSERT_TRUE(elsewhere) << elsewhere.error().message;
  EXPECT_EQ(std::stod(*elsewhere->rows[0][0]), rows);
  const auto first = answer("SELECT sex, count(*), avg(age) FROM twin GROUP BY sex ORDER BY sex");
  open(kBudget);
  EXPECT_EQ(rows_of_twin(), rows);
  const auto after = answer("SELECT sex, count(*), avg(age) FROM twin GROUP BY sex ORDER BY sex");
  ASSERT_TRUE(first && after);
  EXPECT_EQ(after->rows, first->rows);
  EXPECT_DOUBLE_EQ(spent(), 1);
}

TEST_F(TwinStatementTest, StandsBesidePrivateTablesInOneQuestion) {
  open(kBudget);
  ASSERT_TRUE(answer(kMake));
  const auto both = answer(
      "SELECT a.n AS real, b.n AS twin FROM (SELECT count(*) AS n FROM people) a, "
      "(SELECT count(*) AS n FROM twin) b");
  ASSERT_TRUE(both) << both.error().message;
  EXPECT_DOUBLE_EQ(spent(), 1 + Curator::kDefaultEpsilon);
}

TEST_F(TwinStatementTest, RefusalsCostNothing) {
  open(kBudget);
  for (const char* sql :
       {"CREATE TABLE people AS SYNTHESIZE survey WITH (epsilon = 1)",
        "CREATE TABLE released_1 AS SYNTHESIZE people WITH (epsilon = 1)",
        "CREATE TABLE twin AS SYNTHESIZE nowhere WITH (epsilon = 1)",
        "CREATE TABLE twin AS SYNTHESIZE people WITH (epsilon = 0)",
        "CREATE TABLE twin AS SYNTHESIZE people WITH (epsilon = 1, delta = 0)",
        "CREATE TABLE twin AS SYNTHESIZE people WITH (epsilon = 1, method = 'gan')",
        "CREATE TABLE twin AS SYNTHESIZE people WITH (epsilon = 1, colour = 'red')",
        "CREATE TABLE twin AS SYNTHESIZE people WITH (epsilon = 1) ORDER BY 1",
        "CREATE TABLE twin AS SYNTHESIZE people WITH (epsilon = 1, workload = '{}')",
        "CREATE TABLE twin AS SYNTHESIZE people WITH (epsilon = 4)",  // more than there is
        "CREATE TABLE twin AS SELECT * FROM people", "DROP TABLE twin"}) {
    const auto refused = answer(sql);
    EXPECT_FALSE(refused) << sql;
    EXPECT_EQ(spent(), 0) << sql;
  }
  EXPECT_FALSE(answer(kMake, "bob"));  // may not ask about people
  EXPECT_EQ(spent(), 0);
}

// Bob does not see people: that there is such a table must not show by the name being taken, and
// what he then calls people must never be the table.
TEST_F(TwinStatementTest, ANameOfATableOfOthersIsFreeAndMeansTheTwinToThoseWhoDoNotSeeTheTable) {
  open(kBudget);
  const std::string with = " AS SYNTHESIZE survey WITH (epsilon = 1, fast = true)";
  const auto explained = [&](const std::string& name) {
    Question question;
    question.sql = "EXPLAIN CREATE TABLE " + name + with;
    question.account = "bob";
    const auto said = curator_->explain(question);
    return said ? said->tree + said->json : said.error().message;
  };
  EXPECT_EQ(explained("people"), explained("xeople"));
  const auto made = answer("CREATE TABLE people" + with, "bob");
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->rows[0][0], "people");
  for (const bool reopened : {false, true}) {
    if (reopened) open(kBudget);
    const auto of_twin = answer("SELECT count(*) FROM people", "bob");
    ASSERT_TRUE(of_twin) << of_twin.error().message;
    EXPECT_EQ(of_twin->cost.epsilon, 0);
    EXPECT_EQ(of_twin->rows[0][0], made->rows[0][1]);
    EXPECT_FALSE(answer("SELECT avg(age) FROM people", "bob")) << "the survey has no such column";
    // Whoever sees the table means the table, and pays for it.
    const auto of_table = answer("SELECT avg(age) FROM people", "ann");
    ASSERT_TRUE(of_table) << of_table.error().message;
    EXPECT_GT(of_table->cost.epsilon, 0);
    EXPECT_FALSE(answer("SELECT age FROM people LIMIT 3", "ann"));
  }
  // Nobody reaches the twin or a table by the engine's names.
  EXPECT_FALSE(answer("SELECT count(*) FROM \"twin.people\"", "bob"));
  EXPECT_FALSE(answer("SELECT count(*) FROM twin.people", "ann"));
}

TEST_F(TwinStatementTest, ATwinStaysAsItIs) {
  open(kBudget);
  ASSERT_TRUE(answer(kMake));
  const auto other = answer("CREATE TABLE twin AS SYNTHESIZE survey WITH (epsilon = 1)");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::Refused);
  EXPECT_DOUBLE_EQ(spent(), 1);
}

TEST_F(TwinStatementTest, TheFunctionsFormAndExplainAreUnderstood) {
  open(kBudget);
  Question question;
  question.sql = "EXPLAIN CREATE TABLE t AS SELECT * FROM synthesize('people', epsilon => 0.5)";
  const auto explained = curator_->explain(question);
  ASSERT_TRUE(explained) << explained.error().message;
  EXPECT_EQ(explained->cost.epsilon, 0.5);
  EXPECT_TRUE(explained->affordable);
  EXPECT_EQ(spent(), 0);
  question.sql =
      "create table t as select * from synthesize('people', epsilon => 0.5, fast => true)";
  ASSERT_EQ(curator_->describe(question).value().size(), 2U);
  const auto made = curator_->answer(question);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_DOUBLE_EQ(spent(), 0.5);
}

}  // namespace
}  // namespace discreet
