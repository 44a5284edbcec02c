// The ledger in PostgreSQL: the same chain, no overspending when curators race, and no receipt lost
// when a curator or the server dies.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "engines/postgres_server.h"
#include "ledger/ledger.h"
#include "ledger/users.h"
#include "support/seeded_random.h"

namespace discreet::testing {
namespace {

using ledger::Charge;
using ledger::FilterKind;
using ledger::Ledger;
using ledger::Price;
using ::testing::HasSubstr;

Epsilon eps(double value) {
  return Epsilon::make(value).value();
}

Charge ask(const std::string& account, const std::string& question, double epsilon) {
  const LossEvent loss = loss::Pure{eps(epsilon)};
  return {account, question,
          "",      "select " + question,
          loss,    Price::of({eps(epsilon), Delta::zero()}, loss)};
}

class PostgresLedgerTest : public ::testing::Test {
 protected:
  void SetUp() override { postgres_server().run("DROP SCHEMA IF EXISTS discreet_ledger CASCADE"); }
  Result<Ledger> try_open(double budget = 1, ledger::LedgerOptions options = {}) {
    const Amount amount{eps(budget), Delta::zero()};
    return Ledger::open(postgres_server().address(),
                        {{"default", "", amount, {}, FilterKind::Best},
                         {"alice", "default", amount, {}, FilterKind::Best}},
                        clock_, options);
  }
  Ledger open(double budget = 1) { return try_open(budget).value(); }
  SystemClock clock_;
};

TEST_F(PostgresLedgerTest, AServerThatMayForgetIsRefused) {
  const auto opens_when = [&](const char* setting, bool wanted) {
    postgres_server().run(setting);
    postgres_server().run("SELECT pg_reload_conf()");
    for (int i = 0; i < 200; ++i) {  // the server reads its settings a little later
      const auto opened = try_open();
      if (opened.has_value() == wanted) return opened ? std::string() : opened.error().message;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return std::string("it was ") + (wanted ? "refused" : "taken");
  };
  EXPECT_THAT(opens_when("ALTER SYSTEM SET fsync = off", false), HasSubstr("fsync = off"));
  EXPECT_EQ(opens_when("ALTER SYSTEM RESET fsync", true), "");
}

TEST_F(PostgresLedgerTest, ChargesReleasesAndRepeatsAreOnRecord) {
  {
    Ledger ledger = open();
    auto receipt = ledger.charge(ask("alice", "q1", 0.25));
    ASSERT_TRUE(receipt) << receipt.error().message;
    const std::string answer("ans\0wer\xff", 8);
    EXPECT_EQ(ledger.record_release(*std::move(receipt), answer).value(), answer);
    const auto found = ledger.find_answer("alice", "q1").value();
    ASSERT_TRUE(found);
    EXPECT_EQ(found->answer, answer);
    ASSERT_TRUE(ledger.record_repeat("alice", found->charge));
    const auto refused = ledger.charge(ask("alice", "q2", 0.9));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::BudgetExhausted);
    EXPECT_TRUE(ledger.charge(ask("alice", "q3", 0.75)));
    EXPECT_DOUBLE_EQ(ledger.balance("default")->spent.epsilon.value(), 1);
  }
  Ledger again = open();
  const auto verified = again.verify();
  ASSERT_TRUE(verified) << verified.error().message;
  EXPECT_EQ(verified->charges, 2U);
  EXPECT_EQ(verified->releases, 1U);
  EXPECT_EQ(again.recent_events({}).value().front().kind, "charge");
  ASSERT_TRUE(again.open_reader());
  EXPECT_DOUBLE_EQ(again.balance("alice")->left.epsilon->value(), 0);
}

TEST_F(PostgresLedgerTest, SumsAreKeptToTheLastBit) {
  Ledger ledger = open(10);
  double sum = 0;
  for (int i = 0; i < 20; ++i) {
    const double epsilon = 0.1 / (i + 3);
    ASSERT_TRUE(ledger.charge(ask("alice", fmt::format("q{}", i), epsilon)));
    sum = (eps(sum) + eps(epsilon)).value();
  }
  EXPECT_EQ(open(10).balance("alice")->spent.epsilon.value(), sum);
  EXPECT_TRUE(ledger.verify());
}

TEST_F(PostgresLedgerTest, UsersAreKeptBesideIt) {
  Ledger ledger = open();
  ledger::UserStore users(ledger);
  ledger::User user;
  user.name = "bob";
  user.verifier = "v";
  user.parent = "default";
  ASSERT_TRUE(users.add(user));
  EXPECT_FALSE(users.add(user));
  const auto token = users.renew_token("bob");
  ASSERT_TRUE(token);
  EXPECT_EQ(users.find_by_token(*token).value()->name, "bob");
  EXPECT_TRUE(users.set_share("bob", Amount{eps(0.5), Delta::zero()}));
  EXPECT_EQ(users.all().value().size(), 1U);
  EXPECT_TRUE(users.remove("bob"));
  EXPECT_FALSE(users.remove("bob"));
}

TEST_F(PostgresLedgerTest, EventsCannotBeChangedAndTamperingIsFound) {
  Ledger ledger = open();
  ASSERT_TRUE(ledger.charge(ask("alice", "q1", 0.5)));
  postgres::Settings settings;
  auto connection = postgres::Connection::open(
      postgres::Address::parse(postgres_server().address()).value(), settings);
  for (const char* sql : {"UPDATE discreet_ledger.events SET account = 'bob'",
                          "DELETE FROM discreet_ledger.events", "TRUNCATE discreet_ledger.events"})
    EXPECT_FALSE(connection->execute(sql)) << sql;
  postgres_server().run(
      "DROP TRIGGER events_are_never_changed ON discreet_ledger.events; UPDATE "
      "discreet_ledger.events SET body = replace(body, '0.5', '0.1') WHERE kind = 'charge'");
  const auto verified = ledger.verify();
  ASSERT_FALSE(verified);
  EXPECT_THAT(verified.error().message, HasSubstr("3"));  // two grants, then the charge
}

TEST_F(PostgresLedgerTest, ALedgerThatIsNotThereCannotBeReadOnly) {
  const auto opened = try_open(1, {.read_only = true});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::NotFound);
}

TEST_F(PostgresLedgerTest, ALostConnectionIsMadeAnew) {
  Ledger ledger = open();
  ASSERT_TRUE(ledger.charge(ask("alice", "q1", 0.1)));
  postgres_server().run(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'discreet' "
      "AND pid <> pg_backend_pid()");
  // The first may be told that the connection is gone; what it wanted is then not paid.
  const auto second = ledger.charge(ask("alice", "q2", 0.1));
  if (!second) {
    const auto third = ledger.charge(ask("alice", "q2", 0.1));
    ASSERT_TRUE(third) << third.error().message;
  }
  EXPECT_DOUBLE_EQ(ledger.balance("alice")->spent.epsilon.value(), 0.2);
  EXPECT_TRUE(ledger.verify());
}

/// Runs `work` in a process of its own.
template <class Work>
pid_t process(const Work& work) {
  const pid_t child = fork();
  if (child == 0) {
    work();
    _exit(0);
  }
  return child;
}

TEST_F(PostgresLedgerTest, FiveCuratorsThatRaceDoNotOverspend) {
  constexpr int kCurators = 5;
  constexpr double kEach = 1.0 / 128;  // sums are exact: 128 fit
  static_cast<void>(open());
  std::vector<pid_t> children;
  int pipes[2];
  ASSERT_EQ(pipe(pipes), 0);
  for (int curator = 0; curator < kCurators; ++curator)
    children.push_back(process([&] {
      auto ledger = try_open();
      if (!ledger) _exit(3);
      for (int i = 0; i < 60; ++i) {
        const auto receipt = ledger->charge(ask("alice", fmt::format("q{}-{}", curator, i), kEach));
        if (!receipt && receipt.error().code != ErrorCode::BudgetExhausted) _exit(4);
        const char byte = receipt ? '+' : '-';
        if (write(pipes[1], &byte, 1) != 1) _exit(5);
      }
    }));
  close(pipes[1]);
  int paid = 0, refused = 0;
  char byte = 0;
  while (read(pipes[0], &byte, 1) == 1) ++(byte == '+' ? paid : refused);
  close(pipes[0]);
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  std::cout << paid << " paid, " << refused << " refused by five processes\n";
  EXPECT_EQ(paid + refused, kCurators * 60);
  EXPECT_EQ(paid, 128);
  Ledger ledger = open();
  EXPECT_LE(ledger.balance("default")->spent.epsilon.value(), 1);
  const auto verified = ledger.verify();
  ASSERT_TRUE(verified) << verified.error().message;
  EXPECT_EQ(verified->charges, static_cast<std::uint64_t>(paid));
}

/// Receipts that a child wrote down before it was killed must be in the ledger afterwards.
TEST_F(PostgresLedgerTest, NoReceiptIsLostWhenCuratorsOrTheServerAreKilled) {
  SeededRandom random(3);
  std::set<std::string> receipts;
  static_cast<void>(open(1000));
  for (int round = 0; round < 6; ++round) {
    int pipes[2];
    ASSERT_EQ(pipe(pipes), 0);
    const pid_t child = process([&] {
      auto ledger = try_open(1000);
      if (!ledger) _exit(3);
      for (int i = 0;; ++i) {
        const std::string question = fmt::format("q{}-{}\n", round, i);
        auto receipt = ledger->charge(ask("alice", question, 0.001));
        if (!receipt) _exit(4);
        if (write(pipes[1], question.data(), question.size()) < 0) _exit(5);
        static_cast<void>(ledger->record_release(*std::move(receipt), "answer to " + question));
      }
    });
    close(pipes[1]);
    // Somewhere after the second receipt, however slow the machine is.
    std::string text;
    char bytes[4096];
    ssize_t got = 1;
    while (got > 0 && std::count(text.begin(), text.end(), '\n') < 2) {
      got = read(pipes[0], bytes, sizeof(bytes));
      if (got > 0) text.append(bytes, static_cast<std::size_t>(got));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(random.bits64() % 100));
    const bool kill_server = round % 4 == 3;
    if (kill_server)
      postgres_server().kill();
    else
      ::kill(child, SIGKILL);
    while ((got = read(pipes[0], bytes, sizeof(bytes))) > 0)
      text.append(bytes, static_cast<std::size_t>(got));
    close(pipes[0]);
    waitpid(child, nullptr, 0);
    if (kill_server) postgres_server().start();
    std::size_t from = 0;
    for (std::size_t at = 0; (at = text.find('\n', from)) != std::string::npos; from = at + 1)
      receipts.insert(text.substr(from, at + 1 - from));
  }
  Ledger ledger = open(1000);
  const auto verified = ledger.verify();
  ASSERT_TRUE(verified) << verified.error().message;
  std::set<std::string> recorded;
  ASSERT_TRUE(ledger.each_event([&](const ledger::StoredEvent& event) -> Result<void> {
    if (event.kind != "charge") return {};
    DISCREET_TRY(const auto body, ledger::decode_body(event.kind, event.body));
    recorded.insert(std::get<ledger::ChargeEvent>(body).question);
    return {};
  }));
  std::cout << receipts.size() << " receipts, " << recorded.size() << " charges on record\n";
  EXPECT_GT(receipts.size(), 6U);
  for (const auto& receipt : receipts) EXPECT_TRUE(recorded.contains(receipt)) << receipt;
  // At most one charge per round whose receipt was not yet written down.
  EXPECT_LE(recorded.size(), receipts.size() + 6);
}

}  // namespace
}  // namespace discreet::testing
