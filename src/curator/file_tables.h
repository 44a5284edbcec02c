// Tables that are files: Parquet or CSV behind the embedded engine, one view per table of the
// policy.
//
// Guarantee: a table whose files have other columns than when it was opened is not asked (state()).
// Guarantee: in every statement a column has the type that it had when the table was opened. Should
//            a file be replaced between the look at its columns and the reading, values of another
//            type are NULL where they cannot be turned into it, and no statement fails for what a
//            row holds. (Not so of a pattern's later files, which the engine turns into the first
//            one's types by itself.)
// Assumes:   types do not depend on rows: whoever writes Parquet files says what columns hold.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "catalog/policy.h"
#include "curator/csv_form.h"
#include "engines/duckdb/database.h"
#include "sql/schema.h"

namespace discreet {

class FileTables {
 public:
  /// Makes the views of all tables of the policy, without reading their rows. InvalidInput: a
  /// column that the policy lists is not there. Unavailable: a source cannot be opened, or the
  /// files of a pattern differ in their columns. Refused: a kind of source that is no file.
  static Result<FileTables> open(const catalog::Policy& policy, DuckDb& engine);

  Result<std::vector<sql::SchemaColumn>> columns(const std::string& table) const;

  /// Names the state of these tables' files: one that was changed has another. Unavailable: a file
  /// is not there, or its columns are not those that were opened.
  Result<std::string> state(const std::vector<std::string>& tables, DuckDb& engine);

 private:
  struct Opened {
    catalog::Source source;
    std::vector<sql::SchemaColumn> columns{};
    std::vector<std::string> folders{};  ///< columns that are not in Parquet files but in their
                                         ///< folders' names ("year=2026")
    std::optional<CsvForm> form{};       ///< of CSV
    std::string names{};                 ///< as the first file has them written (CsvForm::names)
  };
  Result<Opened> open_table(const catalog::Policy& policy, const catalog::Table& table,
                            DuckDb& engine);
  static Result<bool> has_its_columns(const Opened& table, const std::string& file, DuckDb& engine);

  std::shared_ptr<const std::map<std::string, Opened>> tables_;
  // By table: states in which its files have its columns. All connections know what one has seen.
  struct LookedAt {
    std::mutex mutex;
    std::map<std::string, std::set<std::string>> states;
  };
  std::shared_ptr<LookedAt> looked_at_ = std::make_shared<LookedAt>();
};

}  // namespace discreet
