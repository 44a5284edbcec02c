// Private twins of data frames.
//
// Guarantee: as synthesize(): what leaves is (epsilon, delta)-DP for one row added or removed. What
//            nobody declared is found privately out of the same budget: the reach of numbers by
//            private extremes of their magnitudes, keys and bins by encode(). What the frame's
//            types say (whole, real, date, yes or no, text) is taken as public.
// Proof:     docs/proofs/synth_measurements.md, docs/proofs/quantile.md (extremes)
#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>

#include <fmt/format.h>
#include <nanobind/stl/function.h>
#include <nlohmann/json.hpp>

#include "base/rounding.h"
#include "bindings/arrow.h"
#include "bindings/glue.h"
#include "mechanisms/extreme.h"
#include "synth/encoding.h"
#include "synth/report_html.h"
#include "synth/score.h"
#include "synth/synthesize.h"

namespace discreet::python {
namespace {

constexpr double kFindingShare = 0.1;               // of the budget for bins and keys, for ranges
constexpr std::uint64_t kDefaultCellsMax = 50'000;  // of a marginal in "3way"

synth::Workload workload_of(const std::string& text, const synth::Domain& domain) {
  if (text.size() == 4 && text.ends_with("way") && text[0] >= '1' && text[0] <= '9')
    return value(
        synth::Workload::all(domain, static_cast<std::uint32_t>(text[0] - '0'), kDefaultCellsMax));
  return value(synth::Workload::parse(text, domain));
}

/// Where a number stands among the powers of two: 0 for (-1, 1), k for [2^(k-1), 2^k), and below
/// zero alike. Rising, so that extremes of codes bound the numbers.
constexpr int kCodeMax = 64;
std::int64_t magnitude_code(double number) {
  if (!(std::fabs(number) >= 1)) return 0;
  const int code = std::min(std::ilogb(number) + 1, kCodeMax);
  return number > 0 ? code : -code;
}
double bound_of(std::int64_t code) {
  return code >= 0 ? std::ldexp(1.0, static_cast<int>(code))
                   : -std::ldexp(1.0, static_cast<int>(-code));
}

struct Reach {
  double lower, upper;
};

/// A range that holds nearly all of a column's numbers, at this epsilon in all.
Reach find_reach(const synth::RawColumn& column, double epsilon) {
  std::vector<std::int64_t> of_text;
  for (const std::string& text : column.texts) {
    double number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    of_text.push_back(magnitude_code(number));
  }
  std::vector<std::int64_t> codes;
  for (const std::uint32_t row : column.rows)
    if (row != synth::RawColumn::kNull) codes.push_back(of_text[row]);
  const Epsilon half = epsilon_of(epsilon).share(2);
  const IntegerRange range{-kCodeMax, kCodeMax};
  // A range that is too wide spoils every bin, one that is too narrow moves a few rows to its ends.
  constexpr double kCaution = 3;
  const auto least =
      value(Extreme::make(half, ExtremeSide::Minimum, range, kCaution)).release(codes, noise());
  const auto most =
      value(Extreme::make(half, ExtremeSide::Maximum, range, kCaution)).release(codes, noise());
  // Numbers that reach only upwards start at zero, and the other way round.
  Reach reach{least >= 0 ? 0 : bound_of(least), most <= 0 ? 0 : bound_of(most)};
  if (reach.lower >= reach.upper) reach = {std::min(reach.lower, 0.0), std::max(reach.upper, 1.0)};
  return reach;
}

struct Specs {
  std::vector<synth::ColumnSpec> columns;
  std::vector<std::string> notes;
};

bool is_number(const std::string& type) {
  return type == "bigint" || type == "double precision";
}

/// What the frame's types say of a column that nobody declared; numbers get a range.
synth::ColumnSpec spec_of(const synth::RawColumn& column, const std::string& type, double epsilon,
                          std::vector<std::string>& notes) {
  if (type == "boolean") return {column.name, synth::ValueColumn{{"false", "true"}}};
  if (type == "date" || type == "timestamp") {
    const auto day = [](const char* text) {
      return static_cast<double>(value(synth::parse_date(text)));
    };
    return {column.name, synth::NumberColumn{day("1900-01-01"), day("2100-12-31"), 1, true}};
  }
  if (!is_number(type)) return {column.name, synth::KeyColumn{}};
  const Reach reach = find_reach(column, epsilon);
  double step =
      std::max(1.0, std::exp2(std::ceil(std::log2((reach.upper - reach.lower) / 0x1p29))));
  if (type != "bigint") step = (reach.upper - reach.lower) / 0x1p20;
  notes.push_back(
      fmt::format("{}: found privately within [{:g}, {:g}]; declare its range for less "
                  "error",
                  column.name, reach.lower, reach.upper));
  return {column.name, synth::NumberColumn{reach.lower, reach.upper, step}};
}

Specs specs_of(const ImportedTable& table, const std::vector<synth::ColumnSpec>& declared,
               double epsilon_for_ranges, std::size_t ranges) {
  Specs specs;
  for (std::size_t i = 0; i < table.raw.columns.size(); ++i) {
    const auto& column = table.raw.columns[i];
    const auto found = std::find_if(declared.begin(), declared.end(),
                                    [&](const auto& spec) { return spec.name == column.name; });
    specs.columns.push_back(
        found != declared.end()
            ? *found
            : spec_of(column, table.types[i],
                      ranges == 0 ? 0 : epsilon_for_ranges / static_cast<double>(ranges),
                      specs.notes));
  }
  return specs;
}

std::size_t ranges_to_find(const ImportedTable& table,
                           const std::vector<synth::ColumnSpec>& declared) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < table.types.size(); ++i)
    count += is_number(table.types[i]) &&
             std::none_of(declared.begin(), declared.end(),
                          [&](const auto& spec) { return spec.name == table.raw.columns[i].name; });
  return count;
}

