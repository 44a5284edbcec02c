// A daily survey over a fortnight. Everyone who takes part answers every question every day until
// the day they leave for good; a few leave each night. So yesterday's exact total minus today's is
// the answer of those who left, which is the differencing attack.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "town/people.h"

namespace discreet::town {

inline constexpr int kSurveyDays = 14;
inline constexpr std::array<std::string_view, 3> kQuestions = {"broke the rules", "slept well",
                                                               "took the bus"};
inline constexpr std::array<std::string_view, 2> kAnswers = {"no", "yes"};

struct SurveyAnswer {
  std::int64_t person;  // id
  Day day;
  std::uint8_t question;
  bool yes;
};

Day survey_start();  // 2025-11-03

/// About one person in ten of age 16 or more; by day, then person, then question. Whether somebody
/// ever broke the rules does not change from day to day.
std::vector<SurveyAnswer> make_survey(const std::vector<Person>& people, std::uint64_t seed);

}  // namespace discreet::town
