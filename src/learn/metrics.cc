#include "learn/metrics.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/check.h"

namespace discreet::learn {

double accuracy(std::span<const std::uint32_t> predicted, std::span<const std::uint16_t> labels) {
  DISCREET_CHECK(predicted.size() == labels.size(), "one prediction for each label");
  std::size_t right = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) right += predicted[i] == labels[i];
  return labels.empty() ? 0 : static_cast<double>(right) / static_cast<double>(labels.size());
}

double area_under_curve(std::span<const double> scores, std::span<const std::uint16_t> labels) {
  DISCREET_CHECK(scores.size() == labels.size(), "one score for each label");
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return scores[a] < scores[b]; });
  double positives = 0, rank_sum = 0;
  for (std::size_t from = 0; from < order.size();) {
    std::size_t to = from;
    while (to < order.size() && scores[order[to]] == scores[order[from]]) ++to;
    const double rank = (static_cast<double>(from + to) + 1) / 2;  // the mean of from+1 .. to
    for (; from < to; ++from)
      if (labels[order[from]] == 1) {
        positives += 1;
        rank_sum += rank;
      }
  }
  const double negatives = static_cast<double>(labels.size()) - positives;
  if (positives == 0 || negatives == 0) return 0.5;
  return (rank_sum - positives * (positives + 1) / 2) / (positives * negatives);
}

double r_squared(std::span<const double> predicted, std::span<const double> truth) {
  DISCREET_CHECK(predicted.size() == truth.size(), "one prediction for each value");
  const double mean =
      std::accumulate(truth.begin(), truth.end(), 0.0) / static_cast<double>(truth.size());
  double error = 0, spread = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    error += (predicted[i] - truth[i]) * (predicted[i] - truth[i]);
    spread += (truth[i] - mean) * (truth[i] - mean);
  }
  return spread > 0 ? 1 - error / spread : 0;
}

}  // namespace discreet::learn
