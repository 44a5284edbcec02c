#include "mechanisms/binomial_sum_internal.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace discreet {
namespace {

// The probabilities of a binomial variable from `begin` on, as far as they matter (beyond, less
// than e^-40 is left on each side).
struct Window {
  std::uint64_t begin = 0;
  std::vector<double> chance;
};

// From the mode outwards by the ratio of neighbouring probabilities, then normalised: no
// factorials, whose logarithms would lose digits for large groups.
Window window(std::uint64_t size, double p) {
  if (p <= 0) return {0, {1.0}};
  if (p >= 1) return {size, {1.0}};
  const auto n = static_cast<double>(size);
  const auto mode = std::min(size, static_cast<std::uint64_t>(std::floor((n + 1) * p)));
  const double reach = 40 + 10 * std::sqrt(n * p * (1 - p));  // Bernstein: below e^-40 beyond
  const auto down = static_cast<std::uint64_t>(std::min(reach, static_cast<double>(mode)));
  const auto up = static_cast<std::uint64_t>(std::min(reach, static_cast<double>(size - mode)));
  Window result{mode - down, std::vector<double>(down + up + 1)};
  const double odds = p / (1 - p);
  result.chance[down] = 1;
  double total = 1;
  for (std::uint64_t i = 1; i <= up; ++i) {
    const auto k = static_cast<double>(mode + i);
    total += result.chance[down + i] = result.chance[down + i - 1] * (n - k + 1) / k * odds;
  }
  for (std::uint64_t i = 1; i <= down; ++i) {
    const auto k = static_cast<double>(mode - i);
    total += result.chance[down - i] = result.chance[down - i + 1] * (k + 1) / (n - k) / odds;
  }
  for (double& chance : result.chance) chance /= total;
  return result;
}

}  // namespace

double binomial_sum_at_least(GroupSizes sizes, GroupChances chances, std::uint64_t at) {
  const Window a = window(sizes.first, chances.first);
  const Window b = window(sizes.second, chances.second);
  // As the first count rises, more of the second one's values suffice: one pass adds them from the
  // top.
  double sum = 0, suffices = 0;
  std::size_t taken = b.chance.size();
  for (std::size_t i = 0; i < a.chance.size(); ++i) {
    const std::uint64_t first = a.begin + i;
    const std::uint64_t needed = at > first ? at - first : 0;
    while (taken > 0 && b.begin + taken - 1 >= needed) suffices += b.chance[--taken];
    sum += a.chance[i] * suffices;
  }
  return std::min(1.0, sum);
}

double binomial_sum_at_most(GroupSizes sizes, GroupChances chances, std::uint64_t at) {
  // At most `at` yeses are at least n - at noes.
  const std::uint64_t total = sizes.first + sizes.second;
  if (at >= total) return 1;
  return binomial_sum_at_least(sizes, {1 - chances.first, 1 - chances.second}, total - at);
}

}  // namespace discreet
