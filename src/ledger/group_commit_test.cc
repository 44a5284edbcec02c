// Charges that wait for the disk at the same time share one sync; each is still its own.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include <fmt/format.h>

#include "ledger/ledger.h"

namespace discreet::ledger {
namespace {

namespace fs = std::filesystem;

Charge ask(const std::string& account, const std::string& question, double epsilon) {
  const auto eps = Epsilon::make(epsilon).value();
  const LossEvent loss = loss::Pure{eps};
  return {account, question, "", question, loss, Price::of({eps, Delta::zero()}, loss)};
}

class GroupCommitTest : public ::testing::Test {
 protected:
  GroupCommitTest() {
    std::string text = (fs::temp_directory_path() / "discreet-group-XXXXXX").string();
    folder_ = ::mkdtemp(text.data());
  }
  ~GroupCommitTest() override { fs::remove_all(folder_); }
  Ledger open(double epsilon) {
    const Amount all{Epsilon::make(1e6).value(), Delta::make(1e-6).value()};
    const Amount some{Epsilon::make(epsilon).value(), Delta::zero()};
    return Ledger::open(folder_ / "ledger.sqlite",
                        {{"default", "", all, std::nullopt, FilterKind::Basic},
                         {"rich", "default", all, std::nullopt, FilterKind::Basic},
                         {"poor", "default", some, std::nullopt, FilterKind::Basic}},
                        clock_)
        .value();
  }
  fs::path folder_;
  ManualClock clock_{Instant{}};
};

TEST_F(GroupCommitTest, ARefusedChargeTakesNothingOfTheOthersWithIt) {
  Ledger ledger = open(1.0);
  std::atomic<int> paid = 0, refused = 0, other = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        const bool poor = t % 2 == 0;
        const auto receipt =
            ledger.charge(ask(poor ? "poor" : "rich", fmt::format("question {} {}", t, i), 0.25));
        if (receipt)
          ++paid;
        else
          ++(receipt.error().code == ErrorCode::BudgetExhausted ? refused : other);
      }
    });
  for (auto& thread : threads) thread.join();
  // Four of the poor one's 160 fit; all of the rich one's do.
  EXPECT_EQ(paid, 160 + 4);
  EXPECT_EQ(refused, 160 - 4);
  EXPECT_EQ(other, 0);
  EXPECT_EQ(ledger.balance("poor")->spent.charges, 4U);
  EXPECT_EQ(ledger.balance("rich")->spent.charges, 160U);
  EXPECT_EQ(ledger.verify()->charges, 164U);
}

TEST_F(GroupCommitTest, TheSameQuestionAtOnceIsPaidOnce) {
  Ledger ledger = open(1.0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t)
    threads.emplace_back([&] {
      auto receipt = ledger.charge(ask("poor", "the same", 0.25));
      ASSERT_TRUE(receipt);
      const auto given = ledger.record_release(*std::move(receipt), "answer");
      EXPECT_EQ(*given, "answer");
      EXPECT_TRUE(
          ledger.record_repeat("rich", ledger.find_answer("rich", "the same").value()->charge));
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(ledger.balance("poor")->spent.charges, 1U);
  EXPECT_EQ(ledger.verify()->releases, 1U);
}

TEST_F(GroupCommitTest, AnAmountCanBeRaisedWhileOpen) {
  Ledger ledger = open(0.2);
  EXPECT_FALSE(ledger.charge(ask("poor", "q", 0.25)));
  ASSERT_TRUE(ledger.set_amount("poor", {Epsilon::make(0.5).value(), Delta::zero()}));
  EXPECT_TRUE(ledger.charge(ask("poor", "q", 0.25)));
  EXPECT_FALSE(ledger.set_amount("nobody", Amount::unlimited()));
  const auto events = ledger.recent_events({.limit = 2, .account = "poor"});
  ASSERT_EQ(events->size(), 2U);
  EXPECT_EQ(events->front().kind, "charge");
  EXPECT_EQ(events->back().kind, "grant");
  EXPECT_TRUE(ledger.verify());
}

}  // namespace
}  // namespace discreet::ledger
