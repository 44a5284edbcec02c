// How wrong is a cell of all 1-, 2- and 3-way marginals of ADULT and the NIST tables, and how long
// does it take to plan, release and make them consistent?
//
// Usage: bench_tables [--data FOLDER] [--table adult|nist|ma] [--epsilon E] [--seeds N] [--weights
// cells|marginals] (without --epsilon: .1, 1 and 10). Noise is compared at
// equal rho: independent noise with an even split (what a library does that answers each table
// alone), the plan's tables as released, and whole non-negative records. RMSE over cells and, root
// mean square, over marginals. Without the data it says so and ends.
#include <sys/resource.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "mechanisms/discrete_gaussian.h"
#include "privacy/zcdp_conversion.h"
#include "support/seeded_random.h"
#include "support/shared_folder.h"
#include "synth/marginals.h"
#include "tables/records.h"

namespace discreet::tables {
namespace {

std::optional<std::string> read_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::optional<synth::CodedTable> read_table(const std::string& csv_path,
                                            const std::string& domain_path) {
  const auto csv = read_file(csv_path), json = read_file(domain_path);
  if (!csv || !json) return std::nullopt;
  std::istringstream lines(*csv);
  std::string line, field;
  std::getline(lines, line);
  std::vector<std::string> names;
  for (std::istringstream header(line); std::getline(header, field, ',');) names.push_back(field);
  synth::CodedTable table{synth::Domain::parse(*json).value().in_order_of(names).value(), {}};
  table.columns.resize(names.size());
  while (std::getline(lines, line)) {
    std::istringstream fields(line);
    for (std::size_t i = 0; std::getline(fields, field, ','); ++i)
      table.columns[i].push_back(static_cast<std::uint16_t>(std::stoi(field)));
  }
  return table;
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

struct Errors {
  double squares = 0, cells = 0, by_marginal = 0;
  std::size_t marginals = 0, negative = 0;

  template <class Number>
  void add(std::span<const Number> got, std::span<const std::int64_t> exact) {
    double sum = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double error = static_cast<double>(got[i]) - static_cast<double>(exact[i]);
      sum += error * error;
      negative += got[i] < 0;
    }
    squares += sum;
    cells += static_cast<double>(got.size());
    by_marginal += sum / static_cast<double>(got.size());
    ++marginals;
  }
  double over_cells() const { return std::sqrt(squares / cells); }
  double over_marginals() const { return std::sqrt(by_marginal / static_cast<double>(marginals)); }
};

struct Job {
  std::string table = "adult", data;
  double epsilon = 0;
  int seeds = 1;
  Weighting weighting = Weighting::Marginals;  // also the better start for whole tables
  RecordSettings settings{};
  bool independent = true;
  bool records = true;
};

void plan_fifty() {
  std::vector<Axis> axes;
  const double start = cpu_seconds();
  for (std::uint32_t i = 0; i < 50; ++i)
    axes.push_back(Axis::cells("a" + std::to_string(i), 2 + 7 * i % 97).value());
  const Plan plan =
      Plan::make(axes, all_marginals(axes, 3, Weighting::Marginals, true), Rho::make(0.01).value())
          .value();
  const double error = plan.error_over_marginals();
  std::printf("planning all %zu tables of up to 3 of 50 attributes: %.3f s CPU (error %.1f)\n",
              plan.marginals().size(), cpu_seconds() - start, error);
}

void run(const Job& job, const synth::CodedTable& table, double epsilon) {
  synth::Workers workers(0);
  std::vector<Axis> axes;
  for (const auto& a : table.domain.attributes())
    axes.push_back(Axis::cells(a.name, a.size).value());
  const double n = static_cast<double>(table.rows());
  const Rho rho =
      zcdp_meeting({Epsilon::make(epsilon).value(), Delta::make(1 / (n * n)).value()}).value();
  double clock = cpu_seconds();
  const auto plan = std::make_shared<const Plan>(
      Plan::make(axes, all_marginals(axes, 3, job.weighting, true), rho).value());
  const double planned = cpu_seconds() - clock;
  std::printf("%s eps %g, rho %.5g, %zu tables, %s weighted equally; planned in %.3f s\n",
              job.table.c_str(), epsilon, rho.value(), plan->marginals().size(),
              job.weighting == Weighting::Cells ? "cells" : "marginals", planned);
  std::printf("  known beforehand: over cells %.4f, over marginals %.4f\n",
              plan->error_over_answers(), plan->error_over_marginals());
  const auto tables = static_cast<double>(plan->marginals().size());
  const DiscreteGaussian even =
      DiscreteGaussian::make(Rho::make(rho.value() / tables).value(), L2Sensitivity{1}, 1u << 30)
          .value();
  for (int seed = 1; seed <= job.seeds; ++seed) {
    SeededRandom random(static_cast<std::uint64_t>(seed));
    clock = cpu_seconds();
    const auto released =
        release(
            plan,
            [&](const Attributes& a) -> Result<std::vector<std::int64_t>> {
              if (a.empty())
                return std::vector<std::int64_t>{static_cast<std::int64_t>(table.rows())};
              return synth::count_marginal(table, a);
            },
            random)
            .value();
    const double drawn = cpu_seconds() - clock;
    clock = cpu_seconds();
    const synth::FitContext context{.workers = workers, .random = random};
    std::optional<synth::CodedTable> records;
    if (job.records) records = fit_records(released, std::nullopt, job.settings, context).value();
    const double fitted = cpu_seconds() - clock;
    Errors independent, noisy, whole;
    for (const Marginal& marginal : plan->marginals()) {
      if (marginal.attributes.empty()) continue;  // a single number, with nothing to fit
      const auto exact = synth::count_marginal(table, marginal.attributes);
      if (job.independent) {
        auto alone = exact;
        even.release(alone, random);
        independent.add<std::int64_t>(alone, exact);
      }
      noisy.add<double>(released.marginal(marginal.attributes), exact);
      if (records)
        whole.add<std::int64_t>(synth::count_marginal(*records, marginal.attributes), exact);
    }
    std::printf(
        "  seed %d  over cells / marginals: independent %.3f / %.3f; released %.3f / %.3f (%zu "
        "negative cells); whole %.3f / %.3f (%zu negative)\n",
        seed, job.independent ? independent.over_cells() : 0,
        job.independent ? independent.over_marginals() : 0, noisy.over_cells(),
        noisy.over_marginals(), noisy.negative, records ? whole.over_cells() : 0,
        records ? whole.over_marginals() : 0, whole.negative);
    std::printf("          CPU: release %.2f s, whole %.2f s\n", drawn, fitted);
    std::fflush(stdout);
  }
}

int main_of(int argc, char** argv) {
  Job job;
  bool every = true;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string option = argv[i], value = argv[i + 1];
    if (option == "--data") job.data = value;
    if (option == "--table") job.table = value, every = false;
    if (option == "--epsilon") job.epsilon = std::atof(value.c_str());
    if (option == "--seeds") job.seeds = std::atoi(value.c_str());
    if (option == "--weights")
      job.weighting = value == "marginals" ? Weighting::Marginals : Weighting::Cells;
    if (option == "--components")
      job.settings.components = static_cast<std::uint32_t>(std::atoi(value.c_str()));
    if (option == "--steps")
      job.settings.steps = static_cast<std::uint32_t>(std::atoi(value.c_str()));
    if (option == "--penalty") job.settings.penalty = std::atof(value.c_str());
    if (option == "--groups") job.settings.group_sigmas = std::atof(value.c_str());
    if (option == "--rate") job.settings.rate = std::atof(value.c_str());
    if (option == "--batch")
      job.settings.batch = static_cast<std::uint32_t>(std::atoi(value.c_str()));
    if (option == "--proposals")
      job.settings.proposals = static_cast<std::uint64_t>(std::atoll(value.c_str()));
    if (option == "--independent") job.independent = value == "yes";
    if (option == "--records") job.records = value == "yes";
  }
  plan_fifty();
  for (const std::string& name :
       every ? std::vector<std::string>{"adult", "nist"} : std::vector<std::string>{job.table}) {
    job.table = name;
    const auto path = [&](const std::string& file) {
      return job.data.empty() ? shared_file("data/" + file) : job.data + "/" + file;
    };
    const auto table = name == "adult"
                           ? read_table(path("adult.csv"), path("adult-domain.json"))
                           : read_table(path(name == "nist" ? "nist_acs_national2019_coded.csv"
                                                            : "nist_acs_ma2019_coded.csv"),
                                        path("nist_acs-domain.json"));
    if (!table) {
      std::printf("the data of '%s' are not here; give --data FOLDER\n", name.c_str());
      continue;
    }
    for (const double epsilon :
         job.epsilon > 0 ? std::vector<double>{job.epsilon} : std::vector<double>{0.1, 1, 10})
      run(job, *table, epsilon);
  }
  return 0;
}

}  // namespace
}  // namespace discreet::tables

int main(int argc, char** argv) {
  return discreet::tables::main_of(argc, argv);
}
