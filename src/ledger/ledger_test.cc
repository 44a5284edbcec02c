#include "ledger/ledger.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <atomic>
#include <set>
#include <thread>

namespace discreet::ledger {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

Epsilon eps(double value) {
  return Epsilon::make(value).value();
}
Delta del(double value) {
  return Delta::make(value).value();
}

Amount amount(double epsilon, double delta) {
  return {eps(epsilon), del(delta)};
}

Charge ask(const std::string& account, const std::string& question, double epsilon) {
  const LossEvent loss = loss::Pure{eps(epsilon)};
  return {account, question,
          "",      "select " + question,
          loss,    Price::of({eps(epsilon), Delta::zero()}, loss)};
}

class LedgerTest : public ::testing::Test {
 protected:
  LedgerTest() {
    fs::path pattern = fs::temp_directory_path() / "discreet-ledger-XXXXXX";
    std::string text = pattern.string();
    folder_ = ::mkdtemp(text.data());
    file_ = folder_ / "ledger.sqlite";
  }
  ~LedgerTest() override { fs::remove_all(folder_); }

  Result<Ledger> try_open(std::vector<AccountSpec> accounts) {
    return Ledger::open(file_, std::move(accounts), clock_);
  }
  Ledger open() { return try_open(accounts_).value(); }

  /// What somebody with the file and SQLite could do to it.
  void tamper(const std::string& sql) {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(file_.c_str(), &database), SQLITE_OK);
    char* message = nullptr;
    ASSERT_EQ(
        sqlite3_exec(database,
                     ("DROP TRIGGER IF EXISTS events_are_never_changed; DROP TRIGGER IF EXISTS "
                      "events_are_never_deleted;" +
                      sql)
                         .c_str(),
                     nullptr, nullptr, &message),
        SQLITE_OK)
        << message;
    sqlite3_close(database);
  }
  std::string complaint() {
    Ledger ledger = Ledger::open(file_, {}, clock_, {.read_only = true}).value();
    const auto found = ledger.verify();
    return found ? "" : found.error().message;
  }

