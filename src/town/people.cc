#include "town/people.h"

#include <algorithm>
#include <chrono>
#include <unordered_map>

#include "base/check.h"
#include "town/dice.h"
#include "town/names.h"

namespace discreet::town {
namespace {

constexpr std::size_t kPeoplePerZip = 6000;  // gives the 85 % of count_unique (people_test.cc)
constexpr std::size_t kZipsMax = 600;        // 69400 .. 69999, so that "694" is a prefix of many
constexpr std::int32_t kFirstZip = 69400;

struct Neighbourhood {
  std::int32_t zip;
  Quarter quarter;
  int size;                  // relative
  std::array<int, 5> races;  // weights
};

enum Household { Alone, Couple, Parents, OneParent, ElderAlone, ElderCouple, Flatmates, ThreeAges };

// Weights of the household kinds above, by quarter.
constexpr std::array<std::array<int, 8>, 6> kHouseholds = {{
    {24, 18, 22, 8, 8, 8, 6, 6},    // Mixed
    {10, 12, 44, 12, 5, 6, 1, 10},  // Family
    {26, 12, 8, 4, 4, 4, 40, 2},    // College
    {12, 10, 7, 3, 28, 34, 1, 5},   // Retirement
    {14, 24, 30, 4, 8, 14, 2, 4},   // Hill
    {22, 14, 24, 18, 8, 6, 4, 12},  // Mill
}};

// Weights of the schooling a grown-up ends with, by quarter.
constexpr std::array<std::array<int, 5>, 6> kSchooling = {{
    {9, 28, 26, 23, 14},
    {7, 25, 28, 27, 13},
    {2, 8, 34, 28, 28},
    {12, 32, 24, 20, 12},
    {2, 10, 18, 38, 32},
    {22, 42, 22, 11, 3},
}};

// Weights of occupations from None to Law, by schooling.
constexpr std::array<std::array<int, 11>, 5> kWork = {{
    {24, 28, 8, 2, 12, 16, 18, 0, 2, 0, 0},
    {12, 20, 14, 10, 12, 14, 16, 0, 6, 1, 0},
    {9, 14, 16, 22, 7, 8, 8, 3, 14, 4, 0},
    {6, 4, 14, 26, 2, 2, 3, 16, 12, 18, 2},
    {5, 1, 6, 16, 1, 1, 1, 20, 20, 16, 16},
}};

// Median full-time income at the peak of a career, by occupation.
constexpr std::array<std::int64_t, 16> kPay = {0,     0,     9000,   27000, 8000,  31000,
                                               39000, 52000, 45000,  50000, 43000, 60000,
                                               72000, 98000, 125000, 118000};
constexpr std::array<std::int64_t, 5> kPayBySchooling = {85, 95, 102, 118, 140};  // percent

class Settlement {
 public:
  explicit Settlement(std::size_t count, std::uint64_t seed)
      : count_(count), dice_(seed, "people") {
    people_.reserve(count);
    found_neighbourhoods();
  }

  std::vector<Person> settle() {
    while (people_.size() < count_) move_in();
    elect_mayor();
    return std::move(people_);
  }

 private:
  void found_neighbourhoods() {
    const std::size_t zips =
        std::clamp<std::size_t>((count_ + kPeoplePerZip / 2) / kPeoplePerZip, 1, kZipsMax);
    for (std::size_t i = 0; i < zips; ++i) {
      Neighbourhood& here = neighbourhoods_.emplace_back();
      here.zip = kFirstZip + static_cast<std::int32_t>(i);
      // Every quarter occurs in a town of six zips or more; the first is always mixed.
      here.quarter = static_cast<Quarter>(i % 6);
      here.size = static_cast<int>(dice_.between(6, 15));
      here.races = {60, 13, 7, 17, 3};
      const auto leaning = dice_.below(here.races.size());
      here.races[leaning] += static_cast<int>(dice_.between(0, 60));
      sizes_.push_back(here.size);
    }
  }

  void move_in() {
    const Neighbourhood& here = neighbourhoods_[dice_.pick(sizes_)];
    const auto quarter = static_cast<std::size_t>(here.quarter);
    Person model{};
    model.household = ++households_;
    model.zip = here.zip;
    model.quarter = here.quarter;
    model.surname = static_cast<std::uint16_t>(dice_.below(surnames().size()));
    model.street = static_cast<std::uint8_t>(dice_.below(streets().size()));
    model.house_number = static_cast<std::uint16_t>(dice_.between(1, 899));
    model.race = static_cast<std::uint8_t>(dice_.pick(here.races));
    switch (dice_.pick(kHouseholds[quarter])) {
      case Alone:
        add_single(model, years(22, 64));
        break;
      case Couple:
        add_couple(model, years(24, 66));
        break;
      case Parents:
        add_family(model, 2);
        break;
      case OneParent:
        add_family(model, 1);
        break;
      case ElderAlone:
        add_single(model, elder_years());
        break;
      case ElderCouple:
        add_couple(model, elder_years());
        break;
      case Flatmates:
        for (std::int64_t mates = dice_.between(2, 5); mates > 0; --mates) {
          model.surname = static_cast<std::uint16_t>(dice_.below(surnames().size()));
          add(model, years(18, 26), any_sex(), Marital::Single);
        }
        break;
      default:
        add_family(model, 2);
        add(model, std::min<int>(years(68, 92), kAgeMax), any_sex(), Marital::Widowed);
    }
  }

