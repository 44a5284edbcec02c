// TurboSHAKE128 (RFC 9861): a sponge over Keccak-p[1600, 12] with a rate of 168 bytes.
//
// Guarantee: the output is that of RFC 9861 for the same message and domain byte.
// Proof:     the known answers of RFC 9861, section 5 (turboshake_test.cc)
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "prio/bytes.h"
#include "prio/keccak.h"

namespace discreet::prio {

inline constexpr std::size_t kTurboShakeRate = 168;

/// Absorb any number of times, then squeeze any number of times. A value.
class TurboShake128 {
 public:
  /// `domain` is between 0x01 and 0x7f.
  explicit TurboShake128(std::uint8_t domain) : domain_(domain) {}

  void absorb(ByteSpan message);
  void squeeze(std::span<std::uint8_t> out);

 private:
  void add_block(const std::uint8_t* block);

  KeccakState state_{};
  std::array<std::uint8_t, kTurboShakeRate> waiting_;  // absorbed, not yet added to the state
  std::size_t at_ = 0;                                 // next byte of the rate
  std::uint8_t domain_;
  bool squeezing_ = false;
};

}  // namespace discreet::prio
