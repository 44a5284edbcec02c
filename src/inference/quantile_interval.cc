#include "inference/quantile_interval.h"

#include <algorithm>
#include <cmath>

#include <boost/math/special_functions/erf.hpp>

namespace discreet::inference {

QuantileInterval::QuantileInterval(std::span<const double> q, IntegerRange range, std::uint64_t bin,
                                   double confidence, QuantileOf of, Tree tree)
    : range_(range),
      bin_(bin),
      confidence_(1 - (1 - confidence) / static_cast<double>(q.size())),
      of_(of),
      tree_(std::move(tree)) {
  for (const double one : q) asked_.push_back({one, {}});
  const std::uint64_t last = tree_.leaves() - 1;
  const double whole = tree_.range_variance({0, last});
  for (std::uint64_t leaf = 0; leaf < last; ++leaf) {
    const double below = tree_.range_variance({0, leaf}),
                 above = tree_.range_variance({leaf + 1, last});
    const double together = (whole - below - above) / 2;  // covariance of the two parts
    for (auto& [one, noise] : asked_)
      noise.push_back(std::max(
          0.0, (1 - one) * (1 - one) * below + one * one * above - 2 * one * (1 - one) * together));
  }
  for (auto& [one, noise] : asked_) noise.push_back((1 - one) * (1 - one) * whole);
}

Result<QuantileInterval> QuantileInterval::make(Epsilon epsilon, double q, IntegerRange range,
                                                double confidence, QuantileOf of) {
  return make(epsilon, std::vector<double>{q}, range, confidence, of);
}

Result<QuantileInterval> QuantileInterval::make(Epsilon epsilon, std::vector<double> q,
                                                IntegerRange range, double confidence,
                                                QuantileOf of) {
  DISCREET_TRY_VOID(check_range(range));
  if (q.empty()) return invalid_parameter("at least one quantile must be asked for");
  for (const double one : q) DISCREET_TRY_VOID(check_quantile(one));
  if (!(confidence > 0 && confidence < 1))
    return invalid_parameter("confidence must lie strictly between 0 and 1");
  const std::uint64_t bin = (range.size() - 1) / kBinsMax + 1;
  DISCREET_TRY(Tree tree, Tree::laplace(epsilon, (range.size() - 1) / bin + 1));
  return QuantileInterval(q, range, bin, confidence, of, std::move(tree));
}

std::uint64_t QuantileInterval::bin_of(std::int64_t value) const {
  return (static_cast<std::uint64_t>(range_.clamp(value)) -
          static_cast<std::uint64_t>(range_.lower)) /
         bin_;
}

// How far from zero D may be. A combination of Laplace noises with a normal part has its tails
// between the normal law's and one Laplace variable's of the same variance: the critical value is
// taken between the two by the noise's share.
double QuantileInterval::reach(double q, double rows, double noise_variance) const {
  const double sampling = of_ == QuantileOf::Rows ? 0 : std::max(1.0, rows) * q * (1 - q);
  const double variance = sampling + noise_variance;
  const double normal = std::sqrt(2.0) * boost::math::erf_inv(confidence_);
  const double laplace = std::max(normal, -std::log(1 - confidence_) / std::sqrt(2.0));
  return (normal + (laplace - normal) * noise_variance / variance) * std::sqrt(variance);
}

QuantileOutcome QuantileInterval::release(std::span<const std::int64_t> values,
                                          RandomSource& random) const {
  return release_all(values, random).front();
}

std::vector<QuantileOutcome> QuantileInterval::release_all(std::span<const std::int64_t> values,
                                                           RandomSource& random) const {
  std::vector<std::int64_t> counts(tree_.leaves());
  for (const std::int64_t value : values) ++counts[bin_of(value)];
  const TreeRelease noisy = tree_.release(counts, random);
  // Cumulative counts made to rise: their noise is less, and the values not rejected lie together.
  const std::vector<double> rising = noisy.monotone_cdf();
  std::vector<QuantileOutcome> outcomes;
  for (const Asked& asked : asked_) outcomes.push_back(read(asked, noisy, rising));
  return outcomes;
}

QuantileOutcome QuantileInterval::read(const Asked& asked, const TreeRelease& noisy,
                                       std::span<const double> rising) const {
  const double q = asked.q;
  QuantileOutcome outcome;
  outcome.rows = noisy.total();
  const auto first_of = [&](std::uint64_t leaf) {
    return static_cast<double>(range_.lower) + static_cast<double>(leaf * bin_);
  };
  const std::uint64_t last = tree_.leaves() - 1;
  const auto last_of = [&](std::uint64_t leaf) {
    return std::min(first_of(leaf) + static_cast<double>(bin_ - 1),
                    static_cast<double>(range_.upper));
  };
  const std::uint64_t found = noisy.quantile(q);
  outcome.estimate = (first_of(found) + last_of(found)) / 2;
  std::uint64_t low = last, high = 0;
  bool low_found = false;
  for (std::uint64_t leaf = 0; leaf <= last; ++leaf) {
    const double below = rising[leaf];
    const double d = (1 - q) * below - q * (outcome.rows - below);
    const double most = reach(q, outcome.rows, asked.noise[leaf]);
    // Not rejected from below: the share up to this leaf may reach q.
    if (!low_found && d >= -most) {
      low = leaf;
      low_found = true;
    }
    // Not rejected from above: the share up to this leaf may still fall short of q, so that the
    // quantile may lie behind it.
    if (d <= most) high = std::min(last, leaf + 1);
  }
  outcome.interval = {first_of(std::min(low, found)), last_of(std::max(high, found))};
  return outcome;
}

double QuantileInterval::rank_error_before(double rows) const {
  return reach(asked_.front().q, rows, asked_.front().noise[(tree_.leaves() - 1) / 2]);
}

}  // namespace discreet::inference
