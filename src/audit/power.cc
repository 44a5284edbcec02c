#include "audit/power.h"

#include "audit/epsilon_lower_bound.h"
#include "mechanisms/discrete_laplace.h"
#include "mechanisms/randomized_response.h"

namespace discreet {
namespace {

AuditedRun noisy_count(double epsilon, std::int64_t exact) {
  const auto noise =
      DiscreteLaplace::make(Epsilon::make(epsilon).value(), L1Sensitivity{1}).value();
  return [=](RandomSource& random) { return noise.release(exact, random); };
}

AuditedRun coin(double epsilon, std::uint64_t bit) {
  const auto response = RandomizedResponse::make(Epsilon::make(epsilon).value(), 2).value();
  return [=](RandomSource& random) {
    return static_cast<std::int64_t>(response.release(bit, random));
  };
}

}  // namespace

std::vector<PowerPoint> audit_power(std::span<const double> truths,
                                    std::span<const std::uint64_t> trials, std::uint64_t audits,
                                    RandomSource& random) {
  std::vector<PowerPoint> found;
  for (const bool is_count : {true, false})
    for (const double truth : truths)
      for (const std::uint64_t runs : trials) {
        PowerPoint point{is_count ? "laplace" : "randomized-response", 1, truth, runs, audits, 0};
        for (std::uint64_t i = 0; i < audits; ++i) {
          const AuditOptions options{.trials = runs};
          const auto result =
              is_count
                  ? audit_epsilon(noisy_count(truth, 0), noisy_count(truth, 1), options, random)
                  : audit_epsilon(coin(truth, 0), coin(truth, 1), options, random);
          point.refuted += result.lower_bound > point.claimed;
        }
        found.push_back(point);
      }
  return found;
}

}  // namespace discreet
