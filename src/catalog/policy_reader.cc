// From the text of a policy to a checked Policy. The only file that knows TOML.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <utility>

#include "base/suggest.h"
#include "catalog/policy.h"
#include "catalog/policy_values_internal.h"
#include "catalog/toml_nodes_internal.h"
#include "catalog/toml_text_internal.h"
#include "catalog/units_internal.h"
#include "catalog/whole_policy_internal.h"

namespace discreet::catalog {
namespace {

namespace fs = std::filesystem;

}  // namespace

class PolicyReader {
 public:
  PolicyReader(const fs::path& path, PolicyChecks checks)
      : problems_(path.string()), folder_(fs::absolute(path).parent_path()), checks_(checks) {
    policy_.path_ = path;
  }

  Result<Policy> read(std::string_view text) {
    const std::string plain = ascii_toml(text, problems_);
    if (!problems_.empty()) return problems_.error();
    toml::table root;
    try {
      root = toml::parse(plain, policy_.path_.string());
    } catch (const toml::parse_error& error) {
      problems_.add(static_cast<int>(error.source().begin.line),
                    fmt::format("not TOML: {}", error.description()));
      return problems_.error();
    } catch (const std::logic_error&) {
      problems_.add(0, "not TOML");
      return problems_.error();
    }
    known_keys(root, "the policy", {"tables", "budgets", "analysts", "ledger", "bounds"});
    read_bounds(root);
    read_tables(root);
    read_budgets(root);
    read_analysts(root);
    read_ledger(root);
    policy_.warnings_ = check_whole(policy_, problems_);
    if (!problems_.empty()) return problems_.error();
    return std::move(policy_);
  }

 private:
  // -- small readers: each says what is wrong and goes on, so that one reading finds everything
  // ----

  void known_keys(const toml::table& table, const std::string& where,
                  const std::vector<std::string>& known) {
    for (const auto& [key, node] : table) {
      const std::string name(key.str());
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      std::string hint = did_you_mean(name, known);
      if (hint.empty()) {
        hint = "; known here: ";
        for (std::size_t i = 0; i < known.size(); ++i) hint += (i ? ", " : "") + known[i];
      }
      problems_.add(line_of(key), fmt::format("unknown key '{}' in {}{}", name, where, hint));
    }
  }

  /// The sub-table of this name, or null; another kind of value is a problem.
  const toml::table* table_at(const toml::table& parent, std::string_view key,
                              const std::string& form) {
    const toml::node* node = parent.get(key);
    if (!node) return nullptr;
    if (const toml::table* table = node->as_table()) return table;
    problems_.add(line_of(*node), fmt::format("'{}' is {}; write {}", key, toml_kind(*node), form));
    return nullptr;
  }

  std::optional<std::string> text_at(const toml::table& parent, std::string_view key,
                                     const std::string& example) {
    const toml::node* node = parent.get(key);
    if (!node) return std::nullopt;
    if (const auto* text = node->as_string()) return text->get();
    problems_.add(line_of(*node),
                  fmt::format("'{}' is {}; write {} = {}", key, toml_kind(*node), key, example));
    return std::nullopt;
  }

  bool flag_at(const toml::table& parent, std::string_view key) {
    const toml::node* node = parent.get(key);
    if (!node) return false;
    if (const auto* flag = node->as_boolean()) return flag->get();
    problems_.add(line_of(*node),
                  fmt::format("'{}' is {}; write true or false", key, toml_kind(*node)));
    return false;
  }

  // -- sections
  // ------------------------------------------------------------------------------------

  void read_bounds(const toml::table& root) {
    const auto text = text_at(root, "bounds", "\"auto\"");
    if (!text || *text == "auto") return;
    policy_.bounds_ = BoundsRule::Declared;
    if (*text != "declared")
      problems_.add(
          line_of(*root.get("bounds")),
          fmt::format("bounds = \"{}\" is unknown; write \"auto\" (bounds nobody declared are "
                      "found privately) or \"declared\" (such statements are refused)",
                      *text));
  }

