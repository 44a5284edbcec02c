// What goes wrong between the curator and PostgreSQL: a clear refusal, nothing charged that was not
// tried, nothing charged twice, and a ledger that still adds up.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "curator/curator.h"
#include "engines/postgres/engine.h"
#include "engines/postgres_server.h"
#include "engines/private_groups.h"
#include "engines/tcp_proxy.h"
#include "support/seeded_random.h"

namespace discreet::testing {
namespace {

using ::testing::HasSubstr;

constexpr int kPeople = 20'000;

class FaultsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    postgres_server().run(fmt::format(R"(
      DROP SCHEMA IF EXISTS faults CASCADE; CREATE SCHEMA faults;
      DROP ROLE IF EXISTS reader; CREATE ROLE reader LOGIN PASSWORD 'secret-word';
      CREATE TABLE faults.people AS SELECT i AS person, i % 90 AS age, 'town ' || i % 50 AS town
        FROM generate_series(1, {0}) i;
      CREATE TABLE faults.visits AS SELECT 1 + (i * 7919) % {0} AS person, i % 100 AS cost, 'kind ' || i % 7 AS kind
        FROM generate_series(1, {0} * 3) i;
      CREATE TABLE faults.odd AS SELECT 1 + i % {0} AS person, CASE WHEN i < 20000 THEN i % 100 ELSE i END AS cost,
        'kind ' || i % 7 AS kind FROM generate_series(0, {0} * 3 - 1) i;
      CREATE VIEW faults.held AS SELECT v.* FROM faults.visits v, (SELECT pg_advisory_xact_lock_shared(7)) AS waits;
      GRANT USAGE ON SCHEMA faults TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA faults TO reader;)",
                                      kPeople));
  }

  void SetUp() override {
    char name[] = "/tmp/discreet_faults_XXXXXX";
    folder_ = mkdtemp(name);
    std::ofstream(folder_ + "/pass") << "*:*:*:reader:secret-word\n";
    std::filesystem::permissions(folder_ + "/pass", std::filesystem::perms(0600));
    setenv("PGPASSFILE", (folder_ + "/pass").c_str(), 1);
  }
  void TearDown() override {
    curator_.reset();
    std::filesystem::remove_all(folder_);
  }

  /// `address` takes a table's name.
  template <class AddressOf>
  Result<Curator*> open(const AddressOf& address, const std::string& extra = "") {
    std::ofstream(folder_ + "/policy.toml")
        << fmt::format(R"(
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
{}
)",
                       address("faults.people"), address("faults.visits"), extra);
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
  /// Statements about faults.held, which are planned and then wait until this is gone.
  static postgres::Connection hold() {
    auto holding = postgres::Connection::open(
        postgres::Address::parse(postgres_server().address()).value(), postgres::Settings{});
    DISCREET_CHECK(holding && holding->execute("SELECT pg_advisory_lock(7)"), "no lock");
    return *std::move(holding);
  }
  static void wait_until_held() {
    for (int i = 0; i < 1000; ++i) {
      const auto waiting = postgres_server().run("SELECT count(*) FROM pg_locks WHERE NOT granted");
      if (waiting.bytes(0, 0) != "0") return;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
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

const auto kBySocket = [](const std::string& table) { return postgres_server().address(table); };

const auto kHeld = [](const std::string& table) {
  return postgres_server().address(table == "faults.visits" ? "faults.held" : table);
};

TEST_F(FaultsTest, AWholeQuestionIsAnsweredFromPostgres) {
  ASSERT_TRUE(open(kBySocket));
  const auto answer = curator_->answer(ask("SELECT count(*), avg(age) FROM people", 10));
  ASSERT_TRUE(answer) << answer.error().message << log_;
  EXPECT_NEAR(std::stod(*answer->rows[0][0]), kPeople, 20);
  EXPECT_NEAR(std::stod(*answer->rows[0][1]), 44.5, 1);
  const auto sums =
      curator_->answer(ask("SELECT kind, sum(cost) FROM visits GROUP BY kind ORDER BY kind", 10));
  ASSERT_TRUE(sums) << sums.error().message << log_;
  EXPECT_EQ(sums->rows.size(), 7U);
  // Asked again it is free, while nothing has been written to the tables.
  const auto again = curator_->answer(ask("SELECT count(*), avg(age) FROM people", 10));
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->repeated);
  EXPECT_EQ(again->rows, answer->rows);
  expect_ledger_adds_up(2);
}

// Keys that nobody listed have no room in the short form of rows: what was begun is left, and the
// question goes on in the same snapshot.
TEST_F(FaultsTest, RowsThatAreGivenUpOnTheWayAreReadAgain) {
  for (const std::string rows : {"sent", "summed"}) {
    SCOPED_TRACE(rows);
    ASSERT_TRUE(open([&](const std::string& table) {
      return postgres_server().address(table == "faults.visits" ? "faults.odd" : table) +
             "&rows=" + rows;
    }));
    for (const char* sql : {"SELECT cost, count(*) FROM visits GROUP BY cost ORDER BY cost",
                            "SELECT cost, count(*), avg(cost) FROM visits GROUP BY cost "
                            "ORDER BY cost"}) {
      const auto answer = curator_->answer(ask(sql, 10));
      ASSERT_TRUE(answer) << sql << answer.error().message << log_;
      ASSERT_EQ(answer->rows.size(), 101U);
      EXPECT_NEAR(std::stod(*answer->rows[7][1]), 200, 60) << sql;
    }
    curator_.reset();
    std::filesystem::remove(folder_ + "/ledger.sqlite");
  }
}

TEST_F(FaultsTest, ChangedRowsAreAnotherQuestion) {
  ASSERT_TRUE(open(kBySocket));
  const std::string sql = "SELECT count(*) FROM visits";
  ASSERT_TRUE(curator_->answer(ask(sql)));
  postgres_server().run(
      "INSERT INTO faults.visits VALUES (1, 1, 'kind 1'); SELECT pg_stat_force_next_flush()");
  bool repeated = true;
  for (int i = 0; i < 50 && repeated; ++i) {  // the server's statistics come a little late
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const auto answer = curator_->answer(ask(sql));
    ASSERT_TRUE(answer);
    repeated = answer->repeated;
  }
  EXPECT_FALSE(repeated);
  expect_ledger_adds_up(2);
}

TEST_F(FaultsTest, AWrongPasswordIsRefusedAndNotRepeated) {
  std::ofstream(folder_ + "/pass") << "*:*:*:reader:wrong-word\n";
  const auto opened = open([](const std::string& table) {
    return postgres_server().tcp_address("reader", table, postgres_server().port());
  });
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::Unavailable);
  EXPECT_THAT(opened.error().message, HasSubstr("password"));
  EXPECT_EQ((opened.error().message + log_).find("wrong-word"), std::string::npos);
}

