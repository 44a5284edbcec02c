// An error asked for instead of an epsilon: met, at the least cost, or refused with what is
// reachable.
#include <gmock/gmock.h>

#include "curator_fixture.h"

namespace discreet {
namespace {

using ::testing::HasSubstr;

class TargetErrorTest : public CuratorFixture {
 protected:
  static Question aim(const std::string& sql, const std::string& target) {
    Question question;
    question.sql = sql;
    question.target_error = TargetError::parse(target).value();
    return question;
  }
};

TEST_F(TargetErrorTest, IsReadInItsForms) {
  const auto full = TargetError::parse("±50 at 95%").value();
  EXPECT_EQ(full.half_width, 50);
  EXPECT_EQ(full.confidence, 0.95);
  EXPECT_EQ(TargetError::parse(" +-0.5 at 99 %").value().confidence, 0.99);
  EXPECT_EQ(TargetError::parse("7").value().half_width, 7);
  for (const char* bad :
       {"", "±", "-5", "0", "fifty", "±5 at 95", "±5 at 100%", "±5 at 10%", "inf"})
    EXPECT_FALSE(TargetError::parse(bad)) << bad;
}

TEST_F(TargetErrorTest, IsMetAtTheLeastCost) {
  for (const double width : {1.0, 12.0, 300.0}) {
    Question question =
        aim("SELECT sex, count(*) FROM people GROUP BY sex", "±" + std::to_string(width));
    const auto answer = open().answer(question);
    ASSERT_TRUE(answer) << answer.error().message;
    for (const auto& row : answer->errors) EXPECT_LE(*row[1], width * 1.0001);
    // With one per cent less epsilon it is missed.
    const auto less =
        curator_->answer(ask(question.sql, answer->cost.epsilon * 0.99 - 1e-9)).value();
    EXPECT_GT(*less.errors[0][1], width * 0.999);
  }
}

TEST_F(TargetErrorTest, TheStatementCanSayIt) {
  const auto answer =
      open().answer(ask("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (target_error = '±20 at 95%') "
                        "sex, COUNT(*) FROM people GROUP BY sex",
                        1));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_LE(*answer->errors[0][1], 20.001);
  EXPECT_LT(answer->cost.epsilon, 1);
}

TEST_F(TargetErrorTest, MoreConfidenceCostsMore) {
  const std::string sql = "SELECT count(*) FROM people";
  const double at95 = open().explain(aim(sql, "±20 at 95%")).value().cost.epsilon;
  const double at99 = curator_->explain(aim(sql, "±20 at 99%")).value().cost.epsilon;
  EXPECT_NEAR(at99 / at95, std::log(100) / std::log(20), 0.03);  // Laplace
}

TEST_F(TargetErrorTest, WhatDependsOnTheDataIsRefusedWithAReason) {
  open();
  const auto average = curator_->answer(aim("SELECT avg(age) FROM people", "±1"));
  ASSERT_FALSE(average);
  EXPECT_EQ(average.error().code, ErrorCode::Refused);
  EXPECT_THAT(average.error().message, HasSubstr("how many rows"));
  const auto clipped = curator_->answer(aim("SELECT sum(cost) FROM visits", "±100"));
  ASSERT_FALSE(clipped);
  EXPECT_THAT(clipped.error().message, HasSubstr("found privately"));
  Question both = aim("SELECT count(*) FROM people", "±10");
  both.epsilon = Epsilon::make(1).value();
  EXPECT_THAT(curator_->answer(both).error().message, HasSubstr("not both"));
  EXPECT_EQ(spent(), 0);
}

TEST_F(TargetErrorTest, WhatCannotBePaidSaysWhatCanBeReached) {
  open("[budgets.default]\nepsilon = 0.5\ndelta = 1e-6\n");
  const auto answer = curator_->answer(aim("SELECT count(*) FROM people", "±1"));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::BudgetExhausted);
  EXPECT_THAT(answer.error().message, HasSubstr("can be reached"));
  EXPECT_EQ(spent(), 0);
}

}  // namespace
}  // namespace discreet
