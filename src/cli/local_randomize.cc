// `discreet local randomize`: values on stdin, reports on stdout. It stands for one client per
// line.
#include <cstdio>
#include <iostream>

#include <fmt/format.h>

#include "base/parse_number.h"
#include "cli/local_options.h"
#include "local/heavy_hitters.h"
#include "local/wire.h"
#include "random/secure_random.h"

namespace discreet::cli {
namespace {

struct Options {
  CollectionOptions collection;
  std::string bytes_max = "8", piece_bits = "4";
  bool binary = false, json = false;
};

// Strings that nobody listed: --oracle pem, treehist.
Result<int> randomize_strings(const Options& o) {
  local::HitterSpec spec;
  DISCREET_TRY(spec.epsilon, parse_number(o.collection.epsilon, "epsilon"));
  DISCREET_TRY(const auto bytes_max, parse_integer(o.bytes_max, "bytes-max"));
  if (bytes_max < 1 || bytes_max > 64) return invalid_parameter("bytes-max must be from 1 to 64");
  spec.bytes_max = static_cast<std::uint32_t>(bytes_max);
  DISCREET_TRY(const auto piece_bits, parse_integer(o.piece_bits, "piece-bits"));
  if (piece_bits < 1 || piece_bits > 8) return invalid_parameter("piece-bits must be from 1 to 8");
  spec.piece_bits = static_cast<std::uint32_t>(piece_bits);
  spec.name = o.collection.name;
  if (o.collection.oracle == "treehist") spec.kind = local::HitterKind::Sketch;
  DISCREET_TRY(const auto hitters, local::HeavyHitters::make(spec));
  SecureRandom random;
  std::vector<std::uint8_t> report(hitters.report_bytes());
  std::string out = hitters.header() + "\n";
  for (std::string line; std::getline(std::cin, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    hitters.randomize(line, random, report);
    out += local::report_line(report) + "\n";
  }
  std::fwrite(out.data(), 1, out.size(), stdout);
  return kOk;
}

int randomize(const Options& o) {
  if (o.collection.oracle == "pem" || o.collection.oracle == "treehist") {
    const auto done = randomize_strings(o);
    return done ? *done : fail(done.error());
  }
  const auto spec = collection_spec(o.collection);
  if (!spec) return fail(spec.error());
  const auto made = local::Oracle::make(*spec);
  if (!made) return fail(made.error());
  const local::Oracle& oracle = **made;
  SecureRandom random;
  const std::size_t size = oracle.report_bytes();
  std::vector<std::uint8_t> report(size), all;
  std::string out = o.binary ? std::string() : local::header_line(*spec) + "\n";
  std::uint64_t number = 0;
  std::ios::sync_with_stdio(false);
  for (std::string line; std::getline(std::cin, line);) {
    ++number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    const auto input = local::input_of(*spec, line);
    if (!input) {
      std::fwrite(out.data(), 1, out.size(), stdout);
      return fail({input.error().code, fmt::format("line {}: {}", number, input.error().message)});
    }
    oracle.randomize(*input, random, report);
    if (o.binary) {
      all.insert(all.end(), report.begin(), report.end());
      continue;
    }
    out += local::report_line(report);
    out += '\n';
    if (out.size() > (1U << 20)) {
      std::fwrite(out.data(), 1, out.size(), stdout);
      out.clear();
    }
  }
  if (o.binary) out = local::binary_batch(*spec, all);
  std::fwrite(out.data(), 1, out.size(), stdout);
  fmt::print(stderr, "{} reports by {}, {} bytes each; each costs its person epsilon {}\n", number,
             local::name(spec->kind), size, spec->epsilon);
  return kOk;
}

}  // namespace

void add_local_randomize(CLI::App& app, Action& chosen) {
  CLI::App* verb = add_verb(app, "randomize", "Values in (one a line), randomised reports out",
                            "  seq 0 1023 | discreet local randomize --oracle olh --epsilon 1 "
                            "--values 1024 > reports.ndjson");
  auto o = std::make_shared<Options>();
  add_collection_options(verb, o->collection);
  verb->add_option("--bytes-max", o->bytes_max, "pem, treehist: strings are cut here")
      ->capture_default_str();
  verb->add_option("--piece-bits", o->piece_bits,
                   "pem, treehist: how far prefixes grow from group to group; 1 walks the tree bit "
                   "by bit, as "
                   "in TreeHist's paper")
      ->capture_default_str();
  verb->add_flag("--binary", o->binary, "Records end to end instead of lines of JSON");
  verb->add_flag("--json", o->json, "Lines of JSON (the default)");
  verb->callback([&chosen, o] { chosen = [o] { return randomize(*o); }; });
}

}  // namespace discreet::cli
