// What an answer proves of itself, and every change of it that must be noticed.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "curator_fixture.h"

namespace discreet {
namespace {

using Json = nlohmann::ordered_json;

class CertificateTest : public CuratorFixture {
 protected:
  std::string certified(const std::string& sql) {
    const auto answer = open().answer(ask(sql, 1));
    EXPECT_TRUE(answer) << answer.error().message;
    const auto text = curator_->certificate(*answer);
    EXPECT_TRUE(text) << text.error().message;
    return *text;
  }
  Result<std::string> verified(const std::string& certificate) {
    curator_.reset();
    auto ledger = open_ledger(*policy_, clock_, {.read_only = true});
    EXPECT_TRUE(ledger) << ledger.error().message;
    return verify_certificate(certificate, *ledger);
  }
};

constexpr char kSql[] = "SELECT sex, count(*) AS n, avg(age) FROM people GROUP BY sex";

TEST_F(CertificateTest, SaysStatementPlanLossCostErrorsAndPlaceInTheChain) {
  const std::string text = certified(kSql);
  const Json json = Json::parse(text);
  EXPECT_EQ(json["statement"], kSql);
  EXPECT_EQ(json["columns"].size(), 3U);
  EXPECT_TRUE(json["columns"][0]["mechanism"].is_null());
  EXPECT_EQ(json["columns"][1]["mechanism"], "K-norm");
  EXPECT_GT(json["columns"][1]["error95"].get<double>(), 0);
  EXPECT_EQ(json["cost"]["epsilon"], 1.0);
  EXPECT_EQ(json["loss"]["epsilon0"], 1.0);
  EXPECT_TRUE(json["definitions"].contains("zcdp"));
  EXPECT_TRUE(json["definitions"].contains("renyi"));
  EXPECT_TRUE(json["definitions"].contains("tight"));
  EXPECT_GT(json["ledger"]["release"], json["ledger"]["charge"]);
  const auto found = verified(text);
  EXPECT_TRUE(found) << found.error().message;
}

TEST_F(CertificateTest, ARepeatedAnswerHasTheSameOne) {
  const std::string first = certified(kSql);
  const auto again = curator_->answer(ask(kSql, 1)).value();
  EXPECT_TRUE(again.repeated);
  EXPECT_EQ(curator_->certificate(again).value(), first);
}

TEST_F(CertificateTest, EveryChangedFieldIsNoticed) {
  const Json good = Json::parse(certified(kSql));
  const auto check = [&](Json changed) { return verified(changed.dump()).has_value(); };
  ASSERT_TRUE(check(good));
  for (const auto& [name, value] : good.items()) {
    if (name == "definitions") continue;  // computed from the loss, which is checked
    Json without = good;
    without.erase(name);
    EXPECT_FALSE(check(without)) << "without " << name;
  }
  Json changed = good;
  changed["cost"]["epsilon"] = 0.5;
  EXPECT_FALSE(check(changed));
  changed = good;
  changed["loss"]["epsilon0"] = 0.5;
  EXPECT_FALSE(check(changed));
  changed = good;
  changed["columns"][1]["error95"] = 0.01;
  EXPECT_FALSE(check(changed));
  changed = good;
  changed["plan"] = "nothing";
  EXPECT_FALSE(check(changed));
  changed = good;
  changed["charge"] = 1;  // a grant
  EXPECT_FALSE(check(changed));
}

TEST_F(CertificateTest, OfAnotherLedgerIsRefused) {
  const std::string text = certified(kSql);
  curator_.reset();
  for (const auto& entry : fs::directory_iterator(folder_))
    if (entry.path().filename().string().find("ledger") != std::string::npos)
      fs::remove(entry.path());
  certified("SELECT count(*) FROM people");
  EXPECT_FALSE(verified(text));
}

}  // namespace
}  // namespace discreet
