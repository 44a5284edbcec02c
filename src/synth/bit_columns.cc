// Compiled once per instruction set by Highway, which includes this file again for each.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "synth/bit_columns.cc"
// clang-format off: the order matters
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include <algorithm>

#include "synth/bit_columns_internal.h"

HWY_BEFORE_NAMESPACE();
namespace discreet::synth::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Words = hn::CappedTag<std::uint64_t, 8>;  // words come in eights

// Bits that both have.
std::uint64_t count_both(const std::uint64_t* HWY_RESTRICT a, const std::uint64_t* HWY_RESTRICT b,
                         std::size_t words) {
  const Words tag;
  auto sum = hn::Zero(tag);
  for (std::size_t i = 0; i < words; i += hn::Lanes(tag))
    sum = hn::Add(sum, hn::PopulationCount(hn::And(hn::LoadU(tag, a + i), hn::LoadU(tag, b + i))));
  return hn::GetLane(hn::SumOfLanes(tag, sum));
}

void keep_both(const std::uint64_t* HWY_RESTRICT a, const std::uint64_t* HWY_RESTRICT b,
               std::size_t words, std::uint64_t* HWY_RESTRICT both) {
  const Words tag;
  for (std::size_t i = 0; i < words; i += hn::Lanes(tag))
    hn::StoreU(hn::And(hn::LoadU(tag, a + i), hn::LoadU(tag, b + i)), tag, both + i);
}

}  // namespace discreet::synth::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace discreet::synth {
namespace {

HWY_EXPORT(count_both);
HWY_EXPORT(keep_both);

constexpr std::size_t kBlock = 256;  // words at a time, so that what was kept stays in cache

}  // namespace

bool BitColumns::suits(const Domain& domain, std::span<const std::uint32_t> clique) {
  return !clique.empty() && domain.cells(clique) <= kCellsMax;
}

BitColumns::BitColumns(const CodedTable& table, std::span<const Clique> cliques, Workers& workers)
    : domain_(table.domain), words_((table.rows() + 511) / 512 * 8), bits_(table.domain.size()) {
  std::vector<std::uint32_t> named;
  for (const Clique& clique : cliques) named.insert(named.end(), clique.begin(), clique.end());
  std::sort(named.begin(), named.end());
  named.erase(std::unique(named.begin(), named.end()), named.end());
  workers.run(named.size(), [&](std::size_t i) {
    auto& bits = bits_[named[i]];
    bits.assign(domain_[named[i]].size * words_, 0);
    const auto& column = table.columns[named[i]];
    for (std::size_t row = 0; row < column.size(); ++row)
      bits[column[row] * words_ + row / 64] |= std::uint64_t{1} << (row % 64);
  });
}

std::vector<std::int64_t> BitColumns::count(std::span<const std::uint32_t> clique) const {
  std::vector<std::int64_t> counts(domain_.cells(clique), 0);
  // Of the first attributes' values: the rows that have all of them, one block for each attribute.
  std::vector<std::uint64_t> kept((clique.size() + 1) * kBlock, ~std::uint64_t{0});
  std::vector<std::uint32_t> value(clique.size(), 0);
  const std::size_t last = clique.size() - 1;
  for (std::size_t from = 0; from < words_; from += kBlock) {
    const std::size_t words = std::min(kBlock, words_ - from);
    const auto bits_of = [&](std::size_t at) {
      return bits_[clique[at]].data() + value[at] * words_ + from;
    };
    std::fill(value.begin(), value.end(), 0u);
    std::size_t cell = 0;
    for (std::size_t changed = 0;;) {
      for (std::size_t at = changed; at < last; ++at) HWY_DYNAMIC_DISPATCH(keep_both)
      (kept.data() + at * kBlock, bits_of(at), words, kept.data() + (at + 1) * kBlock);
      for (value[last] = 0; value[last] < domain_[clique[last]].size; ++value[last])
        counts[cell++] += static_cast<std::int64_t>(
            HWY_DYNAMIC_DISPATCH(count_both)(kept.data() + last * kBlock, bits_of(last), words));
      // The next combination of all but the last.
      std::size_t at = last;
      while (at > 0 && value[at - 1] + 1 == domain_[clique[at - 1]].size) value[--at] = 0;
      if (at == 0) break;
      ++value[changed = at - 1];
    }
  }
  return counts;
}

}  // namespace discreet::synth
#endif
