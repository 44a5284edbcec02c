#include "ledger/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "accounting/conversion.h"

namespace discreet::ledger {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

class ReportTest : public ::testing::Test {
 protected:
  ReportTest() {
    std::string text = (fs::temp_directory_path() / "discreet-report-XXXXXX").string();
    folder_ = ::mkdtemp(text.data());
  }
  ~ReportTest() override { fs::remove_all(folder_); }

  Ledger used() {
    const Amount amount{Epsilon::make(2).value(), Delta::make(1e-6).value()};
    Ledger ledger = Ledger::open(folder_ / "l.sqlite",
                                 {{"default", "", amount, {}, FilterKind::Best},
                                  {"alice", "default", amount, {}, FilterKind::Best}},
                                 clock_)
                        .value();
    for (int i = 0; i < 4; ++i) {
      const LossEvent loss = loss::Gaussian{10, 1};
      const ApproxDp stated{Epsilon::make(0.4).value(), Delta::make(1e-8).value()};
      auto receipt =
          ledger.charge({"alice", "q" + std::to_string(i), "",
                         "select '<b>' -- " + std::to_string(i), loss, Price::of(stated, loss)});
      EXPECT_TRUE(receipt) << receipt.error().message;
      if (i < 3) {
        EXPECT_TRUE(ledger.record_release(*std::move(receipt), "42"));
      }
    }
    const auto found = ledger.find_answer("default", "q0").value();
    EXPECT_TRUE(ledger.record_repeat("default", found->charge));
    return ledger;
  }

  fs::path folder_;
  ManualClock clock_{Instant(std::chrono::microseconds(1'767'225'600'000'000))};
};

TEST_F(ReportTest, SaysWhatWasReleasedToWhomAtWhatCostInEveryDefinition) {
  Ledger ledger = used();
  const json report = json::parse(report_json(ledger).value());
  ASSERT_EQ(report["accounts"].size(), 2u);
  for (const json& account : report["accounts"]) {
    EXPECT_EQ(account["charges"], 4);
    const json& cost = account["cost"];
    EXPECT_NEAR(cost["epsilon_sum"].get<double>(), 1.6, 1e-12);
    EXPECT_NEAR(cost["rho"].get<double>(), 4 * 0.005, 1e-12);
    const double by_zcdp = cost["epsilon_by_zcdp"]["epsilon"];
    EXPECT_NEAR(by_zcdp, zcdp_epsilon(Rho::make(0.02).value(), 1e-6), 1e-9);
    const double by_renyi = cost["epsilon_by_renyi"]["epsilon"];
    EXPECT_NEAR(by_renyi, by_zcdp, 1e-3) << "for Gaussian noise the two agree";
  }
  ASSERT_EQ(report["releases"].size(), 4u);
  const json& first = report["releases"][0];
  EXPECT_EQ(first["account"], "alice");
  EXPECT_EQ(first["at"], "2026-01-01T00:00:00.000000Z");
  EXPECT_EQ(first["loss"]["mechanism"], "gaussian");
  EXPECT_EQ(first["answer_bytes"], 2);
  EXPECT_EQ(first["repeats"][0]["account"], "default");
  EXPECT_TRUE(report["releases"][3]["answered"].is_null()) << "paid, never answered";
}

TEST_F(ReportTest, ThePageEscapesWhatAnalystsTyped) {
  Ledger ledger = used();
  const std::string page = report_html(ledger).value();
  EXPECT_THAT(page, HasSubstr("select '&lt;b&gt;'"));
  EXPECT_THAT(page, Not(HasSubstr("<b>")));
  EXPECT_THAT(page, Not(HasSubstr("http"))) << "self-contained";
}

TEST_F(ReportTest, ExportedEventsCanBeSealedAgain) {
  Ledger ledger = used();
  Digest head = genesis();
  int lines = 0;
  ASSERT_TRUE(export_events(ledger, [&](const std::string& line) {
    const json event = json::parse(line);
    // The body's bytes are in the line as they were sealed.
    const std::size_t start = line.find("\"body\":") + 7, end = line.find(",\"previous\":");
    StoredEvent stored{event["seq"],
                       Instant(std::chrono::microseconds(event["at_us"].get<std::int64_t>())),
                       event["kind"],
                       event["account"],
                       line.substr(start, end - start),
                       head,
                       {}};
    EXPECT_EQ(to_hex(seal(stored)), event["hash"].get<std::string>());
    head = seal(stored);
    ++lines;
  }));
  EXPECT_EQ(lines, 2 + 4 + 3 + 1);
  EXPECT_EQ(to_hex(head), to_hex(ledger.verify()->head));
}

}  // namespace
}  // namespace discreet::ledger
