// What goes wrong between the curator and Spark: a clear refusal, nothing charged that was not
// tried, nothing charged twice, and a ledger that still adds up.
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "curator/curator.h"
#include "engines/private_groups.h"
#include "engines/spark/engine.h"
#include "engines/spark/spark_server.h"
#include "engines/tcp_proxy.h"
#include "support/seeded_random.h"

namespace discreet::testing {
namespace {

using ::testing::HasSubstr;

constexpr char kToken[] = "SPARK_CONNECT_AUTHENTICATE_TOKEN";

class SparkFaultsTest : public ::testing::Test {
 protected:
  static void make_tables() {
    spark_server().run("DROP DATABASE IF EXISTS faults CASCADE");
    spark_server().run("CREATE DATABASE faults");
    spark_server().run(
        "CREATE TABLE faults.people USING parquet AS SELECT id + 1 AS person, CAST(id % 90 AS INT) "
        "AS age FROM range(20000)");
    spark_server().run(
        "CREATE TABLE faults.visits USING parquet AS SELECT 1 + (id * 7919) % 20000 AS person, "
        "CAST(id % 100 AS INT) AS cost, concat('kind ', id % 7) AS kind FROM range(60000)");
    // More than files: rows that Spark itself has to send.
    spark_server().run("CREATE VIEW faults.some AS SELECT * FROM faults.visits WHERE cost >= 0");
  }
  static void SetUpTestSuite() { make_tables(); }

  void SetUp() override {
    char name[] = "/tmp/discreet_faults_XXXXXX";
    folder_ = mkdtemp(name);
  }
  void TearDown() override {
    curator_.reset();
    std::filesystem::remove_all(folder_);
  }

  /// `options` of the address: "?files=sent".
  Result<Curator*> open(int port = 0, const std::string& visits = "faults.visits",
                        const std::string& options = "") {
    std::ofstream(folder_ + "/policy.toml") << fmt::format(
        R"(
[tables.people]
source = "{}"
unit = "person"
max_rows_per_unit = 1
[tables.people.columns]
age = {{ range = [0, 120] }}
[tables.visits]
source = "{}"
unit = "person -> people.person"
[tables.visits.columns]
cost = {{ range = [0, 100] }}
[budgets.default]
epsilon = 100
delta = 1e-3
)",
        spark_server().address("faults.people" + options, port),
        spark_server().address(visits + options, port));
    policy_.emplace(catalog::Policy::load(folder_ + "/policy.toml").value());
    auto opened = Curator::open(*policy_, clock_, random_,
                                [this](std::string_view words) { log_ += std::string(words); });
    if (!opened) return opened.error();
    curator_.emplace(*std::move(opened));
    return &*curator_;
  }
  static Question ask(const std::string& sql, double epsilon = 1) {
    Question question;
    question.sql = sql;
    question.account = "default";
    question.epsilon = Epsilon::make(epsilon).value();
    return question;
  }
  /// Copies of Spark's files that this process holds, and how many bytes of them there are.
  static std::pair<int, std::uintmax_t> copies_held() {
    std::pair<int, std::uintmax_t> held;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code gone;
      const auto file = std::filesystem::read_symlink(entry, gone).string();
      struct stat is{};
      if (file.find("/discreet-") == std::string::npos || !file.ends_with(" (deleted)") ||
          stat(entry.path().c_str(), &is) != 0)
        continue;
      ++held.first;
      held.second += static_cast<std::uintmax_t>(is.st_blocks) * 512;
    }
    return held;
  }
  double spent() { return curator_->balance("default")->spent.epsilon.value(); }
  void expect_ledger_adds_up(std::uint64_t charges) {
    const auto verified = curator_->ledger().verify();
    ASSERT_TRUE(verified) << verified.error().message;
    EXPECT_EQ(verified->charges, charges);
  }

  std::string folder_, log_;
  SystemClock clock_;
  SeededRandom random_{7};
  std::optional<catalog::Policy> policy_;
  std::optional<Curator> curator_;
};

