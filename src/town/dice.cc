#include "town/dice.h"

#include <array>

#include "base/check.h"
#include "base/saturating.h"

namespace discreet::town {
namespace {

/// Quantiles of exp(z / 2), z standard normal, in thousandths: 0.5 %, then every sixteenth, 99.5 %.
constexpr std::array<std::int64_t, 17> kLogNormal = {
    276, 464, 563, 642, 714, 783, 853, 924, 1000, 1082, 1173, 1277, 1401, 1558, 1778, 2155, 3625};

std::uint64_t stream_seed(std::uint64_t seed, std::string_view purpose) {
  Fingerprint mixed;
  mixed.add(purpose);
  mixed.add(static_cast<std::int64_t>(seed));
  return mixed.value();
}

}  // namespace

Dice::Dice(std::uint64_t seed, std::string_view purpose) : engine_(stream_seed(seed, purpose)) {}

// Lemire (2019): the high word of a product is uniform once the few low words that would
// over-represent some results are rejected.
std::uint64_t Dice::below(std::uint64_t count) {
  DISCREET_CHECK(count > 0, "a draw from nothing");
  UInt128 product = UInt128{engine_()} * count;
  if (static_cast<std::uint64_t>(product) < count) {
    const std::uint64_t threshold = -count % count;
    while (static_cast<std::uint64_t>(product) < threshold) product = UInt128{engine_()} * count;
  }
  return static_cast<std::uint64_t>(product >> 64);
}

std::int64_t Dice::between(std::int64_t least, std::int64_t most) {
  return least + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(most - least) + 1));
}

bool Dice::chance(std::int64_t per_mille) {
  return static_cast<std::int64_t>(below(1000)) < per_mille;
}

std::size_t Dice::pick(std::span<const int> weights) {
  std::uint64_t total = 0;
  for (const int weight : weights) total += static_cast<std::uint64_t>(weight);
  std::uint64_t left = below(total);
  std::size_t index = 0;
  while (left >= static_cast<std::uint64_t>(weights[index]))
    left -= static_cast<std::uint64_t>(weights[index++]);
  return index;
}

std::int64_t Dice::bell(std::int64_t mean, std::int64_t deviation) {
  std::int64_t sum = -6 * 65536 + 6;  // twelve uniforms on 0 .. 65535, centred; deviation 65536
  for (int word = 0; word < 3; ++word) {
    const std::uint64_t bits = engine_();
    for (int part = 0; part < 4; ++part)
      sum += static_cast<std::int64_t>(bits >> (16 * part) & 0xffff);
  }
  const std::int64_t scaled = sum * deviation;
  return mean + (scaled >= 0 ? scaled + 32768 : scaled - 32768) / 65536;
}

std::int64_t Dice::skewed(std::int64_t median) {
  const std::uint64_t position = below(16 * 1024);
  const std::size_t step = position / 1024;
  const auto within = static_cast<std::int64_t>(position % 1024);
  const std::int64_t factor =
      kLogNormal[step] * 1024 + (kLogNormal[step + 1] - kLogNormal[step]) * within;
  return median * factor / (1000 * 1024);
}

std::int64_t Dice::streak(std::int64_t per_mille, std::int64_t most) {
  std::int64_t length = 0;
  while (length < most && chance(per_mille)) ++length;
  return length;
}

void Fingerprint::add(std::string_view bytes) {
  for (const char c : bytes) state_ = (state_ ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  state_ = (state_ ^ 0xff) * 1099511628211ULL;  // ends the text, so "ab","c" is not "a","bc"
}

void Fingerprint::add(std::int64_t value) {
  for (int byte = 0; byte < 8; ++byte)
    state_ = (state_ ^ (static_cast<std::uint64_t>(value) >> (8 * byte) & 0xff)) * 1099511628211ULL;
}

}  // namespace discreet::town