TEST_F(FaultsTest, APasswordInThePolicyIsRefused) {
  const auto opened = open([](const std::string& table) {
    return fmt::format("postgres://reader:secret-word@127.0.0.1:{}/postgres?table={}",
                       postgres_server().port(), table);
  });
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("PGPASSFILE"));
  EXPECT_EQ((opened.error().message + log_).find("secret-word"), std::string::npos);
}

TEST_F(FaultsTest, TheServerItselfRefusesWrites) {
  ASSERT_TRUE(open(kBySocket));
  auto engine =
      PostgresEngine::open(postgres::Address::parse(postgres_server().address()).value(), {});
  ASSERT_TRUE(engine);
  EXPECT_FALSE((*engine)->query("INSERT INTO faults.visits VALUES (1, 1, 'x') RETURNING 1"));
  ASSERT_TRUE((*engine)->begin());
  EXPECT_FALSE((*engine)->query("DELETE FROM faults.visits RETURNING 1"));
}

TEST_F(FaultsTest, ATableThatChangedItsColumnsIsRefusedBeforeTheCharge) {
  postgres_server().run("CREATE TABLE faults.drifting AS SELECT * FROM faults.visits");
  ASSERT_TRUE(open([](const std::string& table) {
    return postgres_server().address(table == "faults.visits" ? "faults.drifting" : table);
  }));
  ASSERT_TRUE(curator_->answer(ask("SELECT sum(cost) FROM visits")));
  postgres_server().run("ALTER TABLE faults.drifting RENAME COLUMN cost TO price");
  for (const char* sql : {"SELECT sum(cost) FROM visits", "SELECT count(*) FROM visits"}) {
    const auto answer = curator_->answer(ask(sql));
    ASSERT_FALSE(answer);
    EXPECT_THAT(answer.error().message, HasSubstr("columns of table 'visits' have changed"));
  }
  postgres_server().run("DROP TABLE faults.drifting");
  EXPECT_FALSE(curator_->answer(ask("SELECT count(*) FROM visits")));
  EXPECT_DOUBLE_EQ(spent(), 1);
  expect_ledger_adds_up(1);
}

