#include "accounting/wanted_number.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "accounting/compose_syntax.h"
#include "privacy/gaussian_profile.h"

namespace discreet {
namespace {

ApproxDp dp(double epsilon, double delta) {
  return {Epsilon::make(epsilon).value(), Delta::make(delta).value()};
}
const Pricing kTight = tight_pricing(Neighbours::AddRemove);

double price(const std::string& composition, double delta) {
  return kTight(parse_composition(composition).value(), Delta::make(delta).value()).value();
}

TEST(WantedNumberTest, TheNoiseOfAGaussianIsItsClosedForm) {
  const auto one = find_wanted_number("gaussian(sigma=?)", dp(1, 1e-6), kTight).value();
  EXPECT_TRUE(one.least);
  EXPECT_NEAR(one.value, gaussian_noise_multiplier(dp(1, 1e-6)).value(), 1e-5);
  const auto many = find_wanted_number("100 x gaussian(sigma = ?)", dp(1, 1e-6), kTight).value();
  EXPECT_NEAR(many.value, 10 * one.value, 1e-4);
}

// Whatever is left open, the text that comes back meets the target and the next value does not.
TEST(WantedNumberTest, TheAnswerMeetsTheTargetAndALittleBeyondDoesNot) {
  for (const char* text :
       {"50 x laplace(scale=?)", "10 x discrete_laplace(scale=?)", "20 x pure(epsilon=?)",
        "500 x sampled(q=?, gaussian(sigma=1))", "30 x zcdp(rho=?)",
        "10 x laplace(scale=40, sensitivity=?) + gaussian(sigma=20)"}) {
    const auto found = find_wanted_number(text, dp(0.9, 1e-6), kTight);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_LE(price(found->composition, 1e-6), 0.9) << found->composition;
    const double beyond = found->value * (found->least ? 0.995 : 1.005);
    std::string worse = text;
    worse.replace(worse.find('?'), 1, std::to_string(beyond));
    EXPECT_GT(price(worse, 1e-6), 0.9) << worse;
  }
}

TEST(WantedNumberTest, CountsLeaveRoomForWhatElseIsReleased) {
  const auto found =
      find_wanted_number("? x laplace(scale=50) + gaussian(sigma=10)", dp(1, 1e-6), kTight).value();
  EXPECT_EQ(found.field, "count");
  EXPECT_LE(price(found.composition, 1e-6), 1);
  const auto count = static_cast<long>(found.value);
  EXPECT_GT(price(std::to_string(count + 1) + " x laplace(scale=50) + gaussian(sigma=10)", 1e-6),
            1);
}

TEST(WantedNumberTest, WhatCannotBeFoundIsASentence) {
  const auto says = [](std::string_view text, double epsilon) {
    const auto found = find_wanted_number(text, dp(epsilon, 1e-6), kTight);
    return found ? "found " + found->composition : found.error().message;
  };
  EXPECT_THAT(says("? x gaussian(sigma=?)", 1), ::testing::HasSubstr("exactly one number"));
  EXPECT_THAT(says("sampled_without_replacement(sample=1, population=?, laplace(scale=1))", 1),
              ::testing::HasSubstr("'population' cannot be left open"));
  EXPECT_THAT(says("? x gaussian(sigma=0.1)", 1), ::testing::HasSubstr("not even one release"));
  EXPECT_THAT(says("gaussian(sigma=?", 1), ::testing::HasSubstr("character"));
  EXPECT_THAT(says("laplace(scale=1) + laplace(scale=?)", 0.5),
              ::testing::HasSubstr("does not meet"));
}

}  // namespace
}  // namespace discreet
