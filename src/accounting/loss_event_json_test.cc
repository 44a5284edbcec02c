#include "accounting/loss_event_json.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/seeded_random.h"

namespace discreet {
namespace {

using testing::HasSubstr;

Epsilon eps(double value) {
  return Epsilon::make(value).value();
}
Delta del(double value) {
  return Delta::make(value).value();
}
std::shared_ptr<const LossEvent> in(LossEvent event) {
  return std::make_shared<LossEvent>(std::move(event));
}

// One of every kind, with numbers that are awkward to print.
std::vector<LossEvent> every_kind() {
  const double third = 1.0 / 3, tiny = std::numeric_limits<double>::denorm_min();
  return {
      loss::Pure{eps(third)},
      loss::Approximate{eps(0.1), del(tiny)},
      loss::Zcdp{Rho::make(1e-300).value()},
      loss::Laplace{third, std::nextafter(1.0, 2.0)},
      loss::DiscreteLaplace{1e300, std::numeric_limits<std::int64_t>::max()},
      loss::Gaussian{std::sqrt(2.0), tiny},
      loss::MixtureOfGaussians{third, {0.0, std::sqrt(2.0)}, {0.25, 0.75}},
      loss::DiscreteGaussian{third, 0.1, std::numeric_limits<std::uint64_t>::max()},
      loss::RandomizedResponse{eps(1), 17},
      loss::BoundedRange{eps(0)},
      loss::SparseVector{eps(2), 3},
      loss::TruncatedGeometric{eps(0.7), del(1e-9), 41},
      loss::PoissonSubsampled{0.01, in(loss::Gaussian{1, 1})},
      loss::SampledWithoutReplacement{100, 5000, in(loss::Laplace{1, 1})},
      loss::Repeated{std::numeric_limits<std::uint64_t>::max(), in(loss::Pure{eps(1e-9)})},
      loss::Composed{{loss::Pure{eps(1)}, loss::Composed{{}}, loss::Laplace{2, 1}}},
      loss::Parallel{{loss::Pure{eps(1)}, loss::Zcdp{Rho::make(0.5).value()}}},
      loss::Group{4, in(loss::Gaussian{3, 1})},
  };
}

TEST(LossEventJsonTest, EveryKindComesBackBitForBit) {
  ASSERT_EQ(every_kind().size(), std::variant_size_v<LossEvent::Kind>);
  for (const LossEvent& event : every_kind()) {
    const std::string text = encode_loss_document(event);
    const auto back = decode_loss_document(text);
    ASSERT_TRUE(back) << text << ": " << back.error().message;
    EXPECT_EQ(back->kind.index(), event.kind.index());
    EXPECT_TRUE(same_event(*back, event)) << text;
    EXPECT_EQ(encode_loss_document(*back), text);
  }
}

TEST(LossEventJsonTest, RandomDoublesComeBackBitForBit) {
  SeededRandom random(4);
  for (int i = 0; i < 20'000; ++i) {
    const double sigma = std::bit_cast<double>(random.bits64() >> 1);
    if (!std::isfinite(sigma) || sigma == 0) continue;
    const auto back = decode_loss_document(encode_loss_document(loss::Gaussian{sigma, 1}));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(std::get<loss::Gaussian>(back->kind).sigma, sigma);
  }
}

TEST(LossEventJsonTest, RefusalsNameThePathToTheField) {
  const auto refusal = [](const std::string& event) {
    const auto result = decode_loss_document(R"({"version": 1, "event": )" + event + "}");
    EXPECT_FALSE(result) << event;
    return result ? std::string() : result.error().message;
  };
  EXPECT_THAT(refusal(R"({"mechanism": "gaussian", "sigma": 0, "sensitivity": 1})"),
              HasSubstr("event.sigma: must be positive"));
  EXPECT_THAT(refusal(R"({"mechanism": "composed", "parts": [{"mechanism": "pure_dp",
              "epsilon0": 1}, {"mechanism": "group", "size": 2, "inner": {"mechanism": "zcdp",
              "rho": -1}}]})"),
              HasSubstr("event.parts[1].inner.rho: rho must be finite"));
  EXPECT_THAT(refusal(R"({"mechanism": "gauss"})"), HasSubstr("event.mechanism: \"gauss\" is not"));
  EXPECT_THAT(refusal(R"({"mechanism": "laplace", "scale": 1})"),
              HasSubstr("event.sensitivity: is missing"));
  EXPECT_THAT(refusal(R"({"mechanism": "pure_dp", "epsilon0": 1, "delta0": 0})"),
              HasSubstr("event.delta0: is not a field"));
  EXPECT_THAT(refusal(R"({"mechanism": "pure_dp", "epsilon0": 1e999})"), HasSubstr("JSON"));
  EXPECT_THAT(refusal(R"({"mechanism": "pure_dp", "epsilon0": "1"})"),
              HasSubstr("must be a number"));
  EXPECT_THAT(refusal(R"({"mechanism": "repeated", "count": -1, "inner": {}})"),
              HasSubstr("event.count: must be a whole number"));
  EXPECT_THAT(refusal(R"({"mechanism": "repeated", "count": 1.5, "inner": {}})"),
              HasSubstr("event.count: must be a whole number"));
  EXPECT_THAT(refusal(R"({"mechanism": "sampled_without_replacement", "sample": 6,
              "population": 5, "inner": {"mechanism": "pure_dp", "epsilon0": 1}})"),
              HasSubstr("event.sample: must be a whole number from 0 to 5"));
  EXPECT_THAT(refusal(R"({"mechanism": "poisson_subsampled", "sampling_probability": 1.01,
              "inner": {"mechanism": "pure_dp", "epsilon0": 1}})"),
              HasSubstr("event.sampling_probability"));
  EXPECT_THAT(refusal(R"({"mechanism": "pure_dp", "epsilon0": 1, "epsilon0": 2})"),
              HasSubstr("twice"));
  EXPECT_THAT(refusal("[1]"), HasSubstr("event: an event must be an object"));
}

