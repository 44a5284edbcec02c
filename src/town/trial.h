// A medical trial: grown-ups with high blood pressure, half of them on the drug.
// The drug lowers pressure by 12 on average, the placebo by 4; the deviation is 10.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "town/people.h"

namespace discreet::town {

inline constexpr std::array<std::string_view, 2> kArms = {"placebo", "treatment"};
inline constexpr int kImprovementMin = -40;
inline constexpr int kImprovementMax = 60;
inline constexpr int kPressureMin = 130;
inline constexpr int kPressureMax = 200;

struct Participant {
  std::size_t person;  // index into the people
  std::uint8_t arm;
  std::uint8_t pressure;    // systolic, before
  std::int8_t improvement;  // before minus after
  bool side_effects;
};

std::vector<Participant> make_trial(const std::vector<Person>& people, std::uint64_t seed);

}  // namespace discreet::town
