// Grades: each pupil's and student's courses of one year, with points and a letter.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "town/people.h"

namespace discreet::town {

inline constexpr std::array<std::string_view, 4> kSchools = {"elementary", "middle", "high",
                                                             "college"};
inline constexpr std::array<std::string_view, 16> kCourses = {
    "Reading",   "Arithmetic", "Nature",    "Music",     "English", "Mathematics",
    "Science",   "History",    "Geography", "Spanish",   "Biology", "Chemistry",
    "Economics", "Statistics", "Computing", "Philosophy"};
inline constexpr std::array<std::string_view, 5> kGrades = {"A", "B", "C", "D", "F"};
inline constexpr int kCoursesMax = 6;

struct Grade {
  std::int64_t student;  // person id
  std::uint8_t school;
  std::uint8_t course;
  std::uint8_t points;  // 0 .. 100
  std::uint8_t grade;   // of kGrades, by points
};

std::vector<Grade> make_grades(const std::vector<Person>& people, std::uint64_t seed);

}  // namespace discreet::town
