// How near is a twin to ADULT (RAP-64) and to the NIST tables, and how long does it take?
//
// Usage: bench_synth [--data FOLDER] [--table adult|nist|ma|loans3|loans5] [--method M] [--fast]
// [--seeds N] [--epsilon E] [--rows N] [--columns N] [--workload rap64|3way] and settings of
// methods. --csv FILE --domain FILE take any table of codes; --columns keeps that many, drawn by
// --draw; --marginals takes that many three-ways at random instead of all. Prints max error and
// mean TVD, means over seeds, beside the figures to reach, with CPU seconds and peak memory.
// Without the data it says so and ends.
#include <sys/resource.h>

#include <algorithm>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "support/seeded_random.h"
#include "support/shared_folder.h"
#include "synth/dice.h"
#include "synth/score.h"
#include "synth/synthesize.h"

namespace discreet::synth {
namespace {

std::optional<std::string> read_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::optional<CodedTable> read_table(const std::string& csv_path, const std::string& domain_path) {
  const auto csv = read_file(csv_path), json = read_file(domain_path);
  if (!csv || !json) return std::nullopt;
  std::istringstream lines(*csv);
  std::string line, field;
  std::getline(lines, line);
  std::vector<std::string> names;
  for (std::istringstream header(line); std::getline(header, field, ',');) names.push_back(field);
  CodedTable table{Domain::parse(*json).value().in_order_of(names).value(), {}};
  table.columns.resize(names.size());
  while (std::getline(lines, line)) {
    std::istringstream fields(line);
    for (std::size_t i = 0; std::getline(fields, field, ','); ++i)
      table.columns[i].push_back(static_cast<std::uint16_t>(std::stoi(field)));
  }
  return table;
}

// Random rows of the LOANS domain's shape: skewed columns that lean on a hidden class.
std::optional<CodedTable> random_loans(const std::string& domain_path) {
  const auto json = read_file(domain_path);
  if (!json) return std::nullopt;
  CodedTable table{Domain::parse(*json).value(), {}};
  constexpr std::size_t kRows = 42'535;
  Dice dice(7, 0);
  std::vector<std::uint64_t> classes(kRows);
  for (auto& c : classes) c = dice.below(12);
  for (std::size_t a = 0; a < table.domain.size(); ++a) {
    auto& column = table.columns.emplace_back(kRows);
    const double size = table.domain[a].size;
    for (std::size_t row = 0; row < kRows; ++row) {
      const double shift = static_cast<double>(classes[row] * (a + 3) % 12) / 12;
      const double x = std::fmod(std::pow(dice.unit(), 3) + shift, 1.0);
      column[row] = static_cast<std::uint16_t>(std::min(size - 1, x * size));
    }
  }
  return table;
}

// `count` marginals among those of `ways` attributes with at most as many cells as rows.
Workload random_workload(const Domain& domain, std::uint32_t ways, std::size_t count,
                         std::uint64_t cells_max) {
  Dice dice(11, 0);
  Workload workload;
  std::vector<Clique> seen;
  while (workload.marginals.size() < count) {
    Clique clique;
    while (clique.size() < ways) {
      const auto a = static_cast<std::uint32_t>(dice.below(domain.size()));
      if (std::find(clique.begin(), clique.end(), a) == clique.end()) clique.push_back(a);
    }
    std::sort(clique.begin(), clique.end());
    if (domain.cells(clique) > cells_max) continue;
    if (std::find(seen.begin(), seen.end(), clique) != seen.end()) continue;
    seen.push_back(clique);
    workload.marginals.push_back({clique});
  }
  return workload;
}

// Some columns of a table, drawn at random.
CodedTable some_columns(const CodedTable& table, std::size_t count, std::uint64_t draw) {
  Dice dice(draw, 0);
  std::vector<std::size_t> order(table.domain.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[dice.below(i)]);
  order.resize(std::min(count, order.size()));
  std::vector<Attribute> attributes;
  std::vector<std::vector<std::uint16_t>> columns;
  for (const std::size_t a : order) {
    attributes.push_back(table.domain[a]);
    columns.push_back(table.columns[a]);
  }
  return {Domain::make(std::move(attributes)).value(), std::move(columns)};
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

struct Row {
  double epsilon, max_wanted, tvd_wanted;
};

struct Job {
  SynthesisSettings settings{};
  int seeds = 3;
  int first_seed = 1;
  double only = 0;
  std::size_t threads = 0;
};

void run(const CodedTable& table, const Workload& workload, std::vector<Row> rows, const Job& job) {
  const auto is_asked = [&](const Row& row) { return row.epsilon == job.only; };
  if (job.only > 0 && std::none_of(rows.begin(), rows.end(), is_asked))
    rows.push_back({job.only, 0, 0});
  Workers workers(job.threads);
  const double n = static_cast<double>(table.rows());
  for (const Row& row : rows) {
    if (job.only > 0 && row.epsilon != job.only) continue;
    double max_error = 0, tvd = 0;
    const double start = cpu_seconds();
    const auto wall = std::chrono::steady_clock::now();
    for (int seed = 0; seed < job.seeds; ++seed) {
      SeededRandom random(static_cast<std::uint64_t>(job.first_seed + seed));
      const FitContext context{.workers = workers, .random = random};
      const ApproxDp target{Epsilon::make(row.epsilon).value(), Delta::make(1 / (n * n)).value()};
      const auto twin = synthesize(table, workload, target, job.settings, context);
      if (!twin) {
        std::printf("refused: %s\n", twin.error().message.c_str());
        return;
      }
      const Score score = score_twin(table, twin->tables[0], workload, workers);
      max_error += score.max_error / job.seeds;
      tvd += score.mean_tvd / job.seeds;
      if (seed == 0) std::printf("  %s\n", twin->notes[0].c_str());
    }
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - wall;
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    std::printf(
        "%-11s %s eps %-4g max %.4f (%.4f)  tvd %.4f (%.4f)  cpu %.2f s  wall %.2f s  %ld MB\n",
        name(job.settings.method), job.settings.fast ? "fast" : "    ", row.epsilon, max_error,
        row.max_wanted, tvd, row.tvd_wanted, (cpu_seconds() - start) / job.seeds,
        taken.count() / job.seeds, usage.ru_maxrss / 1024);
    std::fflush(stdout);
  }
}

// The figures to reach on ADULT with RAP-64.
std::vector<Row> wanted(const SynthesisSettings& settings) {
  switch (settings.method) {
    case Method::Aim:
      return {{.1, .054, .188}, {.5, .0242, .0998}, {1, .0105, .073}, {10, .0092, .057}};
    case Method::Mst:
      return {{.1, .0887, .2145}, {1, .0377, .111}, {10, .0364, .0935}};
    case Method::Rap:
      return {{.1, .109, .414}, {.5, .064, .392}, {1, .041, .224}, {10, .006, .084}};
    case Method::Independent:
      return {{1, .197, .199}};
    case Method::Auto:
    case Method::Latent:
      break;
  }
  if (settings.fast)
    return {{.1, .0219, .155}, {.5, .0068, .075}, {1, .0054, .058}, {10, .0051, .037}};
  return {{.1, .0223, .163}, {.5, .0066, .076}, {1, .0037, .056}, {10, .0013, .0265}};
}

int bench(int argc, char** argv) {
  Job job;
  std::string data = shared_file("data"), which = "adult", workload_name;
  std::string csv, domain;
  std::size_t rows_max = 0, columns = 0, marginals = 0;
  std::uint64_t draw = 1;
  LatentSettings& latent = job.settings.latent;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--fast") {
      job.settings.fast = true;
      continue;
    }
    if (option == "--sparsemax") {
      job.settings.rap.relaxation = Relaxation::Sparsemax;
      continue;
    }
    if (i + 1 >= argc) break;
    const std::string text = argv[++i];
    const double value = std::atof(text.c_str());
    const auto whole = static_cast<std::uint32_t>(value);
    if (option == "--seeds") job.seeds = static_cast<int>(value);
    if (option == "--first-seed") job.first_seed = static_cast<int>(value);
    if (option == "--data") data = text;
    if (option == "--table") which = text;
    if (option == "--csv") csv = text;
    if (option == "--domain") domain = text;
    if (option == "--columns") columns = whole;
    if (option == "--marginals") marginals = whole;
    if (option == "--draw") draw = whole;
    if (option == "--workload") workload_name = text;
    if (option == "--method") job.settings.method = parse_method(text).value();
    if (option == "--epsilon") job.only = value;
    if (option == "--threads") job.threads = whole;
    if (option == "--rows") rows_max = whole;
    if (option == "--components") latent.components = whole;
    if (option == "--steps") latent.steps = whole;
    if (option == "--rate") latent.rate = value;
    if (option == "--penalty") latent.penalty = value;
    if (option == "--groups") latent.group_sigmas = value;
    if (option == "--proposals") latent.proposals = static_cast<std::uint64_t>(value);
    if (option == "--batch") latent.batch = whole;
    if (option == "--covers") latent.covers = whole;
    if (option == "--model-bytes") job.settings.aim.model_bytes = static_cast<std::uint64_t>(value);
    if (option == "--reconstruction")
      job.settings.aim.reconstruction = parse_reconstruction(text).value();
    if (option == "--iterations") job.settings.aim.iterations = static_cast<int>(value);
    if (option == "--final") job.settings.aim.final_iterations = static_cast<int>(value);
    if (option == "--aim-groups") job.settings.aim.group_sigmas = value;
    if (option == "--aim-rounds") job.settings.aim.rounds_per_attribute = value;
    if (option == "--rounds") job.settings.rap.rounds = whole;
    if (option == "--queries") job.settings.rap.queries_per_round = whole;
    if (option == "--one-way") job.settings.rap.one_way_share = value;
  }
  const std::string prefix = data + "/";
  std::optional<CodedTable> table;
  if (!csv.empty()) {
    table = read_table(csv, domain);
    which = csv;
  }
  if (which == "adult") table = read_table(prefix + "adult.csv", prefix + "adult-domain.json");
  if (which == "nist")
    table = read_table(prefix + "nist_acs_national2019_coded.csv", prefix + "nist_acs-domain.json");
  if (which == "ma")
    table = read_table(prefix + "nist_acs_ma2019_coded.csv", prefix + "nist_acs-domain.json");
  if (which.starts_with("loans")) table = random_loans(prefix + "loans-domain.json");
  const auto rap64 = read_file(prefix + "adult-rap64.json");
  if (!table || !rap64) {
    std::puts("the shared data folder is not beside this checkout: nothing to measure");
    return 0;
  }
  if (columns > 0) table = some_columns(*table, columns, draw);
  for (auto& column : table->columns)
    if (rows_max > 0 && column.size() > rows_max) column.resize(rows_max);
  if (which == "adult" && workload_name != "3way" && columns == 0) {
    run(*table, Workload::parse(*rap64, table->domain).value(), wanted(job.settings), job);
    return 0;
  }
  const std::vector<Row> rows = {{.1, 0, 0}, {1, 0, 0}, {10, 0, 0}};
  if (which.starts_with("loans")) {
    const std::uint32_t ways = which == "loans5" ? 5 : 3;
    run(*table, random_workload(table->domain, ways, 64, table->rows()), rows, job);
  } else if (marginals > 0) {
    run(*table, random_workload(table->domain, 3, marginals, table->rows()), rows, job);
  } else {
    run(*table, Workload::all(table->domain, 3, table->rows()).value(), rows, job);
  }
  return 0;
}

}  // namespace
}  // namespace discreet::synth

int main(int argc, char** argv) {
  return discreet::synth::bench(argc, argv);
}
