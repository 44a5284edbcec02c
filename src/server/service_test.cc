// Many sessions at once on the two lines: what is quick is not held up, answers repeat, the ledger
// adds up.
#include "server/service.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <latch>
#include <map>

#include "server/catalog_database.h"
#include "server/render.h"
#include "support/chi_square.h"

namespace discreet::server {
namespace {

constexpr char kPolicy[] = R"(
[tables.people]
source = "people.csv"
unit = "id"
max_rows_per_unit = 1
[tables.people.columns]
age = { range = [0, 120] }
ward = { values = ["ER", "ICU"] }
[budgets.default]
epsilon = 1000.0
delta = 1e-3
)";

class ServiceTest : public ::testing::Test {
 protected:
  ServiceTest() {
    std::string text =
        (std::filesystem::temp_directory_path() / "discreet-service-XXXXXX").string();
    folder_ = ::mkdtemp(text.data());
    std::ofstream people(folder_ / "people.csv");
    people << "id,age,ward\n";
    for (int i = 0; i < 300; ++i)
      people << i << "," << i % 90 << "," << (i % 2 ? "ER" : "ICU") << "\n";
    people.close();
    std::ofstream(folder_ / "discreet.toml") << kPolicy;
    policy_.emplace(catalog::Policy::load(folder_ / "discreet.toml").value());
    Settings settings;
    settings.workers = 2;
    settings.quick_workers = 1;
    service_ = Service::open(*policy_, clock_, settings, log_).value();
  }
  ~ServiceTest() override {
    service_.reset();
    std::filesystem::remove_all(folder_);
  }

  /// Runs on a worker and waits for it.
  template <class Work>
  auto on(Service::Line line, Work work) {
    using Made = decltype(work(std::declval<Curator&>()));
    auto made = std::make_shared<std::promise<Made>>();
    auto later = made->get_future();
    EXPECT_TRUE(
        service_->post(line, [made, work](Curator& curator) { made->set_value(work(curator)); }));
    return later.get();
  }
  static Question about(const std::string& sql) {
    Question question;
    question.sql = sql;
    return question;
  }

