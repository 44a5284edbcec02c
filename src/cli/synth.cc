// `discreet synth`: private twins of tables, and how near they are.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/parse_number.h"
#include "cli/synth_io.h"
#include "cli/synth_policy.h"
#include "cli/verb.h"
#include "random/secure_random.h"
#include "synth/intervals.h"
#include "synth/raw_twin.h"
#include "synth/report_html.h"
#include "synth/score.h"

namespace discreet::cli {
namespace {

using nlohmann::ordered_json;

constexpr double kDefaultDelta = 1e-9;

std::string file_name(const std::string& path) {
  return path.substr(path.find_last_of('/') + 1);
}

struct FitArguments {
  std::string data, domain, workload = "3way", epsilon, delta, method = "auto", out, report;
  std::string policy, as, intervals;
  std::string reconstruction = "auto";
  std::uint32_t rap_rounds = 0, rap_queries = 0;
  bool as_printed = false;
  bool sparsemax = false;
  std::size_t rows = 0, twins = 1, threads = 0;
  bool fast = false, json = false, refit = false;
};

struct ScoreArguments {
  std::string real, twin, domain, workload = "3way", report;
  bool json = false;
};

std::atomic<bool> interrupted = false;
void on_interrupt(int) {
  interrupted = true;
}

// "3way", or what a file holds.
Result<std::string> workload_text(const std::string& text) {
  if (text.size() == 4 && text.ends_with("way")) return text;
  return read_text_file(text);
}

Result<ApproxDp> parse_budget(const FitArguments& arguments) {
  DISCREET_TRY(const double epsilon, parse_number(arguments.epsilon, "--epsilon"));
  DISCREET_TRY(const double delta, arguments.delta.empty()
                                       ? Result<double>(kDefaultDelta)
                                       : parse_number(arguments.delta, "--delta"));
  if (!(epsilon > 0)) return invalid_parameter("--epsilon must be positive");
  if (!(delta > 0 && delta < 1)) return invalid_parameter("--delta must lie between 0 and 1");
  DISCREET_TRY(const Epsilon e, Epsilon::make(epsilon));
  DISCREET_TRY(const Delta d, Delta::make(delta));
  return ApproxDp{e, d};
}

// A line that is rewritten, on a terminal, for work over a second.
synth::JobProgress progress_line(bool terminal) {
  const auto start = std::chrono::steady_clock::now();
  return [start, terminal, last = 0.0](std::string_view stage, double done) mutable {
    const double taken =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (terminal && taken > 1 && taken - last > 0.1) {
      last = taken;
      std::fprintf(stderr, "\r\033[K%.*s: %3.0f %%, %.0f s left", static_cast<int>(stage.size()),
                   stage.data(), 100 * done, taken * (1 - done) / std::max(done, 0.01));
      std::fflush(stderr);
    }
    return !interrupted.load();
  };
}

using Fitted = synth::RawTwin;

Result<synth::RawTwinRequest> request_of(const FitArguments& arguments, ApproxDp budget) {
  synth::RawTwinRequest request{.budget = budget,
                                .rows = arguments.rows,
                                .twins = arguments.twins,
                                .refit = arguments.refit,
                                .threads = arguments.threads};
  DISCREET_TRY(request.workload, workload_text(arguments.workload));
  DISCREET_TRY(request.settings.method, synth::parse_method(arguments.method));
  DISCREET_TRY(request.settings.aim.reconstruction,
               synth::parse_reconstruction(arguments.reconstruction));
  request.settings.fast = arguments.fast;
  synth::RapSettings& rap = request.settings.rap;
  rap.rounds = arguments.rap_rounds;
  rap.queries_per_round = arguments.rap_queries;
  rap.as_printed = arguments.as_printed;
  if (arguments.sparsemax) rap.relaxation = synth::Relaxation::Sparsemax;
  return request;
}

Result<Fitted> fit_table(synth::RawTwinRequest request, const synth::RawTable& raw,
                         const std::vector<synth::ColumnSpec>& specs) {
  SecureRandom random;
  const bool terminal = ::isatty(STDERR_FILENO) == 1;
  request.progress = progress_line(terminal);
  auto fitted = synth::fit_raw(raw, specs, request, random);
  if (terminal) std::fputs("\r\033[K", stderr);
  return fitted;
}

// twin.csv, twin.2.csv, twin.3.csv ...
std::string numbered(const std::string& path, std::size_t number) {
  if (number == 0) return path;
  const std::size_t dot = path.rfind('.');
  return dot == std::string::npos
             ? fmt::format("{}.{}", path, number + 1)
             : fmt::format("{}.{}{}", path.substr(0, dot), number + 1, path.substr(dot));
}

std::string job_text(const FitArguments& a) {
  return fmt::format("method {}{}, workload {}, {} rows, {} twins{}{}", a.method,
                     a.fast ? " fast" : "", a.workload,
                     a.rows == 0 ? "estimated" : std::to_string(a.rows), a.twins,
                     (a.refit ? " fitted anew" : std::string()) +
                         (a.reconstruction == "auto" ? "" : ", answers by " + a.reconstruction),
                     a.rap_rounds > 0 || a.rap_queries > 0 || a.sparsemax
                         ? fmt::format(", rap {} x {}{}", a.rap_rounds, a.rap_queries,
                                       a.sparsemax ? " sparsemax" : "")
                         : "");
}

// Report and intervals are post-processing of what was released.
Result<void> write_extras(const FitArguments& arguments, const Fitted& fitted, ApproxDp budget,
                          const std::string& unit) {
  if (!arguments.intervals.empty())
    DISCREET_TRY_VOID(write_text_file(arguments.intervals, synth::intervals_json(fitted)));
  if (arguments.report.empty()) return {};
  synth::Workers workers(arguments.threads);
  return write_text_file(
      arguments.report,
      synth::report_html(
          {.title = fmt::format("A private twin of {}", file_name(arguments.data)),
           .epsilon = budget.epsilon.value(),
           .delta = budget.delta.value(),
           .unit = unit,
           .notes = fitted.twin.notes,
           .twin = &fitted.twin.tables.front(),
           .one_ways = fitted.twin.measured.empty() ? nullptr : &fitted.twin.measured,
           .workload = &fitted.workload},
          workers));
}

// The domain file's columns in the table's own order.
Result<std::vector<synth::ColumnSpec>> load_specs(const std::string& path,
                                                  const synth::RawTable& raw) {
  DISCREET_TRY(const std::string text, read_text_file(path));
  DISCREET_TRY(const auto specs, synth::parse_specs(text));
  std::vector<synth::ColumnSpec> ordered;
  for (const auto& column : raw.columns)
    for (const auto& spec : specs)
      if (spec.name == column.name) ordered.push_back(spec);
  for (const auto& spec : specs)
    if (std::none_of(ordered.begin(), ordered.end(),
                     [&](const auto& other) { return other.name == spec.name; }))
      return Error{
          ErrorCode::NotFound,
          fmt::format("the table has no column \"{}\", which the domain names", spec.name)};
  return ordered;
}

Result<PolicyTwin> fit_file(const FitArguments& arguments, ApproxDp budget) {
  if (arguments.domain.empty())
    return invalid_parameter(
        "say what the columns may hold: --domain FILE with {\"column\": number of values, ...}, or "
        "--policy. Finding it in the rows would give people away");
  DISCREET_TRY(const auto raw, read_raw_table(arguments.data));
  DISCREET_TRY(const auto specs, load_specs(arguments.domain, raw));
  DISCREET_TRY(const auto request, request_of(arguments, budget));
  DISCREET_TRY(const Fitted fitted, fit_table(request, raw, specs));
  DISCREET_TRY_VOID(write_extras(arguments, fitted, budget, "row"));
  return PolicyTwin{fitted.tables, fitted.twin.notes, false, ""};
}

Result<PolicyTwin> fit_under_policy(const FitArguments& arguments, ApproxDp budget) {
  DISCREET_TRY(const auto request, request_of(arguments, budget));
  const auto check = [&](const std::vector<synth::ColumnSpec>& specs) {
    return request.check(specs);
  };
  const auto make = [&](const synth::RawTable& raw,
                        const std::vector<synth::ColumnSpec>& specs) -> Result<PolicyTwin> {
    DISCREET_TRY(const Fitted fitted, fit_table(request, raw, specs));
    DISCREET_TRY_VOID(write_extras(arguments, fitted, budget, "privacy unit"));
    return PolicyTwin{fitted.tables, fitted.twin.notes, false, ""};
  };
  return twin_under_policy(
      {arguments.policy, arguments.data, arguments.as, budget, job_text(arguments)}, check, make);
}

int run_fit(const FitArguments& arguments) {
  const auto start = std::chrono::steady_clock::now();
  const auto budget = parse_budget(arguments);
  if (!budget) return fail(budget.error());
  if (arguments.as_printed &&
      (arguments.method != "rap" || arguments.domain.empty() || !arguments.policy.empty()))
    return fail(
        invalid_parameter("--as-printed needs --method rap and --domain, and no --policy: the "
                          "printed algorithm takes "
                          "the number of rows as public, which a policy's ledger does not"));
  std::signal(SIGINT, on_interrupt);
  const auto twin = arguments.policy.empty() ? fit_file(arguments, *budget)
                                             : fit_under_policy(arguments, *budget);
  if (!twin) return fail(twin.error());
  for (std::size_t t = 0; t < twin->tables.size(); ++t)
    if (const auto written = write_raw_table(twin->tables[t], numbered(arguments.out, t)); !written)
      return fail(written.error());
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  if (arguments.json)
    std::puts(ordered_json{{"out", arguments.out},
                           {"rows", twin->tables.front().rows()},
                           {"twins", twin->tables.size()},
                           {"epsilon", budget->epsilon.value()},
                           {"delta", budget->delta.value()},
                           {"repeated", twin->repeated},
                           {"seconds", taken.count()},
                           {"notes", twin->notes}}
                  .dump()
                  .c_str());
  for (const std::string& note : twin->notes) fmt::print(stderr, "{}\n", note);
  fmt::print(stderr, "wrote {}: {} rows, epsilon {:g}, delta {:g}{}, in {:.1f} s\n", arguments.out,
             twin->tables.front().rows(), budget->epsilon.value(), budget->delta.value(),
             twin->repeated ? " (paid before: nothing)" : "", taken.count());
  if (twin->repeated && !(arguments.report.empty() && arguments.intervals.empty()))
    fmt::print(stderr,
               "note: report and intervals are written when a twin is made, not when it is given "
               "again; `discreet synth score --report` needs no ledger\n");
  if (!twin->left.empty()) fmt::print(stderr, "{}\n", twin->left);
  return kOk;
}

// Without a domain every distinct text of either table is a code: scoring is not private anyway.
std::vector<synth::ColumnSpec> specs_of_both(const synth::RawTable& real,
                                             const synth::RawTable& twin) {
  std::vector<synth::ColumnSpec> specs;
  for (const auto& column : real.columns) {
    for (const auto& other : twin.columns) {
      if (other.name != column.name) continue;
      std::vector<std::string> values = column.texts;
      values.insert(values.end(), other.texts.begin(), other.texts.end());
      std::sort(values.begin(), values.end());
      values.erase(std::unique(values.begin(), values.end()), values.end());
      if (values.empty()) values.emplace_back();
      specs.push_back({column.name, synth::ValueColumn{std::move(values)}});
    }
  }
  return specs;
}

Result<ordered_json> compute_score(const ScoreArguments& arguments) {
  DISCREET_TRY(const auto real, read_raw_table(arguments.real));
  DISCREET_TRY(const auto twin, read_raw_table(arguments.twin));
  std::vector<synth::ColumnSpec> specs = specs_of_both(real, twin);
  if (!arguments.domain.empty()) {
    DISCREET_TRY(const std::string text, read_text_file(arguments.domain));
    DISCREET_TRY(specs, synth::parse_specs(text));
  }
  if (specs.empty()) return invalid_input("the two tables have no column in common");
  SecureRandom random;
  DISCREET_TRY(const Epsilon epsilon, Epsilon::make(1000));
  DISCREET_TRY(const Delta delta, Delta::make(0.1));
  DISCREET_TRY(const auto known, synth::encode(real, specs, {epsilon, delta}, random));
  DISCREET_TRY(const auto coded, synth::encode_with(twin, known));
  DISCREET_TRY(const std::string wanted, workload_text(arguments.workload));
  DISCREET_TRY(const auto workload, synth::workload_of(wanted, known.table.domain));
  synth::Workers workers(0);
  const synth::Score score = synth::score_twin(known.table, coded, workload, workers);
  if (!arguments.report.empty())
    DISCREET_TRY_VOID(write_text_file(
        arguments.report,
        synth::report_html({.title = fmt::format("{} beside {}", file_name(arguments.twin),
                                                 file_name(arguments.real)),
                            .twin = &coded,
                            .real = &known.table,
                            .workload = &workload},
                           workers)));
  ordered_json worst = ordered_json::array();
  std::vector<std::size_t> order(score.marginals.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) {
    return score.marginals[a].max_error > score.marginals[b].max_error;
  });
  for (std::size_t i = 0; i < std::min<std::size_t>(5, order.size()); ++i) {
    ordered_json names = ordered_json::array();
    for (const auto a : workload.marginals[order[i]].attributes)
      names.push_back(known.table.domain[a].name);
    worst.push_back({{"columns", names},
                     {"max_error", score.marginals[order[i]].max_error},
                     {"tvd", score.marginals[order[i]].tvd}});
  }
  return ordered_json{{"max_error", score.max_error},
                      {"mean_tvd", score.mean_tvd},
                      {"mean_error", score.mean_error},
                      {"marginals", score.marginals.size()},
                      {"rows_real", real.rows()},
                      {"rows_twin", twin.rows()},
                      {"worst", worst},
                      {"private", false}};
}

int run_score(const ScoreArguments& arguments) {
  const auto score = compute_score(arguments);
  if (!score) return fail(score.error());
  std::fputs("note: a score reads the real rows without noise; it is NOT private\n", stderr);
  if (arguments.json) {
    std::puts(score->dump().c_str());
    return kOk;
  }
  fmt::print("max error {:.5f}\nmean TVD  {:.5f}\n", (*score)["max_error"].get<double>(),
             (*score)["mean_tvd"].get<double>());
  for (const auto& worst : (*score)["worst"])
    fmt::print("  {:.5f}  {}\n", worst["max_error"].get<double>(), worst["columns"].dump());
  return kOk;
}

void add_fit(CLI::App* parent, Action& chosen) {
  CLI::App* verb = add_verb(
      *parent, "fit", "Make a private twin of a table",
      "  discreet synth fit adult.csv --domain adult-domain.json --epsilon 1 --out twin.csv");
  auto a = std::make_shared<FitArguments>();
  verb->add_option("data", a->data, "The table: a CSV or Parquet file, or a policy's table")
      ->required();
  verb->add_option("--domain", a->domain, "What the columns may hold, as JSON")->type_name("FILE");
  verb->add_option("--workload", a->workload,
                   "What should be right: 1way, 2way, 3way ..., or a JSON file of marginals")
      ->capture_default_str();
  verb->add_option("--epsilon", a->epsilon, "Privacy loss of the whole twin")->required();
  verb->add_option("--delta", a->delta, "Chance that the loss is larger (default 1e-9)");
  verb->add_option("--method", a->method, "auto, latent, aim, mst, rap or independent")
      ->capture_default_str();
  verb->add_flag("--fast", a->fast, "A fraction of the time for a little more error");
  verb->add_option("--rows", a->rows, "Rows of the twin (default: a private estimate)");
  verb->add_option("--twins", a->twins, "How many twins, for multiple imputation")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  verb->add_flag("--refit", a->refit,
                 "Fit every twin anew to measurements with fresh noise, so that twins spread as "
                 "the noise does");
  verb->add_option("--threads", a->threads, "0 takes all cores; the twin does not depend on it")
      ->capture_default_str();
  verb->add_option("--out", a->out, "The twin: .csv or .parquet")->required();
  verb->add_option("--report", a->report, "A page about the twin, as public as the twin")
      ->type_name("FILE");
  verb->add_option("--intervals", a->intervals, "95 % intervals of every measured count, as JSON")
      ->type_name("FILE");
  verb->add_option("--policy", a->policy, "Take a policy's table, and charge its ledger")
      ->type_name("FILE");
  verb->add_option("--as", a->as, "Who pays, under a policy");
  verb->add_option("--reconstruction", a->reconstruction,
                   "aim: answers from its model, from residuals around it, or auto by size")
      ->capture_default_str();
  verb->add_option("--rap-rounds", a->rap_rounds, "T of adaptive projection (default: 1)");
  verb->add_option("--rap-queries", a->rap_queries, "K, queries per round (default: all)");
  verb->add_flag("--as-printed", a->as_printed,
                 "rap: the published algorithm to the letter; the number of rows is public");
  verb->add_flag("--sparsemax", a->sparsemax, "Project to the simplex instead of softmax");
  verb->add_flag("--json", a->json, "One JSON object about the twin on stdout");
  verb->callback([&chosen, a] { chosen = [a] { return run_fit(*a); }; });
}

void add_score(CLI::App* parent, Action& chosen) {
  CLI::App* verb =
      add_verb(*parent, "score", "How far a twin is from the real table (not private)",
               "  discreet synth score adult.csv twin.csv --workload adult-rap64.json --json");
  auto a = std::make_shared<ScoreArguments>();
  verb->add_option("real", a->real, "The real table")->required();
  verb->add_option("twin", a->twin, "The twin")->required();
  verb->add_option("--domain", a->domain, "What the columns may hold")->type_name("FILE");
  verb->add_option("--workload", a->workload, "1way, 2way, 3way ..., or a JSON file")
      ->capture_default_str();
  verb->add_option("--report", a->report, "A page with errors and pictures (not private)")
      ->type_name("FILE");
  verb->add_flag("--json", a->json, "One JSON object");
  verb->callback([&chosen, a] { chosen = [a] { return run_score(*a); }; });
}

}  // namespace

void add_synth(CLI::App& app, Action& chosen) {
  CLI::App* verb = add_verb(
      app, "synth", "Private synthetic twins of tables",
      "  discreet synth fit adult.csv --domain adult-domain.json --epsilon 1 --out twin.csv");
  verb->require_subcommand(1);
  add_fit(verb, chosen);
  add_score(verb, chosen);
}

}  // namespace discreet::cli
