// Compiled once per instruction set by Highway, which includes this file again for each.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "random/bit_slice.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/saturating.h"
#include "random/bit_slice_internal.h"
#include "random/discrete_laplace_sampler.h"
#include "random/geometric.h"

HWY_BEFORE_NAMESPACE();
namespace discreet::bit_slice::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
constexpr std::size_t kWords = 8;           // 8 words of 64 lanes
constexpr std::size_t kRandomWords = 2048;  // drawn from the source at a time
using Tag = hn::CappedTag<std::uint64_t, kWords>;

// Random words in blocks, so that the source's virtual call is paid once per block.
struct Supply {
  RandomSource& source;
  alignas(64) std::uint64_t words[kRandomWords];
  std::size_t next = kRandomWords;

  explicit Supply(RandomSource& random) : source(random) {}
  ~Supply() { std::memset(words, 0, sizeof(words)); }

  const std::uint64_t* take() {
    if (next + kWords > kRandomWords) {
      source.fill(words);
      next = 0;
    }
    const std::uint64_t* taken = words + next;
    next += kWords;
    return taken;
  }
};

// result: the lanes where a uniform number is below the coin's digits. Returns whether any lane is
// undecided.
bool toss(const CoinDigits& coin, Supply& supply, std::uint64_t* HWY_RESTRICT result,
          std::uint64_t* HWY_RESTRICT undecided) {
  const Tag tag;
  const std::size_t step = hn::Lanes(tag);
  std::fill_n(result, kWords, 0);
  std::fill_n(undecided, kWords, ~std::uint64_t{0});
  std::uint64_t digits = coin.high;
  for (int digit = 0; digit < 128; ++digit) {
    if (digit == 64) digits = coin.low;
    const std::uint64_t* random = supply.take();
    const auto one = hn::Set(tag, 0 - (digits >> 63));
    digits <<= 1;
    auto left = hn::Zero(tag);
    for (std::size_t i = 0; i < kWords; i += step) {
      const auto r = hn::Load(tag, random + i);
      const auto open = hn::Load(tag, undecided + i);
      // Digit 1: lanes with bit 0 are below and decided. Digit 0: lanes with bit 1 are above and
      // decided.
      const auto below = hn::AndNot(r, hn::And(open, one));
      hn::Store(hn::Or(hn::Load(tag, result + i), below), tag, result + i);
      const auto still = hn::AndNot(hn::Xor(r, one), open);
      hn::Store(still, tag, undecided + i);
      left = hn::Or(left, still);
    }
    if (hn::AllTrue(tag, hn::Eq(left, hn::Zero(tag)))) return false;
  }
  return true;
}

// Lanes that match all 128 digits, about one coin in 2^119: `decide(lane)` draws the rest.
template <class Decide>
void settle(std::uint64_t* result, const std::uint64_t* undecided, const Decide& decide) {
  for (std::size_t word = 0; word < kWords; ++word)
    for (std::uint64_t rest = undecided[word]; rest != 0; rest &= rest - 1)
      if (decide()) result[word] |= rest & (0 - rest);
}

// Transposes eight 64 x 64 bit blocks at once: word w of row p holds digit p of 64 draws;
// afterwards word w of row l holds draw l, its digits in place (Hacker's Delight, section 7-3, one
// block per vector lane).
template <int kShift>
void transpose_step(std::uint64_t* HWY_RESTRICT rows, std::uint64_t mask_bits) {
  const Tag tag;
  const std::size_t step = hn::Lanes(tag);
  const auto mask = hn::Set(tag, mask_bits);
  for (std::size_t row = 0; row < 64; row = ((row | kShift) + 1) & ~std::size_t{kShift}) {
    for (std::size_t i = 0; i < kWords; i += step) {
      std::uint64_t* upper = rows + row * kWords + i;
      std::uint64_t* lower = rows + (row + kShift) * kWords + i;
      const auto a = hn::Load(tag, upper);
      const auto b = hn::Load(tag, lower);
      const auto swap = hn::And(hn::Xor(hn::ShiftRight<kShift>(a), b), mask);
      hn::Store(hn::Xor(a, hn::ShiftLeft<kShift>(swap)), tag, upper);
      hn::Store(hn::Xor(b, swap), tag, lower);
    }
  }
}

void transpose(std::uint64_t* rows) {
  transpose_step<32>(rows, 0x00000000FFFFFFFFULL);
  transpose_step<16>(rows, 0x0000FFFF0000FFFFULL);
  transpose_step<8>(rows, 0x00FF00FF00FF00FFULL);
  transpose_step<4>(rows, 0x0F0F0F0F0F0F0F0FULL);
  transpose_step<2>(rows, 0x3333333333333333ULL);
  transpose_step<1>(rows, 0x5555555555555555ULL);
}

constexpr std::size_t kLanes = kWords * 64;

// The digits of 512 geometric draws; row 61 is set where the draw must be made again beyond the
// table.
constexpr std::size_t kBeyondRow = 61, kNegativeRow = 62, kNonzeroRow = 63;

