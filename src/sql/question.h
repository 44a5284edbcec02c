// What the planner hands to the curator: everything needed to price, run and release one statement.
//
// A statement becomes zero or more releases and one final statement. Each release reads private
// rows by its own engine statement and gives out a table `released_N(k1, ..., a1, ...)`; the final
// statement reads released and public tables only, so it is post-processing and runs exactly.
// No release: the question is public, and the final statement is the answer.
//
// Guarantee: (a) every row of `partials_sql` and of a stream belongs to the privacy unit in its
//            column `unit`: taking one unit out of the data takes out exactly its rows and changes
//            no other; (b) per-row values are integers within [lower, upper], clamped in the
//            statement (by the adapter in streamed rows); (c) statements do not fail, whatever the
//            rows hold; (d) nothing in this struct depends on a row.
// Assumes:   the curator drops partial rows whose key is not in a public key's domain, bounds each
//            unit's contribution before anything is added up, and runs a question's statements on
//            one snapshot.
// Argument:  docs/sql.md, "Why the rewriting is private".
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "catalog/literal.h"
#include "sql/dialect.h"
#include "sql/type.h"

namespace discreet::sql {

/// value = q * unit, with unit = 10^-digits or 2^-digits: integers on a declared grid.
struct Grid {
  enum class Base { Ten, Two } base = Base::Ten;
  int digits = 0;

  double unit() const;
  friend bool operator==(const Grid&, const Grid&) = default;
};

/// Where a value's bounds come from. They are enforced in every case.
enum class BoundsOrigin {
  Proved,    ///< follows from the plan or the type (a boolean, a length, a CASE of constants)
  Declared,  ///< follows from ranges in the policy
  Asked,     ///< contribution_bounds_per_row in the statement
  Technical  ///< nobody said: only what fits an integer. The curator finds a bound privately
};

/// One per-row integer that is added up (or collected) per unit and group.
struct Value {
  Grid grid;
  Type type;                  ///< of the expression, before it was put on the grid
  std::int64_t lower, upper;  ///< of q, in grid units; every q is within
  BoundsOrigin origin;
  std::string expression;  ///< as written in the engine's SQL: for EXPLAIN
};

/// An integer per (unit, group) in `partials_sql`. Names of columns are f1, f2, ...
struct Feature {
  enum class Kind {
    Rows,           ///< rows (that pass the aggregate's FILTER)
    Count,          ///< rows where the value is not NULL
    Sum,            ///< of q, over those
    SumOfSquares,   ///< of q * q
    SumOfProducts,  ///< of q^power * (q of the second value)^second_power, where both are present
    Distinct,       ///< different values, each of which belongs to one unit (order numbers of a
                    ///< customer)
  };
  Kind kind;
  std::string column;
  std::optional<std::size_t> value;   ///< index into Release::values; absent for Rows
  std::optional<std::size_t> second;  ///< SumOfProducts
  std::optional<std::size_t>
      condition{};                  ///< Rows: only those where column p<condition + 1> of rows_sql
  int power = 1, second_power = 1;  ///< SumOfProducts: above 1 in CovarianceRelease::mixed
};

/// The values themselves, for what cannot be added up: rows (unit, keys, value, multiplicity).
/// Numbers, dates (days) and timestamps (microseconds) are q on the value's grid; text is text.
struct ValueStream {
  std::size_t value;  ///< index into Release::values
  bool is_text = false;
  std::vector<catalog::Literal> domain;  ///< public keys of the column, if the policy lists them
  std::string sql;
};

struct PrivateKey {};
struct ListedKey {
  std::vector<catalog::Literal> values;
};
/// Whole numbers, or days since 1970-01-01 where the key's type is date; both ends belong.
struct RangeKey {
  std::int64_t lower, upper;
};
/// Column `column` of public_key_sets[set].
struct PublicSetKey {
  std::size_t set, column;
};

/// One GROUP BY expression. Public keys answer empty groups too; rows with other keys are dropped.
struct Key {
  std::string column;  ///< k1, k2, ... in all statements of the release
  std::string text;    ///< the expression, for EXPLAIN
  Type type;
  std::variant<PrivateKey, ListedKey, RangeKey, PublicSetKey> domain;
  bool may_be_null = true;