TEST_F(FaultsTest, AConnectionCutBetweenQuestionsIsMadeAnew) {
  ASSERT_TRUE(open(kBySocket));
  ASSERT_TRUE(curator_->answer(ask("SELECT count(*) FROM people")));
  postgres_server().run(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'discreet' "
      "AND pid <> pg_backend_pid()");
  const auto answer = curator_->answer(ask("SELECT count(*) FROM visits"));
  ASSERT_TRUE(answer) << answer.error().message << log_;
  expect_ledger_adds_up(2);
}

TEST_F(FaultsTest, AConnectionCutInTheMiddleOfTheRowsIsTriedAgainForTheSamePrice) {
  TcpProxy proxy(postgres_server().port());
  ASSERT_TRUE(open([&](const std::string& table) {
    return postgres_server().tcp_address("reader", table, proxy.port());
  })) << log_;
  const int before = proxy.connections();
  proxy.cut_after(100'000);  // of the half a megabyte that the partial sums take
  const auto answer = curator_->answer(ask("SELECT kind, sum(cost) FROM visits GROUP BY kind"));
  ASSERT_TRUE(answer) << answer.error().message << log_;
  EXPECT_GT(proxy.connections(), before);
  EXPECT_DOUBLE_EQ(spent(), 1);
  expect_ledger_adds_up(1);
}

TEST_F(FaultsTest, ASlowNetworkOnlyTakesLonger) {
  TcpProxy proxy(postgres_server().port());
  ASSERT_TRUE(open([&](const std::string& table) {
    return postgres_server().tcp_address("reader", table, proxy.port());
  }));
  proxy.slow_down(2);
  const auto answer = curator_->answer(ask("SELECT count(*), sum(age) FROM people"));
  ASSERT_TRUE(answer) << answer.error().message << log_;
  expect_ledger_adds_up(1);
}

TEST_F(FaultsTest, AServerThatDiesAfterTheChargeLosesTheAnswerAndNotTheMoney) {
  ASSERT_TRUE(open(kHeld));
  // The statement, which runs after the charge, waits; then the server is gone.
  const auto holding = hold();
  const Question question = ask("SELECT kind, sum(cost) FROM visits GROUP BY kind");
  std::thread killer([] {
    wait_until_held();
    postgres_server().kill();
  });
  const auto answer = curator_->answer(question);
  killer.join();
  ASSERT_FALSE(answer);
  std::cout << answer.error().message << "\n";
  EXPECT_EQ(answer.error().code, ErrorCode::Unavailable);
  EXPECT_EQ(answer.error().message.find("town"), std::string::npos);
  EXPECT_THAT(answer.error().message, HasSubstr("not charged twice"));
  EXPECT_DOUBLE_EQ(spent(), 1);
  // While it is down, questions are refused before they cost anything.
  const auto refused = curator_->answer(ask("SELECT count(*) FROM people"));
  ASSERT_FALSE(refused);
  EXPECT_DOUBLE_EQ(spent(), 1);
  postgres_server().start();
  const auto again = curator_->answer(question);
  ASSERT_TRUE(again) << again.error().message << log_;
  EXPECT_DOUBLE_EQ(spent(), 1);
  expect_ledger_adds_up(1);
}

TEST_F(FaultsTest, CancellingReachesTheServer) {
  auto engine =
      PostgresEngine::open(postgres::Address::parse(postgres_server().address()).value(), {});
  ASSERT_TRUE(engine);
  std::thread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    (*engine)->cancel();
  });
  const auto begin = std::chrono::steady_clock::now();
  const auto rows = (*engine)->query("SELECT CAST(count(*) AS bigint) FROM pg_sleep(30)");
  canceller.join();
  EXPECT_FALSE(rows);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  EXPECT_FALSE((*engine)->was_lost());
  const auto active = postgres_server().run(
      "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE "
      "'%pg_sleep(30)%' "
      "AND pid <> pg_backend_pid()");
  EXPECT_EQ(active.bytes(0, 0), "0");
  EXPECT_TRUE((*engine)->query("SELECT 1"));
}