  void read_tables(const toml::table& root) {
    const toml::table* tables = table_at(root, "tables", "[tables.NAME]");
    std::vector<UnitClaim> claims;
    if (tables)
      for (const auto& [key_at, node_at] : in_file_order(*tables)) {
        const toml::key& key = *key_at;
        const toml::node& node = *node_at;

        const std::string name(key.str());
        if (!is_plain_name(name))
          problems_.add(
              line_of(key),
              fmt::format("table name '{}' must be letters, digits and underscores", name));
        if (const toml::table* body = node.as_table()) {
          read_table(name, line_of(key), *body, claims);
        } else {
          problems_.add(line_of(key),
                        fmt::format("'{}' is {}; write [tables.{}]", name, toml_kind(node), name));
        }
      }
    if (policy_.tables_.empty() && problems_.empty())
      problems_.add(0, "no tables: add [tables.NAME] with source and unit");
    resolve_units(policy_.tables_, claims, problems_);
  }

  void read_table(const std::string& name, int line, const toml::table& body,
                  std::vector<UnitClaim>& claims) {
    const std::string where = fmt::format("[tables.{}]", name);
    known_keys(body, where,
               {"source", "unit", "public", "people", "max_rows_per_unit", "columns",
                "unlisted_columns", "key"});
    Table table;
    table.name = name;
    table.line = line;
    read_source(name, line, body, table);
    claims.push_back(read_claim(name, line, body));
    read_rows_per_unit(body, claims.back(), table);
    if (const auto key = text_at(body, "key", "\"code\"")) {
      table.key = *key;
      if (claims.back().kind != Unit::Kind::None)
        problems_.add(
            line_of(*body.get("key")),
            fmt::format("key is for public tables; for '{}' write max_rows_per_unit = 1", name));
    }
    if (const auto text = text_at(body, "unlisted_columns", "\"open\"")) {
      table.unlisted_columns_hidden = *text == "hidden";
      if (*text != "hidden" && *text != "open")
        problems_.add(
            line_of(*body.get("unlisted_columns")),
            fmt::format("unlisted_columns = \"{}\" is unknown; write \"open\" or \"hidden\"",
                        *text));
    }
    if (const toml::table* columns =
            table_at(body, "columns", fmt::format("[tables.{}.columns]", name)))
      for (const auto& [key_at, node_at] : in_file_order(*columns)) {
        const toml::key& key = *key_at;
        const toml::node& node = *node_at;

        read_column(std::string(key.str()), line_of(key), node, where, table);
      }
    policy_.tables_.push_back(std::move(table));
  }

  void read_source(const std::string& name, int line, const toml::table& body, Table& table) {
    const auto text = text_at(body, "source", "\"file.parquet\"");
    if (!text) {
      if (!body.get("source"))
        problems_.add(
            line, fmt::format("table '{}' has no source; add source = \"{}.parquet\"", name, name));
      return;
    }
    const int at = line_of(*body.get("source"));
    if (starts_with_any(*text, {"postgres://", "postgresql://"})) {
      table.source = {SourceKind::Postgres, *text};
    } else if (text->starts_with("spark:")) {
      table.source = {SourceKind::Spark, *text};
      if (!text->starts_with("spark://"))
        problems_.add(at,
                      "this source names no Spark; write \"spark://host:15002/database.table\"");
    } else if (text->find("://") != std::string::npos) {
      problems_.add(
          at,
          fmt::format("source \"{}\" is of a kind discreet does not know; use a .parquet or .csv "
                      "file, postgres://... or spark://host:15002/database.table",
                      *text));
    } else {
      read_file_source(*text, at, table);
    }
  }

  void read_file_source(const std::string& text, int line, Table& table) {
    std::string path = (folder_ / text).lexically_normal().string();
    const auto ends = [&](std::string_view suffix) { return path.ends_with(suffix); };
    if (ends(".parquet")) {
      table.source = {SourceKind::Parquet, path};
    } else if (ends(".csv") || ends(".tsv") || ends(".csv.gz") || ends(".tsv.gz")) {
      table.source = {SourceKind::Csv, path};
    } else {
      problems_.add(
          line,
          fmt::format("source \"{}\" is neither .parquet nor .csv; convert it or give the file "
                      "its ending",
                      text));
      return;
    }
    if (checks_.sources_exist && !file_exists(path))
      problems_.add(
          line, fmt::format("source \"{}\" is not there (looked for {}); paths are relative to the "
                            "policy file",
                            text, path));
  }

