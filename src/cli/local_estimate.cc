// `discreet local estimate`: reports on stdin, counts with their errors on stdout.
#include <cmath>
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "accounting/shuffle.h"
#include "base/parse_number.h"
#include "cli/local_options.h"
#include "cli/text_table.h"
#include "local/confidence.h"
#include "local/estimates.h"
#include "local/heavy_hitters.h"
#include "local/postprocess.h"
#include "local/wire.h"

namespace discreet::cli {
namespace {

struct Options {
  std::string reports = "-", candidates, post = "none", confidence = "0.95", shuffled_delta;
  bool json = false, simultaneous = false;
  std::uint64_t top = 0;
};

struct Loaded {
  std::unique_ptr<local::Oracle> oracle;
  local::ReadReports read;
};

Result<Loaded> load(const std::string& text) {
  const local::Bytes bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  Loaded loaded;
  if (local::is_binary_batch(bytes)) {
    DISCREET_TRY(const auto batch, local::parse_binary_batch(bytes));
    DISCREET_TRY(loaded.oracle, local::Oracle::make(batch.spec));
    local::read_records(*loaded.oracle, batch.records, loaded.read);
    return loaded;
  }
  const auto end = std::min(text.find('\n'), text.size());
  DISCREET_TRY(const auto spec, local::parse_header(std::string_view(text).substr(0, end)));
  DISCREET_TRY(loaded.oracle, local::Oracle::make(spec));
  if (end < text.size())
    local::read_lines(*loaded.oracle, std::string_view(text).substr(end + 1), 2, loaded.read);
  return loaded;
}

void say_about(const Loaded& loaded, const Options& o) {
  const auto& read = loaded.read;
  fmt::print(stderr, "{} reports by {} at epsilon {}", read.accepted,
             local::name(loaded.oracle->spec().kind), loaded.oracle->spec().epsilon);
  if (read.refused > 0) fmt::print(stderr, "; {} refused", read.refused);
  fmt::print(stderr, "\n");
  for (const auto& refusal : read.refusals)
    fmt::print(stderr, "refused report {}: {}\n", refusal.place, refusal.why);
  if (o.shuffled_delta.empty() || read.accepted == 0) return;
  const auto delta = parse_number(o.shuffled_delta, "shuffled-delta");
  if (!delta) return;
  const double local_epsilon = loaded.oracle->spec().epsilon;
  const auto numeric = shuffle_clones_epsilon(read.accepted, local_epsilon, *delta);
  const auto closed = shuffle_closed_form_epsilon(read.accepted, local_epsilon, *delta);
  if (numeric)
    fmt::print(
        stderr,
        "if these reports were shuffled: central epsilon {:.4g} at delta {} (closed form {})\n",
        *numeric, *delta, closed ? fmt::format("{:.4g}", *closed) : "does not apply");
}

/// Counts without a fraction, small numbers with three digits of it.
std::string plain(double number) {
  return std::abs(number) >= 100 ? fmt::format("{:.0f}", number) : fmt::format("{:.3f}", number);
}

using Row = local::EstimateRow;

Result<std::vector<Row>> rows_of(const Loaded& loaded, const Options& o) {
  local::Tally tally = loaded.oracle->empty_tally();
  loaded.oracle->add(loaded.read.reports, tally);
  local::EstimateQuestion question{.simultaneous = o.simultaneous, .post = o.post, .top = o.top};
  DISCREET_TRY(question.confidence, parse_number(o.confidence, "confidence"));
  if (!o.candidates.empty()) {
    DISCREET_TRY(const auto text, read_all(o.candidates));
    question.candidates = lines_of(text);
  }
  return local::estimate_rows(*loaded.oracle, tally, question);
}

// Reports of strings that nobody listed: the frequent ones are found first.
Result<std::vector<Row>> strings_of(const std::string& text, const Options& o) {
  const auto lines = lines_of(text);
  DISCREET_TRY(const auto hitters, local::HeavyHitters::from_header(lines.front()));
  std::vector<std::uint8_t> reports;
  std::uint64_t refused = 0;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const auto report = local::parse_report_line(lines[i]);
    if (!report || !hitters.valid(*report))
      ++refused;
    else
      reports.insert(reports.end(), report->begin(), report->end());
  }
  fmt::print(stderr, "{} reports of strings; {} refused\n", reports.size() / hitters.report_bytes(),
             refused);
  DISCREET_TRY(const double confidence, parse_number(o.confidence, "confidence"));
  DISCREET_TRY(const double z, local::critical_value(confidence));
  DISCREET_TRY(const auto found, hitters.find(reports, o.top == 0 ? 20 : o.top, confidence));
  std::vector<Row> rows;
  for (const auto& h : found)
    rows.push_back({h.text, h.estimate, h.standard_error,
                    std::max(0.0, h.estimate - z * h.standard_error),
                    h.estimate + z * h.standard_error});
  return rows;
}

Result<std::vector<Row>> answer(const std::string& text, const Options& o) {
  if (local::HeavyHitters::is_header(std::string_view(text).substr(0, text.find('\n'))))
    return strings_of(text, o);
  DISCREET_TRY(const auto loaded, load(text));
  say_about(loaded, o);
  return rows_of(loaded, o);
}

int estimate(const Options& o) {
  const auto text = read_all(o.reports);
  if (!text) return fail(text.error());
  const auto rows = answer(*text, o);
  if (!rows) return fail(rows.error());
  if (o.json) {
    for (const auto& row : *rows) {
      nlohmann::ordered_json out;
      out["value"] = row.value;
      out["estimate"] = row.estimate;
      out["stderr"] = row.standard_error;
      out["low"] = row.low;
      out["high"] = row.high;
      std::printf("%s\n",
                  out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
    }
    return kOk;
  }
  fmt::print("{:<20}{:>14}{:>12}{:>14}{:>14}\n", "value", "estimate", "stderr", "low", "high");
  for (const auto& row : *rows)
    fmt::print("{:<20}{:>14}{:>12}{:>14}{:>14}\n", row.value, plain(row.estimate),
               plain(row.standard_error), plain(row.low), plain(row.high));
  return kOk;
}

}  // namespace

void add_local_estimate(CLI::App& app, Action& chosen) {
  CLI::App* verb = add_verb(app, "estimate", "Reports in, counts with standard errors out",
                            "  discreet local estimate --json --top 10 < reports.ndjson");
  auto o = std::make_shared<Options>();
  verb->add_option("reports", o->reports, "File of reports; - is stdin")->capture_default_str();
  verb->add_option("--candidates", o->candidates, "File of values to estimate, one a line");
  verb->add_option("--post", o->post,
                   fmt::format("Post-processing: {}", fmt::join(local::post_process_names(), ", ")))
      ->capture_default_str();
  verb->add_option("--confidence", o->confidence, "Of the intervals")->capture_default_str();
  verb->add_flag("--simultaneous", o->simultaneous, "Intervals that hold for all values together");
  verb->add_option("--shuffled-delta", o->shuffled_delta,
                   "Restate the privacy centrally, as if the reports had been shuffled");
  verb->add_option("--top", o->top, "Only the largest N");
  verb->add_flag("--json", o->json, "One JSON object a line: value, estimate, stderr, low, high");
  verb->callback([&chosen, o] { chosen = [o] { return estimate(*o); }; });
}

}  // namespace discreet::cli