TEST_F(SparkFaultsTest, AWholeQuestionIsAnsweredFromSpark) {
  const auto opened = open();
  ASSERT_TRUE(opened) << opened.error().message << log_;
  const auto answer = curator_->answer(ask("SELECT count(*), avg(age) FROM people", 10));
  ASSERT_TRUE(answer) << answer.error().message << log_;
  EXPECT_NEAR(std::stod(*answer->rows[0][0]), 20'000, 20);
  EXPECT_NEAR(std::stod(*answer->rows[0][1]), 44.5, 1);
  const auto sums =
      curator_->answer(ask("SELECT kind, sum(cost) FROM visits GROUP BY kind ORDER BY kind", 10));
  ASSERT_TRUE(sums) << sums.error().message << log_;
  EXPECT_EQ(sums->rows.size(), 7U);
  const auto again = curator_->answer(ask("SELECT count(*), avg(age) FROM people", 10));
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->repeated);
  // New files are another state, and another question.
  spark_server().run("INSERT INTO faults.people SELECT 20001, 5");
  const auto anew = curator_->answer(ask("SELECT count(*), avg(age) FROM people", 10));
  ASSERT_TRUE(anew) << anew.error().message << log_;
  EXPECT_FALSE(anew->repeated);
  expect_ledger_adds_up(3);
}

TEST_F(SparkFaultsTest, AWrongPortAndAMissingTableAreRefused) {
  const auto nobody = open(1);
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().code, ErrorCode::Unavailable);
  EXPECT_THAT(nobody.error().message, HasSubstr("cannot be reached"));
  const auto missing = open(0, "faults.nothing");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::NotFound);
}

TEST_F(SparkFaultsTest, ATableThatChangedItsColumnsIsRefusedBeforeTheCharge) {
  spark_server().run("CREATE TABLE faults.drifting USING parquet AS SELECT * FROM faults.visits");
  ASSERT_TRUE(open(0, "faults.drifting"));
  ASSERT_TRUE(curator_->answer(ask("SELECT sum(cost) FROM visits"))) << log_;
  spark_server().run("DROP TABLE faults.drifting");
  spark_server().run(
      "CREATE TABLE faults.drifting USING parquet AS SELECT person, cost AS price, kind FROM "
      "faults.visits");
  for (const char* sql : {"SELECT sum(cost) FROM visits", "SELECT count(*) FROM visits"}) {
    const auto answer = curator_->answer(ask(sql));
    ASSERT_FALSE(answer);
    EXPECT_THAT(answer.error().message, HasSubstr("columns of table 'visits' have changed"));
  }
  spark_server().run("DROP TABLE faults.drifting");
  EXPECT_FALSE(curator_->answer(ask("SELECT count(*) FROM visits")));
  EXPECT_DOUBLE_EQ(spent(), 1);
  expect_ledger_adds_up(1);
}

TEST_F(SparkFaultsTest, BackendWordsStayInTheLog) {
  auto engine = SparkEngine::open(
      spark::Address::parse(spark_server().address()).value(),
      {.operator_log = [this](std::string_view words) { log_ += std::string(words); }});
  ASSERT_TRUE(engine);
  const auto failed = (*engine)->query("SELECT raise_error(concat('row value ', 40 + 2))");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message.find("row value"), std::string::npos);
  EXPECT_THAT(log_, HasSubstr("row value 42"));
}

