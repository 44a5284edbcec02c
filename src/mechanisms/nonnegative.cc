#include "mechanisms/nonnegative.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace discreet {
namespace {

Result<void> check(std::span<const double> noisy, std::span<const double> variances) {
  if (!variances.empty() && variances.size() != noisy.size())
    return invalid_parameter("there must be one variance for each cell");
  for (const double cell : noisy)
    if (!std::isfinite(cell)) return invalid_parameter("a noisy cell must be finite");
  for (const double variance : variances)
    if (!(variance > 0) || !std::isfinite(variance))
      return invalid_parameter("the variance of a cell must be positive and finite");
  return {};
}

}  // namespace

Result<std::vector<double>> nonnegative_with_total(std::span<const double> noisy, double total,
                                                   std::span<const double> variances) {
  DISCREET_TRY_VOID(check(noisy, variances));
  if (!std::isfinite(total)) return invalid_parameter("the total must be finite");
  total = std::fmax(0, total);
  const auto variance = [&](std::size_t i) { return variances.empty() ? 1.0 : variances[i]; };
  // x_i = max(0, y_i - shift v_i): a cell is kept while shift < y_i / v_i. Cells enter in falling
  // order of that ratio, until the next one would not stay positive (Held, Wolfe and Crowder 1974).
  std::vector<std::size_t> order(noisy.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return noisy[a] / variance(a) > noisy[b] / variance(b);
  });
  double sum = 0, weight = 0, shift = 0;
  for (const std::size_t i : order) {
    const double candidate = (sum + noisy[i] - total) / (weight + variance(i));
    if (weight > 0 && candidate >= noisy[i] / variance(i)) break;
    sum += noisy[i];
    weight += variance(i);
    shift = candidate;
  }
  std::vector<double> projected(noisy.size());
  for (std::size_t i = 0; i < noisy.size(); ++i)
    projected[i] = std::fmax(0, noisy[i] - shift * variance(i));
  return projected;
}

Result<std::vector<double>> nonnegative_same_total(std::span<const double> noisy,
                                                   std::span<const double> variances) {
  return nonnegative_with_total(noisy, std::accumulate(noisy.begin(), noisy.end(), 0.0), variances);
}

Result<std::vector<std::int64_t>> whole_same_total(std::span<const double> cells) {
  double sum = 0;
  for (const double cell : cells) {
    if (!(cell >= 0)) return invalid_parameter("a cell to be rounded must not be negative");
    sum += cell;
  }
  if (!(sum < 0x1p53)) return invalid_parameter("the sum of the cells must be below 2^53");
  std::vector<std::int64_t> whole(cells.size());
  std::vector<std::size_t> order(cells.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  auto left = static_cast<std::int64_t>(std::llround(sum));
  for (std::size_t i = 0; i < cells.size(); ++i) {
    whole[i] = static_cast<std::int64_t>(std::floor(cells[i]));
    left -= whole[i];
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return cells[a] - std::floor(cells[a]) > cells[b] - std::floor(cells[b]);
  });
  for (std::size_t i = 0; i < order.size() && left > 0; ++i, --left) ++whole[order[i]];
  return whole;
}

}  // namespace discreet