  fs::path folder_, file_;
  ManualClock clock_{Instant(std::chrono::microseconds(1'700'000'000'000'000))};
  std::vector<AccountSpec> accounts_{{"default", "", amount(1, 1e-6), {}, FilterKind::Best},
                                     {"alice", "default", amount(0.5, 0), {}, FilterKind::Best},
                                     {"bob", "default", Amount::unlimited(), {}, FilterKind::Best}};
};

// The files that SQLite keeps beside it too, while it is open.
TEST_F(LedgerTest, ANewLedgerIsItsOwnersAlone) {
  const mode_t before = ::umask(0);
  {
    Ledger ledger = open();
    EXPECT_TRUE(ledger.charge(ask("default", "q1", 0.1)).has_value());
    int files = 0;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      ++files;
      EXPECT_EQ(entry.status().permissions() & (fs::perms::group_all | fs::perms::others_all),
                fs::perms::none)
          << entry.path();
    }
    EXPECT_GE(files, 1);
  }
  ::umask(before);
}

TEST_F(LedgerTest, AChargeMustFitEveryAccountAbove) {
  Ledger ledger = open();
  ASSERT_TRUE(ledger.charge(ask("alice", "q1", 0.4)));
  const auto own = ledger.charge(ask("alice", "q2", 0.2));
  ASSERT_FALSE(own);
  EXPECT_EQ(own.error().code, ErrorCode::BudgetExhausted);
  EXPECT_THAT(own.error().message, HasSubstr("'alice'"));
  ASSERT_TRUE(ledger.charge(ask("bob", "q3", 0.5)));
  const auto shared = ledger.charge(ask("bob", "q4", 0.2));
  ASSERT_FALSE(shared);
  EXPECT_THAT(shared.error().message, HasSubstr("'default'"));
  ASSERT_TRUE(ledger.charge(ask("default", "q5", 0.1)));
  EXPECT_EQ(ledger.balance("default")->spent.charges, 3u);
  EXPECT_EQ(ledger.balance("alice")->spent.epsilon.value(), 0.4);
  EXPECT_NEAR(ledger.balance("default")->left.epsilon->value(), 0, 1e-12);
  EXPECT_EQ(ledger.charge(ask("carol", "q", 0.1)).error().code, ErrorCode::NotFound);
}

TEST_F(LedgerTest, ARefusalWritesNothing) {
  Ledger ledger = open();
  const auto before = ledger.verify().value();
  EXPECT_FALSE(ledger.charge(ask("default", "too much", 2)));
  EXPECT_EQ(ledger.verify()->events, before.events);
}

TEST_F(LedgerTest, SurvivesReopeningWithEverythingItPromised) {
  std::uint64_t charge = 0;
  {
    Ledger ledger = open();
    Receipt receipt = ledger.charge(ask("alice", "q1", 0.4)).value();
    charge = receipt.charge();
    EXPECT_EQ(ledger.record_release(std::move(receipt), "42").value(), "42");
  }
  Ledger again = open();
  EXPECT_EQ(again.balance("alice")->spent.epsilon.value(), 0.4);
  const auto found = again.find_answer("alice", "q1").value();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->answer, "42");
  EXPECT_EQ(found->charge, charge);
  EXPECT_EQ(found->price.epsilon.value(), 0.4);
  EXPECT_EQ(again.verify()->releases, 1u);
}

TEST_F(LedgerTest, ARepeatedQuestionIsFreeForEverybodyUnderTheSameBudget) {
  Ledger ledger = open();
  EXPECT_FALSE(ledger.find_answer("alice", "q1").value());
  Receipt paid = ledger.charge(ask("alice", "q1", 0.4)).value();
  EXPECT_FALSE(ledger.find_answer("alice", "q1").value()) << "not answered yet";
  ASSERT_TRUE(ledger.record_release(std::move(paid), "42"));
  const auto found = ledger.find_answer("bob", "q1").value();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->account, "alice");
  ASSERT_TRUE(ledger.record_repeat("bob", found->charge));
  EXPECT_EQ(ledger.balance("bob")->spent.charges, 0u);
  EXPECT_TRUE(ledger.verify());
  EXPECT_FALSE(ledger.record_repeat("bob", found->charge + 1));
}

TEST_F(LedgerTest, AnUnansweredChargeIsPaidOnceAndAnsweredOnce) {
  Ledger ledger = open();
  Charge question = ask("alice", "q1", 0.4);
  question.request = "retry-me";
  Receipt lost = ledger.charge(question).value();
  Receipt retry = ledger.charge(question).value();
  EXPECT_EQ(lost.charge(), retry.charge());
  EXPECT_EQ(ledger.balance("alice")->spent.charges, 1u);
  EXPECT_EQ(ledger.record_release(std::move(retry), "first").value(), "first");
  EXPECT_EQ(ledger.record_release(std::move(lost), "second").value(), "first")
      << "two answers with fresh noise for one charge would be two releases";
  Charge other = ask("alice", "q2", 0.01);
  other.request = "retry-me";
  EXPECT_EQ(ledger.charge(other).error().code, ErrorCode::InvalidParameter);
}

TEST_F(LedgerTest, ChangingTheQuestionTextIsANewCharge) {
  Ledger ledger = open();
  EXPECT_NE(ledger.charge(ask("bob", "q1", 0.1))->charge(),
            ledger.charge(ask("bob", "q2", 0.1))->charge());
}

