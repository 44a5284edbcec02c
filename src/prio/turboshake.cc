#include "prio/turboshake.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/check.h"

namespace discreet::prio {

static_assert(std::endian::native == std::endian::little, "states and shares are read as bytes");

void TurboShake128::add_block(const std::uint8_t* block) {
  for (std::size_t i = 0; i < kTurboShakeRate / 8; ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, block + 8 * i, 8);
    state_[i] ^= word;
  }
  keccak_p12(state_);
}

void TurboShake128::absorb(ByteSpan message) {
  DISCREET_CHECK(!squeezing_, "a sponge that was squeezed absorbs no more");
  while (!message.empty()) {
    if (at_ == 0 && message.size() >= kTurboShakeRate) {
      add_block(message.data());
      message = message.subspan(kTurboShakeRate);
      continue;
    }
    const std::size_t n = std::min(message.size(), kTurboShakeRate - at_);
    std::memcpy(waiting_.data() + at_, message.data(), n);
    at_ += n;
    message = message.subspan(n);
    if (at_ == kTurboShakeRate) {
      add_block(waiting_.data());
      at_ = 0;
    }
  }
}

void TurboShake128::squeeze(std::span<std::uint8_t> out) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(state_.data());
  if (!squeezing_) {
    std::memset(waiting_.data() + at_, 0, kTurboShakeRate - at_);
    waiting_[at_] ^= domain_;
    waiting_[kTurboShakeRate - 1] ^= 0x80;
    add_block(waiting_.data());
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
