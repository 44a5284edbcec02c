#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <Eigen/Core>

#include "attack/least_squares_internal.h"
#include "attack/served.h"
#include "town/people.h"

namespace discreet::attack {
namespace {

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

std::string date_text(town::Day day) {
  const std::chrono::year_month_day date{std::chrono::sys_days{std::chrono::days{day}}};
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

Served::Table people_table(const std::vector<town::Person>& people) {
  Served::Table table{"people", "person_id,zip,birth_date,sex,age,income\n",
                      "unit = \"person_id\"\nmax_rows_per_unit = 1\n"
                      "[tables.people.columns]\nage = { range = [0, 105] }\n"
                      "income = { range = [0, 500000] }\n"};
  for (const auto& person : people)
    table.csv +=
        fmt::format("{},{},{},{},{},{}\n", person.id, person.zip, date_text(person.birth),
                    town::kSexes[static_cast<std::size_t>(person.sex)], person.age, person.income);
  return table;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

Result<std::vector<Outcome>> served_averaging(const ServedOptions& options, double baseline,
                                              RandomSource& random) {
  constexpr int kRepeats = 100, kWordings = 10;
  const auto people = town::make_people(400, options.seed);
  const std::size_t attempts = static_cast<std::size_t>(options.attempts);
  DISCREET_TRY(const auto served,
               Served::open({people_table(people)}, {2 * attempts, options.epsilon}, random));
  std::uint64_t repeated_hits = 0, reworded_hits = 0;
  double repeated_seconds = 0, reworded_seconds = 0;
  for (std::size_t i = 0; i < attempts; ++i) {
    const auto least = static_cast<int>(i % 100);
    const auto exact = std::count_if(people.begin(), people.end(), [&](const town::Person& person) {
      return person.age >= least;
    });
    const std::string question = fmt::format("SELECT count(*) FROM people WHERE age >= {}", least);
    const Stopwatch first;
    double sum = 0;
    for (int repeat = 0; repeat < kRepeats; ++repeat) {
      DISCREET_TRY(const auto answer, served->ask(question, i, options.epsilon));
      sum += answer.front();
    }
    repeated_hits += std::llround(sum / kRepeats) == exact;
    repeated_seconds += first.seconds();
    // Nobody is older than the range allows, so each of these asks for the same people.
    const Stopwatch second;
    std::vector<double> answers;
    for (int wording = 0; wording < kWordings; ++wording) {
      const auto answer = served->ask(fmt::format("{} AND age < {}", question, 1000 + wording),
                                      attempts + i, options.epsilon / kWordings);
      if (!answer) return answer.error();
      answers.push_back(answer->front());
    }
    reworded_hits += std::llround(mean(answers)) == exact;
    reworded_seconds += second.seconds();
  }
  DISCREET_CHECK(served->repeated() == attempts * (kRepeats - 1),
                 "the same question is answered from the record");
  return std::vector<Outcome>{
      outcome(fmt::format("Discreet's curator {} times, epsilon {:g}", kRepeats, options.epsilon),
              repeated_hits, options.attempts, baseline, repeated_seconds),
      outcome(fmt::format("Discreet's curator, {} wordings", kWordings), reworded_hits,
              options.attempts, baseline, reworded_seconds)};
}

Result<Outcome> served_differencing(const ServedOptions& options, double baseline,
                                    RandomSource& random) {
  const auto people = town::make_people(2000, options.seed);
  std::vector<const town::Person*> earning;
  for (const auto& person : people)
    if (person.income > 0) earning.push_back(&person);
  DISCREET_TRY(const auto served,
               Served::open({people_table(people)},
                            {static_cast<std::size_t>(options.attempts), options.epsilon}, random));
  const Stopwatch watch;
  std::uint64_t hits = 0;
  for (std::size_t i = 0; i < options.attempts; ++i) {
    const town::Person& target = *earning[random.bits64() % earning.size()];
    // A wording of its own for each attempt: answers on record are free for everybody.
    const std::string all = fmt::format("SELECT sum(income) FROM people WHERE age > {}",
                                        -1 - static_cast<std::int64_t>(i));
    DISCREET_TRY(const auto with, served->ask(all, i, options.epsilon / 2));
    DISCREET_TRY(
        const auto without,
        served->ask(fmt::format("{} AND NOT (zip = {} AND birth_date = DATE '{}' AND sex = '{}')",
                                all, target.zip, date_text(target.birth),
                                town::kSexes[static_cast<std::size_t>(target.sex)]),
                    i, options.epsilon / 2));
    const auto truth = static_cast<double>(target.income);
    hits += std::fabs(with.front() - without.front() - truth) <= 0.05 * truth;
    const auto more = served->ask(all, i, options.epsilon / 4);
    DISCREET_CHECK(!more && more.error().code == ErrorCode::BudgetExhausted,
                   "a third question is refused");
  }
  return outcome(fmt::format("Discreet's curator, epsilon {:g}", options.epsilon), hits,
                 options.attempts, baseline, watch.seconds());
}

Result<Outcome> served_days(const ServedOptions& options, RandomSource& random) {
  constexpr int kBefore = 40;
  // Person 1000 + attempt arrives on the second day, ill or not.
  const auto rows = [&](std::optional<bool> newcomer, std::size_t number) {
    std::string csv = "patient_id,ill\n";
    for (int i = 0; i < kBefore; ++i) csv += fmt::format("{},{}\n", i, i % 3 == 0);
    if (newcomer) csv += fmt::format("{},{}\n", 1000 + number, *newcomer);
    return csv;
  };
  DISCREET_TRY(const auto served,
               Served::open({{"patients", rows(std::nullopt, 0),
                              "unit = \"patient_id\"\nmax_rows_per_unit = 1\n"}},
                            {static_cast<std::size_t>(options.attempts), options.epsilon}, random));
  const Stopwatch watch;
  const std::string question = "SELECT count(*) FROM patients WHERE ill";
  std::uint64_t hits = 0;
  for (std::size_t i = 0; i < options.attempts; ++i) {
    const bool truth = (random.bits64() & 1) != 0;
    DISCREET_TRY_VOID(served->replace("patients", rows(std::nullopt, i)));
    DISCREET_TRY(const auto before, served->ask(question, i, options.epsilon / 2));
    DISCREET_TRY_VOID(served->replace("patients", rows(truth, i)));
    DISCREET_TRY(const auto after, served->ask(question, i, options.epsilon / 2));
    const double difference = after.front() - before.front();
    const bool coin = (random.bits64() & 1) != 0;
    hits += (difference == 0.5 ? coin : difference > 0.5) == truth;
  }
  return outcome(fmt::format("Discreet's curator, epsilon {:g}", options.epsilon), hits,
                 options.attempts, 0.5, watch.seconds(), bit_accuracy_bound(options.epsilon, 0));
}

Result<Outcome> served_reconstruction(const ServedReconstruction& options, RandomSource& random) {
  const auto n = static_cast<Eigen::Index>(options.people);
  const auto m = static_cast<Eigen::Index>(options.queries);
  std::vector<bool> secret;
  Served::Table table{"people", "person_id,seat,secret\n",
                      "unit = \"person_id\"\nmax_rows_per_unit = 1\n"};
  for (std::size_t i = 0; i < options.people; ++i) {
    secret.push_back((random.bits64() & 1) != 0);
    table.csv += fmt::format("{},{},{}\n", 100 + i, i, static_cast<int>(secret.back()));
  }
  const double each =
      options.generous ? 20 : options.epsilon / static_cast<double>(options.queries);
  // A little more than the sum: adding up rounds up.
  const double budget = 1.000001 * each * static_cast<double>(options.queries);
  const Stopwatch watch;
  DISCREET_TRY(const auto served, Served::open({table}, {1, budget}, random));
  Eigen::MatrixXf subsets = Eigen::MatrixXf::Zero(m, n);
  Eigen::VectorXf answers(m);
  for (Eigen::Index query = 0; query < m; ++query) {
    std::string seats;
    for (Eigen::Index i = 0; i < n; ++i)
      if ((random.bits64() & 1) != 0) {
        subsets(query, i) = 1;
        seats += fmt::format("{}{}", seats.empty() ? "" : ", ", i);
      }
    if (seats.empty()) seats = "-1";
    DISCREET_TRY(
        const auto answer,
        served->ask(
            fmt::format("SELECT count(*) FROM people WHERE secret = 1 AND seat IN ({})", seats), 0,
            each));
    answers[query] = static_cast<float>(answer.front());
  }
  const Eigen::VectorXf guess = least_squares(subsets, answers);
  std::uint64_t right = 0;
  for (std::size_t i = 0; i < options.people; ++i)
    right += (guess[static_cast<Eigen::Index>(i)] > 0.5F) == secret[i];
  return outcome(options.generous
                     ? fmt::format("curator, no budget, {:g} a question", each)
                     : fmt::format("Discreet's curator, epsilon {:g}", options.epsilon),
                 right, options.people, 0.5, watch.seconds(),
                 options.generous ? 1 : bit_accuracy_bound(options.epsilon, 0));
}

Result<Outcome> served_tracing(const ServedTracing& options, RandomSource& random) {
  // One row for each person and attribute they have; studies are told apart by number.
  Served::Table table{"findings", "person_id,study,attribute\n", ""};
  std::string keys;
  for (std::size_t j = 0; j < options.attributes; ++j)
    keys += fmt::format("{}{}", keys.empty() ? "" : ", ", j);
  table.policy = fmt::format(
      "unit = \"person_id\"\nmax_rows_per_unit = {}\n[tables.findings.columns]\n"
      "attribute = {{ values = [{}] }}\n",
      options.attributes, keys);
  const auto person = [&] {
    std::vector<bool> has;
    for (std::size_t j = 0; j < options.attributes; ++j) has.push_back((random.bits64() & 1) != 0);
    return has;
  };
  std::vector<std::vector<bool>> targets;
  std::vector<bool> members;
  for (std::size_t study = 0; study < options.attempts; ++study) {
    for (std::size_t i = 0; i < options.people; ++i) {
      const auto has = person();
      if (i == 0) targets.push_back(has);
      for (std::size_t j = 0; j < has.size(); ++j)
        if (has[j]) table.csv += fmt::format("{},{},{}\n", study * options.people + i, study, j);
    }
    members.push_back((random.bits64() & 1) != 0);
    if (!members.back()) targets.back() = person();
  }
  DISCREET_TRY(const auto served,
               Served::open({table}, {options.attempts, options.epsilon}, random));
  const Stopwatch watch;
  std::uint64_t hits = 0;
  const auto people = static_cast<double>(options.people);
  for (std::size_t study = 0; study < options.attempts; ++study) {
    DISCREET_TRY(
        const auto counts,
        served->ask(fmt::format("SELECT attribute, count(*) FROM findings WHERE study = {} "
                                "GROUP BY attribute ORDER BY attribute",
                                study),
                    study, options.epsilon, 1));
    DISCREET_CHECK(counts.size() == options.attributes, "every public key has an answer");
    // As in tracing.h; every attribute is had by half of the population.
    double score = 0;
    for (std::size_t j = 0; j < counts.size(); ++j)
      score += (targets[study][j] ? 0.5 : -0.5) * (counts[j] / people - 0.5);
    const double expected = static_cast<double>(options.attributes) / (4 * people);
    hits += (score > expected / 2) == members[study];
  }
  return outcome(
      fmt::format("Discreet's curator, {} people, {} counts", options.people, options.attributes),
      hits, options.attempts, 0.5, watch.seconds(), bit_accuracy_bound(options.epsilon, 0));
}

}  // namespace discreet::attack