  std::filesystem::path folder_;
  SystemClock clock_;
  Log log_;
  std::optional<catalog::Policy> policy_;
  std::unique_ptr<Service> service_;
};

TEST_F(ServiceTest, ExplainAndRepeatsAreAnsweredWhileEveryChargedWorkerWaits) {
  const Question question = about("select ward, count(*) as n from people group by ward");
  const auto first = on(Service::Line::Charged, [=](Curator& c) { return c.answer(question); });
  ASSERT_TRUE(first) << first.error().message;
  // Workers may still be leaving the latch when this test ends: they own what they wait for.
  const auto held = std::make_shared<std::latch>(2);
  std::promise<void> go;
  const std::shared_future<void> going = go.get_future().share();
  for (int i = 0; i < 2; ++i)
    ASSERT_TRUE(service_->post(Service::Line::Charged, [held, going](Curator&) {
      held->count_down();
      going.wait();
    }));
  held->wait();
  const auto explained = on(Service::Line::Quick, [=](Curator& c) { return c.explain(question); });
  const auto again = on(Service::Line::Quick, [=](Curator& c) { return c.repeat(question); });
  const auto fresh = on(Service::Line::Quick, [](Curator& c) {
    return c.repeat(about("select count(*) as n from people where age > 3"));
  });
  go.set_value();
  ASSERT_TRUE(explained && again && fresh);
  ASSERT_TRUE(*again);
  EXPECT_TRUE((*again)->repeated);
  EXPECT_EQ((*again)->rows, first->rows);
  EXPECT_EQ((*again)->charge, first->charge);
  EXPECT_FALSE(*fresh) << "what was never asked is not on record, and is not charged by looking";
}

TEST_F(ServiceTest, ManySessionsAtOnceChargeEachQuestionOnceAndTheLedgerAddsUp) {
  constexpr int kSessions = 6, kRounds = 12;
  std::vector<std::thread> sessions;
  std::mutex mutex;
  std::map<std::string, std::vector<std::vector<std::optional<std::string>>>> answers;
  int problems = 0;
  for (int s = 0; s < kSessions; ++s)
    sessions.emplace_back([&, s] {
      for (int round = 0; round < kRounds; ++round) {
        const std::string text = "select ward, count(*) as n from people where age > " +
                                 std::to_string((s + round) % 5) + " group by ward order by 1";
        const Question question = about(text);
        const auto explained =
            on(Service::Line::Quick, [=](Curator& c) { return c.explain(question); });
        auto answer = on(Service::Line::Quick, [=](Curator& c) { return c.repeat(question); });
        if (answer && !*answer) {
          auto paid = on(Service::Line::Charged, [=](Curator& c) { return c.answer(question); });
          if (paid) answer = std::optional(*std::move(paid));
        }
        const auto left = on(Service::Line::Quick,
                             [](Curator& c) { return spendable(c, std::string(kOwnerAccount)); });
        const auto names = on(Service::Line::Charged, [&](Curator& c) -> Result<Answer> {
          DISCREET_TRY(const auto catalog, service_->catalog_of(c, "default"));
          return catalog->query("select relname from pg_class", {}, c.ledger(), {"default", true});
        });
        const std::scoped_lock lock(mutex);
        if (!explained || !answer || !*answer || !left || !names) {
          ++problems;
          continue;
        }
        const auto [known, first] = answers.emplace(text, (*answer)->rows);
        if (!first && known->second != (*answer)->rows) ++problems;
      }
    });
  for (std::thread& session : sessions) session.join();
  EXPECT_EQ(problems, 0);
  EXPECT_EQ(answers.size(), 5U);
  const auto verified = on(Service::Line::Charged, [](Curator& c) -> Result<ledger::Verification> {
    DISCREET_TRY_VOID(c.ledger().flush());
    return c.ledger().verify();
  });
  ASSERT_TRUE(verified) << verified.error().message;
  EXPECT_EQ(verified->charges, 5U);
  EXPECT_EQ(verified->releases, 5U);
  // One grant, and for every one of the answers a charge and a release, or a note that it was
  // repeated. Two who asked at once may share a charge, and neither is a repeat then.
  EXPECT_LE(verified->events, 1U + 5U * 2U + kSessions * kRounds - 5U);
  EXPECT_GT(verified->events, 1U + 5U * 2U);
}

// What is known of a statement's noise before a row is read is drawn by the pool: as many samples
// as the question has groups and sums, whatever the rows are.
TEST_F(ServiceTest, TheNoiseOfAnswersComesFromThePool) {
  const auto ask = [&](const std::string& sql) {
    const Question question = about(sql);
    const auto made = on(Service::Line::Charged, [=](Curator& c) { return c.answer(question); });
    EXPECT_TRUE(made) << made.error().message;
    return made ? made->noise_ahead : 0;
  };
  EXPECT_EQ(ask("select count(*) as n from people where age > 7"), 1u);
  EXPECT_EQ(ask("select ward, count(*) as n from people group by ward"), 2u);
  EXPECT_EQ(ask("select ward, count(*) as n from people where age > 1000 group by ward"), 2u);
  EXPECT_EQ(ask("select avg(age) as a from people"), 0u) << "one K-norm draw, by its sampler";
  EXPECT_EQ(ask("select ward, count(*) as n from people group by ward"), 0u) << "on record";
  EXPECT_EQ(service_->noise().counts().taken, 5u);
  EXPECT_EQ(service_->noise().counts().prepared, 5u);
}

// The error of counts, over and over, at a rate of 1/2: what leaves has the sampler's law.
TEST_F(ServiceTest, WhatThePoolAddsToAnswersHasTheLawThatWasPaidFor) {
  constexpr int kQuestions = 200;
  std::vector<std::int64_t> noise;
  for (int i = 1; i <= kQuestions; ++i) {
    Question question = about("select ward, count(*) as n from people where age > " +
                              std::to_string(-i) + " group by ward");
    question.epsilon = Epsilon::make(0.5).value();
    const auto made = on(Service::Line::Charged, [=](Curator& c) { return c.answer(question); });
    ASSERT_TRUE(made) << made.error().message;
    ASSERT_EQ(made->noise_ahead, 2u);
    for (const auto& row : made->rows) noise.push_back(std::stoll(*row[1]) - 150);
  }
  const double r = std::exp(-0.5);
  const auto found = chi_square("noise of served counts", noise, -5, 5, [&](std::int64_t z) {
    return (1 - r) / (1 + r) * std::pow(r, std::fabs(static_cast<double>(z)));
  });
  EXPECT_LT(found.statistic, found.limit);
  // Two independent samples agree with chance 0.13: 26 pairs of 200, and 56 would be six standard
  // deviations more. A pool that hands one sample to both groups makes it all of them.
  const auto agreeing = [](const std::vector<std::int64_t>& samples) {
    int equal = 0;
    for (std::size_t i = 0; i + 1 < samples.size(); i += 2)
      equal += samples[i] == samples[i + 1] ? 1 : 0;
    return equal;
  };
  EXPECT_LT(agreeing(noise), 56);
  std::vector<std::int64_t> twice = noise;
  for (std::size_t i = 0; i + 1 < twice.size(); i += 2) twice[i + 1] = twice[i];
  EXPECT_GE(agreeing(twice), 56);
}

}  // namespace
}  // namespace discreet::server
