#include "prio/turboshake.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/check.h"

namespace discreet::prio {

static_assert(std::endian::native == std::endian::little, "states and shares are read as bytes");

void TurboShake128::absorb(ByteSpan message) {
  DISCREET_CHECK(!squeezing_, "a sponge that was squeezed absorbs no more");
  auto* bytes = reinterpret_cast<std::uint8_t*>(state_.data());
  while (!message.empty()) {
    const std::size_t n = std::min(message.size(), kTurboShakeRate - at_);
    if (n == kTurboShakeRate) {
      for (std::size_t i = 0; i < kTurboShakeRate / 8; ++i) {
        std::uint64_t word = 0;
        std::memcpy(&word, message.data() + 8 * i, 8);
        state_[i] ^= word;
      }
    } else {
      for (std::size_t i = 0; i < n; ++i) bytes[at_ + i] ^= message[i];
    }
    at_ += n;
    message = message.subspan(n);
    if (at_ == kTurboShakeRate) {
      keccak_p12(state_);
      at_ = 0;
    }
  }
}

void TurboShake128::squeeze(std::span<std::uint8_t> out) {
  auto* bytes = reinterpret_cast<std::uint8_t*>(state_.data());
  if (!squeezing_) {
    bytes[at_] ^= domain_;
    bytes[kTurboShakeRate - 1] ^= 0x80;
    keccak_p12(state_);
    squeezing_ = true;
    at_ = 0;
  }
  while (!out.empty()) {
    if (at_ == kTurboShakeRate) {
      keccak_p12(state_);
      at_ = 0;
    }
    const std::size_t n = std::min(out.size(), kTurboShakeRate - at_);
    std::memcpy(out.data(), bytes + at_, n);
    at_ += n;
    out = out.subspan(n);
  }
}

}  // namespace discreet::prio
