#include "attack/linkage.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "anonymity/mondrian.h"
#include "mechanisms/discrete_laplace.h"
#include "town/hospital.h"
#include "town/voters.h"

namespace discreet::attack {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// A patient with the diagnosis of the first stay.
struct Discharge {
  const town::Person* person;
  std::size_t index;  // of the person
  std::uint8_t diagnosis;
};

std::vector<Discharge> discharges_of(const std::vector<town::Person>& people,
                                     const town::Hospital& hospital) {
  std::map<std::int64_t, std::size_t> by_patient;
  for (const auto& patient : hospital.patients) by_patient[patient.id] = patient.person;
  std::set<std::int64_t> seen;
  std::vector<Discharge> made;
  for (const auto& visit : hospital.visits) {
    if (!seen.insert(visit.patient).second) continue;
    const std::size_t person = by_patient.at(visit.patient);
    made.push_back({&people[person], person, visit.diagnosis});
  }
  return made;
}

anonymity::Table table_of(const std::vector<Discharge>& discharges) {
  anonymity::Table table;
  table.quasi = {{"zip", {}}, {"birth", {}, {}, true}, {"sex", {}, {"female", "male"}}};
  table.sensitive = {"diagnosis", {}, {town::kDiagnoses.begin(), town::kDiagnoses.end()}};
  for (const Discharge& one : discharges) {
    table.quasi[0].codes.push_back(one.person->zip);
    table.quasi[1].codes.push_back(one.person->birth);
    table.quasi[2].codes.push_back(static_cast<std::int64_t>(one.person->sex));
    table.sensitive.codes.push_back(one.diagnosis);
  }
  return table;
}

using Key = std::tuple<std::int32_t, town::Day, town::Sex>;
Key key_of(const town::Person& person) {
  return {person.zip, person.birth, person.sex};
}

using Row = std::array<std::int64_t, 20>;  // by diagnosis

// The commonest diagnosis by some grouping: what anybody would guess from statistics alone.
template <class Group>
std::uint64_t guesses_right(const std::vector<Discharge>& targets,
                            const std::map<Group, Row>& counts,
                            Group (*group)(const town::Person&)) {
  std::uint64_t hits = 0;
  for (const Discharge& target : targets) {
    const auto& row = counts.at(group(*target.person));
    const auto best = std::max_element(row.begin(), row.end()) - row.begin();
    hits += best == target.diagnosis;
  }
  return hits;
}

std::int32_t zip_of(const town::Person& person) {
  return person.zip;
}

using Histogram = std::map<std::int32_t, Row>;

// Every cell of zip x diagnosis with noise; one person is in one cell.
Result<Histogram> noisy_histogram(const std::vector<town::Person>& people,
                                  const std::vector<Discharge>& discharges, double epsilon,
                                  RandomSource& random) {
  const auto checked = Epsilon::make(epsilon);
  if (!checked) return checked.error();
  const auto noise = DiscreteLaplace::make(*checked, L1Sensitivity{1});
  if (!noise) return noise.error();
  Histogram counts;
  for (const auto& person : people) counts[person.zip];  // zips are public
  for (const Discharge& one : discharges) ++counts[one.person->zip][one.diagnosis];
  for (auto& [zip, row] : counts)
    for (std::int64_t& cell : row) cell = noise->release(cell, random);
  return counts;
}

// Noise that hides nothing: at this epsilon a count is off by one in 20,000 cells.
constexpr double kTooAccurate = 10;

/// Cells of zip x birth date x sex x diagnosis with noise, one table for each list; those of the
/// targets, which are all the attacker looks at. The tables are added up.
Result<std::map<Key, Row>> noisy_cells(const std::vector<Discharge>& targets,
                                       const std::vector<const std::vector<Discharge>*>& lists,
                                       double epsilon, RandomSource& random) {
  DISCREET_TRY(const Epsilon checked, Epsilon::make(epsilon));
  DISCREET_TRY(const auto noise, DiscreteLaplace::make(checked, L1Sensitivity{1}));
  std::map<Key, Row> sums;
  for (const Discharge& target : targets) sums[key_of(*target.person)] = {};
  for (const auto* list : lists) {
    std::map<Key, Row> counts;
    for (const auto& [key, row] : sums) counts[key] = {};
    for (const Discharge& one : *list)
      if (const auto at = counts.find(key_of(*one.person)); at != counts.end())
        ++at->second[one.diagnosis];
    for (const auto& [key, row] : counts)
      for (std::size_t i = 0; i < row.size(); ++i) sums[key][i] += noise.release(row[i], random);
  }
  return sums;
}

// Without the release at all: the commonest diagnosis overall.
double blind_guess(const std::vector<Discharge>& targets) {
  std::array<std::uint64_t, 20> counts{};
  for (const Discharge& one : targets) ++counts[one.diagnosis];
  return static_cast<double>(*std::max_element(counts.begin(), counts.end())) /
         static_cast<double>(std::max<std::size_t>(1, targets.size()));
}

// The class whose ranges hold the person.
const anonymity::Class* class_of(const anonymity::Release& release, const town::Person& person) {
  const std::int64_t codes[] = {person.zip, person.birth, static_cast<std::int64_t>(person.sex)};
  for (const anonymity::Class& part : release.classes) {
    bool inside = true;
    for (std::size_t c = 0; c < 3; ++c)
      inside &= part.ranges[c].lower <= codes[c] && codes[c] <= part.ranges[c].upper;
    if (inside) return &part;
  }
  return nullptr;
}

// How often each diagnosis stands in a class. A class that was suppressed tells nothing.
Row diagnoses(const anonymity::Table& table, const anonymity::Class* part) {
  Row counts{};
  if (part == nullptr)
    counts.fill(1);
  else
    for (const std::size_t row : part->rows)
      ++counts[static_cast<std::size_t>(table.sensitive.codes[row])];
  return counts;
}

// Certain, and right: every other diagnosis has no row.
bool only_one_left(const Row& counts, std::size_t diagnosis) {
  for (std::size_t d = 0; d < counts.size(); ++d)
    if ((counts[d] > 0) != (d == diagnosis)) return false;
  return true;
}

}  // namespace

