#include "prio/xof_lanes.h"

namespace discreet::prio {

std::size_t XofLanes::Lane::copy(std::size_t from, std::span<std::uint8_t> to) const {
  std::size_t copied = 0;
  if (from < message.size()) {
    copied = std::min(to.size(), message.size() - from);
    std::memcpy(to.data(), message.data() + from, copied);
  }
  const std::size_t tail_from = from + copied - message.size();
  const std::size_t rest = std::min(to.size() - copied, tail_bytes - tail_from);
  if (rest > 0) std::memcpy(to.data() + copied, tail + tail_from, rest);
  return copied + rest;
}

bool XofLanes::absorb(int lane) {
  Lane& it = lanes_[lane];
  if (it.padded) return true;  // squeezing
  const std::size_t left = it.total() - it.absorbed;
  const std::size_t wanted = std::min(left, kTurboShakeRate);
  if (it.available - it.absorbed < wanted) return false;
  alignas(8) std::array<std::uint8_t, kTurboShakeRate> block{};
  it.copy(it.absorbed, std::span(block).first(wanted));
  if (left < kTurboShakeRate) {
    block[left] ^= 1;  // the domain byte of VDAF's streams
    block[kTurboShakeRate - 1] ^= 0x80;
    it.padded = true;
  }
  if (it.absorbed == 0)
    for (int i = 0; i < 25; ++i) states_.words[4 * i + lane] = 0;
  it.absorbed += wanted;
  for (std::size_t i = 0; i < kTurboShakeRate / 8; ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, block.data() + 8 * i, 8);
    states_.words[4 * i + lane] ^= word;
  }
  return true;
}

void XofLanes::take(int lane) {
  Lane& it = lanes_[lane];
  if (!it.padded) return;
  // What was held back from the last block stands before this one.
  std::array<std::uint8_t, kTurboShakeRate + 16> bytes;
  std::memcpy(bytes.data(), it.held.data(), it.held_bytes);
  for (std::size_t i = 0; i < kTurboShakeRate / 8; ++i)
    std::memcpy(bytes.data() + it.held_bytes + 8 * i, &states_.words[4 * i + lane], 8);
  const std::size_t end = it.held_bytes + kTurboShakeRate;
  std::size_t at = 0;
  for (; at + it.element_bytes <= end && it.produced < it.wanted; at += it.element_bytes) {
    if (it.accept != nullptr && !it.accept(bytes.data() + at)) continue;
    std::memcpy(it.out + it.produced, bytes.data() + at, it.element_bytes);
    it.produced += it.element_bytes;
  }
  it.held_bytes = it.produced < it.wanted ? end - at : 0;
  std::memcpy(it.held.data(), bytes.data() + at, it.held_bytes);
}

void XofLanes::step() {
  std::array<std::uint64_t, 25> saved[4];
  bool waits[4] = {};
  for (int lane = 0; lane < 4; ++lane) {
    if (lanes_[lane].done()) continue;
    waits[lane] = !absorb(lane);
    if (waits[lane])
      for (int i = 0; i < 25; ++i) saved[lane][i] = states_.words[4 * i + lane];
  }
  keccak_p12(states_);
  for (int lane = 0; lane < 4; ++lane) {
    if (lanes_[lane].done()) continue;
    if (waits[lane])
      for (int i = 0; i < 25; ++i) states_.words[4 * i + lane] = saved[lane][i];
    else
      take(lane);
  }
}

}  // namespace discreet::prio
