// The policy: which tables there are, who is protected in each, what is public about their columns,
// and how much may be spent by whom. Everything an answer may depend on besides the rows.
//
// Guarantee: a Policy that exists has been checked as a whole: every private table leads to exactly
//            one kind of privacy unit, every link to a table that owns it, every account to a
//            budget. What is not understood is refused, with file, line and the fix.
// Assumes:   the data owner declares the truth: a link's target column is a key of its table, and a
//            public table says nothing about the people in the private ones.
// Format:    docs/policy.md
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "catalog/literal.h"
#include "privacy/budget.h"

namespace discreet::catalog {

/// Both ends belong to the range. The ends are of one kind: whole numbers, numbers, dates or
/// timestamps.
struct Range {
  Literal lower;
  Literal upper;
};

/// What the policy says about a column. What it holds (its type) is the engine's to say.
struct Column {
  std::string name;
  std::optional<Range> range;   ///< public bounds: always enforced by clamping
  std::vector<Literal> values;  ///< public keys, of one kind and without repeats; empty: private
  std::optional<double> grid;   ///< reals are rounded to multiples of this before they are summed
  bool hidden = false;          ///< no statement may name it
  int line = 0;                 ///< where the policy says so; 0 for a column it does not list

  bool has_public_keys() const { return !values.empty(); }
};

/// "visit_id -> visits.visit_id": rows whose `column` equals the target's belong together.
struct Link {
  std::string column;
  std::string table;
  std::string target_column;
};

/// Who is protected by a table.
struct Unit {
  enum class Kind {
    None,    ///< a public table: nobody
    Row,     ///< every row is a unit of its own
    Column,  ///< all rows with the same value of `column`
    Linked,  ///< the unit of the table that `links` lead to
  };
  Kind kind = Kind::None;
  /// The unit's identity as a column of this table. Empty for None and Row, and for Linked tables
  /// that must be joined along `joins` to learn it.
  std::string column;
  /// All links from this table to the owner; empty unless Linked.
  std::vector<Link> links;
  /// The first links, as many as it takes to reach a table that has the unit as a column, and that
  /// column. No joins: it is `column` of this table itself.
  std::vector<Link> joins;
  std::string joined_column;
  /// The table that owns the unit (this one, unless Linked), and its unit column.
  std::string owner_table;
  std::string owner_column;
  /// Two tables protect the same people exactly if this is equal; "patients.patient_id" or, where
  /// the policy names them, "students". Row units are "table.row". Empty for None.
  std::string people;
};

enum class SourceKind { Parquet, Csv, Postgres, Spark };

struct Source {
  SourceKind kind;
  /// An absolute path (or pattern), a postgres:// or a spark:// address.
  std::string location;
};

struct Table {
  std::string name;
  Source source;
  Unit unit;
  std::optional<std::uint64_t> max_rows_per_unit;  ///< enforced, not believed
  /// Of a public table: the column that has one row per value. Joined on it, the table makes no
  /// row into several. Enforced like max_rows_per_unit.
  std::string key;
  std::vector<Column> columns;  ///< those the policy lists, in its order
  bool unlisted_columns_hidden = false;
  int line = 0;

  bool is_public() const { return unit.kind == Unit::Kind::None; }
  /// What holds for a column of this name: listed, or the default for unlisted ones.
  Column column(std::string_view column_name) const;
  const Column* listed(std::string_view column_name) const;
};

/// How a budget admits questions that are chosen on the fly (docs/proofs/ledger_filter.md).
enum class FilterChoice {
  Best,   ///< sums of epsilon and delta, and zCDP beside them, on shares of the delta
  Basic,  ///< sums of epsilon and delta only
};

struct Budget {
  std::string name;
  Amount amount;
  std::optional<RecurringGrant> grant;
  FilterChoice filter = FilterChoice::Best;
  int line = 0;
};

struct Analyst {
  std::string name;
  /// PostgreSQL's form, SCRAM-SHA-256$iterations:salt$StoredKey:ServerKey; absent: cannot log in
  /// with a password.
  std::optional<std::string> password_verifier;
  /// The analyst's own share; absent: held only by the budget `of`.
  std::optional<Amount> share;
  std::string of = "default";                      ///< the budget every charge must also fit
  std::optional<std::vector<std::string>> tables;  ///< absent: all
  int line = 0;

  bool may_ask(std::string_view table) const;
};

/// How a statement gets contribution bounds that nobody declared.
enum class BoundsRule {
  Auto,      ///< found privately, within the statement's epsilon
  Declared,  ///< not at all: refused
};

struct PolicyChecks {
  bool sources_exist = true;  ///< off where only the text is of interest
};

/// Immutable once made; safe to share between threads.
class Policy {
 public:
  static Result<Policy> load(const std::filesystem::path& path, PolicyChecks checks = {});
  /// `path` is named in messages, and relative sources are relative to its folder.
  static Result<Policy> parse(std::string_view text, const std::filesystem::path& path,
                              PolicyChecks checks = {});

  const std::filesystem::path& path() const { return path_; }
  BoundsRule bounds() const { return bounds_; }
  const std::vector<Table>& tables() const { return tables_; }
  const std::vector<Budget>& budgets() const { return budgets_; }
  const std::vector<Analyst>& analysts() const { return analysts_; }
  /// An absolute path, or a postgres:// address.
  const std::string& ledger_store() const { return ledger_store_; }

  const Table* table(std::string_view name) const;
  const Budget* budget(std::string_view name) const;
  const Analyst* analyst(std::string_view name) const;
  std::vector<std::string> table_names() const;

  /// Compares what the policy lists with the columns the table really has: the unit, links into the
  /// table and every listed column must exist. InvalidInput names all that do not, with lines: a
  /// misspelt hidden column would otherwise stay open.
  Result<void> check_columns(const Table& table, const std::vector<std::string>& actual) const;

  /// Things that are allowed but that the owner should hear at every start, such as a budget
  /// without limit.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  friend class PolicyReader;
  Policy() = default;

  std::filesystem::path path_;
  BoundsRule bounds_ = BoundsRule::Auto;
  std::vector<Table> tables_;
  std::vector<Budget> budgets_;
  std::vector<Analyst> analysts_;
  std::string ledger_store_;
  std::vector<std::string> warnings_;
};

}  // namespace discreet::catalog