TEST_F(FaultsTest, AQuestionThatIsStoppedIsStoppedAtTheServerForOnePrice) {
  ASSERT_TRUE(open(kHeld));
  const Question question = ask("SELECT kind, sum(cost) FROM visits GROUP BY kind");
  std::stop_source stop;
  curator_->stop_with(stop.get_token());
  auto holding = std::optional(hold());
  std::thread stopper([&] {
    wait_until_held();
    stop.request_stop();
  });
  const auto answer = curator_->answer(question);
  stopper.join();
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("not charged twice"));
  const auto waiting = postgres_server().run("SELECT count(*) FROM pg_locks WHERE NOT granted");
  EXPECT_EQ(waiting.bytes(0, 0), "0") << "the server still works for nobody";
  EXPECT_DOUBLE_EQ(spent(), 1);
  // One that is stopped before it is charged costs nothing.
  const auto other = curator_->answer(ask("SELECT count(*) FROM visits"));
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("Nothing was charged"));
  EXPECT_DOUBLE_EQ(spent(), 1);
  // It was asked for once.
  curator_->stop_with({});
  holding.reset();
  const auto again = curator_->answer(question);
  ASSERT_TRUE(again) << again.error().message << log_;
  EXPECT_DOUBLE_EQ(spent(), 1);
  expect_ledger_adds_up(1);
}

TEST_F(FaultsTest, AStandbyWhoseRowsChangedHasAnotherState) {
  PostgresServer standby(postgres_server());
  const auto engine =
      PostgresEngine::open(postgres::Address::parse(standby.address()).value(), {}).value();
  const std::string people = R"("faults"."people")";
  const std::string before = engine->identity(people).value();
  EXPECT_EQ(engine->identity(people).value(), before);
  postgres_server().run("UPDATE faults.people SET age = age");
  const auto sent = postgres_server().run("SELECT CAST(pg_current_wal_lsn() AS text)");
  bool is_there = false;
  for (int i = 0; i < 600 && !is_there; ++i) {
    is_there = standby
                   .run(fmt::format("SELECT pg_last_wal_replay_lsn() >= CAST('{}' AS pg_lsn)",
                                    sent.bytes(0, 0)))
                   .bytes(0, 0) == "t";
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  ASSERT_TRUE(is_there);
  EXPECT_NE(engine->identity(people).value(), before);
}

TEST_F(FaultsTest, ARightThatWasTakenAwayRefusesAQuestionThatWasExplained) {
  const auto as_reader = [](const std::string& table) {
    return postgres_server().tcp_address("reader", table, postgres_server().port());
  };
  ASSERT_TRUE(open(as_reader)) << log_;
  const Question question = ask("SELECT count(*) FROM people");
  ASSERT_TRUE(curator_->explain(question));
  postgres_server().run("REVOKE SELECT ON faults.people FROM reader");
  const auto refused = curator_->answer(question);
  postgres_server().run("GRANT SELECT ON faults.people TO reader");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("grant SELECT"));
  EXPECT_DOUBLE_EQ(spent(), 0);
  ASSERT_TRUE(curator_->answer(question)) << log_;
  expect_ledger_adds_up(1);
}

