// The tables made from the people: hospital, voters, school, trial, survey, emoji.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <set>
#include <vector>

#include "town/emoji.h"
#include "town/hospital.h"
#include "town/people.h"
#include "town/school.h"
#include "town/survey.h"
#include "town/trial.h"
#include "town/voters.h"

namespace discreet::town {
namespace {

const std::vector<Person>& people() {
  static const std::vector<Person> all = make_people(60'000, 1);
  return all;
}

const Hospital& hospital() {
  static const Hospital made = make_hospital(people(), 1);
  return made;
}

std::map<std::int64_t, const Person*> by_patient() {
  std::map<std::int64_t, const Person*> out;
  for (const Patient& patient : hospital().patients) out[patient.id] = &people()[patient.person];
  return out;
}

TEST(HospitalTest, StaysArePossible) {
  const auto patients = by_patient();
  ASSERT_EQ(patients.size(), hospital().patients.size()) << "a patient number was used twice";
  std::map<std::int64_t, int> stays;
  for (const Visit& visit : hospital().visits) {
    const Person& person = *patients.at(visit.patient);
    ASSERT_GE(visit.admitted, person.birth);
    ASSERT_GE(visit.admitted, day_of(2025, 1, 1));
    ASSERT_LT(visit.admitted, census_day());
    ASSERT_GE(visit.days, 1);
    ASSERT_LE(visit.days, kStayMax);
    ASSERT_LE(visit.icu_days, visit.days);
    ASSERT_LE(visit.icu_days, kIcuDaysMax);
    ASSERT_GT(visit.cost, 0);
    ASSERT_LE(visit.cost, kCostMax);
    const auto diagnosis = kDiagnoses[visit.diagnosis];
    if (diagnosis == "childbirth") {
      ASSERT_TRUE(person.sex == Sex::Female && person.age >= 18 && person.age <= 42);
    }
    if (diagnosis == "newborn care") {
      ASSERT_EQ(person.age, 0);
    }
    if (diagnosis == "breast cancer") {
      ASSERT_EQ(person.sex, Sex::Female);
    }
    ++stays[visit.patient];
  }
  EXPECT_EQ(stays.size(), patients.size()) << "every patient has a stay";
  int most = 0;
  for (const auto& [patient, count] : stays) most = std::max(most, count);
  EXPECT_LE(most, kVisitsMax);
  EXPECT_GT(most, 3);
}

TEST(HospitalTest, PatientNumbersDoNotFollowPeopleNumbers) {
  const auto& patients = hospital().patients;
  int rising = 0;
  for (std::size_t i = 1; i < patients.size(); ++i)
    rising += patients[i].person > patients[i - 1].person;
  const auto half = static_cast<double>(patients.size()) / 2;
  EXPECT_NEAR(rising, half, half / 10);
}

TEST(HospitalTest, SmokersHaveLungCancer) {
  const auto patients = by_patient();
  double smokers = 0;
  double all = 0;
  for (const Visit& visit : hospital().visits)
    if (kDiagnoses[visit.diagnosis] == "lung cancer") {
      ++all;
      smokers += patients.at(visit.patient)->smoker;
    }
  ASSERT_GT(all, 50);
  EXPECT_GT(smokers / all, 0.5);
}

// What the homogeneity attack needs: groups of five neighbours of one sex with nearest birth dates,
// about what a k-anonymiser with k = 5 makes, often have one diagnosis.
TEST(HospitalTest, GroupsOfFiveOftenShareADiagnosis) {
  const auto patients = by_patient();
  std::map<std::int64_t, std::uint8_t> first;
  for (const Visit& visit : hospital().visits) first.emplace(visit.patient, visit.diagnosis);
  using Key = std::tuple<std::int32_t, Sex, Day, std::int64_t>;
  std::vector<std::pair<Key, std::uint8_t>> rows;
  for (const auto& [patient, diagnosis] : first) {
    const Person& person = *patients.at(patient);
    rows.push_back({{person.zip, person.sex, person.birth, patient}, diagnosis});
  }
  std::ranges::sort(rows);
  int groups = 0;
  int homogeneous = 0;
  for (std::size_t i = 0; i + 5 <= rows.size(); i += 5) {
    ++groups;
    homogeneous += std::all_of(rows.begin() + static_cast<std::ptrdiff_t>(i),
                               rows.begin() + static_cast<std::ptrdiff_t>(i) + 5,
                               [&](const auto& row) { return row.second == rows[i].second; });
  }
  std::cout << homogeneous << " of " << groups << " groups of five share one diagnosis\n";
  EXPECT_GT(homogeneous * 100, groups * 4);
}

TEST(VotersTest, VotersAreGrownUpAndTheMayorIsAmongThem) {
  const auto voters = make_voters(people(), 1);
  std::set<std::size_t> seen;
  bool mayor = false;
  for (const Voter& voter : voters) {
    const Person& person = people()[voter.person];
    ASSERT_GE(person.age, 18);
    ASSERT_GE(age_on(person.birth, voter.registered), 17);
    ASSERT_LT(voter.registered, census_day());
    ASSERT_TRUE(seen.insert(voter.person).second) << "listed twice";
    mayor = mayor || person.occupation == Occupation::Mayor;
  }
  EXPECT_TRUE(mayor);
  const auto adults = std::ranges::count_if(people(), [](const Person& p) { return p.age >= 18; });
  EXPECT_NEAR(static_cast<double>(voters.size()) / static_cast<double>(adults), 0.7, 0.05);
}

TEST(SchoolTest, GradesFollowPointsAndCoursesAreTakenOnce) {
  std::map<std::int64_t, std::set<int>> courses;
  for (const Grade& grade : make_grades(people(), 1)) {
    ASSERT_LE(grade.points, 100);
    const int expected = grade.points >= 90   ? 0
                         : grade.points >= 80 ? 1
                         : grade.points >= 70 ? 2
                         : grade.points >= 60 ? 3
                                              : 4;
    ASSERT_EQ(grade.grade, expected);
    ASSERT_TRUE(courses[grade.student].insert(grade.course).second);
  }
  EXPECT_GT(courses.size(), 5000u);
  for (const auto& [student, taken] : courses)
    ASSERT_LE(taken.size(), static_cast<std::size_t>(kCoursesMax));
}

TEST(TrialTest, TheDrugHelps) {
  std::array<double, 2> sum{};
  std::array<double, 2> count{};
  for (const Participant& participant : make_trial(people(), 1)) {
    sum[participant.arm] += participant.improvement;
    ++count[participant.arm];
  }
  ASSERT_GT(count[0], 300);
  ASSERT_GT(count[1], 300);
  EXPECT_NEAR(sum[0] / count[0], 4, 2);
  EXPECT_NEAR(sum[1] / count[1], 12, 2);
}

// Yesterday's total minus today's is what the leavers answered: exact totals give them away.
TEST(SurveyTest, DifferencingTwoDaysGivesTheAnswersOfThoseWhoLeft) {
  std::map<Day, std::map<std::int64_t, bool>> rules;
  for (const SurveyAnswer& answer : make_survey(people(), 1))
    if (answer.question == 0) {
      ASSERT_TRUE(rules[answer.day].emplace(answer.person, answer.yes).second);
    }
  ASSERT_EQ(rules.size(), static_cast<std::size_t>(kSurveyDays));
  const auto total = [](const std::map<std::int64_t, bool>& day) {
    return std::ranges::count_if(day, [](const auto& entry) { return entry.second; });
  };
  int left_in_all = 0;
  for (Day day = survey_start(); day + 1 < survey_start() + kSurveyDays; ++day) {
    std::int64_t leavers_said_yes = 0;
    for (const auto& [person, yes] : rules[day])
      if (!rules[day + 1].contains(person)) {
        ++left_in_all;
        leavers_said_yes += yes;
      }
    for (const auto& [person, yes] : rules[day + 1]) {
      ASSERT_TRUE(rules[day].contains(person)) << "nobody joins later";
      ASSERT_EQ(rules[day][person], yes) << "a past does not change";
    }
    EXPECT_EQ(total(rules[day]) - total(rules[day + 1]), leavers_said_yes);
  }
  EXPECT_GT(left_in_all, 50);
}

TEST(EmojiTest, FavouritesAreFewAndGenerationsDiffer) {
  std::map<std::int64_t, std::set<int>> favourites;
  std::array<std::int64_t, 2> skulls{};
  std::array<std::int64_t, 2> typed{};
  for (const EmojiCount& count : make_emoji(people(), 1)) {
    ASSERT_LT(count.emoji, emoji_alphabet().size());
    ASSERT_GE(count.typed, 1);
    ASSERT_LE(count.typed, kTypedMax);
    ASSERT_TRUE(favourites[count.person].insert(count.emoji).second);
    const bool old = people()[static_cast<std::size_t>(count.person) - 1].age >= 35;
    typed[old] += count.typed;
    if (emoji_alphabet()[count.emoji] == "💀") skulls[old] += count.typed;
  }
  for (const auto& [person, emoji] : favourites)
    ASSERT_LE(emoji.size(), static_cast<std::size_t>(kFavouritesMax));
  EXPECT_GT(skulls[0] * typed[1], 5 * skulls[1] * typed[0]);
}

TEST(EmojiTest, TheAlphabetHasNoDoubles) {
  const auto alphabet = emoji_alphabet();
  EXPECT_EQ(std::set<std::string_view>(alphabet.begin(), alphabet.end()).size(), alphabet.size());
}

}  // namespace
}  // namespace discreet::town
