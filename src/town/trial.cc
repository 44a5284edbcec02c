#include "town/trial.h"

#include <algorithm>

#include "town/dice.h"

namespace discreet::town {

std::vector<Participant> make_trial(const std::vector<Person>& people, std::uint64_t seed) {
  Dice dice(seed, "trial");
  std::vector<Participant> trial;
  for (std::size_t i = 0; i < people.size(); ++i) {
    const Person& person = people[i];
    if (person.age < 35 || person.age > 80 || !dice.chance(40)) continue;
    const bool treated = dice.chance(500);
    const std::int64_t pressure =
        std::clamp<std::int64_t>(dice.bell(140 + person.age / 4, 10), kPressureMin, kPressureMax);
    const std::int64_t improvement =
        std::clamp<std::int64_t>(dice.bell(treated ? 12 : 4, 10), kImprovementMin, kImprovementMax);
    trial.push_back({i, static_cast<std::uint8_t>(treated), static_cast<std::uint8_t>(pressure),
                     static_cast<std::int8_t>(improvement), dice.chance(treated ? 140 : 50)});
  }
  dice.shuffle(trial);
  return trial;
}

}  // namespace discreet::town