struct FitOptions {
  double epsilon, delta;
  std::string method, workload;
  std::size_t rows, twins, threads;
  bool fast;
};

/// A fitted twin with all that is public about it.
struct FittedTwin {
  synth::EncodedTable shape;  // codecs; its rows are the twin's own
  synth::Workload workload;
  synth::Twin twin;
  std::vector<synth::RawTable> tables;
  std::vector<std::string> types, notes;
};

using Progress = std::function<bool(std::string, double)>;

synth::JobProgress job_progress(const Progress& progress) {
  if (!progress) return {};
  return [&progress](std::string_view stage, double done) {
    const nb::gil_scoped_acquire locked;
    if (PyErr_CheckSignals() != 0) return false;
    return progress(std::string(stage), done);
  };
}

struct Shares {
  double ranges;
  ApproxDp finding, fitting;
};

/// A tenth for ranges and a tenth for bins and keys, each only where some column needs it.
Shares shares_of(const FitOptions& options, bool ranges, bool keys) {
  const double for_ranges = ranges ? mul_down(kFindingShare, options.epsilon) : 0;
  const double for_keys = keys ? mul_down(kFindingShare, options.epsilon) : 0;
  const double delta_for_keys = keys ? mul_down(kFindingShare, options.delta) : 0;
  return {for_ranges, target_of(for_keys, delta_for_keys),
          target_of(sub_down(sub_down(options.epsilon, for_ranges), for_keys),
                    sub_down(options.delta, delta_for_keys))};
}

/// What is wrong with a call whatever the rows are is told before anything is charged.
synth::Method checked_method(const FitOptions& options) {
  target_of(options.epsilon, options.delta);
  if (!(options.epsilon > 0)) throw Failure(invalid_parameter("epsilon must be positive"));
  if (!(options.delta > 0 && options.delta < 1))
    throw Failure(invalid_parameter("delta must lie between 0 and 1"));
  return value(synth::parse_method(options.method));
}

/// Runs without Python's lock; `progress` takes it when it is called.
FittedTwin fit_unlocked(const ImportedTable& table, const std::vector<synth::ColumnSpec>& declared,
                        const FitOptions& options, synth::Method method, const Progress& progress) {
  const std::size_t ranges = ranges_to_find(table, declared);
  const double for_ranges = shares_of(options, ranges > 0, false).ranges;
  Specs specs = specs_of(table, declared, for_ranges, ranges);
  const Shares shares = shares_of(options, ranges > 0, synth::columns_to_find(specs.columns) > 0);
  auto encoded = value(synth::encode(table.raw, specs.columns, shares.finding, noise()));
  auto workload = workload_of(options.workload, encoded.table.domain);
  synth::Workers workers(options.threads);
  const synth::FitContext context{.workers = workers,
                                  .random = noise(),
                                  .progress = job_progress(progress),
                                  .rows_out = options.rows,
                                  .twins = options.twins};
  const synth::SynthesisSettings settings{.method = method, .fast = options.fast};
  auto twin = value(synth::synthesize(encoded.table, workload, shares.fitting, settings, context));
  synth::Dice dice(noise());
  std::vector<synth::RawTable> tables;
  for (const auto& made : twin.tables) tables.push_back(synth::decode(made, encoded.codecs, dice));
  // Nothing of the real rows stays: what is kept is the twin and the ways to write its codes.
  encoded.table = twin.tables.front();
  specs.notes.insert(specs.notes.end(), twin.notes.begin(), twin.notes.end());
  return {std::move(encoded), std::move(workload), std::move(twin),
          std::move(tables),  table.types,         std::move(specs.notes)};
}

