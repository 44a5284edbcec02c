// From question to charge: paid once and before the answer, never for a refusal.
#include <chrono>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "curator_fixture.h"

namespace discreet {
namespace {

constexpr char kTight[] = R"(
[budgets.default]
epsilon = 1.0
delta = 1e-6
filter = "basic"
[analysts.ann]
budget = { epsilon = 0.4, of = "default" }
tables = ["survey"]
)";

class ChargePathTest : public CuratorFixture {};

TEST_F(ChargePathTest, TheSameQuestionGetsTheSameBytesForOneCharge) {
  open(kTight);
  const Question question = ask("SELECT answer, avg(score) FROM survey GROUP BY answer", 0.25);
  const auto first = curator_->answer(question);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_FALSE(first->repeated);
  EXPECT_DOUBLE_EQ(spent(), 0.25);
  const auto compare = [&](const Question& again) {
    auto second = curator_->answer(again);
    ASSERT_TRUE(second) << second.error().message;
    EXPECT_TRUE(second->repeated);
    second->repeated = first->repeated;
    EXPECT_EQ(second->to_bytes(), first->to_bytes());
    EXPECT_DOUBLE_EQ(spent(), 0.25);
  };
  compare(question);
  Question spaced = question;
  spaced.sql = "select  answer, AVG(score)\nfrom survey group by answer";
  compare(spaced);
  open(kTight);  // another process, later
  compare(question);
}

// Rows are written without a JSON library in between: what one reads must be what was there.
TEST_F(ChargePathTest, AnAnswerReadsBackAsItWasWhateverItsTextsHold) {
  Answer answer;
  answer.columns = {{"a \"name\"", "text"}, {"n", "bigint"}};
  answer.rows = {{"plain", "1"},
                 {"quoted \" and \\", "-2"},
                 {"line\nend\ttab\x01\x7f", std::nullopt},
                 {"\xC3\xA9t\xC3\xA9 \xE2\x82\xAC", "4"},
                 {"", "5"}};
  answer.errors.assign(answer.rows.size(), {std::nullopt, 1.5});
  answer.error95 = {std::nullopt, 1.5};
  answer.noisy = {false, true};
  answer.notices = {"a \"notice\""};
  answer.certificate = "{}";
  const std::string bytes = answer.to_bytes();
  const auto read = Answer::from_bytes(bytes);
  ASSERT_TRUE(read) << bytes;
  EXPECT_EQ(read->rows, answer.rows);
  EXPECT_EQ(read->errors, answer.errors);
  EXPECT_EQ(read->columns[0].name, answer.columns[0].name);
  EXPECT_EQ(read->to_bytes(), bytes);
  EXPECT_EQ(nlohmann::ordered_json::parse(bytes).dump(), bytes);
  // Bytes that are no text are replaced, and then stay.
  answer.rows[0][0] = "no \xFF text";
  const auto replaced = Answer::from_bytes(answer.to_bytes());
  ASSERT_TRUE(replaced);
  EXPECT_EQ(replaced->rows[0][0], "no \xEF\xBF\xBD text");
  EXPECT_EQ(replaced->to_bytes(), answer.to_bytes());
}

TEST_F(ChargePathTest, AnotherEpsilonOrAChangedFileIsAnotherQuestion) {
  open(kTight);
  const std::string sql = "SELECT count(*) FROM survey";
  ASSERT_TRUE(curator_->answer(ask(sql, 0.1)));
  ASSERT_TRUE(curator_->answer(ask(sql, 0.2)));
  EXPECT_NEAR(spent(), 0.3, 1e-12);
  std::ofstream(folder_ / "survey.csv", std::ios::app) << "3,3,yes\n";
  const auto answer = curator_->answer(ask(sql, 0.1));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_FALSE(answer->repeated);
  EXPECT_NEAR(spent(), 0.4, 1e-12);
}

// How many rows a table has is kept while its files stay as they are, and no longer.
TEST_F(ChargePathTest, ACountIsTheOneOfTheFileAsItIsNow) {
  const std::string file = (folder_ / "readings.parquet").string();
  const auto write = [&](int rows) {
    ASSERT_TRUE(plain_.execute(fmt::format("COPY (SELECT i AS value FROM range({}) t(i)) TO {}",
                                           rows, sql_literal(file))));
  };
  write(400);
  open("[tables.readings]\nsource = \"readings.parquet\"\nunit = \"row\"\n" +
       std::string(kUnlimited));
  double epsilon = 1'000;  // with next to no noise
  const auto counted = [&] {
    const auto answer = curator_->answer(ask("SELECT count(*) FROM readings", ++epsilon));
    return answer ? answer->rows.at(0).at(0).value_or("") : answer.error().message;
  };
  EXPECT_EQ(counted(), "400");
  std::this_thread::sleep_for(std::chrono::seconds(5));  // files written just now are not trusted
  for (int times = 0; times < 3; ++times) EXPECT_EQ(counted(), "400");
  write(407);
  EXPECT_EQ(counted(), "407");
  std::this_thread::sleep_for(std::chrono::seconds(5));
  EXPECT_EQ(counted(), "407") << "the number of an earlier state";
}

TEST_F(ChargePathTest, ARefusedQuestionChargesNothing) {
  open(kTight);
  for (const char* sql :
       {"SELECT * FROM people", "SELECT max(person_id) FROM people", "SELECT nothing FROM people",
        "SELECT count(*) FROM nowhere", "SELECT mode() WITHIN GROUP (ORDER BY town) FROM people",
        "SELECT count(*) FROM people; SELECT 1", "DELETE FROM people", "SELEC"}) {
    const auto answer = curator_->answer(ask(sql, 0.1));
    ASSERT_FALSE(answer) << sql;
    EXPECT_FALSE(answer.error().message.empty()) << sql;
    EXPECT_EQ(spent(), 0) << sql;
  }
  EXPECT_FALSE(curator_->answer(ask("SELECT count(*) FROM people", 0)));
  EXPECT_EQ(spent(), 0);
}

TEST_F(ChargePathTest, PrivateKeysWithoutADeltaAreRefusedAndFree) {
  open("[budgets.default]\nepsilon = 1.0\nfilter = \"basic\"\n");
  Question question = ask("SELECT town, count(*) FROM people GROUP BY town", 0.5);
  question.delta = Delta::zero();
  const auto answer = curator_->answer(question);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::Refused);
  EXPECT_NE(answer.error().message.find("delta"), std::string::npos) << answer.error().message;
  EXPECT_EQ(spent(), 0);
}