TEST_F(LedgerTest, GrantsThatComeBackAddAndNeverReset) {
  accounts_ = {{"default", "", amount(1, 0),
                RecurringGrant{amount(0.5, 0), std::chrono::hours(24),
                               clock_.now() + std::chrono::hours(24)},
                FilterKind::Best}};
  Ledger ledger = open();
  ASSERT_TRUE(ledger.charge(ask("default", "q1", 1)));
  EXPECT_FALSE(ledger.charge(ask("default", "q2", 0.5)));
  clock_.advance(std::chrono::hours(24));
  EXPECT_NEAR(ledger.balance("default")->left.epsilon->value(), 0.5, 1e-15);
  EXPECT_TRUE(ledger.charge(ask("default", "q2", 0.5)));
  EXPECT_FALSE(ledger.charge(ask("default", "q3", 0.1)));
  clock_.advance(std::chrono::hours(48));
  EXPECT_TRUE(ledger.charge(ask("default", "q3", 1)));
  EXPECT_EQ(ledger.balance("default")->granted.epsilon->value(), 2.5);
  EXPECT_TRUE(ledger.verify());
}

TEST_F(LedgerTest, ANewPolicyChangesTheLimitAndKeepsWhatWasSpent) {
  {
    ASSERT_TRUE(open().charge(ask("default", "q1", 0.8)));
  }
  Ledger lower = try_open({{"default", "", amount(0.5, 1e-6), {}, FilterKind::Best}}).value();
  EXPECT_EQ(lower.balance("default")->left.epsilon->value(), 0);
  EXPECT_FALSE(lower.charge(ask("default", "q2", 0.5)));
  EXPECT_EQ(lower.charge(ask("alice", "q2", 0.1)).error().code, ErrorCode::NotFound)
      << "no longer in the policy";
  Ledger higher = try_open({{"default", "", amount(2, 1e-6), {}, FilterKind::Best}}).value();
  EXPECT_TRUE(higher.charge(ask("default", "q2", 1)));
  EXPECT_TRUE(higher.verify());
}

TEST_F(LedgerTest, AFirstQuestionWithTheWholeDeltaIsAdmitted) {
  Ledger ledger = open();
  Charge question = ask("default", "q1", 0.5);
  question.price.delta = del(1e-6);
  question.price.concentrated.reset();
  ASSERT_TRUE(ledger.charge(question));
  EXPECT_EQ(ledger.balance("default")->filter, FilterKind::Basic);
  EXPECT_TRUE(ledger.verify());
  EXPECT_EQ(open().balance("default")->filter, FilterKind::Basic)
      << "fixed, whatever the policy says";
}

TEST_F(LedgerTest, RefusesParentsThatAreMissingOrCircular) {
  EXPECT_EQ(try_open({{"a", "b", amount(1, 0), {}, FilterKind::Best}}).error().code,
            ErrorCode::NotFound);
  const auto circle = try_open({{"a", "b", amount(1, 0), {}, FilterKind::Best},
                                {"b", "a", amount(1, 0), {}, FilterKind::Best}});
  ASSERT_FALSE(circle);
  EXPECT_THAT(circle.error().message, HasSubstr("circle"));
}

TEST_F(LedgerTest, RefusesFilesThatAreNotLedgers) {
  tamper("CREATE TABLE notes (text TEXT)");
  EXPECT_THAT(try_open(accounts_).error().message, HasSubstr("another program"));
  fs::remove(file_);
  std::FILE* text = std::fopen(file_.c_str(), "w");
  std::fputs("this is not a database, it is a sentence that goes on for a while and then stops.",
             text);
  std::fclose(text);
  EXPECT_EQ(try_open(accounts_).error().code, ErrorCode::InvalidInput);
  EXPECT_FALSE(Ledger::open(folder_ / "no" / "such" / "folder.sqlite", accounts_, clock_));
  EXPECT_FALSE(Ledger::open("postgres://host/db", accounts_, clock_));
}

