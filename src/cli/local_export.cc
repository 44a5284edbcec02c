// `discreet local export`: what a collector stored, as Parquet for other tools or as lines for
// `discreet local estimate`. Reports were randomised by their senders; nothing else is in the file.
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>

#include <fmt/format.h>

#include "cli/local_options.h"
#include "engines/duckdb/database.h"
#include "local/collector/report_log.h"

namespace discreet::cli {
namespace {

struct Options {
  std::string log, out = "-";
};

std::string hex(local::Bytes bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

/// One call a report, with its batch's name.
template <class Visit>
Result<std::uint64_t> each_report(const std::string& path, const Visit& visit) {
  DISCREET_TRY(const std::string header, local::ReportLog::header_of(path));
  DISCREET_TRY(const local::Spec spec, local::parse_header(header));
  DISCREET_TRY(const auto oracle, local::Oracle::make(spec));
  const std::size_t size = oracle->report_bytes();
  std::uint64_t count = 0;
  DISCREET_TRY(const std::string same,
               local::ReportLog::scan(path, [&](const local::BatchId& id, local::Bytes records) {
                 for (std::size_t at = 0; at + size <= records.size(); at += size, ++count)
                   visit(id, records.subspan(at, size));
               }));
  return count;
}

Result<std::uint64_t> to_lines(const std::string& path, std::ostream& out) {
  DISCREET_TRY(const std::string header, local::ReportLog::header_of(path));
  out << header << '\n';
  return each_report(path, [&](const local::BatchId&, local::Bytes report) {
    out << '"' << hex(report) << "\"\n";
  });
}

Result<std::uint64_t> to_parquet(const std::string& path, const std::string& out) {
  DISCREET_TRY(const std::string header, local::ReportLog::header_of(path));
  const std::string rows = fmt::format("{}.{}.csv", out, ::getpid());
  std::ofstream file(rows);
  DISCREET_TRY(const std::uint64_t count,
               each_report(path, [&](const local::BatchId& id, local::Bytes report) {
                 file << hex(id) << ',' << hex(report) << '\n';
               }));
  file.close();
  DISCREET_TRY(DuckDb engine, DuckDb::open({}));
  const auto written = engine.execute(fmt::format(
      "COPY (SELECT unhex(batch) AS batch, unhex(report) AS report FROM read_csv({}, header = "
      "false, "
      "columns = {{'batch': 'VARCHAR', 'report': 'VARCHAR'}})) TO {} (FORMAT parquet, KV_METADATA "
      "{{discreet_local: {}}})",
      sql_literal(rows), sql_literal(out), sql_literal(header)));
  std::error_code ignored;
  std::filesystem::remove(rows, ignored);
  if (!written || !file) return Error{ErrorCode::Unavailable, fmt::format("cannot write {}", out)};
  return count;
}

Result<int> run(const Options& o) {
  Result<std::uint64_t> count = std::uint64_t{0};
  if (o.out == "-") {
    count = to_lines(o.log, std::cout);
  } else if (o.out.ends_with(".parquet")) {
    count = to_parquet(o.log, o.out);
  } else {
    std::ofstream file(o.out);
    count = to_lines(o.log, file);
    if (!file.flush()) return Error{ErrorCode::Unavailable, fmt::format("cannot write {}", o.out)};
  }
  if (!count) return count.error();
  fmt::print(stderr, "{} reports\n", *count);
  return kOk;
}

}  // namespace

void add_local_export(CLI::App& app, Action& chosen) {
  CLI::App* verb =
      add_verb(app, "export", "A collector's stored reports as Parquet or lines",
               "  discreet local export reports/emoji.reports --out emoji.parquet\n"
               "  discreet local export reports/emoji.reports | discreet local estimate");
  auto o = std::make_shared<Options>();
  verb->add_option("log", o->log, "The collection's file, NAME.reports")->required();
  verb->add_option("--out", o->out, "FILE.parquet, or another file for lines; - is stdout")
      ->capture_default_str();
  verb->callback([&chosen, o] {
    chosen = [o] {
      const auto done = run(*o);
      return done ? *done : fail(done.error());
    };
  });
}

}  // namespace discreet::cli