  int years(int least, int most) { return static_cast<int>(dice_.between(least, most)); }
  int elder_years() { return std::clamp(65 + static_cast<int>(dice_.skewed(9)), 65, 101); }
  Sex any_sex() { return dice_.chance(508) ? Sex::Female : Sex::Male; }

  void add_single(Person model, int age) {
    const int been_married = std::clamp((age - 25) * 14, 0, 700);
    Marital marital = Marital::Single;
    if (dice_.chance(been_married))
      marital =
          dice_.chance(age < 60 ? 40 : 70 + (age - 60) * 22) ? Marital::Widowed : Marital::Divorced;
    // Women outlive men.
    const bool woman = dice_.chance(age < 65 ? 480 : std::min(560 + (age - 65) * 9, 850));
    add(model, age, woman ? Sex::Female : Sex::Male, marital);
  }

  void add_couple(Person model, int age) {
    const bool married = dice_.chance(std::clamp(400 + (age - 25) * 25, 400, 960));
    const Marital marital = married ? Marital::Married : Marital::Single;
    const Sex first = any_sex();
    const Sex second = dice_.chance(40) ? first : (first == Sex::Female ? Sex::Male : Sex::Female);
    add(model, age, first, marital);
    if (!dice_.chance(married ? 850 : 50))
      model.surname = static_cast<std::uint16_t>(dice_.below(surnames().size()));
    add(model, std::clamp(static_cast<int>(dice_.bell(age, 4)), 19, 101), second, marital);
  }

  void add_family(const Person& model, int parents) {
    const int age = years(26, 54);
    if (parents == 2)
      add_couple(model, age);
    else
      add(model, age, dice_.chance(800) ? Sex::Female : Sex::Male,
          dice_.chance(500) ? Marital::Divorced : Marital::Single);
    const std::int64_t children = 1 + dice_.streak(520, 4);
    const int oldest = std::max(std::min(age - 20, 20), 1);
    for (std::int64_t child = 0; child < children; ++child) {
      add(model, static_cast<int>(dice_.below(static_cast<std::uint64_t>(oldest))), any_sex(),
          Marital::Single);
      if (dice_.chance(14)) add_twin();
    }
  }

  void add_twin() {
    if (people_.size() == count_) return;
    Person twin = people_.back();
    twin.id = static_cast<std::int64_t>(people_.size()) + 1;
    twin.sex = dice_.chance(660) ? twin.sex : any_sex();
    name_person(twin);
    people_.push_back(twin);
  }

  void name_person(Person& person) {
    const auto names = person.sex == Sex::Female ? women_names() : men_names();
    person.given_name = static_cast<std::uint8_t>(dice_.below(names.size()));
    person.initial = static_cast<char>('A' + dice_.below(26));
  }

  void add(Person person, int age, Sex sex, Marital marital) {
    if (people_.size() == count_) return;  // the last household may be cut short
    person.id = static_cast<std::int64_t>(people_.size()) + 1;
    person.sex = sex;
    person.marital = marital;
    const auto birthday = static_cast<Day>(dice_.below(365));
    person.birth = census_day() - 1 - age * 1461 / 4 - birthday;
    person.age = static_cast<std::uint8_t>(age_on(person.birth, census_day()));
    if (dice_.chance(60)) person.race = static_cast<std::uint8_t>(dice_.below(kRaces.size()));
    name_person(person);
    school(person);
    employ(person);
    pay(person);
    const std::int64_t smokes = 300 - 55 * static_cast<std::int64_t>(person.education) -
                                (person.age > 70 ? 80 : 0) +
                                (person.quarter == Quarter::Mill ? 60 : 0);
    person.smoker = person.age >= 16 && dice_.chance(smokes);
    people_.push_back(person);
  }

  void school(Person& person) {
    if (person.age < 18) return;  // Education::None
    const auto quarter = static_cast<std::size_t>(person.quarter);
    auto level = static_cast<std::int64_t>(dice_.pick(kSchooling[quarter]));
    if (person.age < 20) level = std::min<std::int64_t>(level, 1);
    if (person.age < 23) level = std::min<std::int64_t>(level, 2);
    if (person.age < 26) level = std::min<std::int64_t>(level, 3);
    // Fewer of the old went to college.
    if (person.age > 70 && level > 1 && dice_.chance(350)) level = 1;
    person.education = static_cast<Education>(level);
  }

