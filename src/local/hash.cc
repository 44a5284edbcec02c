#include "local/hash.h"

namespace discreet::local {

std::uint64_t mix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

LargeHash large_hash(std::uint64_t seed, std::uint64_t index) {
  const std::uint64_t start = mix64(seed);
  return {mix64(start + 2 * index) % LargeHash::kPrime,
          mix64(start + 2 * index + 1) % LargeHash::kPrime};
}

std::uint64_t text_key(std::string_view text) {
  std::uint64_t state = 0xcbf29ce484222325;  // FNV-1a, then mixed because its high bits are weak
  for (const char c : text) state = (state ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  const std::uint64_t key = mix64(state) >> 3;
  return key == LargeHash::kPrime ? 0 : key;
}

}  // namespace discreet::local
