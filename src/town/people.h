// The inhabitants: households in neighbourhoods, and the people in them.
//
// Made so that the well-known facts hold: about 85 % are alone in their {zip, birth date, sex}
// (Sweeney 2000 found 87 % for the USA), households share address and mostly surname, and age,
// education, occupation, income and race depend on each other and on the neighbourhood.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace discreet::town {

/// Days since 1970-01-01.
using Day = std::int32_t;

Day day_of(int year, unsigned month, unsigned day);
/// Whole years lived on a day.
int age_on(Day birth, Day today);

/// The day of the census: ages are as of then, the hospital's year is the one before it.
Day census_day();  // 2026-01-01

inline constexpr std::array<std::string_view, 2> kSexes = {"female", "male"};
inline constexpr std::array<std::string_view, 5> kRaces = {"white", "black", "asian", "hispanic",
                                                           "other"};
inline constexpr std::array<std::string_view, 4> kMaritalStatuses = {"single", "married",
                                                                     "divorced", "widowed"};
inline constexpr std::array<std::string_view, 5> kEducations = {
    "none", "high school", "some college", "bachelor", "graduate"};
inline constexpr std::array<std::string_view, 16> kOccupations = {
    "child",       "pupil",       "student",   "retired",      "none",    "service",
    "sales",       "office",      "transport", "construction", "factory", "teaching",
    "health care", "engineering", "law",       "mayor"};
inline constexpr std::int64_t kIncomeMax = 500'000;
inline constexpr int kAgeMax = 105;

enum class Sex : std::uint8_t { Female, Male };
enum class Marital : std::uint8_t { Single, Married, Divorced, Widowed };
enum class Education : std::uint8_t { None, HighSchool, SomeCollege, Bachelor, Graduate };
enum class Occupation : std::uint8_t {
  Child,
  Pupil,
  Student,
  Retired,
  None,
  Service,
  Sales,
  Office,
  Transport,
  Construction,
  Factory,
  Teaching,
  HealthCare,
  Engineering,
  Law,
  Mayor,
};

/// What a neighbourhood is mostly made of; decides ages, schooling, income and some illnesses.
enum class Quarter : std::uint8_t { Mixed, Family, College, Retirement, Hill, Mill };

struct Person {
  std::int64_t id;  // 1, 2, 3 ... in household order
  std::int64_t household;
  std::int64_t income;  // dollars a year, in hundreds
  Day birth;
  std::int32_t zip;
  std::uint16_t surname;
  std::uint16_t house_number;
  std::uint8_t given_name;
  std::uint8_t street;
  char initial;
  std::uint8_t age;  // on census day
  Sex sex;
  std::uint8_t race;  // of kRaces
  Marital marital;
  Education education;
  Occupation occupation;
  Quarter quarter;
  bool smoker;

  std::string name() const;
  std::string address() const;
};

/// `count` people (1 or more), the same ones for the same seed.
std::vector<Person> make_people(std::size_t count, std::uint64_t seed);

/// How many are alone in their {zip, birth date, sex}.
std::size_t count_unique(const std::vector<Person>& people);

}  // namespace discreet::town
