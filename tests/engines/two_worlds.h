// The same tables twice: in files behind the embedded engine, and in another database. Statements
// are planned and run on both sides and must give the same.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "catalog/policy.h"
#include "curator/contributions.h"
#include "curator/data.h"

namespace discreet::testing {

struct Disagreement {
  std::string statement, what;
};

/// Where the second copy lives.
class Elsewhere {
 public:
  virtual ~Elsewhere() = default;
  /// An empty place for tables; what was there is gone.
  virtual void clear(const std::string& schema) = 0;
  /// Copies a table of the embedded engine, which also lies in a Parquet file.
  virtual void copy(DuckDb& from, const std::string& table, const std::string& schema,
                    const std::string& parquet) = 0;
  /// The policy's source of the copy.
  virtual std::string source(const std::string& schema, const std::string& table) = 0;
};

class TwoWorlds {
 public:
  /// Makes the tables with DuckDB's SQL, and copies them. `policy` names sources NAME.parquet (or
  /// NAME.csv, read as Parquet too).
  TwoWorlds(Elsewhere& elsewhere, const std::string& schema, const std::string& policy,
            const std::string& tables_sql);
  ~TwoWorlds();

  enum class Verdict { Refused, Same };
  /// Plans on both sides, compares plan, price and the rows of every engine statement. Fails the
  /// test where they differ. `files_alone`: no statement of the other engine's, but what its own
  /// files are read by.
  Verdict compare(const std::string& statement, bool files_alone = false);

  const catalog::Policy& near_policy() const { return *near_policy_; }
  const catalog::Policy& far_policy() const { return *far_policy_; }
  Data& near() { return *near_; }
  Data& far() { return *far_; }
  std::size_t statements_run() const { return statements_run_; }
  std::size_t rows_compared() const { return rows_compared_; }
  /// Releases whose rows were read from the other engine's own files.
  std::size_t read_over_files() const { return read_over_files_; }
  /// Releases whose totals were added up over them.
  std::size_t totals_over_files() const { return totals_over_files_; }
  /// Releases whose rows here were known by their places.
  std::size_t read_by_places() const { return read_by_places_; }
  /// Releases made from units' totals too, here and there.
  std::size_t read_by_totals() const { return read_by_totals_; }

 private:
  /// `far_engine`: not the other world's own, but its files' reader.
  void compare_rows(const std::string& statement, const std::string& near_sql,
                    const std::string& far_sql, Engine* far_engine = nullptr);
  Engine* over_files(const std::string& statement, const std::string& sql, const sql::Release& far);

  static std::multiset<std::string> shown(const Contributions& all, const Groups& groups);
  void compare_placed(const std::string& statement, const sql::Release& release,
                      const std::multiset<std::string>& expected);
  /// On one of the engines.
  void compare_totals(const std::string& statement, const sql::Release& release, Engine& engine);
  void compare_streamed(const std::string& statement, const sql::Release& near,
                        const sql::Release& far, bool files_alone);

  std::string folder_;
  std::unique_ptr<catalog::Policy> near_policy_, far_policy_;
  std::unique_ptr<Data> near_, far_;
  std::size_t statements_run_ = 0, rows_compared_ = 0, read_over_files_ = 0, totals_over_files_ = 0,
              read_by_places_ = 0, read_by_totals_ = 0;
};

/// All cells of a statement, as text.
std::vector<std::vector<std::optional<std::string>>> text_rows(DuckDb& database,
                                                               const std::string& sql);

/// The same of a statement all of whose columns are texts.
std::vector<std::vector<std::optional<std::string>>> texts(Engine& engine, const std::string& sql);

/// The backend's last words, for messages.
std::string& last_words();

}  // namespace discreet::testing
