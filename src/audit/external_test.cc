#include "audit/external.h"

#include <gtest/gtest.h>

#include "audit/float_grain.h"
#include "mechanisms/discrete_laplace.h"
#include "support/seeded_random.h"

namespace discreet {
namespace {

const ApproxDp kOne{Epsilon::make(1).value(), Delta::zero()};

std::vector<std::string> laplace_lines(double epsilon, std::int64_t exact, std::uint64_t seed) {
  SeededRandom random(seed);
  const auto noise =
      DiscreteLaplace::make(Epsilon::make(epsilon).value(), L1Sensitivity{1}).value();
  std::vector<std::string> lines;
  for (int i = 0; i < 40'000; ++i) lines.push_back(std::to_string(noise.release(exact, random)));
  return lines;
}

TEST(ExternalAuditTest, LinesOfAnHonestProgramPass) {
  const auto found = audit_lines(laplace_lines(1, 0, 1), laplace_lines(1, 1, 2), kOne).value();
  EXPECT_FALSE(found.refuted) << found.event;
  EXPECT_GT(found.lower_bound, 0.7);
}

TEST(ExternalAuditTest, LinesWithHalfTheNoiseAreRefuted) {
  const auto found = audit_lines(laplace_lines(2, 0, 1), laplace_lines(2, 1, 2), kOne).value();
  EXPECT_TRUE(found.refuted) << found.event;
}

TEST(ExternalAuditTest, WordsAreComparedAsWholeLines) {
  const std::vector<std::string> heads(500, "heads"), tails(500, "tails");
  EXPECT_TRUE(audit_lines(heads, tails, kOne).value().refuted);
  EXPECT_FALSE(audit_lines(heads, heads, kOne).value().refuted);
}

TEST(ExternalAuditTest, AProgramIsRunOnBothSides) {
  const auto found = audit_program("yes $((5 + {side})) | head -n {count}", kOne, 1000);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_TRUE(found->refuted);
}

TEST(ExternalAuditTest, AProgramThatFailsOrMiscountsIsSaidSo) {
  EXPECT_EQ(audit_program("exit 3 # {side}", kOne, 1000).error().code, ErrorCode::Unavailable);
  EXPECT_EQ(audit_program("echo {side}", kOne, 1000).error().code, ErrorCode::InvalidInput);
  EXPECT_EQ(audit_program("yes {side}", kOne, 1000).error().code, ErrorCode::InvalidInput);
  EXPECT_EQ(audit_program("yes", kOne, 1000).error().code, ErrorCode::InvalidParameter);
}

TEST(FloatGrainTest, TheLowestBitAndTheOrderAreThoseOfTheNumber) {
  EXPECT_EQ(lowest_bit(0.75), -2);
  EXPECT_EQ(lowest_bit(6), 1);
  EXPECT_EQ(lowest_bit(-1.0 / 1024), -10);
  EXPECT_LT(ordered_bits(-2.5), ordered_bits(-1.0));
  EXPECT_LT(ordered_bits(-1.0), ordered_bits(0.0));
  EXPECT_EQ(ordered_bits(-0.0), ordered_bits(0.0));
  EXPECT_LT(ordered_bits(0.0), ordered_bits(1e-300));
}

}  // namespace
}  // namespace discreet
