// SQLite with Results instead of return codes. Nothing here knows what a ledger is.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace discreet::ledger {

class Statement {
 public:
  Statement(Statement&&) noexcept = default;

  Statement& bind(std::int64_t value);
  Statement& bind(double value);
  Statement& bind(std::string_view text);
  Statement& bind_blob(std::span<const std::uint8_t> bytes);
  Statement& bind_null();

  /// True with a row, false at the end. Unavailable: the disk or another process is in the way.
  Result<bool> step();
  /// For statements that return no rows.
  Result<void> run();

  std::int64_t integer(int column) const;
  double real(int column) const;
  std::string text(int column) const;
  bool is_null(int column) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  Statement(sqlite3* database, sqlite3_stmt* statement)
      : database_(database), statement_(statement) {}

  sqlite3* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int next_ = 1;
  bool bound_ = true;
};

class Database {
 public:
  struct Options {
    bool create = false;
    bool read_only = false;
    const char* vfs = nullptr;  ///< null: the system's file access
    int busy_timeout_ms = 10'000;
  };
  static Result<Database> open(const std::string& path, Options options);

  Result<Statement> prepare(std::string_view sql);
  Result<void> execute(const char* sql);

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  explicit Database(sqlite3* database) : database_(database) {}
  std::unique_ptr<sqlite3, Close> database_;
};

/// BEGIN IMMEDIATE, so that what is read inside cannot change before it is committed; rolled back
/// unless committed.
class Transaction {
 public:
  static Result<Transaction> begin(Database& database);
  Transaction(Transaction&& other) noexcept : database_(other.database_) {
    other.database_ = nullptr;
  }
  ~Transaction();
  /// Durable once it returns success. After a failure, what was written may or may not be there.
  Result<void> commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}
  Database* database_;
};

}  // namespace discreet::ledger
