// Every published reference value, by the pass rule that comes with them: one-sided quantities may
// not be below the truth by more than the stated slack nor above it by more than the tolerance, and
// our own bracket must hold the value.
#include <cmath>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "accounting/account_question.h"
#include "support/shared_folder.h"

namespace discreet {
namespace {

using nlohmann::json;

double slack(const json& entry) {
  const double value = entry.at("value"), tolerance = entry.at("tolerance");
  const std::string kind = entry.at("kind"), quantity = entry.at("quantity");
  if (kind == "public_test") return tolerance;
  if (kind == "numeric") return quantity == "epsilon_at_delta" ? 5e-6 : 1e-7;
  return (quantity == "sigma_at_epsilon_delta" ? 1e-12 : 1e-9) * std::fabs(value);
}

TEST(AccountingVectorsTest, EveryReferenceValueIsMetAndBracketed) {
  const std::filesystem::path path = shared_file("vectors/accounting.json");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "the reference values are not here: " << path;
  std::ifstream file(path);
  const json entries = json::parse(file);
  ASSERT_GE(entries.size(), 100U);
  double widest = 0;
  for (const json& entry : entries) {
    const std::string id = entry.at("id"), quantity = entry.at("quantity");
    SCOPED_TRACE(id + " " + entry.at("mechanism").get<std::string>() + " " + quantity);
    const auto answer = answer_entry(entry);
    if (!answer) {
      ADD_FAILURE() << answer.error().message;
      continue;
    }
    const double value = entry.at("value"), tolerance = entry.at("tolerance");
    const bool two_sided =
        quantity == "variance" || quantity == "tail_probability" || quantity == "rdp_at_order";
    if (two_sided) {
      EXPECT_NEAR(answer->value, value, tolerance);
    } else {
      EXPECT_GE(answer->value, value - slack(entry)) << "understates";
      EXPECT_LE(answer->value, value + tolerance) << "looser than the tolerance";
    }
    EXPECT_LE(answer->bracket.lower, value + slack(entry));
    EXPECT_GE(answer->bracket.upper, value - slack(entry));
    EXPECT_LE(answer->bracket.lower, answer->bracket.upper);
    if (quantity == "epsilon_at_delta" && value > 0) {
      EXPECT_LE(answer->bracket.width(), 1e-3 * value);
      widest = std::fmax(widest, answer->bracket.width() / value);
    }
  }
  RecordProperty("entries", static_cast<int>(entries.size()));
  RecordProperty("widest_relative_bracket_of_epsilon", std::to_string(widest));
}

}  // namespace
}  // namespace discreet