TEST_F(ChargePathTest, AnEpsilonThatIsTooSmallForTheMechanismIsRefusedBeforeTheCharge) {
  open(kTight);
  for (const char* sql :
       {"SELECT median(cost) FROM visits", "SELECT max(cost) FROM visits",
        "SELECT percentile_cont(ARRAY[0.2, 0.8]) WITHIN GROUP (ORDER BY cost) FROM visits",
        "SELECT count(DISTINCT cost) FROM visits", "SELECT sum(cost) FROM visits",
        "SELECT p.town, count(*) FROM visits v JOIN people p ON v.person_id = p.person_id GROUP BY "
        "p.town"}) {
    const auto answer = curator_->answer(ask(sql, 1e-17));
    ASSERT_FALSE(answer) << sql;
    EXPECT_NE(answer.error().code, ErrorCode::Unavailable) << sql << ": " << answer.error().message;
    EXPECT_EQ(spent(), 0) << sql;
  }
}

// Between enough and far too little every mechanism of a statement has a limit of its own.
TEST_F(ChargePathTest, NoEpsilonIsChargedAndThenFoundTooSmall) {
  open(kTight);
  for (const char* sql :
       {"SELECT sum(visit_id) FROM visits", "SELECT count(*), sum(cost) FROM visits",
        "SELECT kind, sum(cost) FROM visits GROUP BY kind", "SELECT median(cost) FROM visits",
        "SELECT p.town, count(*) FROM visits v JOIN people p ON v.person_id = p.person_id GROUP BY "
        "p.town"})
    for (double epsilon = 1e-11; epsilon > 1e-20; epsilon /= 3) {
      const double before = spent();
      const auto answer = curator_->answer(ask(sql, epsilon));
      if (answer) continue;
      EXPECT_NE(answer.error().code, ErrorCode::Unavailable)
          << sql << " at " << epsilon << ": " << answer.error().message;
      EXPECT_EQ(spent(), before) << sql << " at " << epsilon << ": " << answer.error().message;
    }
}

TEST_F(ChargePathTest, TypesOfACsvFileAreThePolicysAndNotAGuess) {
  std::ofstream(folder_ / "survey.csv") << "score,other,answer\n1,2,yes\n3,4,no\n";
  open();  // rows that say only yes and no are text all the same
  const auto answer = curator_->answer(
      ask("SELECT answer, count(*) FROM survey GROUP BY answer ORDER BY answer", 1e6));
  ASSERT_TRUE(answer) << answer.error().message;
  const TextRows expected = {{"no", "1"}, {"unsure", "0"}, {"yes", "1"}};
  EXPECT_EQ(answer->rows, expected);
}

