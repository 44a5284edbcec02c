#include "local/trust_models.h"

#include <cmath>
#include <limits>
#include <numeric>

#include "accounting/shuffle.h"
#include "local/choose.h"
#include "local/crowd.h"
#include "local/oracle.h"
#include "mechanisms/discrete_laplace.h"

namespace discreet::local {
namespace {

double square_error(std::span<const double> estimates, std::span<const std::uint64_t> truth) {
  double sum = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const double miss = estimates[i] - static_cast<double>(truth[i]);
    sum += miss * miss;
  }
  return sum / static_cast<double>(truth.size());
}

/// Reports of the oracle that is best for this epsilon.
Result<TrustRow> by_reports(std::span<const std::uint64_t> truth, double epsilon,
                            std::uint32_t repetitions, RandomSource& random) {
  DISCREET_TRY(const Spec spec, choose_oracle(epsilon, truth.size()));
  DISCREET_TRY(const auto oracle, Oracle::make(spec));
  const std::vector<double> counts(truth.begin(), truth.end());
  std::vector<std::uint64_t> inputs(truth.size());
  std::iota(inputs.begin(), inputs.end(), std::uint64_t{0});
  const double n = std::accumulate(counts.begin(), counts.end(), 0.0);
  const auto variances = oracle->variances(n, counts, inputs);
  TrustRow row;
  row.mechanism = name(spec.kind);
  row.local_epsilon = epsilon;
  row.predicted = std::sqrt(std::accumulate(variances.begin(), variances.end(), 0.0) /
                            static_cast<double>(truth.size()));
  double sum = 0;
  for (std::uint32_t i = 0; i < repetitions; ++i) {
    const auto tally = collect_from_crowd(*oracle, truth, random);
    DISCREET_TRY(const auto estimates, oracle->estimate(tally));
    std::vector<double> raw;
    for (const auto& e : estimates) raw.push_back(e.estimate);
    sum += square_error(raw, truth);
  }
  row.measured = std::sqrt(sum / repetitions);
  return row;
}

// Everyone splits a one-hot vector into two shares that are uniform each on its own; a server sees
// one share of everyone, adds noise to the sum of them, and the two sums are added up.
std::vector<double> two_servers(std::span<const std::uint64_t> truth, const DiscreteLaplace& noise,
                                RandomSource& random) {
  std::vector<std::uint64_t> first(truth.size()), second(truth.size()), mask(truth.size());
  for (std::size_t v = 0; v < truth.size(); ++v)
    for (std::uint64_t person = 0; person < truth[v]; ++person) {
      random.fill(mask);
      for (std::size_t cell = 0; cell < truth.size(); ++cell) {
        first[cell] += mask[cell];
        second[cell] += (cell == v ? 1 : 0) - mask[cell];
      }
    }
  std::vector<double> out;
  for (std::size_t cell = 0; cell < truth.size(); ++cell) {
    const auto sum = static_cast<std::int64_t>(first[cell] + second[cell]);
    out.push_back(static_cast<double>(noise.release(noise.release(sum, random), random)));
  }
  return out;
}

double laplace_variance(double epsilon, double sensitivity) {
  const double r = std::exp(-epsilon / sensitivity), gap = -std::expm1(-epsilon / sensitivity);
  return 2 * r / (gap * gap);
}

}  // namespace

Result<double> local_epsilon_if_shuffled(std::uint64_t n, double epsilon, double delta) {
  double low = epsilon, high = kEpsilonMax;
  DISCREET_TRY(const double at_most, shuffle_clones_epsilon(n, high, delta));
  if (at_most <= epsilon) return high;
  for (int step = 0; step < 40; ++step) {
    const double middle = (low + high) / 2;
    DISCREET_TRY(const double central, shuffle_clones_epsilon(n, middle, delta));
    (central <= epsilon ? low : high) = middle;
  }
  return low;
}

Result<std::vector<TrustRow>> compare_trust_models(std::span<const std::uint64_t> truth,
                                                   const TrustQuestion& question,
                                                   RandomSource& random) {
  if (truth.size() < 2 || question.repetitions == 0)
    return invalid_parameter("a comparison needs at least two values and one repetition");
  const std::uint64_t n = std::accumulate(truth.begin(), truth.end(), std::uint64_t{0});
  DISCREET_TRY(const auto epsilon, Epsilon::make(question.epsilon));
  DISCREET_TRY(const auto sensitivity, L1Sensitivity::make(2));
  DISCREET_TRY(const auto noise, DiscreteLaplace::make(epsilon, sensitivity));

  std::vector<TrustRow> rows;
  DISCREET_TRY(auto local, by_reports(truth, question.epsilon, question.repetitions, random));
  local.model = "local";
  local.trusted = "nobody";
  rows.push_back(local);

  DISCREET_TRY(const double each, local_epsilon_if_shuffled(n, question.epsilon, question.delta));
  DISCREET_TRY(auto shuffled, by_reports(truth, each, question.repetitions, random));
  shuffled.model = "shuffled";
  shuffled.trusted = "a shuffler that drops who sent what";
  rows.push_back(shuffled);

  double two = 0, one = 0;
  for (std::uint32_t i = 0; i < question.repetitions; ++i) {
    two += square_error(two_servers(truth, noise, random), truth);
    std::vector<double> counts;
    for (const auto count : truth)
      counts.push_back(
          static_cast<double>(noise.release(static_cast<std::int64_t>(count), random)));
    one += square_error(counts, truth);
  }
  const double open = std::numeric_limits<double>::infinity();
  const double variance = laplace_variance(question.epsilon, 2);
  rows.push_back({"two servers", "that the two do not collude", "shares + 2 x discrete Laplace",
                  open, std::sqrt(2 * variance), std::sqrt(two / question.repetitions)});
  rows.push_back({"central", "the curator", "discrete Laplace", open, std::sqrt(variance),
                  std::sqrt(one / question.repetitions)});
  return rows;
}

}  // namespace discreet::local