  bool is_public() const { return !std::holds_alternative<PrivateKey>(domain); }
};

/// Keys that come from public (or earlier released) tables together: their rows are the domain.
/// Columns of `sql` are the keys that name this set, in order of PublicSetKey::column.
struct PublicKeySet {
  std::string sql;
};

/// The option public_counts: rows of `sql` are some of the keys and how many rows there are.
struct PublicCounts {
  std::string table;
  std::vector<std::size_t> keys;  ///< ascending
  std::string sql;
};

// The aggregates. Numbers are indexes into Release::features, or `stream` into Release::streams.
struct CountRelease {
  std::size_t rows;
};
struct SumRelease {
  std::size_t count, sum;
};
struct AvgRelease {
  std::size_t count, sum;
};
struct VarianceRelease {
  std::size_t count, sum, squares;
  bool sample;  ///< n - 1 in the denominator
  bool standard_deviation;
};
struct CovarianceRelease {
  enum class Kind { Population, Sample, Correlation } kind;
  std::size_t count, sum_x, sum_y, squares_x, squares_y, products;  ///< rows where both are present
  /// Sums of x^2 y, x y^2 and x^2 y^2: of a correlation over one row per unit, in narrow ranges.
  std::optional<std::array<std::size_t, 3>> mixed;
};
struct ExtremeRelease {
  std::size_t stream;
  bool maximum;
};
struct QuantilesRelease {
  std::size_t stream;
  std::vector<double> fractions;
  bool continuous;  ///< percentile_cont: interpolate
  bool as_list;     ///< the result is an array
};
struct CountUnitsRelease {
};  ///< count(distinct unit): units of the group, with filter_rows above 0 if it is set
struct CountDistinctRelease {
  std::size_t stream;
};
struct ModeRelease {
  std::size_t stream;
};
struct TopKRelease {
  std::size_t stream;
  std::uint64_t k;
};
/// Counts of values in [edges[i], edges[i+1]), the last bin closed; features in bin order.
struct HistogramRelease {
  std::vector<std::size_t> bins;
  std::vector<double> edges;
  bool cumulative;  ///< approx CDF: shares of values <= each edge; bins[0] is up to edges[0]
};

/// A statistical test or fit over rows that are one per unit; its result is a text (a JSON object).
struct TestRelease {
  enum class Kind {
    OneSample,
    TwoSample,
    Anova,
    Proportion,
    TwoProportions,
    Fit,
    Independence,
    Correlation,
    Regression
  } kind;
  struct Moments {
    std::size_t count, sum, squares;
  };
  std::vector<Moments> groups;        ///< OneSample, TwoSample, Anova
  std::vector<std::size_t> cells;     ///< counts that exclude each other, row by row
  std::size_t columns;                ///< cells in a row
  std::size_t count;                  ///< Correlation, Regression: rows where all are present
  std::vector<std::size_t> sums;      ///< regressors, then y
  std::vector<std::size_t> products;  ///< of pairs i <= j of them
  double null;                        ///< the mean or chance that is tested
  std::vector<double> chances;        ///< Fit
  std::vector<std::string> names;     ///< of groups, values or columns
};
/// A quantile with its interval, over one value per unit; its result is a text likewise.
struct QuantileIntervalRelease {
  std::size_t stream;
  double fraction;
};

using AggregateKind =
    std::variant<CountRelease, SumRelease, AvgRelease, VarianceRelease, CovarianceRelease,
                 ExtremeRelease, QuantilesRelease, CountUnitsRelease, CountDistinctRelease,
                 ModeRelease, TopKRelease, HistogramRelease, TestRelease, QuantileIntervalRelease>;

/// contribution_bounds_per_group (or _per_row), as asked, in the value's own measure.
struct AskedBounds {
  bool per_row;
  double lower, upper;
};

struct AggregateRelease {
  std::string column;  ///< a1, a2, ...
  std::string text;    ///< as asked: "sum(income)"
  AggregateKind kind;
  Type type;  ///< of the released column
  std::optional<AskedBounds> asked;
  /// Rows that pass this aggregate's FILTER (a Rows feature), where it has one.
  std::optional<std::size_t> filter_rows;
};

/// What the plan proves (or the policy declares) of one unit. The curator enforces all of it by
/// clipping.
struct UnitBounds {
  /// Proved: every unit has at most one row in the release's input, so engine totals are safe.
  bool one_row_per_unit = false;
  std::optional<std::uint64_t> rows_max;
  std::optional<std::uint64_t> groups_max;
};

/// A table's rows with their places in its files (RowOwners), where the engine knows them: its
/// columns and this one.
inline constexpr char kPlaceColumn[] = "#place";
inline std::string placed_table(const std::string& table) {
  return table + "#places";
}

/// rows_sql with values as they are, not yet on their grid, where that is only a matter of bounds:
/// whole numbers, booleans and decimals of as many digits as the grid. The adapter moves them to
/// [lower, upper], and leaves out rows whose `unit` is NULL: they are nobody's.
struct StreamedRows {
  std::string sql{};
  std::vector<int> digits{};  ///< by value: a decimal's, 0 for what is whole
  /// By key: where it is not empty, `sql` has the key's place in this list, from 1, instead of it,
  /// and NULL or the next number for what is not there. A key with a range may be NULL or the
  /// number above it where it is outside.
  std::vector<std::vector<catalog::Literal>> codes{};
  /// Where whose rows these are is told by a link of the policy alone, and its key is a whole
  /// number: `sql` without the join, with the link's key in the column `unit`, and the rows
  /// (`link`, `unit`) of the table it leads to. Else empty.
  std::string linked_sql{}, link_sql{};
  /// Where rows come one by one from one table, whose own column tells the unit (or leads to it by
  /// link_sql) and is read for nothing else: `sql` with the row's place in the column `unit`, and
  /// the rows (`place`, `unit`) of that table. Else empty.
  std::string placed_sql{}, owners_sql{};
  bool owners_by_link = false;
  std::vector<std::string> owners_tables{};  ///< read to know whose rows they are
};

/// Statements of the embedded engine over the files in which another engine keeps these tables
/// (Engine::over_files); without text where they are not to be had, or the engine had better add
/// up.
struct OverFiles {
  StreamedRows rows{};             ///< as Release::streamed
  std::string totals_sql{};        ///< as Release::totals_sql
  bool totals_only_again = false;  ///< FilesAsked::only_again, for these
  std::vector<std::string> tables{};
};

struct Release {
  std::string table;   ///< "released_1": the name the final statement reads
  std::string people;  ///< whose privacy: the policy's Unit::people
  bool unit_is_row = false;

