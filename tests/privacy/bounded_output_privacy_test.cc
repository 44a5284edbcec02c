// Tries to refute the guarantee of BoundedLaplace, and shows that the same attempt refutes
// truncation without calibration.
#include <gtest/gtest.h>

#include <iostream>

#include "audit/epsilon_lower_bound.h"
#include "mechanisms/bounded_output.h"
#include "random/discrete_laplace_sampler.h"
#include "support/seeded_random.h"

namespace discreet {
namespace {

constexpr OutputRange kRange{0, 4};

// False-alarm rate 1e-9 in both tests (the audit's confidence).
TEST(BoundedLaplacePrivacyTest, NeighboursStayWithinEpsilonInEveryForm) {
  SeededRandom random(20261160);
  for (const auto form : {BoundedForm::Clamped, BoundedForm::Folded, BoundedForm::Truncated}) {
    const auto mechanism =
        BoundedLaplace::make(Epsilon::make(1).value(), L1Sensitivity{1}, kRange, form).value();
    const auto run = [&](std::int64_t exact) -> AuditedRun {
      return [=](RandomSource& source) { return mechanism.release(exact, source); };
    };
    const std::uint64_t trials = form == BoundedForm::Truncated ? 60'000 : 200'000;
    const AuditResult found = audit_epsilon(run(0), run(1), {.trials = trials}, random);
    std::cout << "claimed 1, at least " << found.lower_bound << " (" << found.event << ")\n";
    EXPECT_LE(found.lower_bound, 1.0);
  }
}

// The broken twin: noise of rate epsilon / sensitivity drawn again until it falls inside.
TEST(BoundedLaplacePrivacyTest, DrawingAgainUntilInsideIsCaught) {
  SeededRandom random(20261161);
  const auto sampler = DiscreteLaplaceSampler::make(1).value();
  const auto run = [&](std::int64_t exact) -> AuditedRun {
    return [&, exact](RandomSource& source) {
      for (;;) {
        const std::int64_t released = exact + sampler.draw(source);
        if (released >= kRange.lower && released <= kRange.upper) return released;
      }
    };
  };
  const AuditResult found = audit_epsilon(run(0), run(1), {}, random);
  std::cout << "claimed 1, at least " << found.lower_bound << "\n";
  EXPECT_GT(found.lower_bound, 1.0);
}

}  // namespace
}  // namespace discreet