  UnitClaim read_claim(const std::string& name, int line, const toml::table& body) {
    UnitClaim claim;
    claim.line = line;
    if (const auto people = text_at(body, "people", "\"students\"")) claim.people = *people;
    const auto unit = text_at(body, "unit", "\"person_id\"");
    const bool is_public = flag_at(body, "public");
    if (unit) {
      const int at = line_of(*body.get("unit"));
      read_unit(*unit, name, at, claim, problems_);
      if (is_public)
        problems_.add(
            at,
            fmt::format("table '{}' is public and has a unit; keep `unit` if its rows are about "
                        "people, else `public = true`",
                        name));
    } else if (!is_public && !body.get("unit")) {
      problems_.add(
          line,
          fmt::format("table '{}' does not say who is protected; add unit = \"COLUMN\", unit = "
                      "\"row\" (one row is one person), or public = true (nobody)",
                      name));
    }
    return claim;
  }

  void read_rows_per_unit(const toml::table& body, const UnitClaim& claim, Table& table) {
    const toml::node* node = body.get("max_rows_per_unit");
    if (!node) return;
    const auto* count = node->as_integer();
    if (!count || count->get() < 1) {
      problems_.add(line_of(*node), "max_rows_per_unit must be a whole number of at least 1");
    } else if (claim.kind == Unit::Kind::None ||
               (claim.kind == Unit::Kind::Row && count->get() != 1)) {
      problems_.add(line_of(*node),
                    fmt::format("max_rows_per_unit has no meaning for table '{}'; remove it, or "
                                "name the column that says whose the rows are as its unit",
                                table.name));
    } else {
      table.max_rows_per_unit = static_cast<std::uint64_t>(count->get());
    }
  }

  void read_column(const std::string& name, int line, const toml::node& node,
                   const std::string& where, Table& table) {
    const toml::table* body = node.as_table();
    if (!body) {
      problems_.add(
          line, fmt::format("column '{}' is {}; write {} = {{ range = [0, 100] }}, or {{}}", name,
                            toml_kind(node), name));
      return;
    }
    known_keys(*body, fmt::format("column '{}' of {}", name, where),
               {"range", "values", "hidden", "grid"});
    Column column;
    column.name = name;
    column.line = line;
    column.hidden = flag_at(*body, "hidden");
    if (const auto ends = literals_at(*body, "range")) {
      if (auto range = make_range(*ends)) {
        column.range = *range;
      } else {
        problems_.add(line_of(*body->get("range")),
                      fmt::format("range of '{}' {}", name, range.error().message));
      }
    }
    if (const auto values = literals_at(*body, "values")) {
      if (auto keys = make_keys(*values)) {
        column.values = *std::move(keys);
      } else {
        problems_.add(line_of(*body->get("values")),
                      fmt::format("values of '{}' {}", name, keys.error().message));
      }
    }
    if (const toml::node* grid = body->get("grid")) {
      column.grid = grid->value<double>();
      if (!column.grid || !std::isfinite(*column.grid) || *column.grid <= 0)
        problems_.add(line_of(*grid),
                      fmt::format("grid of '{}' must be a positive number, such as 0.01", name));
    }
    table.columns.push_back(std::move(column));
  }

  std::optional<std::vector<Literal>> literals_at(const toml::table& body, std::string_view key) {
    const toml::node* node = body.get(key);
    if (!node) return std::nullopt;
    const toml::array* array = node->as_array();
    std::vector<Literal> literals;
    bool plain = array != nullptr;
    if (array)
      for (const toml::node& element : *array) {
        const auto literal = literal_of(element);
        plain = plain && literal;
        if (literal) literals.push_back(*literal);
      }
    if (plain) return literals;
    problems_.add(line_of(*node),
                  fmt::format("'{}' must be a list of plain values, such as {}", key,
                              key == "range" ? "[0, 120]" : "[\"ICU\", \"ER\"]"));
    return std::nullopt;
  }

