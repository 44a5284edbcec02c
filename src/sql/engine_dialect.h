// The one place where plans become another engine's SQL. DuckDB's own is written by emit.cc and
// rewrite.cc; a dialect takes over what differs: types, constants, arithmetic, casts, functions,
// aggregates, the way a table is read, hashes and quoting.
//
// Guarantee: as emit.h, what is written is total: no row can make a statement fail. Where the
//            engine would raise an error (overflow, a bad cast, a zero divisor) the value is NULL,
//            as on DuckDB; reals overflow to infinity and vanish to zero, as IEEE says.
// Guarantee: on the same rows the integers of a release are those that DuckDB's statement gives
//            (docs/scale.md lists what the engine's own reals and collations may change).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sql/plan.h"
#include "sql/question.h"
#include "sql/schema.h"

namespace discreet::sql {

/// Writes the parts of an expression on behalf of a dialect.
class ScalarWriter {
 public:
  virtual ~ScalarWriter() = default;
  virtual std::string write(const Scalar& one) const = 0;
  /// Whole-number (or decimal) arithmetic that is known to stay within the engine's type.
  virtual bool fits(const Scalar& one) const = 0;
};

/// Rows that travel inside a statement: what an earlier release gave out.
struct InlineTable {
  std::string name;
  std::vector<std::pair<std::string, Type>> columns;
  std::vector<std::vector<ConstantValue>> rows;
};

/// Where the tables' own files may lie, which the embedded engine can read (Engine::over_files).
enum class TableFiles {
  Nowhere,
  WithinReach,  ///< what is added up per person is read from them
  Sent,         ///< so it is, and totals for which the engine would read the same columns again
  Here          ///< on the engine's own machine: whatever is added up is
};

class EngineDialect {
 public:
  virtual ~EngineDialect() = default;

  /// Nothing: as DuckDB's (columns, subqueries).
  virtual std::optional<std::string> scalar(const Scalar& one,
                                            const ScalarWriter& writer) const = 0;
  virtual std::string aggregate(const ExactAggregate& aggregate,
                                const ScalarWriter& writer) const = 0;
  virtual std::string scan(const Scan& scan, const std::function<bool(ColumnId)>& wanted) const = 0;
  /// As grid_expression().
  virtual std::string grid(const Value& value, const std::string& column) const = 0;
  virtual std::string sha256_hex(const std::string& text) const = 0;
  /// Whether rows may come to the curator to be added up there (Engine::visit).
  virtual bool streams_rows() const { return false; }
  virtual TableFiles files() const { return TableFiles::Nowhere; }
  /// The same, but scan() marks where a condition on the table's pages may stand: for statements
  /// that go over one table row by row, so that their rows may be read a range of pages at a time
  /// (Engine::visit). Whoever reads them leaves out rows whose first column, the unit, is NULL.
  /// Null: there is nothing to mark.
  virtual const EngineDialect* by_pages() const { return nullptr; }
  /// A whole number between these bounds (or NULL) in as few bits as the engine has a type for:
  /// rows that come to the curator are short then. Nothing: it makes no difference.
  virtual std::optional<std::string> narrow([[maybe_unused]] const std::string& whole,
                                            [[maybe_unused]] std::int64_t lower,
                                            [[maybe_unused]] std::int64_t upper) const {
    return std::nullopt;
  }
  /// Whether sum() of 64-bit numbers is wide enough for all of them.
  virtual bool sums_are_wide() const = 0;
  /// A constant text.
  virtual std::string text(const std::string& text) const = 0;
  /// The last touch to a statement put together from DuckDB's phrases: names for derived tables,
  /// names of types. Doing it twice changes nothing.
  virtual std::string statement(const std::string& sql) const = 0;
  /// The statement with these tables in it.
  virtual std::string with_tables(const std::string& sql,
                                  const std::vector<InlineTable>& tables) const = 0;
};

/// A table as PostgreSQL has it.
struct PostgresTable {
  struct Column {
    std::string name;
    std::string type;  ///< as format_type() says it: "numeric(10,2)"
    bool is_enum = false;
  };
  std::string relation;  ///< ready to be read: "public"."patients"
  std::vector<Column> columns;

  /// As DuckDB would call the types, so that plans are the same wherever the data lives. A type
  /// without an exact meaning here keeps a name that no statement can use.
  std::vector<SchemaColumn> schema() const;
};

/// A table as Spark has it.
struct SparkTable {
  struct Column {
    std::string name;
    std::string type;  ///< as Spark Connect calls it: "long", "decimal(10,2)"
  };
  std::string relation;  ///< ready to be read: `database`.`patients`
  std::vector<Column> columns;

  /// As PostgresTable::schema().
  std::vector<SchemaColumn> schema() const;
};

/// By the policy's names of the tables.
/// `streams_rows`: rows may be asked for, since adding up per person takes a server several times
/// as long as sending them.
std::unique_ptr<EngineDialect> make_postgres_dialect(std::map<std::string, PostgresTable> tables,
                                                     bool streams_rows = false);
std::unique_ptr<EngineDialect> make_spark_dialect(std::map<std::string, SparkTable> tables,
                                                  bool streams_rows = false,
                                                  TableFiles files = TableFiles::Nowhere);

}  // namespace discreet::sql
