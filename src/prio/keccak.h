// Keccak-p[1600, 12 rounds]: one state, or four side by side.
//
// Four states cost little more than one in vector registers. The form is chosen once by what the
// processor offers: AVX-512VL (rotations and three-operand logic in 256-bit registers), AVX2, or
// plain words; all give the same bits. No branch or address depends on the state.
#pragma once

#include <array>
#include <cstdint>

namespace discreet::prio {

using KeccakState = std::array<std::uint64_t, 25>;

/// Word i of state j lies at [4 i + j].
struct alignas(32) KeccakState4 {
  std::array<std::uint64_t, 100> words{};
};

enum class KeccakForm { Portable, Avx2, Avx512 };

const char* name(KeccakForm form);
/// The best form this processor can run.
KeccakForm keccak_form();

void keccak_p12(KeccakState& state);
void keccak_p12(KeccakState4& states);
/// A given form, which the processor must have: for tests and measurements.
void keccak_p12(KeccakState4& states, KeccakForm form);

}  // namespace discreet::prio
