#include "town/tables.h"

#include <chrono>
#include <cstdio>
#include <span>

#include "base/check.h"
#include "town/emoji.h"
#include "town/hospital.h"
#include "town/people.h"
#include "town/school.h"
#include "town/survey.h"
#include "town/trial.h"
#include "town/voters.h"

namespace discreet::town {
namespace {

using Words = std::vector<std::string_view>;

Words words(std::span<const std::string_view> all) {
  return {all.begin(), all.end()};
}

Column number(std::string_view name, std::string_view what, Range range) {
  return {.name = name, .kind = ColumnKind::Integer, .what = what, .range = range};
}
Column id(std::string_view name, std::string_view what) {
  return {.name = name, .kind = ColumnKind::Integer, .what = what};
}
Column day(std::string_view name, std::string_view what, Range range) {
  return {.name = name, .kind = ColumnKind::Date, .what = what, .range = range};
}
Column one_of(std::string_view name, std::string_view what, Words values) {
  return {.name = name, .kind = ColumnKind::Text, .what = what, .values = std::move(values)};
}
Column text(std::string_view name, std::string_view what) {
  return {.name = name, .kind = ColumnKind::Text, .what = what};
}
Column hidden_text(std::string_view name, std::string_view what) {
  return {.name = name, .kind = ColumnKind::Text, .what = what, .hidden = true};
}
Column flag(std::string_view name, std::string_view what) {
  return {.name = name, .kind = ColumnKind::Boolean, .what = what};
}

Range births() {
  return {day_of(1915, 1, 1), census_day() - 1};
}
constexpr Range kAges = {0, kAgeMax};

std::vector<Column> people_columns() {
  return {id("person_id", "the person; other tables link to it"),
          id("household_id", "who lives together"),
          hidden_text("name", "given name, initial, surname"),
          hidden_text("address", "shared by the household"),
          text("zip", "a neighbourhood of about 6,000 people"),
          day("birth_date", "date of birth", births()),
          number("age", "in years on 2026-01-01", kAges),
          one_of("sex", "", words(kSexes)),
          one_of("race", "leans by zip", words(kRaces)),
          one_of("marital_status", "", words(kMaritalStatuses)),
          one_of("education", "highest finished; none for children", words(kEducations)),
          one_of("occupation", "depends on education and age", words(kOccupations)),
          number("income", "dollars a year, in hundreds, top-coded", {0, kIncomeMax})};
}

std::vector<Column> patients_columns() {
  return {id("patient_id", "the hospital's number, unrelated to person_id"),
          id("person_id", "who it is"),
          text("zip", ""),
          day("birth_date", "", births()),
          number("age", "in years on 2026-01-01", kAges),
          one_of("sex", "", words(kSexes)),
          one_of("race", "", words(kRaces)),
          one_of("marital_status", "", words(kMaritalStatuses)),
          flag("smoker", "more often with less schooling"),
          one_of("insurance", "", words(kInsurances))};
}

std::vector<Column> visits_columns() {
  return {id("visit_id", "by day of admission"),
          id("patient_id", ""),
          one_of("ward", "by diagnosis, age and intensive care", words(kWards)),
          one_of("diagnosis", "by age, sex, smoking and neighbourhood", words(kDiagnoses)),
          day("admitted", "", {day_of(2025, 1, 1), day_of(2025, 12, 31)}),
          number("days", "length of the stay", {1, kStayMax}),
          number("icu_days", "of these in intensive care", {0, kIcuDaysMax}),
          number("cost", "dollars", {0, kCostMax})};
}

std::vector<Table> make_tables() {
  const Day survey_end = survey_start() + kSurveyDays - 1;
  return {
      {"people", "Everyone, one row each.", "person_id", 1, people_columns()},
      {"patients", "Who was in hospital in 2025, with what a discharge file tells of them.",
       "person_id -> people.person_id", 1, patients_columns()},
      {"visits", "Each stay in the hospital in 2025.", "patient_id -> patients.patient_id",
       kVisitsMax, visits_columns()},
      {"wards",
       "The hospital's wards.",
       "",
       0,
       {one_of("ward", "", words(kWards)), number("beds", "", {1, 100})}},
      {"voters",
       "The voter list: public, with names, and without any id that the other tables have.",
       "",
       0,
       {text("name", ""), text("address", ""), text("city", ""), text("zip", ""),
        day("birth_date", "", births()), one_of("sex", "", words(kSexes)),
        one_of("party", "", words(kParties)),
        day("registered", "", {day_of(1915, 1, 1), census_day() - 1})}},
      {"grades",
       "Pupils' and students' courses of one year.",
       "student_id -> people.person_id",
       kCoursesMax,
       {id("student_id", "a person_id"), one_of("school", "by age", words(kSchools)),
        one_of("course", "", words(kCourses)),
        number("points", "one student's go together", {0, 100}),
        one_of("grade", "A from 90, B from 80, C from 70, D from 60", words(kGrades))}},
      {"trial",
       "A trial of a drug against high blood pressure.",
       "person_id -> people.person_id",
       1,
       {id("person_id", ""), one_of("arm", "at random", words(kArms)), number("age", "", {35, 80}),
        number("pressure", "systolic, before", {kPressureMin, kPressureMax}),
        number("improvement", "pressure before minus after", {kImprovementMin, kImprovementMax}),
        flag("side_effects", "")}},
      {"survey",
       "A daily survey over a fortnight; a few people leave each night.",
       "person_id -> people.person_id",
       kSurveyDays * static_cast<int>(kQuestions.size()),
       {id("person_id", ""), day("day", "", {survey_start(), survey_end}),
        one_of("question", "", words(kQuestions)), one_of("answer", "", words(kAnswers))}},
      {"emoji",
       "Emoji typed during the survey's fortnight.",
       "person_id -> people.person_id",
       kFavouritesMax,
       {id("person_id", ""), one_of("emoji", "Zipf, by generation", words(emoji_alphabet())),
        number("typed", "how often", {1, kTypedMax})}},
  };
}

}  // namespace

const std::vector<Table>& tables() {
  static const std::vector<Table> all = make_tables();
  return all;
}

const Table& table(std::string_view name) {
  for (const Table& candidate : tables())
    if (candidate.name == name) return candidate;
  fail_check("a table of the town", "no such table");
}

std::string_view sql_type(ColumnKind kind) {
  switch (kind) {
    case ColumnKind::Boolean:
      return "BOOLEAN";
    case ColumnKind::Integer:
      return "BIGINT";
    case ColumnKind::Text:
      return "VARCHAR";
    case ColumnKind::Date:
      return "DATE";
  }
  fail_check("a ColumnKind", "unknown kind");
}

std::string iso_date(std::int64_t day) {
  const std::chrono::year_month_day date{std::chrono::sys_days{std::chrono::days{day}}};
  char out[32];
  std::snprintf(out, sizeof out, "%04d-%02u-%02u", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  return out;
}

}  // namespace discreet::town