TEST_F(FaultsTest, ATwinOfATableThereCanBeMade) {
  ASSERT_TRUE(open(kBySocket));
  const auto made = curator_->answer(
      ask("CREATE TABLE twin AS SYNTHESIZE people WITH (epsilon = 2, fast = true)"));
  ASSERT_TRUE(made) << made.error().message << log_;
  const auto ages = curator_->answer(ask("SELECT count(*), min(age), max(age) FROM twin"));
  ASSERT_TRUE(ages) << ages.error().message;
  EXPECT_NEAR(std::stod(*ages->rows[0][0]), kPeople, 100);
  EXPECT_GE(std::stod(*ages->rows[0][1]), 0);
  EXPECT_LE(std::stod(*ages->rows[0][2]), 120);
  EXPECT_DOUBLE_EQ(spent(), 2);
}

TEST_F(FaultsTest, AStatementHasATimeLimit) {
  PostgresEngineSettings settings;
  settings.statement_timeout_s = 1;
  auto engine =
      PostgresEngine::open(postgres::Address::parse(postgres_server().address()).value(), settings);
  ASSERT_TRUE(engine);
  const auto rows = (*engine)->query("SELECT CAST(count(*) AS bigint) FROM pg_sleep(30)");
  ASSERT_FALSE(rows);
  EXPECT_THAT(rows.error().message, HasSubstr("longer than allowed"));
}

TEST_F(FaultsTest, AStreamThatIsLeftEarlyStopsAtTheServer) {
  auto engine =
      PostgresEngine::open(postgres::Address::parse(postgres_server().address()).value(), {});
  ASSERT_TRUE(engine);
  {
    auto rows = (*engine)->query("SELECT generate_series(1, 1000000000)");
    ASSERT_TRUE(rows);
    ASSERT_TRUE(rows->next());
  }
  EXPECT_TRUE((*engine)->query("SELECT 1"));
}

std::size_t resident_mib() {
  std::ifstream file("/proc/self/statm");
  std::size_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) >> 20;
}

TEST_F(FaultsTest, AMillionRowsTakeTheMemoryOfAChunk) {
  auto engine =
      PostgresEngine::open(postgres::Address::parse(postgres_server().address()).value(), {});
  ASSERT_TRUE(engine);
  // Held as a whole they would take some 200 MiB.
  auto rows =
      (*engine)->query("SELECT generate_series(1, 1000000), repeat('x', 100), CAST(7 AS numeric)");
  ASSERT_TRUE(rows);
  const std::size_t before = resident_mib();
  std::size_t most = before, count = 0;
  for (;;) {
    const auto chunk = rows->next();
    ASSERT_TRUE(chunk);
    if (!chunk->has_value()) break;
    count += (*chunk)->size();
    most = std::max(most, resident_mib());
  }
  std::cout << count << " rows, " << most - before << " MiB more\n";
  EXPECT_EQ(count, 1'000'000U);
  EXPECT_LT(most - before, 30U);
}

TEST_F(FaultsTest, AMillionPrivateGroupsAreNotHeld) {
  postgres_server().run(
      "CREATE OR REPLACE VIEW faults.groups AS SELECT CAST(CASE WHEN i <= 20000 THEN 0 ELSE i END "
      "AS bigint) AS key FROM generate_series(1, 1000000) i");
  expect_private_groups_not_held(postgres_server().address("faults.groups"), folder_, clock_,
                                 random_, 40);
}

}  // namespace
}  // namespace discreet::testing
