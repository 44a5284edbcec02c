// Tries to refute the guarantees of quantiles and extremes. The broken twin (weights of the wrong
// tail) is in planted_privacy_test.cc.
#include <gtest/gtest.h>

#include <iostream>

#include "audit/epsilon_lower_bound.h"
#include "mechanisms/extreme.h"
#include "mechanisms/quantiles.h"
#include "support/seeded_random.h"

namespace discreet {
namespace {

using Values = std::vector<std::int64_t>;

const std::pair<Values, Values> kNeighbours[] = {
    {{0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1}},
    {{0, 1, 2, 3}, {0, 1, 2, 3, 3}},
    {{3, 3}, {3, 3, 3}},
    {{}, {0}}};

// False-alarm rate 1e-9 for each audit.
void expect_private(const AuditedRun& without, const AuditedRun& with, const char* what,
                    std::uint64_t trials) {
  SeededRandom random(20261115);
  AuditOptions options;
  options.trials = trials;
  const AuditResult found = audit_epsilon(without, with, options, random);
  std::cout << what << ": at least " << found.lower_bound << " (" << found.event << ")\n";
  EXPECT_LE(found.lower_bound, 1.0) << what;
}

template <class Mechanism>
AuditedRun release_of(const Mechanism& mechanism, const Values& values) {
  return [=](RandomSource& random) -> std::int64_t { return mechanism.release(values, random); };
}

TEST(QuantilePrivacyTest, NeighboursStayWithinEpsilon) {
  const auto epsilon = Epsilon::make(1).value();
  const auto median = Quantile::make(epsilon, 0.5, {0, 3}).value();
  const auto decile = Quantile::make(epsilon, 0.9, {0, 3}).value();
  const auto most = Extreme::make(epsilon, ExtremeSide::Maximum, {0, 3}).value();
  for (const auto& [x, y] : kNeighbours) {
    expect_private(release_of(median, x), release_of(median, y), "median", 40'000);
    expect_private(release_of(decile, x), release_of(decile, y), "ninth decile", 40'000);
    expect_private(release_of(most, x), release_of(most, y), "maximum", 40'000);
  }
}

TEST(QuantilePrivacyTest, SeveralQuantilesTogetherStayWithinEpsilon) {
  const auto epsilon = Epsilon::make(1).value();
  for (const auto method : {QuantilesMethod::Tree, QuantilesMethod::Recursive}) {
    const auto quartiles = Quantiles::make(epsilon, {0.25, 0.5, 0.75}, {0, 3}, method).value();
    const auto key = [&](const Values& values) -> AuditedRun {
      return [&quartiles, values](RandomSource& random) {
        std::int64_t code = 0;
        for (const auto value : quartiles.release(values, random)) code = 4 * code + value;
        return code;
      };
    };
    for (const auto& [x, y] : kNeighbours)
      expect_private(key(x), key(y), method == QuantilesMethod::Tree ? "tree" : "recursive",
                     40'000);
  }
}

}  // namespace
}  // namespace discreet
