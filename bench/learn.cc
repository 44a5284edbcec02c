// How good are private models of ADULT and the NIST table, and how long do they take to train?
//
// Usage: bench_learn [--data FOLDER] [--task NAME] [--split 0] [--seeds 10] [--epsilon E] [--delta
// 1e-5] [--rows N]. Prints means over seeds (accuracy/AUC, R2, inertia ratio, explained variance)
// with CPU seconds of training, beside the figures to reach. Splits are those of scikit-learn's
// train_test_split(test_size=.2, random_state=SPLIT). Without the data it says so and ends.
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "learn/additive.h"
#include "learn/boosted_trees.h"
#include "learn/kmeans.h"
#include "learn/metrics.h"
#include "learn/network.h"
#include "learn/objective.h"
#include "learn/regression.h"
#include "support/seeded_random.h"
#include "support/shared_folder.h"

namespace discreet::learn {
namespace {

struct Options {
  std::string data = shared_file("data");
  std::string task;
  unsigned split = 0;
  int seeds = 10;
  double epsilon = 0, delta = 1e-5;
  std::size_t rows = 0;
  std::map<std::string, double> settings;

  double setting(const char* name, double otherwise) const {
    const auto found = settings.find(name);
    return found == settings.end() ? otherwise : found->second;
  }
};

std::optional<std::string> read_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// numpy's RandomState(seed).permutation(n), so that the splits are the peers' splits.
std::vector<std::size_t> numpy_permutation(std::size_t n, unsigned seed) {
  std::mt19937 bits(seed);  // NOLINT: the splits of other people's papers, no noise
  std::vector<std::size_t> order(n);
  for (std::size_t i = 0; i < n; ++i) order[i] = i;
  for (std::size_t i = n - 1; i > 0; --i) {
    std::uint32_t mask = static_cast<std::uint32_t>(i);
    for (const int shift : {1, 2, 4, 8, 16}) mask |= mask >> shift;
    std::uint32_t j = 0;
    do j = static_cast<std::uint32_t>(bits()) & mask;
    while (j > i);
    std::swap(order[i], order[j]);
  }
  return order;
}

synth::RawTable take(const synth::RawTable& raw, std::span<const std::size_t> rows) {
  synth::RawTable part;
  for (const auto& column : raw.columns) {
    auto& copy = part.columns.emplace_back(synth::RawColumn{column.name, column.texts, {}});
    for (const std::size_t row : rows) copy.rows.push_back(column.rows[row]);
  }
  return part;
}

struct Table {
  synth::RawTable train, test, all;
  std::vector<synth::ColumnSpec> specs;
};

std::optional<Table> load(const Options& options, const std::string& csv, const std::string& json,
                          const std::string& drop_column = "", const std::string& drop_value = "") {
  const auto text = read_file(options.data + "/" + csv),
             domain = read_file(options.data + "/" + json);
  if (!text || !domain) return std::nullopt;
  Table table;
  table.all = synth::parse_csv(*text).value();
  table.specs = synth::parse_specs(*domain).value();
  if (!drop_column.empty()) {  // public choice of which rows are of interest
    std::vector<std::size_t> kept;
    for (const auto& column : table.all.columns)
      if (column.name == drop_column)
        for (std::size_t row = 0; row < column.rows.size(); ++row)
          if (column.texts[column.rows[row]] != drop_value) kept.push_back(row);
    table.all = take(table.all, kept);
  }
  const auto order = numpy_permutation(table.all.rows(), options.split);
  const auto tests = static_cast<std::size_t>(std::ceil(0.2 * static_cast<double>(order.size())));
  table.test = take(table.all, std::span(order).first(tests));
  auto train = std::span(order).subspan(tests);
  if (options.rows > 0) train = train.first(std::min(options.rows, train.size()));
  table.train = take(table.all, train);
  return table;
}

struct Outcome {
  double first = 0, second = 0;
  std::string note;
};
using Trainer = std::function<Outcome(ApproxDp budget, RandomSource& random, double& seconds)>;

void report(const Options& options, const char* name, const char* figures, const Trainer& trainer) {
  const std::vector<double> epsilons = options.epsilon > 0 ? std::vector<double>{options.epsilon}
                                                           : std::vector<double>{.1, .5, 1, 3, 10};
  std::printf("%s (to reach at .1 / 1 / 10: %s)\n", name, figures);
  for (const double epsilon : epsilons) {
    double first = 0, second = 0, squares = 0, seconds = 0;
    std::string note;
    for (int seed = 0; seed < options.seeds; ++seed) {
      SeededRandom random(static_cast<std::uint64_t>(seed) + 1);
      double taken = 0;
      const Outcome outcome = trainer(
          {Epsilon::make(epsilon).value(), Delta::make(options.delta).value()}, random, taken);
      first += outcome.first / options.seeds;
      squares += outcome.first * outcome.first / options.seeds;
      second += outcome.second / options.seeds;
      seconds += taken / options.seeds;
      note = outcome.note;
    }
    std::printf("  epsilon %-4g  %.4f / %.4f  (sd %.4f)  cpu %.4f s  %s\n", epsilon, first, second,
                std::sqrt(std::fmax(0, squares - first * first)), seconds, note.c_str());
    std::fflush(stdout);
  }
}

template <class Train>
void classify(const Options& options, const char* name, const char* figures, const Table& table,
              const std::string& target, std::optional<double> at_least, const Train& train) {
  const Coding coding = Coding::make(table.specs, target, at_least).value();
  const CodedRows rows = code_rows(coding, table.train, WithTarget::Yes).value();
  const CodedRows test = code_rows(coding, table.test, WithTarget::Yes).value();
  report(options, name, figures,
         [&](ApproxDp target_budget, RandomSource& random, double& seconds) {
           GaussianBudget budget = GaussianBudget::make(target_budget).value();
           const double before = cpu_seconds();
           const auto trained = train(rows, coding, budget, random).value();
           seconds = cpu_seconds() - before;
           std::vector<std::uint32_t> predicted;
           std::vector<double> scores, row_scores(trained.model.outputs());
           for (std::size_t row = 0; row < test.rows; ++row) {
             trained.model.score(test, row, row_scores);
             predicted.push_back(class_of(row_scores));
             scores.push_back(row_scores.back());
           }
           return Outcome{accuracy(predicted, test.labels), area_under_curve(scores, test.labels),
                          trained.notes.majority ? "majority" : ""};
         });
}

const std::vector<std::string> kNumeric = {"age",          "fnlwgt",       "education-num",
                                           "capital-gain", "capital-loss", "hours-per-week"};

std::vector<synth::ColumnSpec> numeric_specs(const Table& table) {
  std::vector<synth::ColumnSpec> specs;
  for (const auto& spec : table.specs)
    if (std::find(kNumeric.begin(), kNumeric.end(), spec.name) != kNumeric.end())
      specs.push_back(spec);
  return specs;
}

void regress(const Options& options, const Table& table) {
  const Coding coding = Coding::make(numeric_specs(table), "hours-per-week").value();
  const NumericRows rows = number_rows(coding, table.train, WithTarget::Yes).value();
  const NumericRows test = number_rows(coding, table.test, WithTarget::Yes).value();
  report(options, "linear regression of hours, ADULT, R2", ".028  .031  .0316",
         [&](ApproxDp target, RandomSource& random, double& seconds) {
           GaussianBudget budget = GaussianBudget::make(target).value();
           const double before = cpu_seconds();
           const auto trained = train_linear(rows, budget, random).value();
           seconds = cpu_seconds() - before;
           std::vector<double> predicted;
           for (std::size_t row = 0; row < test.rows; ++row)
             predicted.push_back(trained.model.predict(test, row));
           return Outcome{r_squared(predicted, test.columns.back()), 0, ""};
         });
}

void components(const Options& options, const Table& table) {
  const Coding coding = Coding::make(numeric_specs(table), "").value();
  const NumericRows rows = number_rows(coding, table.all, WithTarget::No).value();
  report(options, "two principal components, ADULT, explained", ".6395  .6406  .6407",
         [&](ApproxDp target, RandomSource& random, double& seconds) {
           GaussianBudget budget = GaussianBudget::make(target).value();
           const double before = cpu_seconds();
           const auto trained = train_components(rows, 2, budget, random).value();
           seconds = cpu_seconds() - before;
           double explained = 0, total = 0;
           const auto variance = [&](const auto& value) {
             double sum = 0, squares = 0;
             for (std::size_t row = 0; row < rows.rows; ++row) {
               const double x = value(row);
               sum += x;
               squares += x * x;
             }
             const auto n = static_cast<double>(rows.rows);
             return squares / n - sum / n * (sum / n);
           };
           for (std::size_t i = 0; i < 2; ++i)
             explained +=
                 variance([&](std::size_t row) { return trained.model.project(rows, row)[i]; });
           for (const auto& column : rows.columns)
             total += variance([&](std::size_t row) { return column[row]; });
           return Outcome{explained / total, 0, ""};
         });
}

void clusters(const Options& options, const Table& table) {
  const Coding coding = Coding::make(numeric_specs(table), "").value();
  const NumericRows rows = number_rows(coding, table.all, WithTarget::No).value();
  ClusterSettings settings;
  settings.moments_share = options.setting("moments_share", settings.moments_share);
  settings.grid_share = options.setting("grid_share", settings.grid_share);
  settings.lloyd_steps = static_cast<int>(options.setting("lloyd_steps", settings.lloyd_steps));
  settings.radius_share = options.setting("radius_share", settings.radius_share);
  settings.cell_noise = options.setting("cell_noise", settings.cell_noise);
  // scikit-learn's KMeans(5, n_init=10) on [0, 1], which is half as wide as [-1, 1].
  const double best = 4 * 0.04490261552850329 * static_cast<double>(rows.rows);
  report(options, "k-means of five, ADULT, inertia / best", "1.04  1.01  1.003",
         [&](ApproxDp target, RandomSource& random, double& seconds) {
           GaussianBudget budget = GaussianBudget::make(target).value();
           const double before = cpu_seconds();
           const auto trained = train_clusters(rows, 5, budget, random, settings).value();
           seconds = cpu_seconds() - before;
           double inertia = 0;
           for (std::size_t row = 0; row < rows.rows; ++row) {
             double distance = 0;
             trained.model.nearest(rows, row, &distance);
             inertia += distance;
           }
           return Outcome{inertia / best, 0, ""};
         });
}

int run(const Options& options) {
  const auto adult = load(options, "adult.csv", "adult-domain.json");
  const auto nist = load(options, "nist_acs_national2019_coded.csv", "nist_acs-domain.json");
  const auto housed =
      load(options, "nist_acs_national2019_coded.csv", "nist_acs-domain.json", "OWN_RENT", "0");
  if (!adult || !nist || !housed) {
    std::printf("no data in %s: nothing to do\n", options.data.c_str());
    return 0;
  }
  const auto wants = [&](const char* task) { return options.task.empty() || options.task == task; };
  LogisticSettings logistic;
  logistic.table_share = options.setting("table_share", logistic.table_share);
  logistic.check_share = options.setting("check_share", logistic.check_share);
  logistic.clip = options.setting("clip", logistic.clip);
  logistic.start = options.setting("start", logistic.start);
  logistic.steps_max = static_cast<std::uint32_t>(options.setting("steps_max", logistic.steps_max));
  logistic.steps_min = static_cast<std::uint32_t>(options.setting("steps_min", logistic.steps_min));
  logistic.curvature = options.setting("curvature", logistic.curvature);
  logistic.damping = options.setting("damping", logistic.damping);
  logistic.bins = options.setting("bins", logistic.bins);
  const auto by_logistic = [&](const auto& rows, const auto& coding, auto& budget, auto& random) {
    return train_logistic(rows, coding, budget, random, logistic);
  };
  TreesSettings trees;
  trees.start_share = options.setting("start_share", trees.start_share);
  trees.rate = options.setting("rate", trees.rate);
  trees.start_steps = static_cast<std::uint32_t>(options.setting("start_steps", trees.start_steps));
  trees.curvature = options.setting("tree_curvature", trees.curvature);
  trees.damping = options.setting("tree_damping", trees.damping);
  trees.clip = options.setting("clip", trees.clip);
  trees.trees = static_cast<std::uint32_t>(options.setting("trees", trees.trees));
  const auto by_trees = [&](const auto& rows, const auto& coding, auto& budget, auto& random) {
    return train_trees(rows, coding, budget, random, trees);
  };
  NetworkSettings network;
  network.hidden = static_cast<std::uint32_t>(options.setting("hidden", network.hidden));
  network.rate = options.setting("rate", network.rate);
  network.steps = static_cast<std::uint64_t>(options.setting("steps", 0));
  network.table_share = options.setting("table_share", network.table_share);
  network.clip = options.setting("clip", network.clip);
  network.damping = options.setting("damping", network.damping);
  network.curvature = options.setting("curvature", network.curvature);
  const auto by_network = [&](const auto& rows, const auto& coding, auto& budget, auto& random) {
    return train_network(rows, coding, budget.target(), random, network);
  };
  const auto by_bayes = [&](const auto& rows, const auto& coding, auto& budget, auto& random) {
    return train_naive_bayes(rows, coding, budget, random);
  };
  if (wants("logistic"))
    classify(options, "logistic, ADULT income", ".848/.898  .862/.914  .866/.919", *adult,
             "income>50K", std::nullopt, by_logistic);
  if (wants("objective"))
    classify(options, "logistic by objective perturbation, ADULT income",
             "without AMP: .8485/.8970  .8625/.9144  .8664/.9191", *adult, "income>50K",
             std::nullopt, [&](const auto& rows, const auto& coding, auto& budget, auto& random) {
               ObjectiveSettings objective;
               objective.table_share = options.setting("table_share", objective.table_share);
               objective.curvature_share =
                   options.setting("curvature_share", objective.curvature_share);
               return train_objective(rows, coding, budget.target(), random, objective);
             });
  if (wants("bayes"))
    classify(options, "naive Bayes, ADULT income", ".832/.885  .842/.899  .849/.906", *adult,
             "income>50K", std::nullopt, by_bayes);
  if (wants("trees"))
    classify(options, "boosted trees, ADULT income", ".846/.895  .860/.912  .864/.916", *adult,
             "income>50K", std::nullopt, by_trees);
  if (wants("network"))
    classify(options, "network of 16 hidden units, ADULT income", "Opacus: .834/.885 at 1", *adult,
             "income>50K", std::nullopt, by_network);
  if (wants("linear")) regress(options, *adult);
  if (wants("kmeans")) clusters(options, *adult);
  if (wants("pca")) components(options, *adult);
  if (wants("sex"))
    classify(options, "logistic, ADULT sex", ".8331/.9210  .8440/.9305  .8457/.9318", *adult, "sex",
             std::nullopt, by_logistic);
  if (wants("nist-income"))
    classify(options, "logistic, NIST income at least the median",
             ".8693/.9313  .8891/.9529  .8972/.9580", *nist, "PINCP_DECILE",
             options.setting("cut", 6), by_logistic);
  if (wants("nist-own-trees"))
    classify(options, "boosted trees, NIST own or rent", "-", *housed, "OWN_RENT", 2.0, by_trees);
  if (wants("nist-own"))
    classify(options, "logistic, NIST own or rent", ".7376/.8080  .7757/.8513  .7830/.8582",
             *housed, "OWN_RENT", 2.0, by_logistic);
  return 0;
}

}  // namespace
}  // namespace discreet::learn

int main(int argc, char** argv) {
  discreet::learn::Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i], value = argv[i + 1];
    if (name == "--data")
      options.data = value;
    else if (name == "--task")
      options.task = value;
    else if (name == "--split")
      options.split = static_cast<unsigned>(std::atoi(value.c_str()));
    else if (name == "--seeds")
      options.seeds = std::atoi(value.c_str());
    else if (name == "--epsilon")
      options.epsilon = std::atof(value.c_str());
    else if (name == "--delta")
      options.delta = std::atof(value.c_str());
    else if (name == "--rows")
      options.rows = static_cast<std::size_t>(std::atoll(value.c_str()));
    else
      options.settings[name.substr(2)] = std::atof(value.c_str());
  }
  return discreet::learn::run(options);
}
