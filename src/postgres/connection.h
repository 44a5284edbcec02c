// One libpq connection with Results instead of return codes. The engine and the ledger share it.
//
// Guarantee: an Error says which database and what kind of trouble, never the server's own words
//            (they may quote row values): those go to the log.
// Guarantee: no call waits for ever: a server that stays silent longer than the statement timeout
//            and half a minute is taken for lost.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "postgres/address.h"

struct pg_result;

namespace discreet::postgres {

using Log = std::function<void(std::string_view)>;

struct Settings {
  std::uint32_t connect_timeout_s = 10;
  std::uint32_t statement_timeout_s = 600;
  bool read_only = false;  ///< every transaction is; the server refuses writes
  Log log = nullptr;
};

/// A parameter of a statement: text, or bytes for bytea.
struct Parameter {
  std::optional<std::string> value;
  bool is_bytes = false;
};

/// Rows of one answer of the server.
class Rows {
 public:
  explicit Rows(pg_result* result);
  int rows() const;
  int columns() const;
  std::string name(int column) const;
  std::uint32_t type(int column) const;  ///< the type's number in pg_type
  bool is_null(int row, int column) const;
  std::string_view bytes(int row, int column) const;  ///< as sent: text or binary
  std::string command() const;                        ///< what was done: "COMMIT", "INSERT 0 1"

 private:
  struct Clear {
    void operator()(pg_result* result) const;
  };
  std::unique_ptr<pg_result, Clear> result_;
};

/// Movable; one thread at a time, except cancel().
class Connection {
 public:
  /// Unavailable: the server cannot be reached, or does not let us in.
  static Result<Connection> open(const Address& address, const Settings& settings);

  Connection(Connection&&) noexcept;
  Connection& operator=(Connection&&) noexcept;
  ~Connection();

  /// One or more statements without parameters; the last one's rows, as text.
  Result<Rows> execute(const std::string& sql);
  /// One statement with parameters $1, ...; rows as text.
  Result<Rows> execute(const std::string& sql, const std::vector<Parameter>& parameters);
  /// Does the same with rows in PostgreSQL's binary form, one at a time through next_row().
  Result<void> send(const std::string& sql);
  /// A row (or, before the end of an empty answer, the columns without one); nothing at the end.
  Result<std::optional<Rows>> next_row();
  /// The columns of a statement, which is planned and not run: a Rows without rows.
  Result<Rows> describe(const std::string& sql);
  /// Runs COPY ... TO STDOUT; its bytes then come piece by piece through next_bytes().
  Result<void> send_copy(const std::string& sql);
  /// Valid until the next call; nothing at the end.
  Result<std::optional<std::string_view>> next_bytes();
  /// Reads what is left of a stream that nobody wants.
  void drain();

  /// The connection is gone: make another.
  bool is_lost() const;
  /// As PostgreSQL counts: 140000 and above is 14. What only speaks its protocol says an older one.
  int server_version() const;
  /// SQLSTATE of the last failure; empty: none, or the connection's.
  const std::string& state() const;
  std::string parameter(const char* name) const;

  /// Asks the server to stop what it runs for this connection. From any thread.
  void cancel() const;

 private:
  struct Impl;
  explicit Connection(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace discreet::postgres