TEST_F(ChargePathTest, AnExhaustedBudgetRefusesAndKeepsItsBalance) {
  open(kTight);
  ASSERT_TRUE(curator_->answer(ask("SELECT count(*) FROM survey", 0.75)));
  const auto answer = curator_->answer(ask("SELECT avg(score) FROM survey", 0.5));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::BudgetExhausted);
  EXPECT_DOUBLE_EQ(spent(), 0.75);
  EXPECT_TRUE(curator_->answer(ask("SELECT count(*) FROM survey", 0.75))) << "already paid";
  EXPECT_TRUE(curator_->answer(ask("SELECT avg(score) FROM survey", 0.25))) << "what is left";
}

TEST_F(ChargePathTest, AnAnalystPaysFromTheirShareAndFromTheBudgetAboveIt) {
  open(kTight);
  ASSERT_TRUE(curator_->answer(ask("SELECT count(*) FROM survey", 0.25, "ann")));
  EXPECT_DOUBLE_EQ(spent("ann"), 0.25);
  EXPECT_DOUBLE_EQ(spent(), 0.25);
  const auto answer = curator_->answer(ask("SELECT avg(score) FROM survey", 0.25, "ann"));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::BudgetExhausted);
  EXPECT_DOUBLE_EQ(spent("ann"), 0.25);
  EXPECT_DOUBLE_EQ(spent(), 0.25);
}

TEST_F(ChargePathTest, ATableAnAnalystMayNotAskReadsLikeOneThatIsNotThere) {
  // Visits are listed, but whose they are is found through people, who are not.
  open(std::string(kTight) + "[analysts.eve]\ntables = [\"visits\"]\n");
  for (const char* table : {"people", "visits"})
    for (const char* form :
         {"SELECT count(*) FROM {}", "SELECT (SELECT count(*) FROM {}), count(*) FROM wards",
          "SELECT {}.nothing FROM {}", "CREATE TABLE twin AS SYNTHESIZE {}"}) {
      const auto said = [&](const std::string& name) {
        std::string sql = form;
        for (std::size_t at = 0; (at = sql.find("{}", at)) != std::string::npos;)
          sql.replace(at, 2, name);
        const auto answer = curator_->answer(ask(sql, 0.1, "eve"));
        EXPECT_FALSE(answer) << sql;
        const auto explained = curator_->explain(ask(sql, 0.1, "eve"));
        EXPECT_FALSE(explained) << sql;
        if (answer || explained) return std::string();
        EXPECT_EQ(answer.error().code, ErrorCode::NotFound) << answer.error().message;
        std::string all = answer.error().message + explained.error().message;
        for (std::size_t at = 0; (at = all.find(name, at)) != std::string::npos;)
          all.replace(at, name.size(), "X");
        return all;
      };
      EXPECT_EQ(said(table), said("qxjzvw")) << table << ": " << form;
    }
  EXPECT_EQ(spent("eve"), 0);
  EXPECT_EQ(spent("ann"), 0);
  EXPECT_EQ(curator_->answer(ask("SELECT count(*) FROM survey", 0.1, "nobody")).error().code,
            ErrorCode::NotFound);
}

TEST_F(ChargePathTest, ExplainSpendsNothingAndSaysTheSameWhateverTheRows) {
  const char* questions[] = {
      "SELECT answer, count(*), avg(score), median(other) FROM survey GROUP BY answer",
      "SELECT sum(score), corr(score, other) FROM survey"};
  const auto explained = [&] {
    std::string all;
    for (const char* sql : questions) {
      const auto explanation = curator_->explain(ask(sql, 0.5));
      EXPECT_TRUE(explanation) << explanation.error().message;
      if (!explanation) continue;
      EXPECT_DOUBLE_EQ(explanation->cost.epsilon, 0.5);
      EXPECT_TRUE(explanation->affordable);
      all += explanation->tree;
      for (const auto& column : explanation->columns)
        all += column.name + column.mechanism + std::to_string(column.error95.value_or(-1)) + "\n";
    }
    return all;
  };
  open(kTight);
  const std::string before = explained();
  EXPECT_NE(before.find("K-norm"), std::string::npos) << before;
  // Other rows, none, and what are no rows at all.
  using namespace std::string_view_literals;
  for (const std::string_view rows : {"1,1,yes\n"sv, ""sv, "\xFF,\"\n\0,,,\n"sv}) {
    std::ofstream(folder_ / "survey.csv") << "score,other,answer\n" << rows;
    EXPECT_EQ(explained(), before) << "explain read the rows";
  }
  EXPECT_EQ(spent(), 0);
}