void geometric_rows(const GeometricSampler& sampler, Supply& supply, std::uint64_t* rows) {
  const auto coins = sampler.coins();
  alignas(64) std::uint64_t undecided[kWords];
  for (std::size_t j = 0; j < coins.size(); ++j) {
    std::uint64_t* row = rows + (j + 1 < coins.size() ? j : kBeyondRow) * kWords;
    if (toss(coins[j], supply, row, undecided)) [[unlikely]]
      settle(row, undecided, [&] { return sampler.decide_coin(j, 128, supply.source); });
  }
}

void geometric_block(const GeometricSampler& sampler, std::int64_t* HWY_RESTRICT out,
                     Supply& supply) {
  alignas(64) std::uint64_t rows[64 * kWords] = {};
  geometric_rows(sampler, supply, rows);
  transpose(rows);
  for (std::size_t i = 0; i < kLanes; ++i) {
    out[i] = static_cast<std::int64_t>(rows[i] & ((std::uint64_t{1} << kBeyondRow) - 1));
    if ((rows[i] >> kBeyondRow) != 0) [[unlikely]]
      out[i] = sampler.draw_beyond(supply.source);
  }
}

void laplace_block(const DiscreteLaplaceSampler& sampler, std::int64_t* HWY_RESTRICT out,
                   Supply& supply) {
  alignas(64) std::uint64_t rows[64 * kWords] = {};
  alignas(64) std::uint64_t undecided[kWords];
  geometric_rows(sampler.magnitude(), supply, rows);
  std::uint64_t* nonzero = rows + kNonzeroRow * kWords;
  if (toss(sampler.nonzero_digits(), supply, nonzero, undecided)) [[unlikely]]
    settle(nonzero, undecided, [&] { return sampler.decide_nonzero(128, supply.source); });
  std::copy_n(supply.take(), kWords, rows + kNegativeRow * kWords);

  std::uint64_t any_beyond = 0;
  for (std::size_t i = 0; i < kWords; ++i) any_beyond |= rows[kBeyondRow * kWords + i];
  transpose(rows);
  constexpr std::uint64_t kDigits = (std::uint64_t{1} << kBeyondRow) - 1;
  for (std::size_t i = 0; i < kLanes; ++i) {
    const std::uint64_t row = rows[i];
    const std::uint64_t negative = 0 - ((row >> kNegativeRow) & 1);
    const std::uint64_t kept = 0 - (row >> kNonzeroRow);
    const std::uint64_t magnitude = (row & kDigits) + 1;
    out[i] = static_cast<std::int64_t>(((magnitude ^ negative) - negative) & kept);
  }
  if (any_beyond == 0) [[likely]]
    return;
  for (std::size_t i = 0; i < kLanes; ++i) {
    if (((rows[i] >> kBeyondRow) & 1) == 0 || (rows[i] >> kNonzeroRow) == 0) continue;
    const std::int64_t magnitude =
        saturating_add(sampler.magnitude().draw_beyond(supply.source), 1);
    out[i] = ((rows[i] >> kNegativeRow) & 1) != 0 ? -magnitude : magnitude;
  }
}

template <class Block>
void in_blocks(std::span<std::int64_t> out, RandomSource& random, const Block& block) {
  Supply supply(random);
  while (out.size() >= kLanes) {
    block(out.data(), supply);
    out = out.subspan(kLanes);
  }
  if (!out.empty()) {
    std::array<std::int64_t, kLanes> rest;
    block(rest.data(), supply);
    std::copy_n(rest.begin(), out.size(), out.begin());
    rest.fill(0);
  }
}

void geometric_all(const GeometricSampler& sampler, std::span<std::int64_t> out,
                   RandomSource& random) {
  in_blocks(out, random,
            [&](std::int64_t* to, Supply& supply) { geometric_block(sampler, to, supply); });
}

void laplace_all(const DiscreteLaplaceSampler& sampler, std::span<std::int64_t> out,
                 RandomSource& random) {
  in_blocks(out, random,
            [&](std::int64_t* to, Supply& supply) { laplace_block(sampler, to, supply); });
}

}  // namespace discreet::bit_slice::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace discreet::bit_slice {

HWY_EXPORT(geometric_all);
HWY_EXPORT(laplace_all);

// Below this many, one at a time is faster than filling 512 lanes.
constexpr std::size_t kBulkMin = 48;

void draw_geometric(const GeometricSampler& sampler, std::span<std::int64_t> out,
                    RandomSource& random) {
  if (out.size() < kBulkMin) {
    for (auto& value : out) value = sampler.draw(random);
    return;
  }
  HWY_DYNAMIC_DISPATCH(geometric_all)(sampler, out, random);
}

void draw_discrete_laplace(const DiscreteLaplaceSampler& sampler, std::span<std::int64_t> out,
                           RandomSource& random) {
  if (out.size() < kBulkMin) {
    for (auto& value : out) value = sampler.draw(random);
    return;
  }
  HWY_DYNAMIC_DISPATCH(laplace_all)(sampler, out, random);
}

}  // namespace discreet::bit_slice
#endif
