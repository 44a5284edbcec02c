// `discreet anonymize`: anonymisation as practised, with what it loses and what it leaves open.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "anonymity/lattice.h"
#include "anonymity/metrics.h"
#include "anonymity/mondrian.h"
#include "attack/report.h"
#include "base/parse_number.h"
#include "cli/verb.h"
#include "engines/duckdb/database.h"

namespace discreet::cli {
namespace {

struct AnonymizeArguments {
  std::string file, sensitive, method = "mondrian", out, curse;
  std::vector<std::string> quasi, hierarchies;
  std::size_t k = 5, l = 1;
  double t = 1, suppress = 0.02;
  bool check = false, json = false;
};

Error unreadable(const std::string& file) {
  return {ErrorCode::InvalidInput,
          fmt::format("'{}' could not be read as CSV or Parquet with the columns named.", file)};
}

// Text becomes labels in alphabetical order, so that neighbouring codes are neighbouring words.
Result<anonymity::Column> read_column(DuckDb& database, const std::string& file,
                                      const std::string& name) {
  const auto source = sql_literal(file);
  const auto quoted = sql_identifier(name);
  auto rows = database.query(fmt::format("SELECT {} FROM {}", quoted, source));
  if (!rows) return unreadable(file);
  const DuckDbType type = rows->columns().front().type;
  anonymity::Column column{name, {}, {}, type == DuckDbType::Date};
  const bool whole = type == DuckDbType::Int64 || type == DuckDbType::Date;
  std::vector<std::string> texts;
  if (!whole) {
    rows = database.query(
        fmt::format("SELECT coalesce(CAST({} AS VARCHAR), '') FROM {}", quoted, source));
    if (!rows) return unreadable(file);
  }
  while (true) {
    auto chunk = rows->next();
    if (!chunk) return unreadable(file);
    if (!chunk->has_value()) break;
    for (std::size_t row = 0; row < (*chunk)->size(); ++row)
      if (!whole)
        texts.emplace_back((*chunk)->varchar(0, row));
      else if ((*chunk)->is_null(0, row))
        return invalid_input(
            fmt::format("column '{}' has empty values; fill or drop them first.", name));
      else
        column.codes.push_back((*chunk)->int64s(0)[row]);
  }
  if (whole) return column;
  std::map<std::string, std::int64_t> codes;
  for (const std::string& text : texts) codes.emplace(text, 0);
  for (auto& [text, code] : codes) {
    code = static_cast<std::int64_t>(column.labels.size());
    column.labels.push_back(text);
  }
  for (const std::string& text : texts) column.codes.push_back(codes.at(text));
  return column;
}

Result<anonymity::Table> read_table(const AnonymizeArguments& arguments) {
  auto database = DuckDb::open({});
  if (!database) return database.error();
  anonymity::Table table;
  for (const std::string& name : arguments.quasi) {
    auto column = read_column(*database, arguments.file, name);
    if (!column) return column.error();
    table.quasi.push_back(std::move(*column));
  }
  auto column = read_column(*database, arguments.file, arguments.sensitive);
  if (!column) return column.error();
  table.sensitive = std::move(*column);
  if (table.rows() == 0) return invalid_input(fmt::format("'{}' has no rows.", arguments.file));
  return table;
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

Result<void> write_release(const anonymity::Table& table, const anonymity::Release& release,
                           const std::string& path) {
  std::ofstream file(path);
  for (const auto& column : table.quasi) file << csv_field(column.name) << ',';
  file << csv_field(table.sensitive.name) << '\n';
  for (const anonymity::Class& part : release.classes) {
    std::string common;
    for (std::size_t c = 0; c < table.quasi.size(); ++c)
      common += csv_field(describe(table.quasi[c], part.ranges[c])) + ',';
    for (const std::size_t row : part.rows) {
      const std::int64_t code = table.sensitive.codes[row];
      file << common << csv_field(describe(table.sensitive, {code, code})) << '\n';
    }
  }
  file.close();
  if (!file) return Error{ErrorCode::Unavailable, fmt::format("'{}' could not be written.", path)};
  return {};
}

void print_metrics(const char* which, const anonymity::Metrics& found, bool json) {
  if (json) {
    std::puts(nlohmann::ordered_json({{"release", which},
                                      {"k", found.k},
                                      {"l", found.l},
                                      {"entropy_l", found.entropy_l},
                                      {"t", found.t},
                                      {"prosecutor_max", found.prosecutor_max},
                                      {"prosecutor_mean", found.prosecutor_mean},
                                      {"alone", found.alone},
                                      {"homogeneous", found.homogeneous},
                                      {"information_loss", found.information_loss},
                                      {"suppressed", found.suppressed}})
                  .dump()
                  .c_str());
    return;
  }
  fmt::print(
      "{}: k {}, l {} (entropy {:.2f}), t {:.3f}\n"
      "  chance to find a person who is in it: {:.1f} % at worst, {:.1f} % on average\n"
      "  alone in their class: {:.1f} %; in a class with one sensitive value: {:.1f} %\n"
      "  information lost: {:.1f} %, rows left out: {:.1f} %\n",
      which, found.k, found.l, found.entropy_l, found.t, 100 * found.prosecutor_max,
      100 * found.prosecutor_mean, 100 * found.alone, 100 * found.homogeneous,
      100 * found.information_loss, 100 * found.suppressed);
}

// With the first 1, 2, 3 ... columns known: who is alone, and how small the smallest class is.
Result<void> write_curse(const anonymity::Table& table, const AnonymizeArguments& arguments) {
  attack::Series alone{"people alone", {}}, found{"1 / k", {}};
  fmt::print(stderr, "columns known      k   alone\n");
  for (const auto& point : anonymity::curse_of_dimensionality(table)) {
    const auto x = static_cast<double>(point.attributes);
    alone.points.emplace_back(x, point.alone);
    found.points.emplace_back(x, 1 / static_cast<double>(point.k));
    fmt::print(stderr, "{:>13} {:>6}   {:>4.1f} %\n", point.attributes, point.k, 100 * point.alone);
  }
  std::ofstream file(arguments.curse);
  file << attack::curves("The more is known, the more people are alone", "quasi-identifiers known",
                         "share; 1 / k is the worst chance to be found", {alone, found});
  file.close();
  if (!file)
    return Error{ErrorCode::Unavailable,
                 fmt::format("'{}' could not be written.", arguments.curse)};
  return {};
}

// "age=1,5,20,200": widths of a column's levels, each a multiple of the one before.
Result<std::vector<anonymity::Hierarchy>> hierarchies_of(const anonymity::Table& table,
                                                         const AnonymizeArguments& arguments) {
  std::vector<anonymity::Hierarchy> all;
  for (const auto& column : table.quasi) all.push_back(default_hierarchy(column));
  for (const std::string& text : arguments.hierarchies) {
    const auto equals = text.find('=');
    const std::string name = text.substr(0, equals);
    std::size_t at = 0;
    while (at < table.quasi.size() && table.quasi[at].name != name) ++at;
    if (equals == std::string::npos || at == table.quasi.size())
      return invalid_parameter(fmt::format(
          "--hierarchy takes COLUMN=1,5,20,... for one of the columns of --quasi, not '{}'.",
          text));
    const auto [low, high] =
        std::minmax_element(table.quasi[at].codes.begin(), table.quasi[at].codes.end());
    std::vector<std::int64_t> widths;
    std::string rest = text.substr(equals + 1) + ",";
    for (std::size_t comma = 0; (comma = rest.find(',')) != std::string::npos;
         rest.erase(0, comma + 1)) {
      DISCREET_TRY(const double width, parse_number(rest.substr(0, comma), "a width"));
      if (!(width >= 1 && width <= 1e12) || width != std::floor(width) ||
          (widths.empty() ? width != 1 : std::fmod(width, static_cast<double>(widths.back())) != 0))
        return invalid_parameter(
            "widths of a hierarchy begin with 1, and each is a multiple of the one before.");
      widths.push_back(static_cast<std::int64_t>(width));
    }
    const std::int64_t span = *high - *low;  // the top covers everything
    if (widths.back() <= span) widths.push_back(widths.back() * (span / widths.back() + 1));
    all[at] = {std::move(widths)};
  }
  return all;
}

int run(const AnonymizeArguments& arguments) {
  const auto table = read_table(arguments);
  if (!table) return fail(table.error());
  print_metrics("as it is", measure(*table, as_published(*table)), arguments.json);
  if (!arguments.curse.empty())
    if (const auto done = write_curse(*table, arguments); !done) return fail(done.error());
  if (arguments.check) return kOk;
  const anonymity::Requirements requirements{arguments.k, arguments.l, arguments.t};
  std::optional<anonymity::Release> release;
  if (arguments.method == "lattice") {
    const auto hierarchies = hierarchies_of(*table, arguments);
    if (!hierarchies) return fail(hierarchies.error());
    auto found = generalise(*table, *hierarchies, requirements, arguments.suppress);
    if (!found) return fail(found.error());
    fmt::print(stderr, "best of the {} combinations of levels looked at\n", found->nodes);
    release = std::move(found->release);
  } else {
    auto found = mondrian(*table, requirements);
    if (!found) return fail(found.error());
    release = std::move(*found);
  }
  print_metrics("anonymised", measure(*table, *release), arguments.json);
  if (!arguments.out.empty())
    if (const auto done = write_release(*table, *release, arguments.out); !done)
      return fail(done.error());
  fmt::print(stderr,
             "This is no guarantee: classes with one sensitive value give it away, two such tables "
             "of the same people can be intersected, and what an attacker knows is not bounded by "
             "the columns named here. See `discreet attack intersection`.\n");
  return kOk;
}

}  // namespace

void add_anonymize(CLI::App& app, Action& chosen) {
  auto arguments = std::make_shared<AnonymizeArguments>();
  CLI::App* verb =
      add_verb(app, "anonymize", "Make a table k-anonymous, and measure what that leaves open",
               "  discreet anonymize patients.csv --quasi zip,birth_date,sex --sensitive diagnosis "
               "--k 5 --out k5.csv\n"
               "  Columns that are not named do not appear: that is redaction.");
  verb->add_option("file", arguments->file, "CSV or Parquet")->required();
  verb->add_option("--quasi", arguments->quasi, "columns that others may know, with commas")
      ->delimiter(',')
      ->required();
  verb->add_option("--hierarchy", arguments->hierarchies,
                   "lattice: widths of a column's levels, COLUMN=1,5,20,100")
      ->expected(1)
      ->take_all();
  verb->add_option("--sensitive", arguments->sensitive, "the column to protect")->required();
  verb->add_option("--k", arguments->k, "rows in a class, at least")->capture_default_str();
  verb->add_option("--l", arguments->l, "different sensitive values in a class, at least")
      ->capture_default_str();
  verb->add_option("--t", arguments->t, "distance of a class from the table, at most")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  verb->add_option("--method", arguments->method, "mondrian (local) or lattice (full-domain)")
      ->check(CLI::IsMember({"mondrian", "lattice"}))
      ->capture_default_str();
  verb->add_option("--suppress", arguments->suppress, "lattice: share of rows that may be left out")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  verb->add_option("--out", arguments->out, "the anonymised table, as CSV");
  verb->add_option("--curse", arguments->curse, "an SVG: people alone against columns known");
  verb->add_flag("--check", arguments->check, "only measure the table as it is");
  verb->add_flag("--json", arguments->json, "one object a release");
  verb->callback([arguments, &chosen] { chosen = [arguments] { return run(*arguments); }; });
}

}  // namespace discreet::cli
