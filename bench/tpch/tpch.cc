// TPC-H with the customer as the privacy unit: is each query answered, how long beside plain
// DuckDB, how far from the truth at epsilon 1?
//
// Errors are medians over cells and runs of |answer - exact| / |exact|, where exact is plain
// DuckDB's answer to the same statement. Times are the best of a few runs, taken in turn.
// With --errors N only errors are measured, N times, over copies of the data that hold what a query
// reads (queries.sql): enough for medians of queries with a single number.
//   tpch_bench DATA queries.sql [--runs N] [--rounds N] [--epsilon X] [--only Qn] [--markdown 1]
//   [--errors N]
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "curator/curator.h"
#include "measure.h"
#include "random/secure_random.h"

namespace discreet::bench {
namespace {

struct Query {
  std::string name, verdict, why, of, sql;
  std::optional<double> page;                              ///< per cent
  std::vector<std::pair<std::string, std::string>> keeps;  ///< table, condition
};

struct Options {
  int runs = 11, rounds = 3, errors = 0;
  double epsilon = 1;
  std::string only;
  bool markdown = false;
};

std::vector<Query> read_queries(const std::string& file) {
  std::vector<Query> queries;
  std::ifstream input(file);
  for (std::string line; std::getline(input, line);) {
    if (line.starts_with("-- Q")) {
      Query query;
      std::stringstream words(line.substr(3));
      words >> query.name >> query.verdict;
      std::getline(words, query.why);
      if (const auto open = query.why.find('['); open != std::string::npos) {
        const auto close = query.why.find(']');
        query.page = std::stod(query.why.substr(open + 1));
        if (const auto of = query.why.find(" of "); of < close)
          query.of = query.why.substr(of + 1, close - of - 1);
        query.why.erase(0, close + 1);
      }
      query.why.erase(0, query.why.find_first_not_of(' '));
      queries.push_back(std::move(query));
    } else if (line.starts_with("-- keeps ") && !queries.empty()) {
      const auto colon = line.find(':');
      queries.back().keeps.emplace_back(line.substr(9, colon - 9), line.substr(colon + 1));
    } else if (!line.starts_with("--") && !line.empty() && !queries.empty()) {
      queries.back().sql += (queries.back().sql.empty() ? "" : "\n") + line;
    }
  }
  return queries;
}

/// The leading columns that are not aggregates: those whose text in every exact row is the same in
/// the answer are found by name instead, since a key is never computed from a release.
std::size_t key_columns(const Answer& answer, const Explanation& explanation) {
  std::size_t keys = 0;
  while (keys < answer.columns.size() && explanation.columns[keys].mechanism.empty()) ++keys;
  return keys;
}

struct Outcome {
  Seconds ours, plain;
  std::string verdict, refusal;
  double error = std::numeric_limits<double>::quiet_NaN();  ///< per cent
  std::size_t kept = 0, lost = 0;
};

Outcome measure(const Query& query, const Options& options, DuckDb& plain, Curator& curator) {
  Outcome outcome;
  outcome.verdict = query.verdict;
  std::vector<double> errors;
  TextRows exact;
  static int asked = 0;
  const int runs =
      query.verdict == "public" ? options.rounds : std::max(options.runs, options.rounds);
  for (int run = 0; run < runs; ++run) {
    if (run < options.rounds) {
      const Stopwatch watch;
      exact = fetch(plain, query.sql);
      outcome.plain.keep_best(watch.read());
    }
    // Another epsilon is another question; a millionth of one is not seen in the error.
    const Question question{query.sql,
                            kOwnerAccount,
                            Epsilon::make(options.epsilon * (1 + 1e-9 * ++asked)).value(),
                            Delta::make(1e-7).value(),
                            {},
                            ""};
    const Stopwatch watch;
    const auto answer = curator.answer(question);
    const Seconds took = watch.read();
    if (!answer) {
      outcome.verdict = "refused";
      outcome.refusal = answer.error().message;
      return outcome;
    }
    outcome.ours.keep_best(took);
    if (query.verdict == "public") {
      DISCREET_CHECK(answer->rows.size() == exact.size(), "a public answer is exact");
      continue;
    }
    const auto explanation = curator.explain(question);
    const auto difference = compare(exact, answer->rows, key_columns(*answer, explanation.value()));
    errors.insert(errors.end(), difference.relative.begin(), difference.relative.end());
    outcome.kept = difference.kept;
    outcome.lost = difference.lost;
  }
  if (!errors.empty()) outcome.error = 100 * median(errors);
  return outcome;
}

void print(const Query& query, const Outcome& outcome, const Options& options) {
  const double wall = outcome.ours.wall / outcome.plain.wall,
               cpu = outcome.ours.cpu / outcome.plain.cpu;
  const std::string error =
      std::isnan(outcome.error) ? "exact" : fmt::format("{:.3g} %", outcome.error);
  const std::string page =
      query.page ? fmt::format("{:.3g} %{}", *query.page, query.of.empty() ? "" : " " + query.of)
                 : "";
  if (options.markdown) {
    if (outcome.verdict == "refused")
      fmt::print("| {} | refused | | | | | |\n", query.name);
    else
      fmt::print("| {} | {} | {:.0f} ms | {:.2f}x | {} | {} | {} / {} |\n", query.name,
                 query.verdict == "as" ? "as published" : query.verdict, 1e3 * outcome.ours.wall,
                 cpu, error, page, outcome.kept, outcome.lost);
  } else if (outcome.verdict == "refused") {
    fmt::print("{:4} refused: {}\n", query.name, outcome.refusal);
  } else {
    fmt::print(
        "{:4} {:9} {:6.0f} ms, plain {:6.0f} ms: wall {:5.2f}x cpu {:5.2f}x  error {:9} (page "
        "{}{})  groups {} lost {}\n",
        query.name, query.verdict, 1e3 * outcome.ours.wall, 1e3 * outcome.plain.wall, wall, cpu,
        error, page.empty() ? "-" : page,
        query.page ? fmt::format(", {:.2f}x", outcome.error / *query.page) : "", outcome.kept,
        outcome.lost);
  }
  if (!query.why.empty() && !options.markdown) fmt::print("       {}\n", query.why);
  std::fflush(stdout);
}

void log_engine(std::string_view text) {
  std::fprintf(stderr, "engine: %.*s\n", static_cast<int>(text.size()), text.data());
}

/// The median error of many answers, over a copy of the data with nothing but what is read.
void measure_errors(const Query& query, const Options& options, const std::string& data,
                    DuckDb& plain) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(data) / "kept";
  fs::remove_all(folder);
  fs::create_directory(folder);
  for (const auto& file : fs::directory_iterator(data))
    if (file.path().extension() == ".parquet" || file.path().extension() == ".toml")
      fs::create_symlink(fs::absolute(file.path()), folder / file.path().filename());
  for (const auto& [table, condition] : query.keeps) {
    const fs::path file = folder / (table + ".parquet");
    fs::remove(file);
    DISCREET_CHECK(plain
                       .execute("COPY (SELECT * FROM " + table + " WHERE " + condition + ") TO " +
                                sql_literal(file.string()) + " (FORMAT parquet)")
                       .has_value(),
                   "a table was not copied");
  }
  const auto policy = catalog::Policy::load(folder / "discreet.toml", {});
  const SystemClock clock;
  SecureRandom random;
  auto curator = Curator::open(*policy, clock, random, log_engine);
  DISCREET_CHECK(curator.has_value(), "the copy was not opened");
  const TextRows exact = fetch(plain, query.sql);
  std::vector<double> errors;
  std::map<std::string, int> notices;
  for (int run = 0; run < options.errors; ++run) {
    const Question question{query.sql,
                            kOwnerAccount,
                            Epsilon::make(options.epsilon * (1 + 1e-9 * run)).value(),
                            Delta::make(1e-7).value(),
                            {},
                            ""};
    const auto answer = curator->answer(question);
    if (!answer) {
      fmt::print("{:4} refused: {}\n", query.name, answer.error().message);
      return;
    }
    const auto explanation = curator->explain(question);
    const auto difference = compare(exact, answer->rows, key_columns(*answer, explanation.value()));
    errors.insert(errors.end(), difference.relative.begin(), difference.relative.end());
    for (const std::string& notice : answer->notices) ++notices[notice];
  }
  for (const auto& [notice, times] : notices) fmt::print("       {} x {}\n", times, notice);
  const double found = 100 * median(errors);
  std::sort(errors.begin(), errors.end());
  fmt::print(
      "{:4} median error {:.3g} % (p90 {:.3g}) of {} cells in {} runs, trials {:.3g} %{}: "
      "{:.2f}x\n",
      query.name, found, 100 * errors[errors.size() * 9 / 10],
      errors.size() / static_cast<std::size_t>(options.errors), options.errors,
      query.page.value_or(0), query.of.empty() ? "" : " " + query.of,
      found / query.page.value_or(0));
  std::fflush(stdout);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace discreet::bench

int main(int argc, char** argv) {
  using namespace discreet;
  using namespace discreet::bench;
  if (argc < 3) {
    std::fprintf(stderr,
                 "usage: tpch_bench DATA queries.sql [--runs N] [--rounds N] [--epsilon X] [--only "
                 "Qn] [--markdown 1] [--errors N]\n");
    return 2;
  }
  Options options;
  for (int i = 3; i + 1 < argc; i += 2) {
    const std::string name = argv[i], value = argv[i + 1];
    if (name == "--runs") options.runs = std::stoi(value);
    if (name == "--rounds") options.rounds = std::stoi(value);
    if (name == "--epsilon") options.epsilon = std::stod(value);
    if (name == "--errors") options.errors = std::stoi(value);
    if (name == "--only") options.only = value;
    if (name == "--markdown") options.markdown = value == "1";
  }
  const std::string data = argv[1];
  const auto policy = catalog::Policy::load(data + "/discreet.toml", {});
  if (!policy) {
    std::fprintf(stderr, "%s\n", policy.error().message.c_str());
    return 1;
  }
  const SystemClock clock;
  SecureRandom random;
  auto curator = Curator::open(*policy, clock, random, log_engine);
  if (!curator) {
    std::fprintf(stderr, "%s\n", curator.error().message.c_str());
    return 1;
  }
  DuckDb plain = DuckDb::open({}).value();
  for (const catalog::Table& table : policy->tables())
    DISCREET_CHECK(
        plain
            .execute("CREATE VIEW " + sql_identifier(table.name) +
                     " AS SELECT * FROM read_parquet(" + sql_literal(table.source.location) + ")")
            .has_value(),
        "a view was not made");
  if (options.errors > 0) {
    for (const Query& query : read_queries(argv[2]))
      if (query.page && (options.only.empty() || query.name == options.only))
        measure_errors(query, options, data, plain);
    return 0;
  }
  fmt::print(
      "TPC-H, epsilon {}, delta 1e-7, unit = customer; time: best of {}, error: median over cells "
      "of {} runs\n",
      options.epsilon, options.rounds, options.runs);
  if (options.markdown)
    fmt::print(
        "\n| query | answered | time | of plain DuckDB | median error | figure of the trials | "
        "groups kept / lost |\n|---|---|---:|---:|---:|---:|---:|\n");
  double log_cpu = 0, log_wall = 0, worst_cpu = 0, worst_wall = 0;
  int timed = 0;
  for (const Query& query : read_queries(argv[2])) {
    if (!options.only.empty() && query.name != options.only) continue;
    const Outcome outcome = measure(query, options, plain, *curator);
    print(query, outcome, options);
    if ((outcome.verdict == "refused") != (query.verdict == "refused"))
      fmt::print("       NOT AS EXPECTED: {}\n", outcome.refusal);
    if (outcome.verdict == "refused") continue;
    const double wall = outcome.ours.wall / outcome.plain.wall,
                 cpu = outcome.ours.cpu / outcome.plain.cpu;
    log_cpu += std::log(cpu);
    log_wall += std::log(wall);
    worst_cpu = std::max(worst_cpu, cpu);
    worst_wall = std::max(worst_wall, wall);
    ++timed;
  }
  if (timed > 0)
    fmt::print(
        "\n{} answered: geometric mean of time / plain: cpu {:.2f}x (worst {:.2f}x), wall {:.2f}x "
        "(worst {:.2f}x)\n",
        timed, std::exp(log_cpu / timed), worst_cpu, std::exp(log_wall / timed), worst_wall);
  return 0;
}
