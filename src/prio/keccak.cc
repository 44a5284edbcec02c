#include "prio/keccak.h"

#include <utility>

namespace discreet::prio {
namespace {

// The last 12 of Keccak-f[1600]'s 24 round constants (FIPS 202, section 3.2.5).
constexpr std::array<std::uint64_t, 12> kRoundConstants = {
    0x000000008000808b, 0x800000000000008b, 0x8000000000008089, 0x8000000000008003,
    0x8000000000008002, 0x8000000000000080, 0x000000000000800a, 0x800000008000000a,
    0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008};

// Offset of lane x + 5 y (FIPS 202, section 3.2.2).
constexpr std::array<int, 25> kRotations = {0,  1,  62, 28, 27, 36, 44, 6,  55, 20, 3,  10, 43,
                                            25, 39, 41, 45, 15, 21, 8,  18, 2,  61, 56, 14};

#define DISCREET_INLINE __attribute__((always_inline)) inline

template <int kBits, class Word>
DISCREET_INLINE void rotate_into(Word& out, const Word& word) {
  if constexpr (kBits == 0)
    out = word;
  else
    out = (word << kBits) | (word >> (64 - kBits));
}

// rho and pi of lane kLane: lane (x, y) goes to (y, 2 x + 3 y), rotated, after theta's column is
// added.
template <class Word, int... kLane>
DISCREET_INLINE void rho_pi(Word* moved, const Word* a, const Word* column,
                            std::integer_sequence<int, kLane...>) {
  ((rotate_into<kRotations[kLane]>(moved[kLane / 5 + 5 * ((2 * (kLane % 5) + 3 * (kLane / 5)) % 5)],
                                   a[kLane] ^ column[kLane % 5])),
   ...);
}

template <class Word>
DISCREET_INLINE void round(Word* a, std::uint64_t constant) {
  Word parity[5], column[5], moved[25];
#pragma GCC unroll 5
  for (int x = 0; x < 5; ++x) parity[x] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
#pragma GCC unroll 5
  for (int x = 0; x < 5; ++x) {
    rotate_into<1>(column[x], parity[(x + 1) % 5]);
    column[x] ^= parity[(x + 4) % 5];
  }
  rho_pi(moved, a, column, std::make_integer_sequence<int, 25>{});
#pragma GCC unroll 5
  for (int y = 0; y < 25; y += 5) {
#pragma GCC unroll 5
    for (int x = 0; x < 5; ++x)
      a[y + x] = moved[y + x] ^ (~moved[y + (x + 1) % 5] & moved[y + (x + 2) % 5]);
  }
  a[0] ^= constant;
}

template <class Word>
DISCREET_INLINE void permute(Word* state) {
  Word a[25];
#pragma GCC unroll 25
  for (int i = 0; i < 25; ++i) a[i] = state[i];
  for (const std::uint64_t constant : kRoundConstants) round(a, constant);
#pragma GCC unroll 25
  for (int i = 0; i < 25; ++i) state[i] = a[i];
}

void one_portable(std::uint64_t* state) {
  permute(state);
}

void four_portable(std::uint64_t* states) {
  for (int j = 0; j < 4; ++j) {
    std::uint64_t a[25];
    for (int i = 0; i < 25; ++i) a[i] = states[4 * i + j];
    permute(a);
    for (int i = 0; i < 25; ++i) states[4 * i + j] = a[i];
  }
}

#if defined(__x86_64__)
using Word4 = std::uint64_t __attribute__((vector_size(32), may_alias));

__attribute__((target("bmi,bmi2"))) void one_bmi(std::uint64_t* state) {
  permute(state);
}
__attribute__((target("avx2"))) void four_avx2(std::uint64_t* states) {
  permute(reinterpret_cast<Word4*>(states));
}
__attribute__((target("avx2,avx512f,avx512vl"))) void four_avx512(std::uint64_t* states) {
  permute(reinterpret_cast<Word4*>(states));
}
#endif

using Permutation = void (*)(std::uint64_t*);

Permutation one_of_this_machine() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2")) return one_bmi;
#endif
  return one_portable;
}

Permutation four_of(KeccakForm form) {
#if defined(__x86_64__)
  if (form == KeccakForm::Avx512) return four_avx512;
  if (form == KeccakForm::Avx2) return four_avx2;
#else
  static_cast<void>(form);
#endif
  return four_portable;
}

}  // namespace

const char* name(KeccakForm form) {
  switch (form) {
    case KeccakForm::Avx512:
      return "avx512vl";
    case KeccakForm::Avx2:
      return "avx2";
    case KeccakForm::Portable:
      break;
  }
  return "portable";
}

KeccakForm keccak_form() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512vl")) return KeccakForm::Avx512;
  if (__builtin_cpu_supports("avx2")) return KeccakForm::Avx2;
#endif
  return KeccakForm::Portable;
}

void keccak_p12(KeccakState& state) {
  static const Permutation kPermutation = one_of_this_machine();
  kPermutation(state.data());
}

void keccak_p12(KeccakState4& states) {
  static const Permutation kPermutation = four_of(keccak_form());
  kPermutation(states.words.data());
}

void keccak_p12(KeccakState4& states, KeccakForm form) {
  four_of(form)(states.words.data());
}

}  // namespace discreet::prio
