// How near is a twin to ADULT (RAP-64) and to the NIST tables, and how long does it take?
//
// Usage: bench_synth [--data FOLDER] [--seeds N] [--method M] [--epsilon E]... Prints max error and
// mean TVD, means over seeds, beside the figures to reach, with CPU seconds and peak memory.
// Without the data it says so and ends.
#include <sys/resource.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "support/seeded_random.h"
#include "support/shared_folder.h"
#include "synth/latent.h"
#include "synth/score.h"

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

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

struct Row {
  double epsilon, max_wanted, tvd_wanted;
};

void run(const char* name, const CodedTable& table, const Workload& workload,
         const LatentSettings& settings, const std::vector<Row>& rows, int seeds, double only) {
  Workers workers(0);
  const double n = static_cast<double>(table.rows());
  for (const Row& row : rows) {
    if (only > 0 && row.epsilon != only) continue;
    double max_error = 0, tvd = 0;
    const double start = cpu_seconds();
    const auto wall = std::chrono::steady_clock::now();
    for (int seed = 1; seed <= seeds; ++seed) {
      SeededRandom random(static_cast<std::uint64_t>(seed));
      const FitContext context{.workers = workers, .random = random};
      const ApproxDp target{Epsilon::make(row.epsilon).value(), Delta::make(1 / (n * n)).value()};
      const Twin twin = fit_latent(table, workload, target, settings, context).value();
      const Score score = score_twin(table, twin.tables[0], workload, workers);
      max_error += score.max_error / seeds;
      tvd += score.mean_tvd / seeds;
      if (seed == 1) std::printf("  %s\n", twin.notes[0].c_str());
    }
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - wall;
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    std::printf(
        "%-12s eps %-5g max %.4f (%.4f)  tvd %.4f (%.4f)  cpu %.2f s  wall %.2f s  %ld MB\n", name,
        row.epsilon, max_error, row.max_wanted, tvd, row.tvd_wanted,
        (cpu_seconds() - start) / seeds, taken.count() / seeds, usage.ru_maxrss / 1024);
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace discreet::synth

int main(int argc, char** argv) {
  using namespace discreet;
  using namespace discreet::synth;
  int seeds = 3;
  double only = 0;
  bool fast = false, full = true;
  LatentSettings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string a = argv[i];
    const auto next = [&] { return std::atof(argv[++i]); };
    if (a == "--seeds")
      seeds = static_cast<int>(next());
    else if (a == "--epsilon")
      only = next();
    else if (a == "--fast") {
      fast = true;
      full = false;
    } else if (a == "--k")
      settings.components = static_cast<unsigned>(next());
    else if (a == "--steps")
      settings.steps = static_cast<unsigned>(next());
    else if (a == "--rate")
      settings.rate = next();
    else if (a == "--c")
      settings.penalty = next();
    else if (a == "--t")
      settings.group_sigmas = next();
    else if (a == "--ls")
      settings.proposals = static_cast<unsigned long>(next());
    else if (a == "--batch")
      settings.batch = static_cast<unsigned>(next());
  }
  const auto table =
      read_table(shared_file("data/adult.csv"), shared_file("data/adult-domain.json"));
  const auto json = read_file(shared_file("data/adult-rap64.json"));
  if (!table || !json) {
    std::puts("the shared data folder is not beside this checkout: nothing to measure");
    return 0;
  }
  const Workload workload = Workload::parse(*json, table->domain).value();
  if (full)
    run("latent", *table, workload, settings,
        {{.1, .0223, .163}, {.5, .0066, .076}, {1, .0037, .056}, {10, .0013, .0265}}, seeds, only);
  if (fast)
    run("latent fast", *table, workload, LatentSettings::fast(),
        {{.1, .0219, .155}, {.5, .0068, .075}, {1, .0054, .058}, {10, .0051, .037}}, seeds, only);
}
