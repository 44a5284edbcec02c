#include "accounting/account_question.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "accounting/comparison.h"
#include "accounting/compose_syntax.h"
#include "accounting/loss_event_json.h"

namespace discreet {
namespace {

using nlohmann::json;

json entry() {
  return {{"id", "x"},
          {"mechanism", "laplace"},
          {"params", {{"scale", 2}, {"sensitivity", 1}}},
          {"compositions", 3},
          {"neighbouring", "add_remove"},
          {"quantity", "epsilon_at_delta"},
          {"at", 0}};
}

TEST(AccountQuestionTest, AnswersHoldTheirBracket) {
  const auto answer = answer_entry(entry()).value();
  EXPECT_NEAR(answer.value, 1.5, 1e-12);
  EXPECT_EQ(answer.value, answer.bracket.upper);
  EXPECT_LE(answer.bracket.lower, 1.5);
}

TEST(AccountQuestionTest, BrokenEntriesAreRefusedWithASentence) {
  const auto broken = [](auto change) {
    json e = entry();
    change(e);
    const auto answer = answer_entry(e);
    return !answer && answer.error().message.size() > 10;
  };
  EXPECT_TRUE(broken([](json& e) { e = json::array(); }));
  EXPECT_TRUE(broken([](json& e) { e.erase("mechanism"); }));
  EXPECT_TRUE(broken([](json& e) { e["mechanism"] = 7; }));
  EXPECT_TRUE(broken([](json& e) { e["mechanism"] = "magic"; }));
  EXPECT_TRUE(broken([](json& e) { e["params"]["scale"] = -1; }));
  EXPECT_TRUE(broken([](json& e) { e["params"]["sacle"] = 1; }));
  EXPECT_TRUE(broken([](json& e) { e["params"] = "two"; }));
  EXPECT_TRUE(broken([](json& e) { e["compositions"] = 0; }));
  EXPECT_TRUE(broken([](json& e) { e["compositions"] = 1.5; }));
  EXPECT_TRUE(broken([](json& e) { e["neighbouring"] = "none"; }));
  EXPECT_TRUE(broken([](json& e) { e["quantity"] = "mood"; }));
  EXPECT_TRUE(broken([](json& e) { e["at"] = 2; }));
  EXPECT_TRUE(broken([](json& e) { e["at"] = "0.1"; }));
  EXPECT_TRUE(broken([](json& e) {
    e["mechanism"] = "gaussian";
    e["params"] = {{"sigma", 1}, {"sensitivity", 1}};
  })) << "Gaussian noise has no finite epsilon at delta 0";
}

TEST(ComposeSyntaxTest, ReadsWhatItDocuments) {
  const auto event = parse_composition(
      "1000 x gaussian(sigma=20, sensitivity=1) + 10 x laplace(scale=2) + "
      "5 x sampled(q=0.01, gaussian(sigma=1)) + "
      "mixture_of_gaussians(sigma=1, sensitivities=[0; 1], probs=[0.5; 0.5])");
  ASSERT_TRUE(event.has_value()) << event.error().message;
  const json j = to_json(*event);
  ASSERT_EQ(j.at("parts").size(), 4U);
  EXPECT_EQ(j["parts"][0]["count"], 1000);
  EXPECT_EQ(j["parts"][1]["inner"]["sensitivity"], 1);
  EXPECT_EQ(j["parts"][2]["inner"]["sampling_probability"], 0.01);
  EXPECT_EQ(j["parts"][3]["probs"].size(), 2U);
}

TEST(ComposeSyntaxTest, ShortNamesMeanTheLongOnes) {
  const auto written = [](const char* text) {
    const auto event = parse_composition(text);
    return event ? encode_loss_document(*event) : event.error().message;
  };
  EXPECT_EQ(written("pure(epsilon=0.5)"), written("pure_dp(epsilon0=0.5)"));
  EXPECT_EQ(written("approx(epsilon=0.5, delta=1e-9)"),
            written("approx_dp(epsilon0=0.5, delta0=1e-9)"));
  EXPECT_EQ(written("exponential(epsilon=1)"), written("bounded_range(epsilon0=1)"));
  EXPECT_EQ(written("rr(epsilon=1, values=3)"),
            written("randomized_response(epsilon0=1, values=3)"));
  EXPECT_EQ(written("discrete_gaussian(sigma=3)"),
            written("discrete_gaussian(sigma2=9, sensitivity=1)"));
  EXPECT_EQ(written("discrete_laplace(scale=3)"),
            written("discrete_laplace(scale=3, sensitivity=1)"));
  EXPECT_EQ(written("truncated_geometric(epsilon=1, delta=1e-6, bound=14)"),
            written("truncated_geometric(epsilon0=1, delta0=1e-6, bound=14)"));
}

TEST(ComposeSyntaxTest, WrapsTermsInSamplesGroupsPartsAndParentheses) {
  const auto event = parse_composition(
      "2 x (laplace(scale=1) + pure_dp(epsilon0=1)) + "
      "sampled_without_replacement(sample=10, population=1000, gaussian(sigma=2)) + "
      "group(size=3, laplace(scale=9)) + parallel(laplace(scale=2), 2 x laplace(scale=3))");
  ASSERT_TRUE(event.has_value()) << event.error().message;
  const json j = to_json(*event);
  EXPECT_EQ(j["parts"][0]["count"], 2);
  EXPECT_EQ(j["parts"][0]["inner"]["parts"].size(), 2U);
  EXPECT_EQ(j["parts"][1]["population"], 1000);
  EXPECT_EQ(j["parts"][2]["size"], 3);
  EXPECT_EQ(j["parts"][3]["parts"].size(), 2U);
}

TEST(ComposeSyntaxTest, SaysWhereTheTextGoesWrong) {
  for (const char* text : {"",
                           "gauss(sigma=1)",
                           "gaussian(sigma=)",
                           "gaussian(sigma=1",
                           "3 gaussian(sigma=1)",
                           "0 x pure_dp(epsilon0=1)",
                           "1.5 x pure_dp(epsilon0=1)",
                           "laplace(scale=1) +",
                           "laplace(scale=1) laplace(scale=1)",
                           "sampled(q=2, laplace(scale=1))",
                           "sampled(q=0.5)",
                           "laplace(scale=nan)",
                           "laplace(scale=1e999)",
                           "((((((((((((((((",
                           "sampled(q=0.1, sampled(",
                           "(laplace(scale=1)",
                           "group(size=0, laplace(scale=1))",
                           "group(laplace(scale=1))",
                           "parallel()",
                           "parallel(q=1, laplace(scale=1))",
                           "sampled_without_replacement(sample=9, population=3, laplace(scale=1))",
                           "sampled_without_replacement(sample=1, laplace(scale=1))",
                           "sampled(q=0.1, laplace(scale=1), laplace(scale=1))",
                           "sampled(q=[1], laplace(scale=1))"}) {
    const auto event = parse_composition(text);
    ASSERT_FALSE(event.has_value()) << text;
    EXPECT_NE(event.error().message.find("at character"), std::string::npos)
        << event.error().message;
  }
}

TEST(ComparisonTest, TheTightAnswerIsTheLeast) {
  const auto event = parse_composition("100 x laplace(scale=10)").value();
  const auto lines = compare_theorems(event, 1e-6, Neighbours::AddRemove);
  ASSERT_EQ(lines.size(), 6U);
  ASSERT_EQ(lines.back().method, "PLD");
  ASSERT_TRUE(lines.back().epsilon.has_value());
  for (const ComparisonLine& line : lines) {
    ASSERT_TRUE(line.epsilon.has_value()) << line.method << ": " << line.remark;
    EXPECT_GE(*line.epsilon, *lines.back().lower) << line.method;
  }
}

}  // namespace
}  // namespace discreet