TEST_F(LedgerTest, VerifyNamesTheFirstBrokenEvent) {
  {
    Ledger ledger = open();
    for (int i = 0; i < 5; ++i)
      ASSERT_TRUE(ledger.record_release(
          ledger.charge(ask("default", "q" + std::to_string(i), 0.1)).value(), "answer"));
  }
  ASSERT_EQ(complaint(), "");
  const auto with = [&](const std::string& sql) {
    fs::copy_file(file_, folder_ / "copy");
    tamper(sql);
    std::string said = complaint();
    fs::remove(file_.string() + "-wal");
    fs::remove(file_.string() + "-shm");
    fs::rename(folder_ / "copy", file_);
    return said;
  };
  EXPECT_THAT(with("UPDATE events SET body = replace(body, '0.1', '0.01') WHERE seq = 6"),
              HasSubstr("event 6 (charge) was changed"));
  EXPECT_THAT(with("DELETE FROM events WHERE seq = 5"),
              HasSubstr("event 6 (charge) comes where event 5 should be"));
  EXPECT_THAT(with("DELETE FROM events WHERE seq = 13"), HasSubstr("answers without a release"));
  EXPECT_THAT(with("UPDATE answers SET answer = x'00' WHERE charge = 4"),
              HasSubstr("event 5 (release) does not match the recorded answer"));
  EXPECT_THAT(with("UPDATE accounts SET epsilon_spent = 0 WHERE name = 'default'"),
              HasSubstr("running sums of account 'default'"));
  EXPECT_THAT(with("UPDATE charges SET question = 'other' WHERE seq = 4"),
              HasSubstr("charges table changes charge 4"));
  EXPECT_THAT(with("UPDATE events SET previous = zeroblob(32) WHERE seq = 7"),
              HasSubstr("event 7"));
  EXPECT_EQ(complaint(), "");
}

TEST_F(LedgerTest, ACutEndIsNoticedByItsHeadHash) {
  std::string head;
  {
    Ledger ledger = open();
    ASSERT_TRUE(ledger.charge(ask("default", "q1", 0.1)));
    head = to_hex(ledger.verify()->head);
    EXPECT_TRUE(ledger.verify(head));
    ASSERT_TRUE(ledger.charge(ask("default", "q2", 0.1)));
    EXPECT_TRUE(ledger.verify(head)) << "an older head is still in the chain";
  }
  fs::remove(file_);
  Ledger fresh = open();
  EXPECT_TRUE(fresh.verify());
  EXPECT_FALSE(fresh.verify(head));
}

TEST_F(LedgerTest, DoesNotServeAnAnswerThatWasChangedOnDisk) {
  {
    Ledger ledger = open();
    ASSERT_TRUE(ledger.record_release(ledger.charge(ask("default", "q1", 0.1)).value(), "42"));
  }
  tamper("UPDATE answers SET answer = CAST('43' AS BLOB)");
  EXPECT_THAT(open().find_answer("default", "q1").error().message,
              HasSubstr("does not match its seal"));
}

TEST_F(LedgerTest, EventsCannotBeChangedByOrdinaryStatements) {
  {
    open();
  }
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(file_.c_str(), &database), SQLITE_OK);
  EXPECT_NE(sqlite3_exec(database, "UPDATE events SET account = 'x'", nullptr, nullptr, nullptr),
            SQLITE_OK);
  EXPECT_NE(sqlite3_exec(database, "DELETE FROM events", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(database);
}

TEST_F(LedgerTest, ThreadsRacingForTheLastOfABudgetNeverOverspend) {
  Ledger shared = open();
  Ledger other = open();  // a second connection, as another process would have
  std::atomic<int> granted = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      Ledger& ledger = t % 2 ? shared : other;
      for (int i = 0; i < 8; ++i)
        granted += ledger.charge(ask("bob", fmt::format("q{}-{}", t, i), 0.0625)).has_value();
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(granted, 16);
  EXPECT_EQ(shared.balance("default")->spent.epsilon.value(), 1.0);
  EXPECT_TRUE(other.verify());
}

}  // namespace
}  // namespace discreet::ledger
