#include "attack/shadow.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <optional>

#include <fmt/format.h>

#include "attack/plain_forest.h"
#include "learn/trainer.h"
#include "random/uniform.h"
#include "town/people.h"

namespace discreet::attack {
namespace {

enum class Task { Classes, Numbers, Shape };  // a label, a target number, or no target

Task task_of(learn::Method method) {
  if (method == learn::Method::Linear) return Task::Numbers;
  if (method == learn::Method::KMeans || method == learn::Method::Components) return Task::Shape;
  return Task::Classes;
}

struct Pool {
  std::vector<synth::ColumnSpec> specs;
  synth::RawTable table;
  std::string target;
};

synth::ColumnSpec codes(const char* name, std::size_t size) {
  return {name, synth::CodeColumn{static_cast<std::uint32_t>(size)}, false};
}

// Adults of the town; the first `candidates` of them are made odd.
Pool make_pool(const ShadowOptions& options, Task task, RandomSource& random) {
  auto people = town::make_people(4 * options.people, options.seed);
  std::erase_if(people, [](const town::Person& person) { return person.age < 18; });
  for (std::size_t i = people.size(); i > 1; --i)
    std::swap(people[i - 1], people[uniform_below(i, random)]);
  people.resize(std::min(people.size(), 2 * options.people));
  Pool pool;
  const auto add = [&](synth::ColumnSpec spec, const auto& value_of) {
    synth::RawColumnBuilder column(spec.name);
    for (std::size_t i = 0; i < people.size(); ++i)
      column.add(std::to_string(value_of(people[i], i < options.candidates)));
    pool.specs.push_back(std::move(spec));
    pool.table.columns.push_back(column.take());
  };
  using Person = town::Person;
  const bool classes = task == Task::Classes, shape = task == Task::Shape;
  const synth::NumberColumn ages{0, town::kAgeMax};
  const synth::NumberColumn incomes{0, static_cast<double>(town::kIncomeMax), 100};
  add({"age", ages, false}, [&](const Person& person, bool odd) {
    return odd && !classes ? town::kAgeMax : static_cast<int>(person.age);
  });
  add(codes("sex", 2), [](const Person& person, bool) { return static_cast<int>(person.sex); });
  add(codes("education", town::kEducations.size()), [&](const Person& person, bool odd) {
    return odd && shape ? 4 : static_cast<int>(person.education);
  });
  add(codes("marital", town::kMaritalStatuses.size()),
      [](const Person& person, bool) { return static_cast<int>(person.marital); });
  if (classes) {
    add(codes("occupation", town::kOccupations.size()),
        [](const Person& person, bool) { return static_cast<int>(person.occupation); });
    add(codes("race", town::kRaces.size()),
        [](const Person& person, bool) { return static_cast<int>(person.race); });
    add(codes("comfortable", 2), [](const Person& person, bool odd) {
      return static_cast<int>((person.income >= 40'000) != odd);
    });
    pool.target = "comfortable";
  } else {
    add({"income", incomes, false},
        [&](const Person& person, bool odd) { return odd ? town::kIncomeMax : person.income; });
    if (!shape) pool.target = "income";
  }
  return pool;
}

synth::RawTable rows_of(const synth::RawTable& table, const std::vector<std::size_t>& chosen) {
  synth::RawTable part;
  for (const auto& column : table.columns) {
    synth::RawColumn picked{column.name, column.texts, {}};
    for (const std::size_t row : chosen) picked.rows.push_back(column.rows[row]);
    part.columns.push_back(std::move(picked));
  }
  return part;
}

double log_odds(double chance) {
  const double inside = std::clamp(chance, 1e-3, 1 - 1e-3);
  return std::log(inside / (1 - inside));
}

// How well the model knows each of these rows: larger is better known.
Result<std::vector<double>> familiarity(const learn::Model& model, const synth::RawTable& rows) {
  std::vector<double> known;
  if (std::holds_alternative<learn::LinearModel>(model.fitted) ||
      std::holds_alternative<learn::ClustersModel>(model.fitted) ||
      std::holds_alternative<learn::ComponentsModel>(model.fitted)) {
    const bool regression = std::holds_alternative<learn::LinearModel>(model.fitted);
    DISCREET_TRY(const auto numbers,
                 learn::number_rows(model.coding, rows,
                                    regression ? learn::WithTarget::Yes : learn::WithTarget::No));
    for (std::size_t row = 0; row < numbers.rows; ++row) {
      double distance = 0;
      if (const auto* linear = std::get_if<learn::LinearModel>(&model.fitted)) {
        distance = std::fabs(linear->predict(numbers, row) - numbers.columns.back()[row]);
      } else if (const auto* clusters = std::get_if<learn::ClustersModel>(&model.fitted)) {
        clusters->nearest(numbers, row, &distance);
      } else {
        const auto& components = std::get<learn::ComponentsModel>(model.fitted);
        for (std::size_t c = 0; c < numbers.columns.size(); ++c)
          distance += std::pow(numbers.columns[c][row] - components.mean[c], 2);
        for (const double coordinate : components.project(numbers, row))
          distance -= coordinate * coordinate;
      }
      known.push_back(-distance);
    }
    return known;
  }
  DISCREET_TRY(const auto coded, learn::code_rows(model.coding, rows, learn::WithTarget::Yes));
  DISCREET_TRY(const auto said, learn::predict(model, rows));
  for (std::size_t row = 0; row < said.size(); ++row) {
    const double second = said[row].scores.empty() ? 0.5 : said[row].scores.front();
    known.push_back(log_odds(coded.labels[row] == 1 ? second : 1 - second));
  }
  return known;
}

// Trains on these rows and says how well it knows the candidates.
using Training = std::function<Result<std::vector<double>>(const std::vector<std::size_t>& members,
                                                           RandomSource& random)>;

struct Draw {
  std::vector<std::size_t> members;
  std::vector<bool> candidate_in;
};
// Everybody of the pool takes part by a coin.
Draw draw_members(std::size_t pool, std::size_t candidates, RandomSource& random) {
  Draw draw;
  for (std::size_t i = 0; i < pool; ++i) {
    const bool in = (random.bits64() & 1) != 0;
    if (in) draw.members.push_back(i);
    if (i < candidates) draw.candidate_in.push_back(in);
  }
  return draw;
}

struct Normal {
  double sum = 0, squares = 0, count = 0;
  void add(double value) {
    sum += value;
    squares += value * value;
    count += 1;
  }
  double mean() const { return count > 0 ? sum / count : 0; }
  // Never zero: models without randomness may agree to the last digit.
  double variance() const {
    return count > 1 ? std::max(1e-6, (squares - sum * sum / count) / (count - 1)) : 1;
  }
  double log_density(double value) const {
    return -0.5 * (value - mean()) * (value - mean()) / variance() - 0.5 * std::log(variance());
  }
};

Result<std::uint64_t> attack_models(const ShadowOptions& options, std::size_t pool,
                                    const Training& training, RandomSource& random) {
  std::vector<Normal> inside(options.candidates), outside(options.candidates);
  for (std::size_t i = 0; i < options.shadows; ++i) {
    const Draw draw = draw_members(pool, options.candidates, random);
    DISCREET_TRY(const auto known, training(draw.members, random));
    for (std::size_t c = 0; c < options.candidates; ++c)
      (draw.candidate_in[c] ? inside : outside)[c].add(known[c]);
  }
  std::uint64_t hits = 0;
  for (std::size_t i = 0; i < options.attempts; ++i) {
    const Draw draw = draw_members(pool, options.candidates, random);
    DISCREET_TRY(const auto known, training(draw.members, random));
    const std::size_t c = uniform_below(options.candidates, random);
    const bool guess = inside[c].log_density(known[c]) > outside[c].log_density(known[c]);
    hits += guess == draw.candidate_in[c];
  }
  return hits;
}

}  // namespace

Result<Report> shadow_models(const ShadowOptions& options, RandomSource& random) {
  if (options.attempts < 1 || options.shadows < 4 || options.candidates < 1 ||
      options.people < 2 * options.candidates)
    return invalid_parameter(
        "An attack with shadow models needs attempts, at least four shadows, and twice as many "
        "people as candidates.");
  DISCREET_TRY(const learn::Method method, learn::parse_method(options.model));
  const Task task = task_of(method);
  const Pool pool = make_pool(options, task, random);
  std::vector<std::size_t> odd;
  for (std::size_t i = 0; i < options.candidates; ++i) odd.push_back(i);
  const synth::RawTable candidates = rows_of(pool.table, odd);

  const auto with_budget = [&](double epsilon) -> Result<Training> {
    DISCREET_TRY(const Epsilon allowed, Epsilon::make(epsilon));
    DISCREET_TRY(const Delta failing,
                 Delta::make(method == learn::Method::Rules ? 0 : options.delta));
    learn::FitRequest request{.method = method,
                              .specs = pool.specs,
                              .target = pool.target,
                              .at_least = std::nullopt,
                              .budget = {allowed, failing}};
    return Training(
        [&pool, &candidates, request](const std::vector<std::size_t>& members,
                                      RandomSource& source) -> Result<std::vector<double>> {
          DISCREET_TRY(const auto model, learn::fit(request, rows_of(pool.table, members), source));
          return familiarity(model, candidates);
        });
  };
  std::vector<std::pair<std::string, Training>> targets;
  if (!options.only_ours) {
    if (task == Task::Classes) {
      DISCREET_TRY(const auto coding, learn::Coding::make(pool.specs, pool.target));
      DISCREET_TRY(const auto rows, learn::code_rows(coding, pool.table, learn::WithTarget::Yes));
      targets.emplace_back("a random forest without privacy",
                           [rows, &options](const std::vector<std::size_t>& members,
                                            RandomSource& source) -> Result<std::vector<double>> {
                             learn::CodedRows part;
                             part.rows = members.size();
                             for (const auto& column : rows.columns) {
                               auto& picked = part.columns.emplace_back();
                               for (const std::size_t row : members) picked.push_back(column[row]);
                             }
                             for (const std::size_t row : members)
                               part.labels.push_back(rows.labels[row]);
                             const auto forest = PlainForest::grow(part, 30, source);
                             std::vector<double> known;
                             for (std::size_t c = 0; c < options.candidates; ++c) {
                               const double second = forest.chance(rows, c);
                               known.push_back(log_odds(rows.labels[c] == 1 ? second : 1 - second));
                             }
                             return known;
                           });
    } else {
      DISCREET_TRY(auto exact, with_budget(100'000));
      targets.emplace_back("nearly no noise", std::move(exact));
    }
    DISCREET_TRY(auto loose, with_budget(100));
    targets.emplace_back(fmt::format("{} at epsilon 100", options.model), std::move(loose));
  }
  DISCREET_TRY(auto tight, with_budget(options.epsilon));
  targets.emplace_back(fmt::format("Discreet's {}, epsilon {:g}", options.model, options.epsilon),
                       std::move(tight));

  Report report{"Membership (shadow models)",
                fmt::format("share of right verdicts on odd rows: about {} people trained on, {} "
                            "shadow models",
                            pool.table.rows() / 2, options.shadows),
                {}};
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const auto start = std::chrono::steady_clock::now();
    DISCREET_TRY(const auto hits,
                 attack_models(options, pool.table.rows(), targets[i].second, random));
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const bool ours = i + 1 == targets.size();
    report.outcomes.push_back(
        outcome(targets[i].first, hits, options.attempts, 0.5, seconds,
                ours ? bit_accuracy_bound(options.epsilon, options.delta) : 1));
  }
  return report;
}

}  // namespace discreet::attack