  std::optional<Amount> amount_at(const toml::table& body, const std::string& where, int line) {
    Amount amount{Epsilon::zero(), Delta::zero()};
    const toml::node* epsilon = body.get("epsilon");
    if (!epsilon) {
      problems_.add(line, fmt::format("{} has no epsilon; add epsilon = 1.0", where));
      return std::nullopt;
    }
    bool good = true;
    const auto limit = [&](std::string_view key, const toml::node* node, auto make, auto& into) {
      if (!node) return;
      if (const auto* text = node->as_string(); text && text->get() == "unlimited") {
        into.reset();
        return;
      }
      const auto number = node->is_number() ? node->value<double>() : std::nullopt;
      if (number)
        if (auto made = make(*number)) {
          into = *made;
          return;
        }
      good = false;
      problems_.add(
          line_of(*node),
          fmt::format("{} of {} must be a number {} or \"unlimited\"", key, where,
                      key == "delta" ? "from 0 to 1" : "that is finite and not negative"));
    };
    limit("epsilon", epsilon, Epsilon::make, amount.epsilon);
    limit("delta", body.get("delta"), Delta::make, amount.delta);
    if (!good) return std::nullopt;
    return amount;
  }

  void read_budgets(const toml::table& root) {
    const toml::table* budgets = table_at(root, "budgets", "[budgets.default]");
    if (!budgets) return;
    for (const auto& [key_at, node_at] : in_file_order(*budgets)) {
      const toml::key& key = *key_at;
      const toml::node& node = *node_at;

      const std::string name(key.str());
      const std::string where = fmt::format("[budgets.{}]", name);
      if (!is_account_name(name))
        problems_.add(
            line_of(key),
            fmt::format("budget name '{}' may hold letters, digits and _ - . @ only", name));
      const toml::table* body = node.as_table();
      if (!body) {
        problems_.add(line_of(key),
                      fmt::format("'{}' is {}; write {}", name, toml_kind(node), where));
        continue;
      }
      known_keys(*body, where, {"epsilon", "delta", "grant", "filter"});
      Budget budget;
      budget.name = name;
      budget.line = line_of(key);
      if (const auto text = text_at(*body, "filter", "\"best\"")) {
        budget.filter = *text == "basic" ? FilterChoice::Basic : FilterChoice::Best;
        if (*text != "best" && *text != "basic")
          problems_.add(line_of(*body->get("filter")),
                        fmt::format("filter = \"{}\" of {} is unknown; write \"best\" or \"basic\"",
                                    *text, where));
      }
      if (const auto amount = amount_at(*body, where, budget.line)) budget.amount = *amount;
      if (const toml::table* grant =
              table_at(*body, "grant",
                       "grant = { epsilon = 1.0, every = \"30 days\", starts = 2026-01-01 }"))
        read_grant(*grant, where, budget);
      policy_.budgets_.push_back(std::move(budget));
    }
  }

  void read_grant(const toml::table& body, const std::string& where, Budget& budget) {
    const int line = line_of(body);
    const std::string here = "the grant of " + where;
    known_keys(body, here, {"epsilon", "delta", "every", "starts"});
    RecurringGrant grant{};
    const auto amount = amount_at(body, here, line);
    if (amount) grant.amount = *amount;
    if (amount && amount->is_unlimited())
      problems_.add(
          line,
          here + " cannot be \"unlimited\"; make the budget itself unlimited if that is meant");
    const auto every = text_at(body, "every", "\"30 days\"");
    if (!every && !body.get("every"))
      problems_.add(line, here + " has no period; add every = \"30 days\"");
    if (every) {
      if (auto period = read_period(*every)) {
        grant.every = *period;
      } else {
        problems_.add(line_of(*body.get("every")),
                      fmt::format("every = \"{}\" of {} {}", *every, here, period.error().message));
      }
    }
    const toml::node* starts = body.get("starts");
    if (!starts) {
      problems_.add(line, here + " has no beginning; add starts = 2026-01-01");
    } else if (auto at = instant_of(literal_of(*starts))) {
      grant.starts = *at;
    } else {
      problems_.add(line_of(*starts), here + " must start at a date; write starts = 2026-01-01");
    }
    budget.grant = grant;
  }