TEST_F(SparkFaultsTest, CancellingStopsTheStatementAtTheServer) {
  auto engine = SparkEngine::open(spark::Address::parse(spark_server().address()).value(), {});
  ASSERT_TRUE(engine);
  std::thread canceller([&] {
    std::this_thread::sleep_for(std::chrono::seconds(2));
    (*engine)->cancel();
  });
  const auto begin = std::chrono::steady_clock::now();
  // Hours of work if nobody stops it.
  const auto rows = (*engine)->query(
      "SELECT count(*) FROM range(10000000000) a, range(1000000) b WHERE a.id * b.id % 7 = 3");
  canceller.join();
  ASSERT_FALSE(rows);
  EXPECT_THAT(rows.error().message, HasSubstr("cancelled"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::minutes(5));
  // The session still works, and both executors are free again.
  EXPECT_TRUE((*engine)->query("SELECT count(*) FROM range(100)"));
}

TEST_F(SparkFaultsTest, CancellingStopsTheReadingOfFilesAndNothingIsReadInstead) {
  spark_server().run(
      "CREATE TABLE faults.much USING parquet AS SELECT 1 + (id * 7919) % 20000 AS person, CAST(id "
      "% "
      "100 AS INT) AS cost FROM range(10000000)");
  ASSERT_TRUE(open(0, "faults.much")) << log_;
  std::stop_source stop;
  curator_->stop_with(stop.get_token());
  std::thread stopper([&] {
    // Charged: from then on it reads.
    while (spent() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    stop.request_stop();
  });
  // Some seconds of reading.
  const Question question = ask(
      "SELECT sum(cost) FROM visits WHERE exp(cost / 100.0) * ln(cost + 2.0) + exp(cost / 90.0) + "
      "ln(cost + 3.0) * exp(cost / 80.0) < 1000000");
  const auto answer = curator_->answer(question);
  stopper.join();
  curator_->stop_with({});
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("not charged twice"));
  // Asked again it is answered, for the same charge.
  const auto again = curator_->answer(question);
  ASSERT_TRUE(again) << again.error().message << log_;
  expect_ledger_adds_up(1);
}

TEST_F(SparkFaultsTest, AWrongTokenIsRefused) {
  const auto address = spark::Address::parse(spark_server().address()).value();
  const std::string right = std::getenv(kToken);
  setenv(kToken, "a-wrong-one", 1);
  const auto opened = open();
  const auto engine = SparkEngine::open(address, {});
  setenv(kToken, right.c_str(), 1);
  ASSERT_FALSE(engine);
  EXPECT_THAT(engine.error().message, HasSubstr(kToken));
  ASSERT_FALSE(opened);
  EXPECT_EQ((opened.error().message + log_).find("a-wrong-one"), std::string::npos);
  ASSERT_TRUE(open()) << log_;
  ASSERT_TRUE(curator_->answer(ask("SELECT count(*) FROM people"))) << log_;
  expect_ledger_adds_up(1);
  // Nor does it go anywhere in the clear.
  const auto far = SparkEngine::open(spark::Address::parse("spark://spark.invalid:1").value(), {});
  ASSERT_FALSE(far);
  EXPECT_EQ(far.error().code, ErrorCode::Refused);
  EXPECT_THAT(far.error().message, HasSubstr("use_ssl=true"));
}

TEST_F(SparkFaultsTest, ATwinOfATableThereCanBeMade) {
  ASSERT_TRUE(open()) << log_;
  const auto made = curator_->answer(
      ask("CREATE TABLE twin AS SYNTHESIZE people WITH (epsilon = 2, fast = true)"));
  ASSERT_TRUE(made) << made.error().message << log_;
  const auto ages = curator_->answer(ask("SELECT count(*) FROM twin"));
  ASSERT_TRUE(ages) << ages.error().message;
  EXPECT_NEAR(std::stod(*ages->rows[0][0]), 20'000, 100);
  EXPECT_DOUBLE_EQ(spent(), 2);
}

TEST_F(SparkFaultsTest, AConnectionCutWhileSumsComeInIsTriedAgainWithOneCharge) {
  TcpProxy proxy(spark_server().port());
  const auto opened = open(proxy.port(), "faults.some");
  ASSERT_TRUE(opened) << opened.error().message << log_;
  proxy.slow_down(5);
  ASSERT_TRUE(curator_->answer(ask("SELECT count(*) FROM people"))) << log_;
  proxy.slow_down(0);
  proxy.cut_after(100'000);  // in the middle of the sums of 20,000 people
  const auto answer =
      curator_->answer(ask("SELECT kind, sum(cost) FROM visits GROUP BY kind ORDER BY kind"));
  ASSERT_TRUE(answer) << answer.error().message << log_;
  EXPECT_EQ(answer->rows.size(), 7U);
  expect_ledger_adds_up(2);
}

TEST_F(SparkFaultsTest, FilesThatWereSentAnswerTheSame) {
  ASSERT_TRUE(open(0, "faults.visits", "?files=sent")) << log_;
  ASSERT_EQ(copies_held().first, 0);
  double last = 0;
  for (const double epsilon : {20, 21, 22}) {
    const auto sums = curator_->answer(ask("SELECT sum(cost), count(*) FROM visits", epsilon));
    ASSERT_TRUE(sums) << sums.error().message << log_;
    EXPECT_NEAR(std::stod(*sums->rows[0][0]), 2'970'000, 3000);
    EXPECT_NEAR(std::stod(*sums->rows[0][1]), 60'000, 60);
    EXPECT_NE(std::stod(*sums->rows[0][0]), last);
    last = std::stod(*sums->rows[0][0]);
    EXPECT_GT(copies_held().first, 0);
  }
  curator_.reset();
  EXPECT_EQ(copies_held().first, 0);
}

TEST_F(SparkFaultsTest, WhatSparkAddsUpAtOnceIsSentWhenItIsAskedAgain) {
  ASSERT_TRUE(open(0, "faults.visits", "?files=sent")) << log_;
  for (const int time : {0, 1, 2}) {
    const auto average = curator_->answer(ask(
        "SELECT avg(oldest) FROM (SELECT person, max(age) AS oldest FROM people GROUP BY person) "
        "AS p",
        20 + time));
    ASSERT_TRUE(average) << average.error().message << log_;
    EXPECT_NEAR(std::stod(*average->rows[0][0]), 44.5, 1);
    EXPECT_EQ(copies_held().first > 0, time > 0);
  }
}

TEST_F(SparkFaultsTest, AConnectionCutWhileFilesComeInIsTriedAgainWithOneCharge) {
  TcpProxy proxy(spark_server().port());
  ASSERT_TRUE(open(proxy.port(), "faults.visits", "?files=sent")) << log_;
  // In the middle of the files' ends, of which nothing is kept, and of their columns.
  proxy.cut_after(30'000);
  const auto first = curator_->answer(ask("SELECT sum(cost) FROM visits"));
  ASSERT_TRUE(first) << first.error().message << log_;
  const auto ends_and_more = copies_held();
  EXPECT_GT(ends_and_more.first, 0);
  proxy.cut_after(60'000);
  const auto second = curator_->answer(ask("SELECT kind, sum(cost) FROM visits GROUP BY kind"));
  ASSERT_TRUE(second) << second.error().message << log_;
  EXPECT_EQ(second->rows.size(), 7U);
  EXPECT_GE(copies_held().second, ends_and_more.second);
  expect_ledger_adds_up(2);
}

TEST_F(SparkFaultsTest, WhereNoFileCanBeMadeRowsComeInstead) {
  const std::string before = std::getenv("TMPDIR") == nullptr ? "/tmp" : std::getenv("TMPDIR");
  setenv("TMPDIR", "/nowhere/at/all", 1);
  const auto opened = open(0, "faults.visits", "?files=sent");
  const auto sums = opened ? curator_->answer(ask("SELECT sum(cost) FROM visits", 20))
                           : Result<Answer>(opened.error());
  setenv("TMPDIR", before.c_str(), 1);
  ASSERT_TRUE(sums) << sums.error().message << log_;
  EXPECT_NEAR(std::stod(*sums->rows[0][0]), 2'970'000, 3000);
  EXPECT_EQ(copies_held().first, 0);
  expect_ledger_adds_up(1);
}

TEST_F(SparkFaultsTest, CancellingStopsTheSendingOfFiles) {
  spark_server().run(
      "CREATE TABLE IF NOT EXISTS faults.long USING parquet AS SELECT id AS person, "
      "CAST(xxhash64(id) % 100 AS INT) AS cost FROM range(10000000)");
  TcpProxy proxy(spark_server().port());
  ASSERT_TRUE(open(proxy.port(), "faults.long", "?files=sent")) << log_;
  std::stop_source stop;
  curator_->stop_with(stop.get_token());
  proxy.slow_down(20);  // a minute for the columns
  std::thread stopper([&] {
    while (spent() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    stop.request_stop();
  });
  const Question question = ask("SELECT sum(cost) FROM visits");
  const auto begin = std::chrono::steady_clock::now();
  const auto answer = curator_->answer(question);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  stopper.join();
  curator_->stop_with({});
  proxy.slow_down(0);
  ASSERT_FALSE(answer) << "in " << took.count() << " s";
  EXPECT_THAT(answer.error().message, HasSubstr("not charged twice"));
  const auto again = curator_->answer(question);
  ASSERT_TRUE(again) << again.error().message << log_;
  expect_ledger_adds_up(1);
}

TEST_F(SparkFaultsTest, AStreamThatIsLeftEarlyLeavesTheSessionUsable) {
  auto engine = SparkEngine::open(spark::Address::parse(spark_server().address()).value(), {});
  ASSERT_TRUE(engine);
  {
    auto rows = (*engine)->query("SELECT id, repeat('x', 100) FROM range(2000000)");
    ASSERT_TRUE(rows);
    const auto chunk = rows->next();
    ASSERT_TRUE(chunk && chunk->has_value());
    EXPECT_GT((*chunk)->size(), 0U);
  }
  auto next = (*engine)->query("SELECT count(*) FROM range(100)");
  ASSERT_TRUE(next);
  const auto chunk = next->next();
  ASSERT_TRUE(chunk && chunk->has_value());
  EXPECT_EQ((*chunk)->int128(0, 0), Int128{100});
}

TEST_F(SparkFaultsTest, AMillionPrivateGroupsAreNotHeld) {
  spark_server().run(
      "CREATE TABLE faults.groups USING parquet AS SELECT IF(id < 20000, 0, id) AS key FROM "
      "range(1000000)");
  // One batch is a few megabytes, in gRPC's buffers and here.
  expect_private_groups_not_held(spark_server().address("faults.groups"), folder_, clock_, random_,
                                 100);
}

/// Last: the server's catalog is gone afterwards.
// Over 60,000 rows: at once, in several goes (some 300 kB of files), and in too many.
TEST_F(SparkFaultsTest, RowsThatComeInSeveralGoesAreTheRows) {
  std::map<std::pair<std::int64_t, std::int64_t>, int> expected;
  for (std::int64_t id = 0; id < 60000; ++id) ++expected[{1 + id * 7919 % 20000, id % 100}];
  for (const double bytes : {1e9, 65536.0, 1.0}) {
    SparkEngineSettings settings;
    settings.bytes_at_once = bytes;
    const auto engine =
        SparkEngine::open(spark::Address::parse(spark_server().address()).value(), settings)
            .value();
    std::map<std::pair<std::int64_t, std::int64_t>, int> seen;
    const auto visited =
        engine->visit("SELECT person AS unit, CAST(cost AS SMALLINT) AS q1 FROM faults.visits",
                      {"unit", "q1"}, [&](const EngineChunk& chunk, std::size_t) {
                        for (std::size_t row = 0; row < chunk.size(); ++row)
                          ++seen[{chunk.int64s(0)[row], chunk.int64s(1)[row]}];
                        return true;
                      });
    ASSERT_TRUE(visited.has_value());
    EXPECT_EQ(visited->stopped, bytes == 1.0);
    EXPECT_EQ(visited->rows, bytes == 1.0 ? 0u : 60000u);
    if (!visited->stopped) {
      EXPECT_EQ(seen, expected);
    }
  }
}

TEST_F(SparkFaultsTest, XAServerKilledInMidQuestionIsARefusalWithOneCharge) {
  ASSERT_TRUE(open());
  ASSERT_TRUE(curator_->answer(ask("SELECT count(*) FROM people"))) << log_;
  std::thread killer([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    spark_server().kill();
  });
  // Whether before or after the charge: an answer, or a refusal, and a ledger that adds up.
  const auto answer =
      curator_->answer(ask("SELECT count(*) FROM visits v JOIN visits w ON v.person = w.person "
                           "WHERE v.cost + w.cost < 9"));
  killer.join();
  const double after = spent();
  EXPECT_LE(after, 2);
  if (!answer) {
    EXPECT_EQ(answer.error().code, ErrorCode::Unavailable);
    EXPECT_EQ(answer.error().message.find("Exception"), std::string::npos);
  }
  const auto none = curator_->answer(ask("SELECT count(*) FROM visits"));
  ASSERT_FALSE(none);
  EXPECT_DOUBLE_EQ(spent(), after);
  expect_ledger_adds_up(after > 1 ? 2 : 1);
  // Back again: the same curator goes on, and a charge made before is used, not repeated.
  spark_server().start();
  make_tables();
  ASSERT_TRUE(curator_->answer(ask("SELECT count(*) FROM visits"))) << log_;
  expect_ledger_adds_up(after > 1 ? 3 : 2);
}

}  // namespace
}  // namespace discreet::testing
