// `discreet policy check | init`: is the policy sound, and a first draft of one from a file's
// schema.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/policy_option.h"
#include "cli/question_options.h"
#include "cli/text_table.h"
#include "curator/data.h"
#include "engines/duckdb/database.h"

namespace discreet::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

struct PolicyArguments {
  std::string policy;
  std::vector<std::string> data;
  std::string out;
  bool json = false;
};

struct SchemaColumn {
  std::string name;
  std::string type;
};

/// Names and types only: parquet's schema, or a CSV file's header and what its first lines look
/// like.
Result<std::vector<SchemaColumn>> schema_of(DuckDb& database, const std::string& path) {
  const bool parquet = path.ends_with(".parquet");
  auto rows = database.query(
      fmt::format("SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM {}({}))",
                  parquet ? "read_parquet" : "read_csv", sql_literal(path)));
  if (!rows)
    return Error{ErrorCode::InvalidInput,
                 fmt::format("{} cannot be read as {}", path, parquet ? "parquet" : "CSV")};
  std::vector<SchemaColumn> columns;
  while (true) {
    DISCREET_TRY(const auto chunk, rows->next());
    if (!chunk) return columns;
    for (std::size_t i = 0; i < chunk->size(); ++i)
      columns.push_back({std::string(chunk->varchar(0, i)), std::string(chunk->varchar(1, i))});
  }
}

// -- check
// ------------------------------------------------------------------------------------------

Result<void> check_against_files(const catalog::Policy& policy) {
  DISCREET_TRY(DuckDb database, DuckDb::open({}));
  std::string problems;
  const auto is_file = [](const catalog::Table& table) {
    return table.source.kind == catalog::SourceKind::Parquet ||
           table.source.kind == catalog::SourceKind::Csv;
  };
  if (!std::all_of(policy.tables().begin(), policy.tables().end(), is_file)) {
    // Another database is asked for its columns as the curator would.
    DISCREET_TRY(const Data opened, Data::open(policy, operator_log()));
    return {};
  }
  for (const catalog::Table& table : policy.tables()) {
    const auto columns = schema_of(database, table.source.location);
    std::vector<std::string> names;
    if (columns)
      for (const SchemaColumn& column : *columns) names.push_back(column.name);
    const auto checked =
        columns ? policy.check_columns(table, names) : Result<void>(columns.error());
    if (!checked) problems += (problems.empty() ? "" : "\n") + checked.error().message;
  }
  if (problems.empty()) return {};
  return invalid_input(std::move(problems));
}

std::string protects(const catalog::Table& table) {
  using Kind = catalog::Unit::Kind;
  switch (table.unit.kind) {
    case Kind::None:
      return "nobody (public)";
    case Kind::Row:
      return "each row";
    case Kind::Column:
      return "each " + table.unit.column;
    case Kind::Linked:
      return fmt::format("each {} of {}", table.unit.owner_column, table.unit.owner_table);
  }
  return {};
}

int check(const PolicyArguments& arguments) {
  const auto policy = load_policy(arguments.policy);
  if (!policy) return fail(policy.error());
  if (const auto checked = check_against_files(*policy); !checked) return fail(checked.error());
  ordered_json tables = ordered_json::array();
  std::vector<std::vector<std::string>> rows;
  for (const catalog::Table& table : policy->tables()) {
    std::size_t hidden = 0, ranges = 0, keys = 0;
    for (const catalog::Column& column : table.columns) {
      hidden += column.hidden;
      ranges += column.range.has_value();
      keys += column.has_public_keys();
    }
    const std::string rows_max =
        table.max_rows_per_unit ? std::to_string(*table.max_rows_per_unit) : "-";
    rows.push_back({table.name, protects(table), rows_max, std::to_string(ranges),
                    std::to_string(keys), std::to_string(hidden)});
    tables.push_back({{"table", table.name},
                      {"protects", protects(table)},
                      {"people", table.unit.people},
                      {"ranges", ranges},
                      {"public_keys", keys},
                      {"hidden", hidden}});
  }
  if (arguments.json) {
    std::puts(ordered_json{{"policy", arguments.policy},
                           {"sound", true},
                           {"tables", tables},
                           {"warnings", policy->warnings()}}
                  .dump()
                  .c_str());
    return kOk;
  }
  std::fputs(text_table({{"table"},
                         {"protects"},
                         {"rows each", true},
                         {"ranges", true},
                         {"public keys", true},
                         {"hidden", true}},
                        rows)
                 .c_str(),
             stdout);
  for (const catalog::Budget& budget : policy->budgets())
    fmt::print("budget {}: epsilon {}, delta {}{}\n", budget.name, shown(budget.amount.epsilon),
               shown(budget.amount.delta), budget.grant ? ", and a grant that comes back" : "");
  return kOk;
}

// -- init
// -------------------------------------------------------------------------------------------

std::string table_name(const fs::path& path) {
  std::string name = path.filename().string();
  name = name.substr(0, name.find('.'));
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front()))) name = "t_" + name;
  return name;
}

/// Bare where TOML allows it.
std::string key(const std::string& name) {
  bool bare = !name.empty();
  for (const char c : name)
    bare = bare && (std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-');
  return bare ? name : ordered_json(name).dump();
}

bool looks_like_unit(const std::string& name) {
  return name == "id" || name.ends_with("_id") || name.ends_with("Id") || name.ends_with("_key") ||
         name.ends_with("custkey");
}
bool looks_secret(const std::string& name) {
  std::string lower = name;
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const char* word : {"ssn", "name", "email", "phone", "address", "passport", "password",
                           "secret", "iban", "card"})
    if (lower.find(word) != std::string::npos) return true;
  return false;
}
bool is_number(const std::string& type) {
  for (const char* start : {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT",
                            "USMALLINT", "UINTEGER", "UBIGINT", "FLOAT", "DOUBLE", "DECIMAL"})
    if (type.starts_with(start)) return true;
  return false;
}

