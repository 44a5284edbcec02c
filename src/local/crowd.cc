#include "local/crowd.h"

#include <cmath>

namespace discreet::local {

std::vector<std::uint64_t> zipf_counts(std::uint64_t people, std::uint64_t values, double skew) {
  double whole = 0;
  for (std::uint64_t v = 0; v < values; ++v) whole += std::pow(static_cast<double>(v + 1), -skew);
  std::vector<std::uint64_t> counts(values);
  double below = 0;
  std::uint64_t given = 0;
  for (std::uint64_t v = 0; v < values; ++v) {
    below += std::pow(static_cast<double>(v + 1), -skew);
    const auto until = v + 1 == values
                           ? people
                           : std::min(people, static_cast<std::uint64_t>(std::llround(
                                                  below / whole * static_cast<double>(people))));
    counts[v] = until - given;
    given = until;
  }
  return counts;
}

Tally collect_from_crowd(const Oracle& oracle, std::span<const std::uint64_t> truth,
                         RandomSource& random) {
  const std::size_t size = oracle.report_bytes();
  const std::size_t batch = std::max<std::size_t>(1, (std::size_t{1} << 22) / size);
  std::vector<std::uint8_t> reports;
  reports.reserve(batch * size);
  Tally tally = oracle.empty_tally();
  for (std::uint64_t v = 0; v < truth.size(); ++v)
    for (std::uint64_t i = 0; i < truth[v]; ++i) {
      reports.resize(reports.size() + size);
      oracle.randomize(v, random, std::span(reports).last(size));
      if (reports.size() < batch * size) continue;
      oracle.add(reports, tally);
      reports.clear();
    }
  oracle.add(reports, tally);
  return tally;
}

}  // namespace discreet::local