Result<LinkageReport> linkage(const LinkageOptions& options, RandomSource& random) {
  const auto people = town::make_people(options.people, options.seed);
  const auto discharges = discharges_of(people, town::make_hospital(people, options.seed));
  std::set<std::size_t> voters;
  std::map<Key, std::size_t> on_list;
  for (const auto& voter : town::make_voters(people, options.seed)) {
    voters.insert(voter.person);
    ++on_list[key_of(people[voter.person])];
  }
  std::vector<Discharge> targets;
  for (const Discharge& one : discharges)
    if (voters.count(one.index) > 0) targets.push_back(one);
  if (targets.empty())
    return invalid_parameter("No patient is on the voter list; ask for more people.");

  LinkageReport made;
  made.report = {"Linkage", "share of patients on the voter list whose diagnosis is found", {}};
  std::map<Key, std::vector<std::uint8_t>> released;
  for (const Discharge& one : discharges) released[key_of(*one.person)].push_back(one.diagnosis);
  const double baseline = blind_guess(targets);

  // Names go, everything else stays: join, and take the first of what matches.
  auto start = Clock::now();
  std::uint64_t hits = 0, alone = 0;
  for (const Discharge& target : targets) {
    const auto& matches = released.at(key_of(*target.person));
    alone += matches.size() == 1 && on_list.at(key_of(*target.person)) == 1;
    hits += matches.front() == target.diagnosis;
  }
  made.predicted = static_cast<double>(alone) / static_cast<double>(targets.size());
  made.report.outcomes.push_back(
      outcome("names removed", hits, targets.size(), baseline, since(start)));

  // k-anonymous: the commonest diagnosis of the person's class.
  start = Clock::now();
  const auto table = table_of(discharges);
  const auto release = anonymity::mondrian(table, {.k = options.k});
  if (!release) return release.error();
  hits = 0;
  for (const Discharge& target : targets) {
    const anonymity::Class* part = class_of(*release, *target.person);
    if (part == nullptr) continue;
    const Row counts = diagnoses(table, part);
    hits += std::max_element(counts.begin(), counts.end()) - counts.begin() == target.diagnosis;
  }
  made.report.outcomes.push_back(outcome(fmt::format("{}-anonymous", options.k), hits,
                                         targets.size(), baseline, since(start)));

  start = Clock::now();
  DISCREET_TRY(const auto cells, noisy_cells(targets, {&discharges}, kTooAccurate, random));
  hits = guesses_right(targets, cells, &key_of);
  made.report.outcomes.push_back(outcome(fmt::format("counts, noise at epsilon {:g}", kTooAccurate),
                                         hits, targets.size(), baseline, since(start)));

  start = Clock::now();
  const auto counts = noisy_histogram(people, discharges, options.epsilon, random);
  if (!counts) return counts.error();
  hits = guesses_right(targets, *counts, &zip_of);
  made.report.outcomes.push_back(outcome(fmt::format("Discreet, epsilon {:g}", options.epsilon),
                                         hits, targets.size(), baseline, since(start)));
  return made;
}

