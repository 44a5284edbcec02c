// The client's promises: no report beyond the budget, the same permanent answer every time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <set>

#include "local/client.h"
#include "support/seeded_random.h"

namespace discreet::local {
namespace {

using ::testing::HasSubstr;

Epsilon eps(double value) {
  return Epsilon::make(value).value();
}

Spec rappor(double once, double forever) {
  Spec spec;
  spec.kind = OracleKind::Rappor;
  spec.epsilon = once;
  spec.permanent_epsilon = forever;
  spec.width = 64;
  return spec;
}

struct TemporaryFile {
  std::string path = ::testing::TempDir() + "report_budget_test";
  TemporaryFile() { std::remove(path.c_str()); }
  ~TemporaryFile() { std::remove(path.c_str()); }
};

TEST(Client, RefusesToOverReport) {
  ReportBudget budget(eps(2.5));
  Spec spec;
  spec.epsilon = 1;
  spec.labels = {"tea", "coffee"};
  const auto client = Client::make(spec, budget).value();
  SeededRandom random(1);
  EXPECT_TRUE(client.report("tea", random));
  EXPECT_TRUE(client.report("tea", random));
  const auto third = client.report("tea", random);
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().code, ErrorCode::BudgetExhausted);
  EXPECT_EQ(budget.spent().value(), 2);
}

TEST(Client, AValueThatIsNotInTheCollectionCostsNothing) {
  ReportBudget budget(eps(1));
  Spec spec;
  spec.epsilon = 1;
  spec.labels = {"tea", "coffee"};
  const auto client = Client::make(spec, budget).value();
  SeededRandom random(1);
  EXPECT_FALSE(client.report("gin", random));
  EXPECT_EQ(budget.spent().value(), 0);
}

TEST(LastingReports, PayOnceForAValueAndRepeatItsPermanentAnswer) {
  ReportBudget budget(eps(6));
  Spec spec;
  spec.kind = OracleKind::OptimizedUnary;
  spec.epsilon = 2;
  spec.values = 50;
  const auto client = Client::make(spec, budget).value();
  const ClientSecret secret{1, 2, 3};
  SeededRandom random(2);
  const auto first = client.report_lasting("7", secret, random).value();
  for (int day = 0; day < 20; ++day)
    EXPECT_EQ(client.report_lasting("7", secret, random).value(), first);
  EXPECT_EQ(budget.spent().value(), 2);
  EXPECT_NE(client.report_lasting("8", secret, random).value(), first);
  EXPECT_EQ(budget.spent().value(), 4);
  EXPECT_TRUE(client.report_lasting("9", secret, random));
  EXPECT_EQ(client.report_lasting("10", secret, random).error().code, ErrorCode::BudgetExhausted);
  EXPECT_EQ(client.report_lasting("7", secret, random).value(), first) << "already paid for";
}

// Averaging a thousand reports shows the permanent answer at most, never the value: the fraction of
// permanent bits that are flipped is what the permanent epsilon says.
TEST(LastingReports, AveragingRevealsThePermanentAnswerOnly) {
  ReportBudget budget(eps(1000));
  const auto client = Client::make(rappor(1, 2), budget).value();
  SeededRandom random(3);
  std::set<std::vector<std::uint8_t>> different;
  double flipped = 0, bits = 0;
  for (std::uint8_t person = 0; person < 100; ++person) {
    const ClientSecret secret{person, 9};
    std::vector<int> ones(64);
    std::vector<std::uint8_t> report;
    for (int day = 0; day < 400; ++day) {
      report = client.report_lasting("tea", secret, random).value();
      if (person == 0) different.insert(report);
      for (std::size_t i = 0; i < 64; ++i) ones[i] += (report[2 + i / 8] >> (i % 8)) & 1;
    }
    std::vector<std::uint8_t> permanent(report.size());
    permanent[0] = report[0];
    permanent[1] = report[1];
    for (std::size_t i = 0; i < 64; ++i)
      if (ones[i] > 200) permanent[2 + i / 8] |= static_cast<std::uint8_t>(1 << (i % 8));
    // Compare with the true filter: the report of highest likelihood.
    std::vector<std::uint8_t> truth(report.size());
    truth[0] = report[0];
    truth[1] = report[1];
    const auto input = input_of(client.oracle().spec(), "tea").value();
    Rational best = client.oracle().likelihood(truth, input);
    for (std::size_t i = 0; i < 64; ++i) {
      auto with = truth;
      with[2 + i / 8] |= static_cast<std::uint8_t>(1 << (i % 8));
      if (client.oracle().likelihood(with, input) > best) {
        truth = with;
        best = client.oracle().likelihood(truth, input);
      }
    }
    for (std::size_t i = 0; i < 64; ++i) {
      flipped += ((permanent[2 + i / 8] ^ truth[2 + i / 8]) >> (i % 8)) & 1;
      bits += 1;
    }
  }
  // exp(2 / (2 * 2 hashes)): a bit is flipped for good with chance 1 / (1 + e^0.5).
  const double expected = 1 / (1 + std::exp(0.5));
  const double z = (flipped / bits - expected) / std::sqrt(expected * (1 - expected) / bits);
  std::cout << "permanent flips " << flipped / bits << ", expected " << expected << ", z " << z
            << " (limit 5.5, false alarm 4e-8)\n";
  EXPECT_LT(std::abs(z), 5.5);
  EXPECT_GT(different.size(), 300U) << "every report is randomised again";
}

// The broken twin: fresh randomisation every day. The same 400 days show the value of everyone,
// which is what the budget and lasting reports are for.
TEST(LastingReports, FreshReportsEveryDayWouldGiveTheValueAway) {
  ReportBudget unlimited(eps(1e9));
  Spec spec;
  spec.kind = OracleKind::OptimizedUnary;
  spec.epsilon = 1;
  spec.values = 50;
  const auto client = Client::make(spec, unlimited).value();
  SeededRandom random(4);
  int fresh_found = 0, lasting_found = 0;
  for (std::uint8_t person = 0; person < 60; ++person) {
    const std::string value = std::to_string(person % 50);
    const ClientSecret secret{person, 3};
    std::vector<int> fresh(50), lasting(50);
    for (int day = 0; day < 400; ++day) {
      const auto once = client.report(value, random).value();
      const auto again = client.report_lasting(value, secret, random).value();
      for (std::size_t i = 0; i < 50; ++i) {
        fresh[i] += (once[i / 8] >> (i % 8)) & 1;
        lasting[i] += (again[i / 8] >> (i % 8)) & 1;
      }
    }
    const auto guess = [](const std::vector<int>& ones) {
      return std::to_string(std::max_element(ones.begin(), ones.end()) - ones.begin());
    };
    fresh_found += guess(fresh) == value ? 1 : 0;
    lasting_found += guess(lasting) == value ? 1 : 0;
  }
  std::cout << "values guessed of 60: " << fresh_found << " from fresh reports, " << lasting_found
            << " from lasting ones\n";
  EXPECT_GT(fresh_found, 55);
  EXPECT_LT(lasting_found, 15);  // e times 1/50 of 60 is 3 at most on average
}

TEST(ReportBudgetFile, SurvivesAndForgetsOnlyWhatWasNotAcknowledged) {
  const TemporaryFile file;
  {
    auto budget = ReportBudget::open(file.path, eps(3)).value();
    EXPECT_TRUE(budget.spend(eps(1)));
    EXPECT_TRUE(budget.spend_once("tag", eps(0.5)));
    EXPECT_FALSE(ReportBudget::open(file.path, eps(3))) << "held by this process";
  }
  std::ofstream(file.path, std::ios::app) << "spend 0.7";  // torn by a crash
  {
    auto budget = ReportBudget::open(file.path, eps(3)).value();
    EXPECT_EQ(budget.spent().value(), 1.5);
    EXPECT_TRUE(budget.spend_once("tag", eps(0.5)));
    EXPECT_EQ(budget.spent().value(), 1.5);
    EXPECT_TRUE(budget.spend(eps(1.5)));
    EXPECT_FALSE(budget.spend(eps(0.001)));
  }
  EXPECT_THAT(ReportBudget::open(file.path, eps(4)).error().message, HasSubstr("total of 3"));
  std::ofstream(file.path, std::ios::app) << "nonsense\n";
  EXPECT_THAT(ReportBudget::open(file.path, eps(3)).error().message, HasSubstr("damaged"));
}

}  // namespace
}  // namespace discreet::local