std::string draft_column(const SchemaColumn& column, const std::string& unit) {
  const std::string left = fmt::format("{:<16}", key(column.name));
  if (column.name == unit) return fmt::format("{} = {{}}   # {}: the unit\n", left, column.type);
  if (looks_secret(column.name))
    return fmt::format("{} = {{ hidden = true }}   # {}: DECIDE: hidden because of its name\n",
                       left, column.type);
  if (is_number(column.type))
    return fmt::format(
        "{} = {{}}   # {}: DECIDE: {{ range = [LOW, HIGH] }} if its bounds are public knowledge\n",
        left, column.type);
  if (column.type == "VARCHAR" || column.type == "BOOLEAN")
    return fmt::format(
        "{} = {{}}   # {}: DECIDE: {{ values = [...] }} if its keys are public knowledge\n", left,
        column.type);
  return fmt::format("{} = {{}}   # {}\n", left, column.type);
}

std::string draft_table(const std::string& source, const std::vector<SchemaColumn>& columns) {
  std::string unit = "row";
  for (const SchemaColumn& column : columns)
    if (looks_like_unit(column.name)) {
      unit = column.name;
      break;
    }
  std::string text =
      fmt::format("[tables.{}]\nsource = {}\n", table_name(source), ordered_json(source).dump());
  text += fmt::format(
      "unit = {}   # DECIDE: who is protected? A column that names the person; \"row\" only if no "
      "person has\n"
      "               # two rows; \"column -> table.column\" for a table that belongs to another; "
      "or, instead of\n"
      "               # this line, public = true if nothing here is about people\n",
      ordered_json(unit).dump());
  text += fmt::format("[tables.{}.columns]\n", table_name(source));
  for (const SchemaColumn& column : columns) text += draft_column(column, unit);
  return text;
}

/// As a policy beside it would name it.
std::string source_for(const std::string& data, const std::string& out) {
  if (out.empty()) return data;
  return fs::proximate(fs::absolute(data), fs::absolute(out).parent_path()).string();
}

Result<std::string> draft(const PolicyArguments& arguments) {
  DISCREET_TRY(DuckDb database, DuckDb::open({}));
  std::string text =
      "# A draft made from names and types alone: no row was used. Lines marked DECIDE need a "
      "human who knows\n"
      "# what is public. `discreet policy check` tells what is still wrong.\n\n";
  for (const std::string& data : arguments.data) {
    if (!fs::is_regular_file(data))
      return Error{ErrorCode::NotFound, fmt::format("there is no file {}", data)};
    DISCREET_TRY(const auto columns, schema_of(database, data));
    text += draft_table(source_for(data, arguments.out), columns) + "\n";
  }
  text +=
      "[budgets.default]\n"
      "epsilon = 1.0    # DECIDE: how much may be learnt about one person, by everybody together, "
      "for ever\n"
      "delta   = 1e-7   # DECIDE: well below 1 / (number of people)\n";
  return text;
}

int init(const PolicyArguments& arguments) {
  if (!arguments.out.empty() && fs::exists(arguments.out))
    return fail(invalid_parameter(
        fmt::format("{} exists; remove it first, or choose another --out", arguments.out)));
  const auto text = draft(arguments);
  if (!text) return fail(text.error());
  if (arguments.json) {
    std::puts(ordered_json{{"policy", *text}}.dump().c_str());
  } else if (arguments.out.empty()) {
    std::fputs(text->c_str(), stdout);
  } else {
    std::ofstream file(arguments.out, std::ios::binary);
    file << *text;
    if (!file.flush())
      return fail({ErrorCode::Unavailable, fmt::format("cannot write {}", arguments.out)});
    fmt::print(stderr,
               "wrote {}; decide the lines marked DECIDE, then run discreet policy check {}\n",
               arguments.out, arguments.out);
  }
  return kOk;
}

}  // namespace

void add_policy(CLI::App& app, Action& chosen) {
  CLI::App* verb = add_verb(app, "policy", "Check a policy, or draft one from data files",
                            "  discreet policy init people.parquet visits.csv --out discreet.toml\n"
                            "  discreet policy check discreet.toml");
  verb->require_subcommand(1);
  auto arguments = std::make_shared<PolicyArguments>();
  arguments->policy = kPolicyFile;
  CLI::App* checking = add_verb(*verb, "check", "Is the policy sound, and does it fit its files?",
                                "  discreet policy check discreet.toml");
  checking->add_option("POLICY", arguments->policy, "The policy file")->capture_default_str();
  checking->add_flag("--json", arguments->json, "One JSON object");
  checking->callback([&chosen, arguments] { chosen = [arguments] { return check(*arguments); }; });
  CLI::App* drafting =
      add_verb(*verb, "init", "Draft a policy from names and types of columns; no row is used",
               "  discreet policy init people.parquet --out discreet.toml");
  drafting->add_option("DATA", arguments->data, "Parquet or CSV files")->required();
  drafting->add_option("--out", arguments->out, "Where to write it; stdout if not given");
  drafting->add_flag("--json", arguments->json, "One JSON object that holds the text");
  drafting->callback([&chosen, arguments] { chosen = [arguments] { return init(*arguments); }; });
}

}  // namespace discreet::cli
