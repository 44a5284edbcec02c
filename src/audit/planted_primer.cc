// A t-statistic with "simplified sensitivity", as a primer on the subject has it: Gaussian noise
// for a sensitivity of 2 / (n1 + n2), which is a mean's, not a t-statistic's. One person moves both
// the mean and the spread under it.
#include <cmath>

#include "audit/planted.h"

namespace discreet::planted {
namespace {

constexpr int kGroup = 1000;

// Scores spread like a normal law around `mean`: its quantiles at the middles of 1000 equal parts,
// by the logistic approximation, which is near enough for a worked example.
std::vector<double> scores(double mean) {
  std::vector<double> all;
  for (int i = 0; i < kGroup; ++i) {
    const double p = (i + 0.5) / kGroup;
    all.push_back(mean + std::log(p / (1 - p)) / 1.702);
  }
  return all;
}

double t_statistic(const std::vector<double>& a, const std::vector<double>& b) {
  const auto moments = [](const std::vector<double>& x) {
    double sum = 0, squares = 0;
    for (const double one : x) sum += one;
    const double mean = sum / static_cast<double>(x.size());
    for (const double one : x) squares += (one - mean) * (one - mean);
    return std::pair(mean, squares / static_cast<double>(x.size()));
  };
  const auto [ma, va] = moments(a);
  const auto [mb, vb] = moments(b);
  return (ma - mb) /
         std::sqrt(va / static_cast<double>(a.size()) + vb / static_cast<double>(b.size()));
}

AuditedRun noisy_t(double t, double sigma) {
  return [=](RandomSource& random) -> std::int64_t {
    const auto unit = [&] { return (static_cast<double>(random.bits64() >> 11) + 0.5) * 0x1p-53; };
    const double normal = std::sqrt(-2 * std::log(unit())) * std::cos(6.283185307179586 * unit());
    return std::llround(1000 * (t + sigma * normal));
  };
}

}  // namespace

std::vector<AuditSubject> primer() {
  const double epsilon = 0.1, delta = 1e-5;
  const double sigma = std::sqrt(2 * std::log(1.25 / delta)) * (2.0 / (2 * kGroup)) / epsilon;
  auto placebo = scores(5);
  const auto treated = scores(7);
  const double before = t_statistic(treated, placebo);
  placebo[kGroup / 2] = 10;  // one person scores 10 instead of 5
  const double after = t_statistic(treated, placebo);
  AuditSubject subject{"primer-t-statistic",
                       "a t-statistic with the sensitivity of a mean, 2 / (n1 + n2)",
                       ApproxDp{Epsilon::make(epsilon).value(), Delta::make(delta).value()},
                       noisy_t(before, sigma), noisy_t(after, sigma)};
  subject.trials = 50'000;
  return {subject};
}

}  // namespace discreet::planted