  std::vector<Key> keys;
  std::vector<PublicKeySet> public_key_sets;
  std::vector<PublicCounts> public_counts;
  /// CUBE, ROLLUP, GROUPING SETS: each set lists keys; all are released jointly. The released table
  /// then has n more columns k(n+1) ... k(2n) behind its n keys: 1 where the key is rolled up (and
  /// NULL), else 0. Absent: one set of all keys, and no such columns.
  std::optional<std::vector<std::vector<std::size_t>>> grouping_sets;
  std::vector<Value> values;
  std::vector<Feature> features;
  std::vector<ValueStream> streams;
  std::vector<AggregateRelease> aggregates;
  UnitBounds bounds;

  /// One row per (unit, group): unit, k1, ..., f1, ...; integers are BIGINT or HUGEINT, never NULL.
  /// `unit` is a BIGINT, a VARCHAR or a DATE, as in the data.
  std::string partials_sql;
  /// The same before anything is added up, for an engine adapter that bounds while it streams: one
  /// row per source row with unit, k1, ..., q1, ... (one per value) and the conditions p1, ...
  std::string rows_sql;
  /// For Engine::visit. Without a statement: planned for the SQL form alone.
  StreamedRows streamed;
  OverFiles over_files;
  /// Only where one_row_per_unit: one row per group with the exact totals k1, ..., f1, ...,
  /// `units`.
  std::optional<std::string> totals_sql;
  /// Where totals_sql does nothing but count the rows of one table, all of them: its name. All its
  /// columns are that number.
  std::optional<std::string> counted_table;

  /// GoogleSQL's form: its meaning applies (AVG of units' means, ...). Absent: a plain statement.
  std::optional<PrivacyOptions> options;
  std::vector<std::size_t> needs;   ///< earlier releases that these statements read
  std::vector<std::string> tables;  ///< private tables read
  std::string tree;                 ///< its plan, for EXPLAIN: one node a line, indented
};

struct OutputColumn {
  std::string name;
  Type type;
  /// The aggregates of the last release that it is computed from (for error columns), by column
  /// name.
  std::vector<std::string> from;
  /// It is that aggregate and nothing else.
  bool is_plain = false;
  /// Which column of final_text_sql is its error, from 0; absent: none is known.
  std::optional<std::size_t> error;
};

struct PlannedQuestion {
  std::string normalised_text;  ///< the question's identity for the answer cache, with its options
  std::vector<std::string> tables;
  std::vector<Release> releases;  ///< in the order in which they must run
  std::string final_sql;
  /// The same rows as text, in the same order, with errors (error_columns.h) behind the columns.
  /// For this one the n errors of a release's n aggregates are its columns a(n+1), ..., a(2n).
  std::string final_text_sql;
  /// Where final_text_sql does nothing but pick columns of the last release, in the order of its
  /// rows: which ones, counted through its keys, its n aggregates and their n errors.
  std::optional<std::vector<std::size_t>> picked;
  std::vector<OutputColumn> columns;
  std::vector<std::string> notices;
  std::string tree;  ///< the final statement's plan, for EXPLAIN

  bool is_public() const { return releases.empty(); }
};

}  // namespace discreet::sql
