#include "town/voters.h"

#include <algorithm>

#include "town/dice.h"

namespace discreet::town {

std::vector<Voter> make_voters(const std::vector<Person>& people, std::uint64_t seed) {
  Dice dice(seed, "voters");
  std::vector<Voter> voters;
  for (std::size_t i = 0; i < people.size(); ++i) {
    const Person& person = people[i];
    if (person.age < 18) continue;
    const std::int64_t turnout = std::min(470 + person.age * 5, 820);
    if (!dice.chance(turnout) && person.occupation != Occupation::Mayor) continue;
    std::array<int, 4> parties = {38, 32, 26, 4};
    if (person.age < 30) parties = {46, 34, 12, 8};
    if (person.age > 64) parties = {30, 30, 39, 1};
    if (person.quarter == Quarter::College) parties[1] += 20;
    if (person.quarter == Quarter::Hill) parties[2] += 10;
    const Day of_age = person.birth + 18 * 1461 / 4 + 1;
    const Day latest = census_day() - 1;
    const auto since = dice.below(static_cast<std::uint64_t>(std::max(latest - of_age, 0)) + 1);
    voters.push_back(
        {i, latest - static_cast<Day>(since), static_cast<std::uint8_t>(dice.pick(parties))});
  }
  dice.shuffle(voters);
  return voters;
}

}  // namespace discreet::town
