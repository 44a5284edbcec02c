#include "local/choose.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "local/confidence.h"
#include "local/oracle.h"

namespace discreet::local {
namespace {

double average_variance(const Oracle& oracle) {
  const auto law = oracle.variance();
  const auto values = static_cast<double>(std::max<std::uint64_t>(oracle.spec().values, 1));
  return law.per_report + law.per_holder / values;
}

}  // namespace

Result<std::vector<Choice>> compare_oracles(double epsilon, std::uint64_t values) {
  std::vector<Choice> choices;
  for (const auto kind : all_oracles()) {
    if (is_mean(kind) != (values == 0)) continue;
    Spec spec;
    spec.kind = kind;
    spec.epsilon = epsilon;
    spec.values = values;
    DISCREET_TRY(const auto oracle, Oracle::make(spec));
    choices.push_back({oracle->spec(), average_variance(*oracle), oracle->report_bytes()});
  }
  std::stable_sort(choices.begin(), choices.end(),
                   [](const Choice& a, const Choice& b) { return a.variance < b.variance; });
  return choices;
}

// Sketches and RAPPOR are for values nobody listed: their public hashes add a bias of their own, so
// they are compared but not chosen.
Result<Spec> choose_oracle(double epsilon, std::uint64_t values) {
  DISCREET_TRY(auto choices, compare_oracles(epsilon, values));
  std::erase_if(choices, [](const Choice& choice) { return takes_open_text(choice.spec.kind); });
  const double enough = choices.front().variance * 1.02;
  const Choice* best = &choices.front();
  for (const auto& choice : choices)
    if (choice.variance <= enough && choice.report_bytes < best->report_bytes) best = &choice;
  return best->spec;
}

Result<double> epsilon_for_error(Spec spec, const ErrorGoal& goal) {
  if (!(goal.error > 0) || goal.reports == 0)
    return invalid_parameter("a goal needs an error above zero and a population");
  DISCREET_TRY(const double z,
               critical_value(goal.confidence,
                              goal.simultaneous ? std::max<std::uint64_t>(spec.values, 1) : 1));
  const auto n = static_cast<double>(goal.reports);
  const auto reaches = [&](double epsilon) -> Result<bool> {
    Spec at = spec;
    at.epsilon = epsilon;
    DISCREET_TRY(const auto oracle, Oracle::make(at));
    const auto law = oracle->variance();
    const double worst = std::max(law.at(n, 0), law.at(n, n / 2));
    return z * std::sqrt(worst) <= goal.error;
  };
  double low = 1e-3, high = kEpsilonMax;
  DISCREET_TRY(const bool possible, reaches(high));
  if (!possible)
    return Error{ErrorCode::Refused,
                 fmt::format("no epsilon up to {} reaches an error of {} with {} reports; ask more "
                             "people or allow more error",
                             kEpsilonMax, goal.error, goal.reports)};
  while (high > low * (1 + 1e-6)) {
    const double middle = std::sqrt(low * high);
    DISCREET_TRY(const bool enough, reaches(middle));
    (enough ? high : low) = middle;
  }
  return high;
}

}  // namespace discreet::local
