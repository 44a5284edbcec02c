#include "base/result.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <set>
#include <string>

#include "base/rational.h"
#include "base/rounding.h"

namespace discreet {
namespace {

Result<int> half(int value) {
  if (value % 2 != 0) return invalid_parameter("odd");
  return value / 2;
}
Result<int> quarter(int value) {
  DISCREET_TRY(const int once, half(value));
  DISCREET_TRY(const int twice, half(once));
  return twice;
}
Result<void> even(int value) {
  DISCREET_TRY_VOID(half(value));
  return {};
}

TEST(ResultTest, TryPassesValuesOnAndErrorsUp) {
  EXPECT_EQ(quarter(12).value(), 3);
  EXPECT_EQ(quarter(6).error(), (Error{ErrorCode::InvalidParameter, "odd"}));
  EXPECT_TRUE(even(2));
  EXPECT_FALSE(even(3));
  EXPECT_EQ(quarter(6).value_or(-1), -1);
}

TEST(ResultTest, AskingForWhatIsNotThereIsABrokenInvariant) {
  EXPECT_THROW((void)half(3).value(), InvariantViolation);
  EXPECT_THROW((void)half(2).error(), InvariantViolation);
  EXPECT_THROW(even(3).value(), InvariantViolation);
  EXPECT_THROW((void)even(2).error(), InvariantViolation);
}

TEST(ResultTest, MovesValuesThatCannotBeCopied) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(7));
  const std::unique_ptr<int> taken = *std::move(result);
  EXPECT_EQ(*taken, 7);
}

TEST(ResultTest, EveryErrorCodeHasItsOwnSqlstate) {
  std::set<std::string> states, names;
  for (int code = 0; code <= static_cast<int>(ErrorCode::Unavailable); ++code) {
    states.insert(sqlstate(static_cast<ErrorCode>(code)));
    names.insert(name(static_cast<ErrorCode>(code)));
    EXPECT_EQ(std::string(sqlstate(static_cast<ErrorCode>(code))).size(), 5u);
    EXPECT_GE(http_status(static_cast<ErrorCode>(code)), 400);
  }
  EXPECT_EQ(states.size(), 7u);
  EXPECT_EQ(names.size(), 7u);
}

TEST(RationalTest, DoublesAreTakenAtTheirExactValue) {
  EXPECT_EQ(exact_rational(0.1).value() * (BigInt(1) << 55), 3602879701896397);
  EXPECT_EQ(exact_rational(5e-324).value(), Rational(BigInt(1), BigInt(1) << 1074));
  EXPECT_EQ(exact_rational(-0.0).value(), 0);
  EXPECT_EQ(exact_rational(std::numeric_limits<double>::max()).value(),
            Rational((BigInt(1) << 1024) - (BigInt(1) << 971)));
  EXPECT_FALSE(exact_rational(std::nan("")));
  EXPECT_FALSE(exact_rational(HUGE_VAL));
  EXPECT_FALSE(exact_rational(-HUGE_VAL));
}

TEST(RationalTest, ConversionsToDoubleAreTheNearestOnTheirSide) {
  std::mt19937_64 bits(5);
  for (int i = 0; i < 1000; ++i) {
    BigInt top = static_cast<std::int64_t>(bits()), bottom = (bits() >> (bits() % 60)) | 1;
    if (i % 3 == 0) top <<= bits() % 1100;
    if (i % 3 == 1) bottom <<= bits() % 1100;
    const Rational value(top, bottom);
    const double down = to_double_down(value), up = to_double_up(value);
    EXPECT_TRUE(down == -HUGE_VAL || exact_rational(down).value() <= value);
    EXPECT_TRUE(up == HUGE_VAL || exact_rational(up).value() >= value);
    EXPECT_TRUE(down == up || up == next_up(down));
  }
  for (const double x : {0.0, 0.1, -5e-324, 1e308}) {
    EXPECT_EQ(to_double_up(exact_rational(x).value()), x);
    EXPECT_EQ(to_double_down(exact_rational(x).value()), x);
  }
}

TEST(RationalTest, FloorAndCeilGoTheRightWayBelowZero) {
  EXPECT_EQ(floor(Rational(7, 2)), 3);
  EXPECT_EQ(floor(Rational(-7, 2)), -4);
  EXPECT_EQ(ceil(Rational(-7, 2)), -3);
  EXPECT_EQ(ceil(Rational(7, 2)), 4);
  EXPECT_EQ(floor(Rational(-4)), -4);
  EXPECT_EQ(ceil(Rational(-4)), -4);
}

}  // namespace
}  // namespace discreet
