#include "town/people.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <set>
#include <vector>

namespace discreet::town {
namespace {

const std::vector<Person>& sample() {
  static const std::vector<Person> people = make_people(100'000, 1);
  return people;
}

template <class Pick>
std::int64_t median_income(Pick&& pick) {
  std::vector<std::int64_t> incomes;
  for (const Person& person : sample())
    if (pick(person)) incomes.push_back(person.income);
  EXPECT_GT(incomes.size(), 100u);
  std::ranges::nth_element(incomes,
                           incomes.begin() + static_cast<std::ptrdiff_t>(incomes.size() / 2));
  return incomes[incomes.size() / 2];
}

template <class Pick>
double mean_age(Pick&& pick) {
  double sum = 0;
  double count = 0;
  for (const Person& person : sample())
    if (pick(person)) {
      sum += person.age;
      ++count;
    }
  EXPECT_GT(count, 100);
  return sum / count;
}

TEST(CalendarTest, AgesTurnOnTheBirthday) {
  EXPECT_EQ(day_of(1970, 1, 1), 0);
  EXPECT_EQ(day_of(2026, 11, 15), 20772);
  EXPECT_EQ(age_on(day_of(2000, 3, 1), day_of(2026, 2, 28)), 25);
  EXPECT_EQ(age_on(day_of(2000, 3, 1), day_of(2026, 3, 1)), 26);
  EXPECT_EQ(age_on(day_of(2004, 2, 29), day_of(2025, 2, 28)), 20);
  EXPECT_EQ(age_on(day_of(2004, 2, 29), day_of(2025, 3, 1)), 21);
  EXPECT_EQ(age_on(day_of(2025, 12, 31), census_day()), 0);
}

TEST(PeopleTest, ThereAreAsManyAsAskedFor) {
  for (const std::size_t count : {1u, 2u, 7u, 1000u}) {
    const auto people = make_people(count, 3);
    ASSERT_EQ(people.size(), count);
    for (std::size_t i = 0; i < count; ++i)
      ASSERT_EQ(people[i].id, static_cast<std::int64_t>(i) + 1);
  }
}

// Sweeney (2000): 87 % of the USA are alone in their {zip, birth date, sex}.
TEST(PeopleTest, MostAreAloneInTheirZipBirthDateAndSex) {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const auto people = make_people(100'000, seed);
    const double share = static_cast<double>(count_unique(people)) / 100'000;
    std::cout << "seed " << seed << ": unique share " << share << "\n";
    EXPECT_GT(share, 0.82);
    EXPECT_LT(share, 0.89);
  }
}

TEST(PeopleTest, CountUniqueCountsOnlyTheAlone) {
  auto people = make_people(3, 1);
  people[1] = people[0];
  people[2] = people[0];
  people[2].birth += 1;
  EXPECT_EQ(count_unique(people), 1u);
}

TEST(PeopleTest, AHouseholdSharesItsAddress) {
  std::map<std::int64_t, std::set<std::string>> addresses;
  std::map<std::int64_t, int> sizes;
  for (const Person& person : sample()) {
    addresses[person.household].insert(person.address() + std::to_string(person.zip));
    ++sizes[person.household];
  }
  int shared = 0;
  for (const auto& [household, size] : sizes) {
    ASSERT_EQ(addresses[household].size(), 1u);
    ASSERT_LE(size, 20);
    shared += size > 1;
  }
  EXPECT_GT(shared, 15'000);
}

TEST(PeopleTest, AgesAndBirthDatesAgree) {
  for (const Person& person : sample()) {
    ASSERT_EQ(person.age, age_on(person.birth, census_day()));
    ASSERT_LE(person.age, kAgeMax);
    ASSERT_LT(person.birth, census_day());
  }
}

TEST(PeopleTest, NeighbourhoodsDifferInAge) {
  const auto in = [](Quarter quarter) {
    return mean_age([quarter](const Person& person) { return person.quarter == quarter; });
  };
  EXPECT_GT(in(Quarter::Retirement), in(Quarter::Mixed) + 10);
  EXPECT_LT(in(Quarter::College), in(Quarter::Mixed)-3);
}

TEST(PeopleTest, IncomeRisesWithSchoolingAndWithAgeToFifty) {
  std::int64_t last = 0;
  for (const Education education : {Education::None, Education::HighSchool, Education::SomeCollege,
                                    Education::Bachelor, Education::Graduate}) {
    const std::int64_t median = median_income([education](const Person& person) {
      return person.age >= 30 && person.age < 60 && person.education == education;
    });
    EXPECT_GT(median, last);
    last = median;
  }
  const auto clerks = [](int least, int most) {
    return median_income([=](const Person& person) {
      return person.occupation == Occupation::Office && person.age >= least && person.age < most;
    });
  };
  EXPECT_GT(clerks(45, 55), clerks(20, 30));
}

TEST(PeopleTest, ChildrenEarnNothingAndAreNotMarried) {
  for (const Person& person : sample()) {
    ASSERT_LE(person.income, kIncomeMax);
    ASSERT_GE(person.income, 0);
    if (person.age >= 16) continue;
    ASSERT_EQ(person.income, 0);
    ASSERT_EQ(person.marital, Marital::Single);
    ASSERT_EQ(person.education, Education::None);
    ASSERT_FALSE(person.smoker);
  }
}

TEST(PeopleTest, TheMayorCanBeToldApart) {
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u}) {
    const auto people = make_people(20'000, seed);
    std::vector<Person> mayors;
    std::ranges::copy_if(people, std::back_inserter(mayors), [](const Person& person) {
      return person.occupation == Occupation::Mayor;
    });
    ASSERT_EQ(mayors.size(), 1u);
    EXPECT_EQ(std::ranges::count_if(people,
                                    [&](const Person& person) {
                                      return person.zip == mayors[0].zip &&
                                             person.birth == mayors[0].birth &&
                                             person.sex == mayors[0].sex;
                                    }),
              1);
  }
}

}  // namespace
}  // namespace discreet::town