Result<Report> intersection(const LinkageOptions& options, RandomSource& random) {
  const auto people = town::make_people(options.people, options.seed);
  const auto discharges = discharges_of(people, town::make_hospital(people, options.seed));
  // A third of the patients went to both hospitals, with the same illness.
  std::vector<Discharge> first, second, both;
  for (const Discharge& one : discharges) {
    const std::uint64_t where = random.bits64() % 3;
    if (where != 1) first.push_back(one);
    if (where != 0) second.push_back(one);
    if (where == 2) both.push_back(one);
  }
  Report report{"Intersection of two k-anonymous tables",
                fmt::format("share of patients of both hospitals with one diagnosis left (k = {})",
                            options.k),
                {}};
  const auto tables = {table_of(first), table_of(second)};
  std::vector<anonymity::Release> releases;
  const auto start = Clock::now();
  for (const auto& table : tables) {
    auto release = anonymity::mondrian(table, {.k = options.k});
    if (!release) return release.error();
    releases.push_back(std::move(*release));
  }
  const double baseline = blind_guess(both);
  std::uint64_t one_table = 0, two_tables = 0;
  for (const Discharge& target : both) {
    // What is missing in one of the person's classes is out.
    Row left;
    left.fill(1);
    for (std::size_t i = 0; i < 2; ++i) {
      const Row found = diagnoses(*(tables.begin() + i), class_of(releases[i], *target.person));
      for (std::size_t d = 0; d < left.size(); ++d) left[d] *= found[d];
      (i == 0 ? one_table : two_tables) += only_one_left(left, target.diagnosis);
    }
  }
  const double seconds = since(start);
  report.outcomes.push_back(outcome(fmt::format("one {}-anonymous table", options.k), one_table,
                                    both.size(), baseline, seconds));
  report.outcomes.push_back(outcome(fmt::format("two {}-anonymous tables", options.k), two_tables,
                                    both.size(), baseline, seconds));
  const auto cells_start = Clock::now();
  DISCREET_TRY(const auto cells, noisy_cells(both, {&first, &second}, kTooAccurate, random));
  std::uint64_t certain = 0;
  for (const Discharge& target : both)
    certain += only_one_left(cells.at(key_of(*target.person)), target.diagnosis);
  report.outcomes.push_back(outcome(fmt::format("counts, noise at epsilon {:g} each", kTooAccurate),
                                    certain, both.size(), baseline, since(cells_start)));
  // The same two hospitals through Discreet: two noisy tables, added up, the commonest guessed.
  const auto again = Clock::now();
  auto counts = noisy_histogram(people, first, options.epsilon / 2, random);
  if (!counts) return counts.error();
  const auto more = noisy_histogram(people, second, options.epsilon / 2, random);
  if (!more) return more.error();
  for (auto& [zip, row] : *counts)
    for (std::size_t i = 0; i < row.size(); ++i) row[i] += more->at(zip)[i];
  report.outcomes.push_back(outcome(fmt::format("Discreet, epsilon {:g} in all", options.epsilon),
                                    guesses_right(both, *counts, &zip_of), both.size(), baseline,
                                    since(again)));
  return report;
}

}  // namespace discreet::attack
