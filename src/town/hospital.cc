#include "town/hospital.h"

#include <algorithm>

#include "town/dice.h"

namespace discreet::town {
namespace {

enum Illness : std::uint8_t {
  Childbirth,
  Newborn,
  Asthma,
  Appendicitis,
  Fracture,
  Concussion,
  Influenza,
  Pneumonia,
  Hypertension,
  HeartAttack,
  Stroke,
  Dementia,
  LungCancer,
  BreastCancer,
  Diabetes,
  Depression,
  Overdose,
  Hiv,
  HipReplacement,
  Obesity,
};

enum WardIndex : std::uint8_t {
  Er,
  Icu,
  Maternity,
  Pediatrics,
  Surgery,
  Cardiology,
  Neurology,
  Oncology,
  Orthopedics,
  Psychiatry,
  Geriatrics,
  Medicine,
};

struct Care {
  WardIndex ward;
  int days;     // typical stay
  int icu;      // chance of intensive care, per mille
  int returns;  // chance of another stay within the year, per mille
  int cost;     // dollars a day
};

constexpr std::array<Care, 20> kCare = {{
    {Maternity, 3, 10, 0, 2600},    {Maternity, 3, 60, 0, 1900},
    {Medicine, 2, 30, 350, 1700},   {Surgery, 3, 15, 0, 3900},
    {Orthopedics, 4, 20, 80, 2800}, {Neurology, 2, 60, 40, 2500},
    {Medicine, 4, 60, 40, 1600},    {Medicine, 7, 200, 120, 2000},
    {Cardiology, 2, 15, 320, 2200}, {Cardiology, 7, 600, 300, 4800},
    {Neurology, 9, 350, 220, 3900}, {Geriatrics, 14, 20, 420, 1300},
    {Oncology, 8, 120, 620, 4200},  {Oncology, 6, 60, 580, 4000},
    {Medicine, 4, 60, 380, 1700},   {Psychiatry, 11, 5, 330, 1400},
    {Er, 2, 300, 300, 2400},        {Medicine, 6, 80, 450, 2600},
    {Orthopedics, 6, 25, 60, 5200}, {Surgery, 4, 20, 100, 3300},
}};

constexpr std::array<std::array<int, 20>, 6> kByAge = {{
    // birth, newborn, asthma, appendix, fracture, concussion, flu, pneumonia, hypertension, heart,
    // stroke, dementia, lung, breast, diabetes, depression, overdose, HIV, hip, obesity
    {0, 900, 15, 0, 5, 2, 40, 30, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0},            // under 1
    {0, 0, 420, 130, 210, 90, 80, 30, 0, 0, 0, 0, 0, 0, 25, 10, 1, 0, 0, 4},      // 1 to 17
    {900, 0, 40, 60, 70, 40, 25, 15, 15, 4, 3, 0, 1, 12, 30, 90, 70, 25, 0, 40},  // 18 to 44
    {0, 0, 30, 35, 70, 12, 40, 50, 190, 120, 60, 4, 45, 60, 130, 80, 40, 25, 50, 60},
    {0, 0, 20, 10, 60, 6, 50, 90, 210, 170, 130, 60, 70, 45, 130, 30, 6, 5, 120, 20},
    {0, 0, 8, 3, 70, 4, 50, 130, 90, 110, 140, 420, 30, 20, 50, 10, 1, 0, 90, 2},  // 80 and over
}};

std::size_t age_group(int age) {
  return age < 1 ? 0 : age < 18 ? 1 : age < 45 ? 2 : age < 65 ? 3 : age < 80 ? 4 : 5;
}

/// How many of a thousand people are in hospital within the year.
std::int64_t admission_rate(const Person& person) {
  constexpr std::array<std::int64_t, 6> kRates = {700, 55, 65, 130, 260, 430};
  const std::size_t group = age_group(person.age);
  const bool childbearing = group == 2 && person.sex == Sex::Female && person.age < 42;
  return kRates[group] + (childbearing ? 75 : 0) + (person.smoker ? 40 : 0);
}

std::array<int, 20> illness_weights(const Person& person) {
  std::array<int, 20> weights = kByAge[age_group(person.age)];
  if (person.sex == Sex::Male || person.age > 42) weights[Childbirth] = 0;
  if (person.sex == Sex::Male) {
    weights[BreastCancer] = 0;
    weights[Fracture] = weights[Fracture] * 3 / 2;
    weights[HeartAttack] = weights[HeartAttack] * 3 / 2;
  }
  weights[LungCancer] = person.smoker ? weights[LungCancer] * 5 : weights[LungCancer] / 4;
  if (person.smoker) weights[HeartAttack] *= 2;
  if (person.quarter == Quarter::Mill) {  // dust and damp
    weights[Asthma] *= 2;
    weights[Pneumonia] *= 2;
  }
  if (person.quarter == Quarter::College) {
    weights[Overdose] *= 3;
    weights[Concussion] *= 2;
  }
  return weights;
}

std::uint8_t insurance_of(const Person& person, Dice& dice) {
  if (person.age >= 65) return 2;
  if (dice.chance(person.income > 40'000 ? 20 : 110)) return 3;
  return person.income > 25'000 || dice.chance(450) ? 0 : 1;
}

Day admission_day(Illness illness, Dice& dice) {
  const Day year_start = day_of(2025, 1, 1);
  if (illness != Influenza && illness != Pneumonia)
    return year_start + static_cast<Day>(dice.below(365));
  // Winter: a bell around the turn of the year, wrapped into it.
  const std::int64_t offset = dice.bell(20, 40);
  return year_start + static_cast<Day>((offset % 365 + 365) % 365);
}

Visit make_visit(const Person& person, const Patient& patient, Illness illness, Dice& dice) {
  const Care& care = kCare[illness];
  Visit visit{};
  visit.patient = patient.id;
  visit.diagnosis = illness;
  visit.admitted = admission_day(illness, dice);
  visit.admitted = illness == Newborn ? person.birth : std::max(visit.admitted, person.birth);
  const std::int64_t slow = person.age > 75 ? 140 : 100;
  const auto days = std::clamp<std::int64_t>(dice.skewed(care.days * slow) / 100, 1, kStayMax);
  visit.days = static_cast<std::uint8_t>(days);
  if (dice.chance(care.icu))
    visit.icu_days = static_cast<std::uint8_t>(
        std::min<std::int64_t>(dice.between(1, std::max<std::int64_t>(days, 1)), kIcuDaysMax));
  const bool child = person.age < 18 && illness != Newborn;
  visit.ward = care.ward;
  if (child) visit.ward = Pediatrics;
  if (days == 1 && illness != Childbirth && illness != Newborn) visit.ward = Er;
  if (visit.icu_days * 2 > visit.days) visit.ward = Icu;
  const std::int64_t cost =
      dice.skewed(care.cost) * days + std::int64_t{3500} * visit.icu_days + 400;
  visit.cost = std::min(cost, kCostMax);
  return visit;
}

}  // namespace

Hospital make_hospital(const std::vector<Person>& people, std::uint64_t seed) {
  Dice dice(seed, "hospital");
  Hospital hospital;
  for (std::size_t i = 0; i < people.size(); ++i) {
    const bool mayor = people[i].occupation == Occupation::Mayor;
    if (dice.chance(admission_rate(people[i])) || mayor)
      hospital.patients.push_back({0, i, insurance_of(people[i], dice)});
  }
  dice.shuffle(hospital.patients);
  for (std::size_t i = 0; i < hospital.patients.size(); ++i) {
    Patient& patient = hospital.patients[i];
    patient.id = 500'000 + static_cast<std::int64_t>(i);
    const Person& person = people[patient.person];
    auto illness = static_cast<Illness>(dice.pick(illness_weights(person)));
    for (int visits = 0; visits < kVisitsMax; ++visits) {
      hospital.visits.push_back(make_visit(person, patient, illness, dice));
      if (!dice.chance(kCare[illness].returns)) break;
      if (dice.chance(800)) continue;  // most come back for the same reason
      auto weights = illness_weights(person);
      weights[Newborn] = weights[Childbirth] = 0;
      illness = static_cast<Illness>(dice.pick(weights));
    }
  }
  std::ranges::stable_sort(hospital.visits, {}, &Visit::admitted);
  for (std::size_t i = 0; i < hospital.visits.size(); ++i)
    hospital.visits[i].id = static_cast<std::int64_t>(i) + 1;
  return hospital;
}

}  // namespace discreet::town
