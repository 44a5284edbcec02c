#include "curator/accounts.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace discreet {
namespace {

namespace fs = std::filesystem;

class AccountsTest : public ::testing::Test {
 protected:
  AccountsTest() {
    std::string text = (fs::temp_directory_path() / "discreet-accounts-XXXXXX").string();
    folder_ = ::mkdtemp(text.data());
  }
  ~AccountsTest() override { fs::remove_all(folder_); }
  catalog::Policy policy(const std::string& more) {
    return catalog::Policy::parse("[tables.t]\nsource = \"t.csv\"\nunit = \"row\"\n" + more,
                                  folder_ / "p.toml", {.sources_exist = false})
        .value();
  }
  fs::path folder_;
  SystemClock clock_;
};

TEST_F(AccountsTest, BudgetsAnalystsAndUsersBecomeNestedAccounts) {
  const auto written = policy(
      "[budgets.default]\nepsilon = 1\n[budgets.other]\nepsilon = 2\nfilter = "
      "\"basic\"\n[analysts.alice]\nbudget = { "
      "epsilon = 0.5, of = \"other\" }\n");
  {
    auto ledger = open_ledger(written, clock_).value();
    ASSERT_TRUE(ledger::UserStore(ledger).add({"bob", "v", false, "default", std::nullopt, {}}));
    EXPECT_EQ(ledger.balance("bob").error().code, ErrorCode::NotFound) << "added after opening";
    ASSERT_TRUE(ensure_account(ledger, written, "bob"));
    EXPECT_TRUE(ledger.balance("bob"));
    EXPECT_TRUE(ensure_account(ledger, written, "bob"));
    EXPECT_EQ(ensure_account(ledger, written, "carol").error().code, ErrorCode::NotFound);
  }
  auto ledger = open_ledger(written, clock_).value();
  EXPECT_EQ(ledger.balance("alice")->parent, "other");
  EXPECT_EQ(ledger.balance("alice")->granted.epsilon->value(), 0.5);
  EXPECT_EQ(ledger.balance("other")->filter, ledger::FilterKind::Basic);
  EXPECT_EQ(ledger.balance("bob")->parent, "default");
  EXPECT_FALSE(ledger.balance("bob")->granted.epsilon) << "held by the budget alone";
}

TEST_F(AccountsTest, AUserOfABudgetThatIsGoneCannotPayAndStopsNobody) {
  const auto before = policy("[budgets.default]\nepsilon = 1\n[budgets.old]\nepsilon = 1\n");
  {
    auto ledger = open_ledger(before, clock_).value();
    ASSERT_TRUE(ledger::UserStore(ledger).add({"bob", "v", false, "old", std::nullopt, {}}));
  }
  auto ledger = open_ledger(policy("[budgets.default]\nepsilon = 1\n"), clock_);
  ASSERT_TRUE(ledger) << ledger.error().message;
  EXPECT_FALSE(ledger->balance("bob"));
  EXPECT_TRUE(ledger->balance("default"));
}

}  // namespace
}  // namespace discreet