TEST(LossEventJsonTest, WholeNumbersMayBeWrittenAsReals) {
  const auto event = decode_loss_document(
      R"({"version":1,"event":{"mechanism":"repeated","count":1e6,"inner":{"mechanism":"pure_dp","epsilon0":1}}})");
  ASSERT_TRUE(event) << event.error().message;
  EXPECT_EQ(std::get<loss::Repeated>(event->kind).count, 1'000'000u);
}

TEST(LossEventJsonTest, OtherVersionsAndShapesAreRefused) {
  for (const char* text :
       {"", "null", "[]", "{}", R"({"version":2,"event":{"mechanism":"pure_dp","epsilon0":1}})",
        R"({"version":1})", R"({"version":"1","event":{"mechanism":"pure_dp","epsilon0":1}})",
        R"({"version":1,"event":{"mechanism":"pure_dp","epsilon0":1},"note":1})",
        R"({"version":1,"event":{"mechanism":"pure_dp","epsilon0":1}} x)", "\xff\xfe"})
    EXPECT_FALSE(decode_loss_document(text)) << text;
}

TEST(LossEventJsonTest, DeepNestingIsRefusedAndTheLimitItselfIsNot) {
  const auto nested = [](int depth) {
    LossEvent event = loss::Pure{eps(1)};
    for (int i = 1; i < depth; ++i) event = loss::Repeated{2, in(event)};
    return encode_loss_document(event);
  };
  EXPECT_TRUE(decode_loss_document(nested(kLossEventDepthMax)));
  EXPECT_FALSE(decode_loss_document(nested(kLossEventDepthMax + 1)));
  EXPECT_FALSE(decode_loss_document(std::string(1'000'000, '[')));
  EXPECT_FALSE(decode_loss_document(std::string(kLossDocumentBytesMax + 1, ' ')));
}

// Whatever bytes arrive, the reader answers; what it accepts it can write and read again.
TEST(LossEventJsonTest, MutatedDocumentsAreReadOrRefusedButNeverCrash) {
  SeededRandom random(20261115);
  std::vector<std::string> seeds;
  for (const LossEvent& event : every_kind()) seeds.push_back(encode_loss_document(event));
  const std::string alphabet = "{}[]\":,.-+eE0123456789 \\untfalsmg\xff";
  int accepted = 0;
  for (int trial = 0; trial < 30'000; ++trial) {
    std::string text = seeds[random.bits64() % seeds.size()];
    for (std::uint64_t edits = 1 + random.bits64() % 2; edits > 0; --edits) {
      const std::size_t at = random.bits64() % text.size();
      switch (random.bits64() % 4) {
        case 0:
          text[at] = alphabet[random.bits64() % alphabet.size()];
          break;
        case 1:
          text.erase(at, 1 + random.bits64() % 4);
          break;
        case 2:
          text.insert(at, 1, alphabet[random.bits64() % alphabet.size()]);
          break;
        default:
          text.insert(at, seeds[random.bits64() % seeds.size()].substr(0, 12));
      }
      if (text.empty()) text = "{";
    }
    const auto event = decode_loss_document(text);
    if (!event) {
      EXPECT_FALSE(event.error().message.empty());
      continue;
    }
    ++accepted;
    const auto again = decode_loss_document(encode_loss_document(*event));
    ASSERT_TRUE(again);
    EXPECT_TRUE(same_event(*again, *event));
  }
  RecordProperty("accepted", accepted);
  EXPECT_GT(accepted, 300);  // otherwise the mutations test nothing but refusals
}

}  // namespace
}  // namespace discreet