  void employ(Person& person) {
    const int age = person.age;
    if (age < 6)
      person.occupation = Occupation::Child;
    else if (age < 18)
      person.occupation = Occupation::Pupil;
    else if (age < 27 && person.education >= Education::HighSchool &&
             dice_.chance(person.quarter == Quarter::College ? 850
                          : age < 23                         ? 450
                                                             : 120))
      person.occupation = Occupation::Student;
    else if (age >= 60 && dice_.chance(std::min(100 + (age - 60) * 110, 985)))
      person.occupation = Occupation::Retired;
    else
      person.occupation =
          static_cast<Occupation>(static_cast<std::size_t>(Occupation::None) +
                                  dice_.pick(kWork[static_cast<std::size_t>(person.education)]));
  }

  void pay(Person& person) {
    const std::int64_t base = kPay[static_cast<std::size_t>(person.occupation)];
    if (base == 0) return;
    const int age = person.age;
    // Careers rise until fifty and sink a little after.
    const std::int64_t career = person.occupation == Occupation::Retired ? 100
                                : age < 50 ? 100 - (50 - age) * 18 / 10
                                           : 100 - (age - 50) * 8 / 10;
    const std::int64_t place = person.quarter == Quarter::Hill   ? 125
                               : person.quarter == Quarter::Mill ? 90
                                                                 : 100;
    const std::int64_t schooling = kPayBySchooling[static_cast<std::size_t>(person.education)];
    const std::int64_t median = base * schooling / 100 * career / 100 * place / 100;
    person.income = std::min(dice_.skewed(median) / 100 * 100, kIncomeMax);
  }

  // The town's public figure: somebody in middle age who can be told by {zip, birth date, sex},
  // as Governor Weld could (Sweeney 1997).
  void elect_mayor() {
    const auto eligible = [](const Person& person) {
      return person.age >= 45 && person.age <= 65 && person.occupation >= Occupation::Sales;
    };
    for (Person& candidate : people_) {
      if (!eligible(candidate)) continue;
      const auto doubles = std::ranges::count_if(people_, [&](const Person& other) {
        return other.zip == candidate.zip && other.birth == candidate.birth &&
               other.sex == candidate.sex;
      });
      if (doubles > 1) continue;
      candidate.occupation = Occupation::Mayor;
      pay(candidate);
      return;
    }
  }

  std::size_t count_;
  Dice dice_;
  std::vector<Neighbourhood> neighbourhoods_;
  std::vector<int> sizes_;
  std::vector<Person> people_;
  std::int64_t households_ = 0;
};

}  // namespace

Day day_of(int year, unsigned month, unsigned day) {
  const std::chrono::sys_days days =
      std::chrono::year{year} / std::chrono::month{month} / std::chrono::day{day};
  return static_cast<Day>(days.time_since_epoch().count());
}

int age_on(Day birth, Day today) {
  const auto civil = [](Day day) {
    return std::chrono::year_month_day(std::chrono::sys_days(std::chrono::days(day)));
  };
  const auto born = civil(birth);
  const auto now = civil(today);
  const bool had_birthday =
      std::pair(now.month(), now.day()) >= std::pair(born.month(), born.day());
  return static_cast<int>(now.year()) - static_cast<int>(born.year()) - (had_birthday ? 0 : 1);
}

Day census_day() {
  static const Day day = day_of(2026, 1, 1);
  return day;
}

std::string Person::name() const {
  const auto names = sex == Sex::Female ? women_names() : men_names();
  std::string out(names[given_name]);
  out += ' ';
  out += initial;
  out += ". ";
  return out += surnames()[surname];
}

std::string Person::address() const {
  return std::to_string(house_number) + ' ' + std::string(streets()[street]);
}

std::vector<Person> make_people(std::size_t count, std::uint64_t seed) {
  DISCREET_CHECK(count > 0, "a town without people");
  return Settlement(count, seed).settle();
}

std::size_t count_unique(const std::vector<Person>& people) {
  std::unordered_map<std::uint64_t, std::uint32_t> cells;
  cells.reserve(people.size());
  const auto cell = [](const Person& person) {
    return static_cast<std::uint64_t>(person.zip) << 33 |
           static_cast<std::uint64_t>(static_cast<std::uint32_t>(person.birth)) << 1 |
           static_cast<std::uint64_t>(person.sex);
  };
  for (const Person& person : people) ++cells[cell(person)];
  return static_cast<std::size_t>(std::ranges::count_if(
      people, [&](const Person& person) { return cells[cell(person)] == 1; }));
}

}  // namespace discreet::town