  void read_analysts(const toml::table& root) {
    const toml::table* analysts = table_at(root, "analysts", "[analysts.NAME]");
    if (!analysts) return;
    for (const auto& [key_at, node_at] : in_file_order(*analysts)) {
      const toml::key& key = *key_at;
      const toml::node& node = *node_at;

      const std::string name(key.str());
      const std::string where = fmt::format("[analysts.{}]", name);
      if (!is_account_name(name))
        problems_.add(
            line_of(key),
            fmt::format("analyst name '{}' may hold letters, digits and _ - . @ only", name));
      const toml::table* body = node.as_table();
      if (!body) {
        problems_.add(line_of(key),
                      fmt::format("'{}' is {}; write {}", name, toml_kind(node), where));
        continue;
      }
      known_keys(*body, where, {"password", "budget", "tables"});
      Analyst analyst;
      analyst.name = name;
      analyst.line = line_of(key);
      read_password(*body, where, analyst);
      read_share(*body, where, analyst);
      read_allowed(*body, where, analyst);
      policy_.analysts_.push_back(std::move(analyst));
    }
  }

  void read_password(const toml::table& body, const std::string& where, Analyst& analyst) {
    const auto text = text_at(body, "password", "\"SCRAM-SHA-256$...\"");
    if (!text) return;
    analyst.password_verifier = scram_verifier(*text);
    if (!analyst.password_verifier)  // the text itself is not repeated: it may be a password
      problems_.add(
          line_of(*body.get("password")),
          fmt::format("the password of {} is not a SCRAM-SHA-256 verifier; never write a password "
                      "here: remove the line and run `discreet user add {} --policy FILE "
                      "--password-stdin`",
                      where, analyst.name));
  }

  void read_share(const toml::table& body, const std::string& where, Analyst& analyst) {
    const toml::table* share =
        table_at(body, "budget", "budget = { epsilon = 1.0, delta = 1e-8, of = \"default\" }");
    if (!share) return;
    known_keys(*share, "the budget of " + where, {"epsilon", "delta", "of"});
    analyst.share = amount_at(*share, "the budget of " + where, line_of(*share));
    if (const auto of = text_at(*share, "of", "\"default\"")) analyst.of = *of;
  }

  void read_allowed(const toml::table& body, const std::string& where, Analyst& analyst) {
    const toml::node* node = body.get("tables");
    if (!node) return;
    const auto listed = literals_at(body, "tables");
    if (!listed) return;
    analyst.tables.emplace();
    for (const Literal& each : *listed) {
      const std::string* name = std::get_if<std::string>(&each);
      if (name && policy_.table(*name)) {
        analyst.tables->push_back(*name);
        continue;
      }
      problems_.add(line_of(*node),
                    fmt::format("{} may ask the unknown table {}{}", where, to_string(each),
                                name ? did_you_mean(*name, policy_.table_names()) : ""));
    }
  }

  void read_ledger(const toml::table& root) {
    std::string store = "ledger.sqlite";
    if (const toml::table* ledger = table_at(root, "ledger", "[ledger]")) {
      known_keys(*ledger, "[ledger]", {"store"});
      if (const auto text = text_at(*ledger, "store", "\"ledger.sqlite\"")) {
        store = *text;
        if (store.empty())
          problems_.add(line_of(*ledger->get("store")),
                        "store is empty; write store = \"ledger.sqlite\"");
      }
    }
    policy_.ledger_store_ = starts_with_any(store, {"postgres://", "postgresql://"})
                                ? store
                                : (folder_ / store).lexically_normal().string();
  }

  Policy policy_;
  Problems problems_;
  fs::path folder_;
  PolicyChecks checks_;
};

Result<Policy> Policy::parse(std::string_view text, const fs::path& path, PolicyChecks checks) {
  return PolicyReader(path, checks).read(text);
}

Result<Policy> Policy::load(const fs::path& path, PolicyChecks checks) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return Error{ErrorCode::NotFound,
                 fmt::format("cannot read the policy {}; make one with `discreet policy init DATA`",
                             path.string())};
  std::ostringstream text;
  text << file.rdbuf();
  return parse(text.str(), path, checks);
}

}  // namespace discreet::catalog
