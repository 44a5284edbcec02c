// `discreet synth`: private twins of tables, and how near they are.
#include "synth/synthesize.h"

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
#include "synth/encoding.h"
#include "synth/report_html.h"
#include "synth/score.h"

namespace discreet::cli {
namespace {

using nlohmann::ordered_json;

constexpr double kDefaultDelta = 1e-9;
constexpr std::uint64_t kDefaultCellsMax = 50'000;  // of a marginal in "3way"
constexpr double kFindingShare = 0.1;               // of the budget, where bins or keys are unknown

std::string file_name(const std::string& path) {
  return path.substr(path.find_last_of('/') + 1);
}

struct FitArguments {
  std::string data, domain, workload = "3way", epsilon, delta, method = "auto", out, report;
  std::string policy, as, intervals;
  std::uint32_t rap_rounds = 0, rap_queries = 0;
  bool as_printed = false;
  bool sparsemax = false;
  std::size_t rows = 0, twins = 1, threads = 0;
  bool fast = false, json = false;
};

struct ScoreArguments {
  std::string real, twin, domain, workload = "3way", report;
  bool json = false;
};

std::atomic<bool> interrupted = false;
void on_interrupt(int) {
  interrupted = true;
}

// "3way", or a file.
Result<synth::Workload> load_workload(const std::string& text, const synth::Domain& domain) {
  if (text.size() == 4 && text.ends_with("way") && text[0] >= '1' && text[0] <= '9')
    return synth::Workload::all(domain, static_cast<std::uint32_t>(text[0] - '0'),
                                kDefaultCellsMax);
  DISCREET_TRY(const std::string json, read_text_file(text));
  return synth::Workload::parse(json, domain);
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

struct Split {
  ApproxDp finding{Epsilon::zero(), Delta::zero()}, fitting;
};

// A tenth to find bins and keys where some column needs them.
Result<Split> split_budget(ApproxDp whole, std::size_t to_find) {
  if (to_find == 0) return Split{{Epsilon::zero(), Delta::zero()}, whole};
  DISCREET_TRY(const Epsilon e, Epsilon::make(mul_down(kFindingShare, whole.epsilon.value())));
  DISCREET_TRY(const Delta d, Delta::make(mul_down(kFindingShare, whole.delta.value())));
  DISCREET_TRY(const Epsilon rest, Epsilon::make(sub_down(whole.epsilon.value(), e.value())));
  DISCREET_TRY(const Delta rest_delta, Delta::make(sub_down(whole.delta.value(), d.value())));
  return Split{{e, d}, {rest, rest_delta}};
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

struct Fitted {
  synth::EncodedTable real;
  synth::Workload workload;
  synth::Twin twin;
  std::vector<synth::RawTable> tables;
};

Result<Fitted> fit_table(const FitArguments& arguments, const synth::RawTable& raw,
                         const std::vector<synth::ColumnSpec>& specs, ApproxDp budget) {
  SecureRandom random;
  DISCREET_TRY(const Split split, split_budget(budget, synth::columns_to_find(specs)));
  DISCREET_TRY(auto real, synth::encode(raw, specs, split.finding, random));
  DISCREET_TRY(auto workload, load_workload(arguments.workload, real.table.domain));
  DISCREET_TRY(const synth::Method method, synth::parse_method(arguments.method));
  synth::Workers workers(arguments.threads);
  const bool terminal = ::isatty(STDERR_FILENO) == 1;
  const synth::FitContext context{.workers = workers,
                                  .random = random,
                                  .progress = progress_line(terminal),
                                  .rows_out = arguments.rows,
                                  .twins = arguments.twins};
  synth::SynthesisSettings settings{.method = method, .fast = arguments.fast};
  settings.rap.rounds = arguments.rap_rounds;
  settings.rap.queries_per_round = arguments.rap_queries;
  settings.rap.as_printed = arguments.as_printed;
  if (arguments.sparsemax) settings.rap.relaxation = synth::Relaxation::Sparsemax;
  auto twin = synth::synthesize(real.table, workload, split.fitting, settings, context);
  if (terminal) std::fputs("\r\033[K", stderr);
  if (!twin) return twin.error();
  synth::Dice dice(random);
  std::vector<synth::RawTable> tables;
  for (const auto& table : twin->tables) tables.push_back(synth::decode(table, real.codecs, dice));
  return Fitted{std::move(real), std::move(workload), *std::move(twin), std::move(tables)};
}

// twin.csv, twin.2.csv, twin.3.csv ...
std::string numbered(const std::string& path, std::size_t number) {
  if (number == 0) return path;
  const std::size_t dot = path.rfind('.');
  return dot == std::string::npos
             ? fmt::format("{}.{}", path, number + 1)
             : fmt::format("{}.{}{}", path.substr(0, dot), number + 1, path.substr(dot));
}

// 95 % intervals of the one-way counts, as they were measured.
std::string intervals_json(const Fitted& fitted) {
  ordered_json out = ordered_json::array();
  synth::Dice dice(0, 0);
  for (const auto& marginal : fitted.twin.measured) {
    if (marginal.attributes.size() != 1) continue;
    const auto& codec = fitted.real.codecs[marginal.attributes[0]];
    ordered_json cells = ordered_json::array();
    for (std::size_t v = 0; v < marginal.counts.size(); ++v) {
      const auto estimate = static_cast<double>(marginal.counts[v]);
      const auto& bin = codec.bins[v];
      ordered_json value;
      if (bin.is_number && bin.low != bin.high)
        value = {codec.numbers.lower + static_cast<double>(bin.low) * codec.numbers.step,
                 codec.numbers.lower + static_cast<double>(bin.high) * codec.numbers.step};
      else if (const auto text = codec.decode(static_cast<std::uint16_t>(v), dice))
        value = *text;
      cells.push_back({{"value", value},
                       {"low", std::max(0.0, estimate - 1.96 * marginal.sigma)},
                       {"high", std::max(0.0, estimate + 1.96 * marginal.sigma)}});
    }
    out.push_back({{"column", codec.name}, {"sigma", marginal.sigma}, {"cells", cells}});
  }
  return ordered_json{{"confidence", 0.95}, {"marginals", out}}.dump(1) + "\n";
}

std::string job_text(const FitArguments& a) {
  return fmt::format("method {}{}, workload {}, {} rows, {} twins{}", a.method,
                     a.fast ? " fast" : "", a.workload,
                     a.rows == 0 ? "estimated" : std::to_string(a.rows), a.twins,
                     a.rap_rounds > 0 || a.rap_queries > 0 || a.sparsemax
                         ? fmt::format(", rap {} x {}{}", a.rap_rounds, a.rap_queries,
                                       a.sparsemax ? " sparsemax" : "")
                         : "");
}

// Report and intervals are post-processing of what was released.
Result<void> write_extras(const FitArguments& arguments, const Fitted& fitted, ApproxDp budget,
                          const std::string& unit) {
  if (!arguments.intervals.empty())
    DISCREET_TRY_VOID(write_text_file(arguments.intervals, intervals_json(fitted)));
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
  DISCREET_TRY(const Fitted fitted, fit_table(arguments, raw, specs, budget));
  DISCREET_TRY_VOID(write_extras(arguments, fitted, budget, "row"));
  return PolicyTwin{fitted.tables, fitted.twin.notes, false, ""};
}

Result<PolicyTwin> fit_under_policy(const FitArguments& arguments, ApproxDp budget) {
  const auto check = [&](const std::vector<synth::ColumnSpec>& specs) -> Result<void> {
    DISCREET_TRY_VOID(synth::parse_method(arguments.method));
    std::vector<synth::Attribute> attributes;
    for (const auto& spec : specs) attributes.push_back({spec.name, 2});
    DISCREET_TRY(const synth::Domain domain, synth::Domain::make(std::move(attributes)));
    DISCREET_TRY_VOID(load_workload(arguments.workload, domain));
    return {};
  };
  const auto make = [&](const synth::RawTable& raw,
                        const std::vector<synth::ColumnSpec>& specs) -> Result<PolicyTwin> {
    DISCREET_TRY(const Fitted fitted, fit_table(arguments, raw, specs, budget));
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
  DISCREET_TRY(const auto workload, load_workload(arguments.workload, known.table.domain));
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
  verb->add_option("--threads", a->threads, "0 takes all cores; the twin does not depend on it")
      ->capture_default_str();
  verb->add_option("--out", a->out, "The twin: .csv or .parquet")->required();
  verb->add_option("--report", a->report, "A page about the twin, as public as the twin")
      ->type_name("FILE");
  verb->add_option("--intervals", a->intervals, "95 % intervals of one-way counts, as JSON")
      ->type_name("FILE");
  verb->add_option("--policy", a->policy, "Take a policy's table, and charge its ledger")
      ->type_name("FILE");
  verb->add_option("--as", a->as, "Who pays, under a policy");
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
