// Names of privacy units: texts as numbers, and a secret order of each unit's groups.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "base/saturating.h"
#include "engines/code_table.h"
#include "engines/rows.h"

namespace discreet {

/// SipHash-1-3 (Aumasson, Bernstein 2012) of two words.
inline std::uint64_t keyed_hash(const std::array<std::uint64_t, 2>& key, std::uint64_t a,
                                std::uint64_t b) {
  std::uint64_t v0 = key[0] ^ 0x736f6d6570736575u, v1 = key[1] ^ 0x646f72616e646f6du;
  std::uint64_t v2 = key[0] ^ 0x6c7967656e657261u, v3 = key[1] ^ 0x7465646279746573u;
  const auto round = [&] {
    v0 += v1;
    v2 += v3;
    v1 = std::rotl(v1, 13) ^ v0;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 = std::rotl(v0, 32);
    v2 += v1;
    v0 += v3;
    v1 = std::rotl(v1, 17) ^ v2;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 = std::rotl(v2, 32);
  };
  for (const std::uint64_t word : {a, b, std::uint64_t{16} << 56}) {
    v3 ^= word;
    round();
    v0 ^= word;
  }
  v2 ^= 0xff;
  for (int i = 0; i < 3; ++i) round();
  return v0 ^ v1 ^ v2 ^ v3;
}

/// Keeps `most` of them, in their order: the first places of a shuffle that the seed decides, its
/// numbers made as by SplitMix64 (Steele, Lea, Flood 2014).
inline void keep_some(std::vector<std::size_t>& all, std::size_t most, std::uint64_t seed) {
  for (std::size_t i = 0; i < most; ++i) {
    std::uint64_t x = seed += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    x ^= x >> 31;
    std::swap(all[i], all[i + static_cast<std::size_t>((UInt128{x} * (all.size() - i)) >> 64)]);
  }
  all.resize(most);
  std::sort(all.begin(), all.end());
}

/// Numbers for units that are texts, the same on all threads.
class UnitTexts {
 public:
  std::int64_t number(std::string_view text) {
    const std::uint64_t hashed = TextCodes::hash(text);
    const std::size_t shard = hashed >> 58;
    const std::lock_guard lock(shards_[shard].mutex);
    return static_cast<std::int64_t>(std::uint64_t{shards_[shard].codes.of(text, hashed)} << 6 |
                                     shard);
  }

 private:
  struct Shard {
    std::mutex mutex;
    TextCodes codes;
  };
  std::array<Shard, 64> shards_;
};

/// Of every row of the chunk, by this column; what stands at a null means nothing.
inline void name_units(const EngineChunk& chunk, std::size_t column, UnitTexts& texts,
                       std::span<std::int64_t> units) {
  switch (chunk.type(column)) {
    case EngineType::Int64:
    case EngineType::Date:
    case EngineType::Timestamp: {
      const auto values = chunk.int64s(column);
      std::copy(values.begin(), values.end(), units.begin());
      break;
    }
    case EngineType::Varchar:
      for (std::size_t row = 0; row < chunk.size(); ++row)
        if (!chunk.is_null(column, row)) units[row] = texts.number(chunk.varchar(column, row));
      break;
    case EngineType::HugeInt:
      for (std::size_t row = 0; row < chunk.size(); ++row) {
        if (chunk.is_null(column, row)) continue;
        const Int128 value = chunk.int128(column, row);
        units[row] = texts.number({reinterpret_cast<const char*>(&value), sizeof(value)});
      }
      break;
    case EngineType::Bool:
    case EngineType::Double:
      throw std::invalid_argument("a unit is a whole number, a date or a text");
  }
}

}  // namespace discreet
