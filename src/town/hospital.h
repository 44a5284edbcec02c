// The hospital's year: who was a patient, each stay, and the wards.
//
// Illness depends on age, sex, smoking and neighbourhood, the ward on the illness, cost on ward and
// days. In a release generalised to {zip, age band, sex} many groups therefore share one diagnosis,
// which is what the homogeneity attack on k-anonymity needs.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "town/people.h"

namespace discreet::town {

inline constexpr std::array<std::string_view, 20> kDiagnoses = {
    "childbirth", "newborn care", "asthma",      "appendicitis",    "fracture",
    "concussion", "influenza",    "pneumonia",   "hypertension",    "heart attack",
    "stroke",     "dementia",     "lung cancer", "breast cancer",   "diabetes",
    "depression", "overdose",     "HIV",         "hip replacement", "obesity"};
inline constexpr std::array<std::string_view, 12> kWards = {
    "ER",        "ICU",      "Maternity",   "Pediatrics", "Surgery",    "Cardiology",
    "Neurology", "Oncology", "Orthopedics", "Psychiatry", "Geriatrics", "Medicine"};
inline constexpr std::array<std::string_view, 4> kInsurances = {"private", "public", "senior",
                                                                "none"};
inline constexpr std::array<int, 12> kBeds = {40, 24, 36, 30, 48, 32, 24, 28, 34, 26, 30, 60};
inline constexpr int kVisitsMax = 12;
inline constexpr int kStayMax = 60;
inline constexpr int kIcuDaysMax = 30;
inline constexpr std::int64_t kCostMax = 250'000;

struct Patient {
  std::int64_t id;     // says nothing about the person's own id
  std::size_t person;  // index into the people
  std::uint8_t insurance;
};

struct Visit {
  std::int64_t id;
  std::int64_t patient;
  std::int64_t cost;  // dollars
  Day admitted;
  std::uint8_t ward;
  std::uint8_t diagnosis;
  std::uint8_t days;
  std::uint8_t icu_days;
};

struct Hospital {
  std::vector<Patient> patients;  // in random order
  std::vector<Visit> visits;      // by day of admission
};

Hospital make_hospital(const std::vector<Person>& people, std::uint64_t seed);

}  // namespace discreet::town
