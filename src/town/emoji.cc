#include "town/emoji.h"

#include <algorithm>
#include <array>

#include "town/dice.h"

namespace discreet::town {
namespace {

constexpr std::array<std::string_view, 64> kAlphabet = {
    "😂", "❤️",  "😍", "🤣", "😊", "🙏", "💕", "😭", "😘", "👍", "😅", "👏", "😁", "🔥", "🥰", "💔",
    "💖", "💙", "😢", "🤔", "😆", "🙄", "💪", "😉", "👌", "🤗", "💜", "😔", "😎", "😇", "🌹", "🤦",
    "🎉", "💞", "✌️",  "✨", "🤷", "😱", "😌", "🌸", "🙌", "😋", "💗", "💚", "😏", "💛", "🙂", "💓",
    "🤩", "😄", "😀", "🖤", "😃", "💯", "🙈", "👇", "🎶", "😒", "🤭", "❣️",  "💀", "🐣", "🚲", "🦊"};

/// Weight of each emoji for the young or the old: Zipf, and each generation has favourites of its
/// own that the other hardly types.
std::array<int, 64> taste(bool young) {
  std::array<int, 64> weights{};
  for (std::size_t rank = 0; rank < weights.size(); ++rank) {
    weights[rank] = 100'000 / (static_cast<int>(rank) + 2);
    const bool for_young = rank % 4 == 3;
    const bool for_old = rank % 4 == 1;
    if (young ? for_young : for_old) weights[rank] *= 3;
    if (young ? for_old : for_young) weights[rank] /= 3;
  }
  if (young) weights[60] *= 25;  // the skull
  return weights;
}

}  // namespace

std::span<const std::string_view> emoji_alphabet() {
  return kAlphabet;
}

std::vector<EmojiCount> make_emoji(const std::vector<Person>& people, std::uint64_t seed) {
  Dice dice(seed, "emoji");
  const auto young_taste = taste(true);
  const auto old_taste = taste(false);
  std::vector<EmojiCount> counts;
  std::vector<std::uint16_t> favourites;
  for (const Person& person : people) {
    const std::int64_t uses = person.age < 10   ? 0
                              : person.age < 35 ? 900
                              : person.age < 65 ? 650
                                                : 250;
    if (!dice.chance(uses)) continue;
    const auto& weights = person.age < 35 ? young_taste : old_taste;
    favourites.clear();
    for (std::int64_t left = 1 + dice.streak(750, kFavouritesMax - 1); left > 0; --left) {
      const auto emoji = static_cast<std::uint16_t>(dice.pick(weights));
      if (std::ranges::find(favourites, emoji) == favourites.end()) favourites.push_back(emoji);
    }
    std::int64_t often = dice.skewed(person.age < 35 ? 40 : 14);
    for (const std::uint16_t emoji : favourites) {
      const auto typed = std::clamp<std::int64_t>(dice.skewed(often), 1, kTypedMax);
      counts.push_back({person.id, emoji, static_cast<std::uint16_t>(typed)});
      often = std::max<std::int64_t>(often * 2 / 3, 1);
    }
  }
  return counts;
}

}  // namespace discreet::town
