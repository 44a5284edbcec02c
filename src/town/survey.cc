#include "town/survey.h"

#include "town/dice.h"

namespace discreet::town {
namespace {

struct Respondent {
  std::int64_t id;
  int last_day;
  bool broke_rules;
  std::int64_t sleep;  // chance of a good night, per mille
  std::int64_t bus;
};

constexpr std::int64_t kLeavesPerNight = 4;  // per mille

Respondent recruit(const Person& person, Dice& dice) {
  Respondent respondent{};
  respondent.id = person.id;
  respondent.last_day = kSurveyDays - 1;
  for (int day = 0; day < kSurveyDays - 1; ++day)
    if (dice.chance(kLeavesPerNight)) {
      respondent.last_day = day;
      break;
    }
  respondent.broke_rules = dice.chance(person.age < 30 ? 420 : person.age < 60 ? 280 : 120);
  respondent.sleep = dice.between(450, person.age > 70 ? 800 : 950);
  const bool rides = dice.chance(person.income > 80'000 ? 120 : 400);
  respondent.bus = rides ? dice.between(400, 900) : dice.between(0, 60);
  return respondent;
}

}  // namespace

Day survey_start() {
  return day_of(2025, 11, 3);
}

std::vector<SurveyAnswer> make_survey(const std::vector<Person>& people, std::uint64_t seed) {
  Dice dice(seed, "survey");
  std::vector<Respondent> respondents;
  for (const Person& person : people)
    if (person.age >= 16 && dice.chance(120)) respondents.push_back(recruit(person, dice));
  std::vector<SurveyAnswer> answers;
  answers.reserve(respondents.size() * kQuestions.size() * kSurveyDays);
  for (int day = 0; day < kSurveyDays; ++day)
    for (const Respondent& respondent : respondents) {
      if (day > respondent.last_day) continue;
      const Day date = survey_start() + day;
      const bool weekend = day % 7 >= 5;  // the first day is a Monday
      answers.push_back({respondent.id, date, 0, respondent.broke_rules});
      answers.push_back({respondent.id, date, 1, dice.chance(respondent.sleep)});
      answers.push_back(
          {respondent.id, date, 2, dice.chance(weekend ? respondent.bus / 4 : respondent.bus)});
    }
  return answers;
}

}  // namespace discreet::town
