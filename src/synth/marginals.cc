#include "synth/marginals.h"

#include <algorithm>

#include "synth/bit_columns_internal.h"

namespace discreet::synth {
namespace {

constexpr std::size_t kBlock =
    4096;  // rows whose cell numbers are computed before they are counted
constexpr std::size_t kWorthBits = 8;  // small marginals, for which columns are made into bits

}  // namespace

std::vector<std::int64_t> count_marginal(const CodedTable& table,
                                         std::span<const std::uint32_t> clique) {
  const std::uint64_t cells = table.domain.cells(clique);
  DISCREET_CHECK(cells <= kCellsMax, "a marginal too large to count");
  // 32-bit counters halve the memory that the random increments touch.
  std::vector<std::uint32_t> counts(cells, 0);
  std::vector<std::uint32_t> index(kBlock);
  const std::size_t rows = table.rows();
  DISCREET_CHECK(rows < std::size_t{1} << 32, "more rows than 32-bit counters hold");
  for (std::size_t begin = 0; begin < rows; begin += kBlock) {
    const std::size_t size = std::min(kBlock, rows - begin);
    std::fill_n(index.begin(), size, 0);
    for (const std::uint32_t attribute : clique) {
      const std::uint32_t width = table.domain[attribute].size;
      const std::uint16_t* column = table.columns[attribute].data() + begin;
      for (std::size_t i = 0; i < size; ++i) index[i] = index[i] * width + column[i];
    }
    for (std::size_t i = 0; i < size; ++i) ++counts[index[i]];
  }
  return {counts.begin(), counts.end()};
}

std::vector<std::vector<std::int64_t>> count_marginals(const CodedTable& table,
                                                       std::span<const Clique> cliques,
                                                       Workers& workers) {
  std::vector<std::vector<std::int64_t>> counts(cliques.size());
  std::vector<Clique> small;
  for (const Clique& clique : cliques)
    if (BitColumns::suits(table.domain, clique)) small.push_back(clique);
  if (small.size() < kWorthBits) small.clear();
  const BitColumns bits(table, small, workers);
  workers.run(cliques.size(), [&](std::size_t i) {
    counts[i] = !small.empty() && BitColumns::suits(table.domain, cliques[i])
                    ? bits.count(cliques[i])
                    : count_marginal(table, cliques[i]);
  });
  return counts;
}

}  // namespace discreet::synth