/// `charge` is called once, before the first release; when it throws, nothing is released.
std::unique_ptr<FittedTwin> fit(const nb::object& frame, const std::string& domain,
                                const FitOptions& options, const Progress& progress,
                                const std::function<void()>& charge) {
  const ImportedTable table = import_table(frame);
  const auto declared =
      domain.empty() ? std::vector<synth::ColumnSpec>() : value(synth::parse_specs(domain));
  for (const auto& spec : declared)
    if (std::none_of(table.raw.columns.begin(), table.raw.columns.end(),
                     [&](const auto& column) { return column.name == spec.name; }))
      throw Failure(
          {ErrorCode::NotFound,
           fmt::format("the table has no column \"{}\", which the domain names", spec.name)});
  const synth::Method method = checked_method(options);
  if (charge) charge();
  const Unlocked unlocked;
  return std::make_unique<FittedTwin>(fit_unlocked(table, declared, options, method, progress));
}

nb::object twin_stream(const FittedTwin& self, std::size_t number) {
  std::vector<TextColumn> columns;
  const synth::RawTable& table = self.tables.at(number);
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const auto& source = table.columns[c];
    auto& column = columns.emplace_back(TextColumn{source.name, self.types[c], {}});
    for (const std::uint32_t row : source.rows)
      column.cells.push_back(row == synth::RawColumn::kNull ? std::nullopt
                                                            : std::optional(source.texts[row]));
  }
  return export_stream(columns);
}

std::string twin_report(const FittedTwin& self, const std::string& title, double epsilon,
                        double delta) {
  const Unlocked unlocked;
  synth::Workers workers(0);
  return synth::report_html({.title = title,
                             .epsilon = epsilon,
                             .delta = delta,
                             .unit = "row",
                             .notes = self.notes,
                             .twin = &self.twin.tables.front(),
                             .one_ways = self.twin.measured.empty() ? nullptr : &self.twin.measured,
                             .workload = &self.workload},
                            workers);
}

/// NOT private: reads both tables as they are.
std::tuple<double, double, double> score(const nb::object& real, const nb::object& twin,
                                         const std::string& workload_text) {
  const ImportedTable first = import_table(real), second = import_table(twin);
  const Unlocked unlocked;
  std::vector<synth::ColumnSpec> specs;
  for (const auto& column : first.raw.columns)
    for (const auto& other : second.raw.columns) {
      if (other.name != column.name) continue;
      std::vector<std::string> values = column.texts;
      values.insert(values.end(), other.texts.begin(), other.texts.end());
      std::sort(values.begin(), values.end());
      values.erase(std::unique(values.begin(), values.end()), values.end());
      if (values.empty()) values.emplace_back();
      specs.push_back({column.name, synth::ValueColumn{std::move(values)}});
    }
  if (specs.empty()) throw Failure(invalid_input("the two tables have no column in common"));
  const auto known = value(synth::encode(first.raw, specs, target_of(1000, 0.1), noise()));
  const auto coded = value(synth::encode_with(second.raw, known));
  const auto workload = workload_of(workload_text, known.table.domain);
  synth::Workers workers(0);
  const auto found = synth::score_twin(known.table, coded, workload, workers);
  return {found.max_error, found.mean_error, found.mean_tvd};
}

}  // namespace

void bind_synth(nb::module_& m) {
  nb::class_<FittedTwin>(m, "FittedTwin")
      .def("stream", twin_stream)
      .def("report", twin_report)
      .def("notes", [](const FittedTwin& self) { return self.notes; })
      .def("rows", [](const FittedTwin& self) { return self.tables.front().rows(); })
      .def("rho", [](const FittedTwin& self) { return self.twin.rho.value(); })
      .def("rows_estimate", [](const FittedTwin& self) { return self.twin.rows_estimate; });
  m.def(
      "synth_fit",
      [](const nb::object& frame, const std::string& domain, double epsilon, double delta,
         std::string method, std::string workload, std::size_t rows, std::size_t twins,
         std::size_t threads, bool fast, const Progress& progress,
         const std::function<void()>& charge) {
        return fit(
            frame, domain,
            {epsilon, delta, std::move(method), std::move(workload), rows, twins, threads, fast},
            progress, charge);
      },
      "frame"_a, "domain"_a, "epsilon"_a, "delta"_a, "method"_a, "workload"_a, "rows"_a, "twins"_a,
      "threads"_a, "fast"_a, "progress"_a.none(), "charge"_a.none());
  m.def("synth_score", score, "real"_a, "twin"_a, "workload"_a);
}

}  // namespace discreet::python
