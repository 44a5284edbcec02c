// Emoji typed on phones over the survey's fortnight: a few favourites a person, Zipf-like, with the
// tastes of two generations. It is what local differential privacy is usually shown on.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "town/people.h"

namespace discreet::town {

inline constexpr int kFavouritesMax = 12;
inline constexpr int kTypedMax = 500;

struct EmojiCount {
  std::int64_t person;  // id
  std::uint16_t emoji;  // of emoji_alphabet()
  std::uint16_t typed;
};

std::span<const std::string_view> emoji_alphabet();

std::vector<EmojiCount> make_emoji(const std::vector<Person>& people, std::uint64_t seed);

}  // namespace discreet::town
