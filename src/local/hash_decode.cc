// Compiled once per instruction set by Highway, which includes this file again for each.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "local/hash_decode.cc"
#include <hwy/aligned_allocator.h>
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include <algorithm>
#include <vector>

#include "local/hash.h"
#include "local/hash_decode_internal.h"

HWY_BEFORE_NAMESPACE();
namespace discreet::local::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Tag = hn::ScalableTag<std::int32_t>;
constexpr std::int32_t kPrime = static_cast<std::int32_t>(SmallHash::kPrime);
constexpr std::size_t kLanesMax = HWY_MAX_BYTES / sizeof(std::int32_t);
static_assert(kTileLanes % kLanesMax == 0, "count_support pads to whole registers");

// counts holds a whole number of registers. Points stay below 2^31, so signed lanes do: the sum
// less the prime is negative exactly when the prime has to be added back.
void count_tile(std::span<const HashWalk> walks, std::int32_t* HWY_RESTRICT counts,
                std::size_t size) {
  const Tag tag;
  const std::size_t lanes = hn::Lanes(tag);
  const auto prime = hn::Set(tag, kPrime);
  HWY_ALIGN std::int32_t first[kLanesMax];
  for (const HashWalk& walk : walks) {
    std::uint32_t point = walk.start;
    for (std::size_t i = 0; i < lanes; ++i) {
      first[i] = static_cast<std::int32_t>(point);
      point += walk.step;
      if (point >= SmallHash::kPrime) point -= SmallHash::kPrime;
    }
    const auto stride = static_cast<std::int32_t>(std::uint64_t{walk.step} * lanes % kPrime);
    const auto advance = hn::Set(tag, stride - kPrime);
    const auto length = hn::Set(tag, static_cast<std::int32_t>(walk.length));
    auto points = hn::Load(tag, first);
    for (std::size_t i = 0; i < size; i += lanes) {
      const auto supported = hn::VecFromMask(tag, hn::Lt(points, length));
      hn::Store(hn::Sub(hn::Load(tag, counts + i), supported), tag, counts + i);
      const auto next = hn::Add(points, advance);
      points = hn::Add(next, hn::And(hn::BroadcastSignBit(next), prime));
    }
  }
}

}  // namespace discreet::local::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace discreet::local {

HWY_EXPORT(count_tile);

void count_support(std::span<const HashWalk> walks, std::span<std::int64_t> counts) {
  // Of the widest target: HWY_MAX_BYTES out here is that of the narrowest.
  constexpr std::size_t kPad = kTileLanes;
  constexpr std::size_t kBatch = std::size_t{1} << 30;  // a lane counts no further than this
  const std::size_t size = (counts.size() + kPad - 1) / kPad * kPad;
  const auto narrow = hwy::AllocateAligned<std::int32_t>(size);
  for (std::size_t done = 0; done < walks.size(); done += kBatch) {
    const auto batch = walks.subspan(done, std::min(kBatch, walks.size() - done));
    std::fill_n(narrow.get(), size, 0);
    HWY_DYNAMIC_DISPATCH(count_tile)(batch, narrow.get(), size);
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += narrow[i];
  }
}

}  // namespace discreet::local
#endif
