// Tables of another engine, read from the files in which it keeps them.
//
// Guarantee: a column is shown only if every file has it, under that name, in the same form, and as
//            the very type that the other engine calls it; a statement that names another column is
//            not taken (DuckDb::check).
// Guarantee: files are read whole and without a guess: no patterns, and no values from folders'
//            names but those that the other engine gives (PlainFiles), of types whose texts have
//            one meaning.
// Guarantee: of partial files (PartialFiles) a statement finds every column that it names.
// Assumes:   a file that has the name, the size and the time of an earlier one is that file.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "engines/duckdb/database.h"

namespace discreet {

class ParquetTables {
 public:
  /// On a connection of its own: tables are this connection's alone.
  explicit ParquetTables(DuckDb engine) : engine_(std::move(engine)) {}

  struct Column {
    std::string name, type;  ///< DuckDB's type: "DECIMAL(10,2)"
  };
  /// From now on statements of engine() that read `table` read these files. False: they cannot be
  /// read as they are, and there is no such table.
  Result<bool> show(const std::string& table, const std::vector<Column>& columns,
                    const PlainFiles& plain);
  /// Has the columns of a table brought that these statements name, where its files are partial.
  /// False: they are not to be had, and the table is not to be read.
  Result<bool> bring(const std::string& table, const PlainFiles& plain,
                     const std::vector<std::string>& statements);
  /// From now on tables are also shown with the place of every row.
  void show_places(std::function<std::string(const std::string& table)> name, std::string column) {
    placed_name_ = std::move(name);
    place_ = std::move(column);
  }

  DuckDb& engine() { return engine_; }

 private:
  Result<std::vector<std::pair<std::string, std::string>>> texts(const std::string& sql);
  Result<std::vector<std::string>> common_columns(const std::string& list, std::size_t files,
                                                  const std::vector<Column>& columns);

  DuckDb engine_;
  std::function<std::string(const std::string& table)> placed_name_;
  std::string place_;
  struct Shown {
    std::string state;                     // of its files, as they were
    std::vector<std::string> columns{};    // that are in them
    std::shared_ptr<PartialFiles> held{};  // while the table may be read
  };
  std::map<std::string, Shown> shown_;  // by table
};

}  // namespace discreet
