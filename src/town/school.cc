#include "town/school.h"

#include <algorithm>
#include <numeric>

#include "town/dice.h"

namespace discreet::town {
namespace {

struct Curriculum {
  std::uint8_t first;  // of kCourses
  std::uint8_t size;
};
constexpr std::array<Curriculum, 4> kCurricula = {{{0, 4}, {4, 6}, {4, 10}, {10, 6}}};

std::uint8_t letter(std::int64_t points) {
  return points >= 90 ? 0 : points >= 80 ? 1 : points >= 70 ? 2 : points >= 60 ? 3 : 4;
}

}  // namespace

std::vector<Grade> make_grades(const std::vector<Person>& people, std::uint64_t seed) {
  Dice dice(seed, "grades");
  std::vector<Grade> grades;
  for (const Person& person : people) {
    if (person.occupation != Occupation::Pupil && person.occupation != Occupation::Student)
      continue;
    const std::uint8_t school = person.age < 11 ? 0 : person.age < 14 ? 1 : person.age < 18 ? 2 : 3;
    const Curriculum& curriculum = kCurricula[school];
    std::vector<std::uint8_t> courses(curriculum.size);
    std::iota(courses.begin(), courses.end(), curriculum.first);
    dice.shuffle(courses);
    const auto taken = std::min<std::size_t>(
        courses.size(), static_cast<std::size_t>(dice.between(4, kCoursesMax)));
    // One person's grades go together, and neighbourhoods differ.
    const std::int64_t place = person.quarter == Quarter::Hill   ? 4
                               : person.quarter == Quarter::Mill ? -5
                                                                 : 0;
    const std::int64_t ability = dice.bell(78 + place, 9);
    for (std::size_t i = 0; i < taken; ++i) {
      const auto points = std::clamp<std::int64_t>(dice.bell(ability, 6), 0, 100);
      grades.push_back(
          {person.id, school, courses[i], static_cast<std::uint8_t>(points), letter(points)});
    }
  }
  return grades;
}

}  // namespace discreet::town