// What a column holds decides how statements are written: a text where a number was would fail some
// statements for what a row holds.
TEST_F(ChargePathTest, FilesThatChangedTheirColumnsAreRefusedAndFree) {
  open(kTight);
  const auto write = [&](const std::string& rows, const char* file) {
    ASSERT_TRUE(plain_.execute("COPY (" + rows + ") TO " + sql_literal((folder_ / file).string())));
  };
  const auto refused = [&](const char* sql, const char* words) {
    const auto answer = curator_->answer(ask(sql, 0.05));
    ASSERT_FALSE(answer) << sql;
    EXPECT_EQ(answer.error().code, ErrorCode::Unavailable);
    EXPECT_NE(answer.error().message.find(words), std::string::npos) << answer.error().message;
    EXPECT_FALSE(curator_->explain(ask(sql, 0.05)));
    EXPECT_EQ(spent(), 0);
  };
  constexpr char kAges[] = "SELECT sum(age) FROM people";
  const std::string others =
      ", 150::BIGINT AS height, 'F' AS sex, 'Aville' AS town FROM range(50) t(i)";
  write("SELECT i AS person_id, CAST(i AS VARCHAR) AS age" + others, "people.parquet");
  refused(kAges, "columns of table 'people' have changed");
  write("SELECT i AS person_id, i AS years" + others, "people.parquet");
  refused(kAges, "columns of table 'people' have changed");
  std::ofstream(folder_ / "people.parquet") << "not Parquet";
  refused(kAges, "source of table 'people' cannot be read now");
  fs::remove(folder_ / "people.parquet");
  refused(kAges, "source of table 'people' cannot be read now");
  write("SELECT i AS person_id, i AS age" + others, "people.parquet");

  constexpr char kScores[] = "SELECT avg(score) FROM survey";
  write("SELECT i AS other, i AS score, 'no' AS answer FROM range(50) t(i)", "survey.csv");
  refused(kScores, "columns of table 'survey' have changed");
  write("SELECT i AS score, i AS other FROM range(50) t(i)", "survey.csv");
  refused(kScores, "columns of table 'survey' have changed");
  write("SELECT i AS score, i AS other, 'no' AS answer FROM range(50) t(i)", "survey.csv");
  for (const char* sql : {kAges, kScores}) {
    const auto answer = curator_->answer(ask(sql, 0.05));
    EXPECT_TRUE(answer) << answer.error().message;
  }
}

TEST_F(ChargePathTest, APatternsFilesAreLookedAtOneByOne) {
  const auto write = [&](const char* rows, const char* file) {
    ASSERT_TRUE(plain_.execute(fmt::format("COPY (SELECT {} FROM range(50) t(i)) TO {}", rows,
                                           sql_literal((folder_ / file).string()))));
  };
  const std::string policy =
      "[tables.days]\nsource = \"day-*.parquet\"\nunit = \"row\"\n[tables.days.columns]\nv = "
      "{ range = [0, 100] }\n" +
      std::string(kUnlimited);
  write("i::INTEGER AS v", "day-1.parquet");
  write("7 AS more, i::INTEGER AS v", "day-2.parquet");
  open(policy);
  const Question question = ask("SELECT count(*) FROM days", 1'000);
  const auto counted = [&] {
    const auto answer = curator_->answer(question);
    return answer ? answer->rows.at(0).at(0).value_or("") : answer.error().message;
  };
  EXPECT_EQ(counted(), "100");
  write("i::INTEGER AS v", "day-3.parquet");
  EXPECT_EQ(counted(), "150") << "a new file is new data";
  write("'x' || i AS v", "day-4.parquet");
  EXPECT_NE(counted().find("have changed"), std::string::npos) << counted();
  const auto opened = Curator::open(*policy_, clock_, random_, [](std::string_view) {});
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message.find("day-4.parquet' has others"), std::string::npos)
      << opened.error().message;
}

TEST_F(ChargePathTest, AFailureAfterTheChargeLosesTheAnswerAndRepeatsFree) {
  open(kTight);
  {  // rows that cannot be read, below a footer that can
    std::fstream file(folder_ / "people.parquet", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4);
    file << std::string(400, '\xFF');
  }
  const Question question = ask("SELECT sum(age) FROM people", 0.25);
  const auto failed = curator_->answer(question);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::Unavailable);
  EXPECT_DOUBLE_EQ(spent(), 0.25) << "charged before any row is read";
  EXPECT_FALSE(curator_->answer(question));
  EXPECT_DOUBLE_EQ(spent(), 0.25) << "the same failure is not charged twice";
}

}  // namespace
}  // namespace discreet
