#include "ledger/account.h"

#include <gtest/gtest.h>

#include <cmath>

#include "accounting/conversion.h"

namespace discreet::ledger {
namespace {

Epsilon eps(double value) {
  return Epsilon::make(value).value();
}
Delta del(double value) {
  return Delta::make(value).value();
}

Account account(double epsilon, double delta, FilterKind filter = FilterKind::Best) {
  return Account(
      "a", {.parent = "", .filter = filter, .total = {eps(epsilon), del(delta)}, .windows = 0});
}

Price pure(double epsilon) {
  return Price::of({eps(epsilon), Delta::zero()}, LossEvent(loss::Pure{eps(epsilon)}));
}

/// Gaussian noise: stated at (epsilon, delta), with zCDP sensitivity^2 / (2 sigma^2).
Price gaussian(double epsilon, double delta, double sigma) {
  return Price::of({eps(epsilon), del(delta)}, LossEvent(loss::Gaussian{sigma, 1}));
}

int fits(Account account, const Price& price, int at_most = 1'000'000) {
  int count = 0;
  while (count < at_most && account.admit(price)) {
    account.spend(price);
    ++count;
  }
  return count;
}

TEST(AccountTest, TenTenthsFitOneAndElevenDoNot) {
  EXPECT_EQ(fits(account(1, 0), pure(0.1)), 10);
  EXPECT_EQ(fits(account(1, 0, FilterKind::Basic), pure(0.1)), 10);
  EXPECT_EQ(fits(account(3, 0), pure(0.3)), 10);
}

TEST(AccountTest, APureBudgetRefusesAnyDelta) {
  const Account none = account(1, 0);
  EXPECT_FALSE(none.admit(gaussian(0.1, 1e-300, 100)));
  EXPECT_TRUE(none.admit(pure(1)));
  EXPECT_EQ(none.admit(pure(1.001)).error().code, ErrorCode::BudgetExhausted);
}

TEST(AccountTest, LargeQuestionsLiveBySumsAndManySmallOnesByZcdp) {
  EXPECT_EQ(fits(account(1, 1e-6), pure(0.6)), 1);
  EXPECT_EQ(fits(account(4, 1e-7), pure(0.5)), 8);
  const int small = fits(account(4, 1e-7), pure(0.01));
  EXPECT_GT(small, 4000) << "zCDP admits far more than the 400 of sums";
  // The promise must hold for what was admitted: rho of all, converted at the conversion's share.
  const Rho rho = Rho::make(small * 0.01 * 0.01 / 2).value();
  EXPECT_LE(zcdp_epsilon(rho, 1e-7 / 8), 4 * (1 + 1e-9));
  EXPECT_GT(zcdp_epsilon(Rho::make((small + 2) * 0.01 * 0.01 / 2).value(), 1e-7 / 8), 4);
}

TEST(AccountTest, TheSharesOfDeltaNeverExceedTheWhole) {
  // Sums may use 6/8 of the delta, zCDP's own deltas 1/8 and its conversion 1/8: the failure of
  // either filter together is at most delta.
  EXPECT_EQ(kBasicEighths + kConcentratedEighths + kConversionEighths, 8);
  Account some = account(100, 8e-6);
  some.spend(pure(0.001));
  const Price heavy{eps(0.001), del(1e-6), std::nullopt};
  EXPECT_EQ(fits(some, heavy), 6);
  Price both = heavy;
  both.concentrated = ConcentratedCost{Rho::make(1e-9).value(), del(1e-6)};
  EXPECT_EQ(fits(some, both), 6)
      << "sums carry six, zCDP one: the larger set is admitted, not both";
}

TEST(AccountTest, AFirstQuestionThatNeedsTheWholeDeltaMakesTheAccountBasicForEver) {
  Account whole = account(1, 1e-6);
  const Price question{eps(0.5), del(1e-6), std::nullopt};
  EXPECT_EQ(whole.filter_for(question), FilterKind::Basic);
  EXPECT_EQ(whole.filter_for(pure(0.5)), FilterKind::Best);
  GrantEvent grant = whole.grant();
  grant.filter = FilterKind::Basic;
  ASSERT_TRUE(whole.regrant(grant));
  ASSERT_TRUE(whole.admit(question));
  whole.spend(question);
  grant.filter = FilterKind::Best;
  EXPECT_FALSE(whole.regrant(grant)) << "after a release the choice would depend on data";
  EXPECT_EQ(whole.filter_for(pure(0.1)), FilterKind::Basic);
  EXPECT_EQ(fits(whole, pure(0.1)), 5);
}

TEST(AccountTest, AChargeWithoutZcdpBoundEndsZcdpForTheAccount) {
  Account some = account(1, 1e-6);
  const Price unknown{eps(0.01), Delta::zero(), std::nullopt};
  const int before = fits(some, pure(0.001));
  some.spend(unknown);
  EXPECT_TRUE(std::isinf(some.spent().rho.value()));
  EXPECT_EQ(fits(some, pure(0.001)), 990);
  EXPECT_GT(before, 1000);
}

TEST(AccountTest, UnlimitedPartsAdmitEverythingButStillCount) {
  Account free("free", {"", FilterKind::Best, Amount::unlimited(), 0});
  EXPECT_EQ(fits(free, pure(1e6), 1000), 1000);
  EXPECT_FALSE(free.question_left());
  Account no_epsilon("e", {"", FilterKind::Best, {std::nullopt, del(1e-6)}, 0});
  EXPECT_EQ(fits(no_epsilon, pure(1e300), 1000), 1000);
  EXPECT_FALSE(no_epsilon.admit(gaussian(1, 1e-5, 1)));
}

TEST(AccountTest, QuestionLeftIsAdmittedAndALittleMoreIsNot) {
  for (const double spent : {0.0, 0.3, 0.9, 1.0}) {
    Account some = account(1, 1e-6);
    for (int i = 0; i < 100; ++i) some.spend(pure(spent / 100));
    const double left = some.question_left()->value();
    EXPECT_TRUE(some.admit(pure(left))) << spent;
    EXPECT_FALSE(some.admit(pure(left * (1 + 1e-6) + 1e-9))) << spent;
  }
}

TEST(AccountTest, RefusalSaysWhatIsLeft) {
  Account some = account(1, 0);
  some.spend(pure(0.75));
  const std::string said = some.admit(pure(0.5)).error().message;
  EXPECT_NE(said.find("epsilon 0.25 of 1"), std::string::npos) << said;
  EXPECT_NE(said.find("a question of epsilon 0.25"), std::string::npos) << said;
}

}  // namespace
}  // namespace discreet::ledger
