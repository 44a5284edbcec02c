// A database of events with Results instead of return codes: a file of SQLite's, or PostgreSQL.
// Nothing here knows what a ledger is. Statements are written so that both take them, with ? for
// values.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace discreet::ledger {

class Statement {
 public:
  Statement(Statement&&) noexcept = default;

  Statement& bind(std::int64_t value);
  Statement& bind(double value);
  Statement& bind(std::string_view text);
  Statement& bind_blob(std::span<const std::uint8_t> bytes);
  Statement& bind_null();

  /// True with a row, false at the end. Unavailable: the disk, the server or another process is in
  /// the way.
  Result<bool> step();
  /// For statements that return no rows.
  Result<void> run();

  std::int64_t integer(int column) const;
  double real(int column) const;
  std::string text(int column) const;
  bool is_null(int column) const;

  /// One kind of database's side of it.
  class Backend {
   public:
    virtual ~Backend() = default;
    virtual void bind(std::int64_t value) = 0;
    virtual void bind(double value) = 0;
    virtual void bind(std::string_view text) = 0;
    virtual void bind_blob(std::span<const std::uint8_t> bytes) = 0;
    virtual void bind_null() = 0;
    virtual Result<bool> step() = 0;
    virtual std::int64_t integer(int column) const = 0;
    virtual double real(int column) const = 0;
    virtual std::string text(int column) const = 0;
    virtual bool is_null(int column) const = 0;
  };
  explicit Statement(std::unique_ptr<Backend> backend) : backend_(std::move(backend)) {}

 private:
  std::unique_ptr<Backend> backend_;
};

class Database {
 public:
  struct Options {
    bool create = false;
    bool read_only = false;
    const char* vfs = nullptr;  ///< null: the system's file access
    int busy_timeout_ms = 10'000;
  };
  /// A file.
  static Result<Database> open(const std::string& path, Options options);
  /// A postgres:// address. A connection that was lost is made anew outside of transactions.
  static Result<Database> open_postgres(const std::string& address, Options options);

  Result<Statement> prepare(std::string_view sql);
  Result<void> execute(const char* sql);
  /// Of one state of the data, while others go on writing. Ended by ROLLBACK.
  Result<void> begin_reading();

  class Backend {
   public:
    virtual ~Backend() = default;
    virtual Result<Statement> prepare(std::string_view sql) = 0;
    virtual Result<void> execute(const char* sql) = 0;
    virtual Result<void> begin_reading() = 0;
    virtual Result<void> begin_writing() = 0;
    virtual Result<void> commit() = 0;
  };

 private:
  friend class Transaction;
  explicit Database(std::unique_ptr<Backend> backend) : backend_(std::move(backend)) {}
  std::unique_ptr<Backend> backend_;
};

/// What is read inside cannot change before it is committed: writers are served one after another.
/// Rolled back unless committed.
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
