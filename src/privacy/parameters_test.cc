#include "privacy/parameters.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/rational.h"
#include "privacy/group.h"
#include "privacy/neighbours.h"
#include "privacy/sensitivity.h"

namespace discreet {
namespace {

Rational exact(double x) {
  return exact_rational(x).value();
}

TEST(ParametersTest, RefuseWhatIsNotAPrivacyParameter) {
  for (const double bad : {-1.0, -5e-324, std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    EXPECT_FALSE(Epsilon::make(bad)) << bad;
    EXPECT_FALSE(Delta::make(bad)) << bad;
    EXPECT_FALSE(Rho::make(bad)) << bad;
    EXPECT_FALSE(L1Sensitivity::make(bad)) << bad;
  }
  EXPECT_FALSE(Delta::make(1.0000001));
  EXPECT_FALSE(L2Sensitivity::make(0));
  EXPECT_THROW(L1Sensitivity{0}, InvariantViolation);
  EXPECT_TRUE(Epsilon::make(0));
  EXPECT_TRUE(Delta::make(1));
  EXPECT_TRUE(Epsilon::make(5e-324));
}

TEST(ParametersTest, SumsAndMultiplesNeverUnderstate) {
  const auto tenth = Epsilon::make(0.1).value();
  Epsilon sum = Epsilon::zero();
  for (int i = 0; i < 1000; ++i) sum = sum + tenth;
  EXPECT_GE(exact(sum.value()), 1000 * exact(0.1));
  EXPECT_GE(exact((1000 * tenth).value()), 1000 * exact(0.1));
  EXPECT_LE(exact((1000 * tenth).value()), exact(sum.value()));
  EXPECT_EQ((0 * tenth).value(), 0);
  for (const std::uint64_t parts : {3ULL, 7ULL, 1000ULL})
    EXPECT_LE(Rational(BigInt(parts)) * exact(tenth.share(parts).value()), exact(0.1));
  const auto huge = Epsilon::make(1e308).value();
  EXPECT_EQ((huge + huge).value(), HUGE_VAL);
  EXPECT_EQ((Delta::make(0.7).value() + Delta::make(0.7).value()).value(), 1);
}

TEST(GroupPrivacyTest, OneIsUnchangedAndNobodyIsFree) {
  const ApproxDp one{Epsilon::make(0.5).value(), Delta::make(1e-6).value()};
  EXPECT_EQ(group_privacy(one, 1), one);
  EXPECT_EQ(group_privacy(one, 0), (ApproxDp{Epsilon::zero(), Delta::zero()}));
  EXPECT_EQ(group_privacy(Rho::make(0.5).value(), 1).value(), 0.5);
  EXPECT_EQ(group_privacy(Rho::make(0.5).value(), 0).value(), 0);
}

TEST(GroupPrivacyTest, DeltaIsTheSumOfPowers) {
  const ApproxDp one{Epsilon::make(0.5).value(), Delta::make(1e-6).value()};
  long double sum = 0;
  for (int i = 0; i < 5; ++i) sum += std::exp(0.5L * i);
  const ApproxDp five = group_privacy(one, 5);
  EXPECT_EQ(five.epsilon.value(), 2.5);
  EXPECT_GE(five.delta.value(), static_cast<double>(1e-6L * sum) * (1 - 1e-15));
  EXPECT_NEAR(five.delta.value() / static_cast<double>(1e-6L * sum), 1, 1e-13);
  EXPECT_EQ(group_privacy({Epsilon::zero(), Delta::make(1e-6).value()}, 3).delta.value(), 3e-6);
  EXPECT_EQ(group_privacy({Epsilon::make(1).value(), Delta::zero()}, 9).delta.value(), 0);
}

TEST(GroupPrivacyTest, TinyAndHugeParametersAreBoundedNotBroken) {
  for (const double tiny : {5e-324, 1e-323, 1e-300}) {
    const ApproxDp group =
        group_privacy({Epsilon::make(tiny).value(), Delta::make(1e-9).value()}, 4);
    EXPECT_GE(group.delta.value(), 4e-9);
    EXPECT_LE(group.delta.value(), 1);
  }
  EXPECT_EQ(
      group_privacy({Epsilon::make(1000).value(), Delta::make(1e-300).value()}, 3).delta.value(),
      1);
  EXPECT_EQ(group_privacy(Rho::make(1e308).value(), 1000).value(), HUGE_VAL);
  EXPECT_GE(exact(group_privacy(Rho::make(0.1).value(), 7).value()), 49 * exact(0.1));
}

TEST(NeighboursTest, ReplacingIsTwoSteps) {
  EXPECT_EQ(add_remove_steps(Neighbours::AddRemove), 1u);
  EXPECT_EQ(add_remove_steps(Neighbours::ReplaceOne), 2u);
  EXPECT_STRNE(name(Neighbours::AddRemove), name(Neighbours::ReplaceOne));
  EXPECT_TRUE(PrivacyUnit{}.is_row());
  EXPECT_FALSE((PrivacyUnit{"patient_id"}).is_row());
}

}  // namespace
}  // namespace discreet
