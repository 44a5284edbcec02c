#include "prio/field_sums.h"

#include <cstring>

#include "prio/field128.h"

namespace discreet::prio {
namespace {

#define DISCREET_INLINE __attribute__((always_inline)) inline

void sum64_portable(std::uint64_t* a, const std::uint64_t* b, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) (Field64(a[i]) + Field64(b[i])).to_words(a + i);
}

void sum128_portable(std::uint64_t* a, const std::uint64_t* b, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    (Field128::from_words(a + 2 * i) + Field128::from_words(b + 2 * i)).to_words(a + 2 * i);
}

#if defined(__x86_64__)
using Word4 = std::uint64_t __attribute__((vector_size(32)));
using Mask4 = std::int64_t __attribute__((vector_size(32)));

DISCREET_INLINE void load(Word4& out, const std::uint64_t* from) {
  std::memcpy(&out, from, sizeof out);
}
DISCREET_INLINE void store(std::uint64_t* to, const Word4& words) {
  std::memcpy(to, &words, sizeof words);
}

DISCREET_INLINE std::size_t sum64(std::uint64_t* a, const std::uint64_t* b, std::size_t count) {
  const Word4 modulus = Word4{} + Field64::kModulus;
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    Word4 x, y;
    load(x, a + i);
    load(y, b + i);
    const Word4 sum = x + y;
    const Mask4 over = (sum < y) | (sum >= modulus);
    store(a + i, sum - (modulus & reinterpret_cast<Word4>(over)));
  }
  return i;
}

// Four elements as four low and four high words. The sum is kept where it is below p; less p, it is
// the sum plus 2^128 - p = 28 * 2^64 - 1, which carries out of 128 bits.
DISCREET_INLINE std::size_t sum128(std::uint64_t* a, const std::uint64_t* b, std::size_t count) {
  constexpr std::uint64_t kGap = 28;
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    Word4 x0, x1, y0, y1;
    load(x0, a + 2 * i);
    load(x1, a + 2 * i + 4);
    load(y0, b + 2 * i);
    load(y1, b + 2 * i + 4);
    const Word4 sum0 = x0 + y0, sum1 = x1 + y1;  // words of two elements each, carries left out
    const Mask4 over0 = sum0 < y0, over1 = sum1 < y1;
    const Word4 low = __builtin_shufflevector(sum0, sum1, 0, 4, 2, 6);
    const Word4 half = __builtin_shufflevector(sum0, sum1, 1, 5, 3, 7);
    const Mask4 carry = __builtin_shufflevector(over0, over1, 0, 4, 2, 6);
    const Mask4 over = __builtin_shufflevector(over0, over1, 1, 5, 3, 7);
    const Word4 high = half - reinterpret_cast<Word4>(carry);
    const Word4 less_low = low - 1;
    const Word4 less_high = high + kGap + reinterpret_cast<Word4>(low == Word4{});
    // What was added to `half`, 27 to 29 in all, carried out of it, or the high words had already.
    const Mask4 reduce = over | (less_high < half);
    const Word4 mask = reinterpret_cast<Word4>(reduce);
    const Word4 out_low = (less_low & mask) | (low & ~mask);
    const Word4 out_high = (less_high & mask) | (high & ~mask);
    store(a + 2 * i, __builtin_shufflevector(out_low, out_high, 0, 4, 2, 6));
    store(a + 2 * i + 4, __builtin_shufflevector(out_low, out_high, 1, 5, 3, 7));
  }
  return i;
}

__attribute__((target("avx2"))) std::size_t sum64_avx2(std::uint64_t* a, const std::uint64_t* b,
                                                       std::size_t count) {
  return sum64(a, b, count);
}
__attribute__((target("avx2"))) std::size_t sum128_avx2(std::uint64_t* a, const std::uint64_t* b,
                                                        std::size_t count) {
  return sum128(a, b, count);
}
__attribute__((target("avx2,avx512f,avx512vl"))) std::size_t sum64_avx512(std::uint64_t* a,
                                                                          const std::uint64_t* b,
                                                                          std::size_t count) {
  return sum64(a, b, count);
}
__attribute__((target("avx2,avx512f,avx512vl"))) std::size_t sum128_avx512(std::uint64_t* a,
                                                                           const std::uint64_t* b,
                                                                           std::size_t count) {
  return sum128(a, b, count);
}
#endif

/// How many elements a vector form has added; the rest is left to the portable one.
using VectorSum = std::size_t (*)(std::uint64_t*, const std::uint64_t*, std::size_t);

VectorSum form_of(SumForm form, bool wide) {
#if defined(__x86_64__)
  if (form == SumForm::Avx512) return wide ? sum128_avx512 : sum64_avx512;
  if (form == SumForm::Avx2) return wide ? sum128_avx2 : sum64_avx2;
#else
  static_cast<void>(form);
  static_cast<void>(wide);
#endif
  return nullptr;
}

void add64(std::uint64_t* a, const std::uint64_t* b, std::size_t count, VectorSum form) {
  const std::size_t done = form != nullptr ? form(a, b, count) : 0;
  sum64_portable(a + done, b + done, count - done);
}
void add128(std::uint64_t* a, const std::uint64_t* b, std::size_t count, VectorSum form) {
  const std::size_t done = form != nullptr ? form(a, b, count) : 0;
  sum128_portable(a + 2 * done, b + 2 * done, count - done);
}

}  // namespace

SumForm sum_form() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512vl")) return SumForm::Avx512;
  if (__builtin_cpu_supports("avx2")) return SumForm::Avx2;
#endif
  return SumForm::Portable;
}

void add_elements64(std::uint64_t* a, const std::uint64_t* b, std::size_t count) {
  static const VectorSum kForm = form_of(sum_form(), false);
  add64(a, b, count, kForm);
}
void add_elements128(std::uint64_t* a, const std::uint64_t* b, std::size_t count) {
  static const VectorSum kForm = form_of(sum_form(), true);
  add128(a, b, count, kForm);
}
void add_elements64(std::uint64_t* a, const std::uint64_t* b, std::size_t count, SumForm form) {
  add64(a, b, count, form_of(form, false));
}
void add_elements128(std::uint64_t* a, const std::uint64_t* b, std::size_t count, SumForm form) {
  add128(a, b, count, form_of(form, true));
}

}  // namespace discreet::prio
