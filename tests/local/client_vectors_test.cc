// Reports that every client must make from the same random words: sdk/typescript/test/vectors.json.
// With DISCREET_WRITE_VECTORS=1 the file is written instead of compared.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "local/attributes.h"
#include "local/client.h"
#include "local/wire.h"
#include "support/seeded_random.h"

namespace discreet::local {
namespace {

using Json = nlohmann::ordered_json;

std::vector<Spec> specs() {
  std::vector<Spec> out;
  for (const auto kind : all_oracles())
    for (const double epsilon : {0.1, 1.0, 1.0 / 3, 4.75}) {
      Spec spec;
      spec.kind = kind;
      spec.epsilon = epsilon;
      if (is_mean(kind)) {
        spec.low = -3.5;
        spec.high = 100;
      } else {
        spec.values = epsilon == 1.0 ? 100 : 7;
      }
      out.push_back(complete(spec).value());
    }
  Spec open;
  open.kind = OracleKind::Rappor;
  open.epsilon = 1;
  open.permanent_epsilon = 3;
  open.hash_seed = 0xfedcba9876543210;
  out.push_back(complete(open).value());
  open.kind = OracleKind::HadamardSketch;
  open.permanent_epsilon = 0;
  out.push_back(complete(open).value());
  Spec emoji;
  emoji.kind = OracleKind::OptimizedHash;
  emoji.epsilon = 2;
  emoji.labels = {"\xf0\x9f\x98\x82", "\xe2\x9d\xa4", "\xf0\x9f\x91\x8d"};
  out.push_back(complete(emoji).value());
  for (const char* strategy : {"sample", "split"}) {
    const std::vector<AttributeQuestion> asked = {
        {"drink", 0, {"tea", "coffee", "m\xc3\xa1te"}}, {"age", 9, {}}, {"town", 300, {}}};
    out.push_back(record_spec(strategy, 1.0 / 3, asked).value());
  }
  return out;
}

std::string sample_value(const Spec& spec, int i) {
  if (is_mean(spec.kind)) return std::to_string(-3.5 + i * 9.3125);
  if (is_record(spec.kind)) {
    std::string values;
    for (const Spec& attribute : spec.attributes)
      values += (values.empty() ? "" : ",") + sample_value(attribute, i);
    return values;
  }
  if (spec.values == 0) return i % 2 == 0 ? "gr\xc3\xbc\xc3\x9f dich" : "tea";
  return value_text(spec, static_cast<std::uint64_t>(i * 3) % spec.values);
}

Json make_vectors() {
  Json cases = Json::array();
  std::uint64_t seed = 1000;
  for (const Spec& spec : specs()) {
    ReportBudget budget(Epsilon::make(1e6).value());
    const auto client = Client::make(spec, budget).value();
    SeededRandom random(++seed);
    Json one = {{"header", header_line(spec)}, {"seed", seed}};
    for (int i = 0; i < 6; ++i) {
      const std::string value = sample_value(spec, i);
      const std::string line = report_line(client.report(value, random).value());
      one["reports"].push_back({{"value", value}, {"report", line}});
    }
    ClientSecret secret{};
    for (std::size_t i = 0; i < secret.size(); ++i)
      secret[i] = static_cast<std::uint8_t>(7 * i + seed);
    one["secret"] = report_line(secret);
    for (int i = 0; i < 3; ++i) {
      const std::string value = sample_value(spec, i / 2);
      const std::string line = report_line(client.report_lasting(value, secret, random).value());
      one["lasting"].push_back({{"value", value}, {"report", line}});
    }
    cases.push_back(std::move(one));
  }
  return cases;
}

TEST(ClientVectors, AreWhatThisClientReports) {
  const Json made = make_vectors();
  if (std::getenv("DISCREET_WRITE_VECTORS") != nullptr) {
    std::ofstream file(DISCREET_CLIENT_VECTORS);
    file << "[\n";
    for (std::size_t i = 0; i < made.size(); ++i)
      file << made[i].dump() << (i + 1 < made.size() ? ",\n" : "\n");
    file << "]\n";
    GTEST_SKIP() << "wrote " << DISCREET_CLIENT_VECTORS;
  }
  std::ifstream file(DISCREET_CLIENT_VECTORS);
  const Json stored = Json::parse(file, nullptr, false);
  ASSERT_TRUE(stored.is_array());
  ASSERT_EQ(stored.size(), made.size());
  for (std::size_t i = 0; i < made.size(); ++i) EXPECT_EQ(stored[i], made[i]);
}

}  // namespace
}  // namespace discreet::local
