#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <map>

#include <fmt/format.h>

#include "ledger/sqlite_internal.h"

namespace discreet::ledger {
namespace {

Error failure(sqlite3* database, const char* doing) {
  const int code = database ? sqlite3_errcode(database) & 0xff : SQLITE_NOMEM;  // primary code
  const char* what = database ? sqlite3_errmsg(database) : "out of memory";
  const char* advice = "";
  if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
    advice = "; another process holds it: try again";
  if (code == SQLITE_FULL) advice = "; free some space";
  if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB)
    return invalid_input(
        fmt::format("the ledger file is damaged ({}): restore it from a copy", what));
  return Error{ErrorCode::Unavailable,
               fmt::format("the ledger could not {}: {}{}", doing, what, advice)};
}

struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
struct Close {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
using StatementPtr = std::unique_ptr<sqlite3_stmt, Finalize>;

/// A connection and the statements that wait to be used again: compiling one costs more than
/// running it. Statements are used by whoever has the connection's lock, as the connection is.
struct Connection {
  explicit Connection(sqlite3* opened) : database(opened) {}
  std::unique_ptr<sqlite3, Close> database;
  std::map<std::string, StatementPtr, std::less<>> idle;  // by text; goes before the database
};

class SqliteStatement final : public Statement::Backend {
 public:
  SqliteStatement(std::shared_ptr<Connection> connection, std::string_view text,
                  StatementPtr statement)
      : connection_(std::move(connection)),
        database_(connection_->database.get()),
        text_(text),
        statement_(std::move(statement)) {}
  SqliteStatement(const SqliteStatement&) = delete;
  SqliteStatement& operator=(const SqliteStatement&) = delete;
  ~SqliteStatement() override {
    constexpr std::size_t kIdleMax = 64;
    // What a failed step said is said again here, and was heard.
    sqlite3_reset(statement_.get());
    sqlite3_clear_bindings(statement_.get());
    if (connection_->idle.size() < kIdleMax)
      connection_->idle.try_emplace(std::move(text_), std::move(statement_));
  }

  void bind(std::int64_t value) override {
    bound_ &= sqlite3_bind_int64(statement_.get(), next_++, value) == SQLITE_OK;
  }
  void bind(double value) override {
    bound_ &= sqlite3_bind_double(statement_.get(), next_++, value) == SQLITE_OK;
  }
  void bind(std::string_view text) override {
    bound_ &= sqlite3_bind_text64(statement_.get(), next_++, text.data(), text.size(),
                                  SQLITE_TRANSIENT, SQLITE_UTF8) == SQLITE_OK;
  }
  void bind_blob(std::span<const std::uint8_t> bytes) override {
    // A null pointer would store NULL; an empty answer is a value.
    const void* data = bytes.empty() ? static_cast<const void*>("") : bytes.data();
    bound_ &= sqlite3_bind_blob64(statement_.get(), next_++, data, bytes.size(),
                                  SQLITE_TRANSIENT) == SQLITE_OK;
  }
  void bind_null() override { bound_ &= sqlite3_bind_null(statement_.get(), next_++) == SQLITE_OK; }

  Result<bool> step() override {
    if (!bound_) return failure(database_, "take a value");
    switch (sqlite3_step(statement_.get())) {
      case SQLITE_ROW:
        return true;
      case SQLITE_DONE:
        return false;
      default:
        return failure(database_, "be read or written");
    }
  }

  std::int64_t integer(int column) const override {
    return sqlite3_column_int64(statement_.get(), column);
  }
  double real(int column) const override { return sqlite3_column_double(statement_.get(), column); }
  std::string text(int column) const override {
    const void* bytes = sqlite3_column_blob(statement_.get(), column);  // text or blob, as stored
    const int size = sqlite3_column_bytes(statement_.get(), column);
    return bytes ? std::string(static_cast<const char*>(bytes), static_cast<std::size_t>(size))
                 : std::string();
  }
  bool is_null(int column) const override {
    return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
  }

 private:
  std::shared_ptr<Connection> connection_;
  sqlite3* database_;
  std::string text_;
  StatementPtr statement_;
  int next_ = 1;
  bool bound_ = true;
};

class SqliteDatabase final : public Database::Backend {
 public:
  explicit SqliteDatabase(sqlite3* database)
      : connection_(std::make_shared<Connection>(database)) {}

  Result<Statement> prepare(std::string_view sql) override {
    if (const auto found = connection_->idle.find(sql); found != connection_->idle.end()) {
      StatementPtr again = std::move(found->second);
      connection_->idle.erase(found);
      return Statement(std::make_unique<SqliteStatement>(connection_, sql, std::move(again)));
    }
    sqlite3_stmt* raw = nullptr;
    if (sqlite3_prepare_v3(connection_->database.get(), sql.data(), static_cast<int>(sql.size()),
                           SQLITE_PREPARE_PERSISTENT, &raw, nullptr) != SQLITE_OK)
      return failure(connection_->database.get(), "be read");
    return Statement(std::make_unique<SqliteStatement>(connection_, sql, StatementPtr(raw)));
  }
  Result<void> execute(const char* sql) override {
    if (sqlite3_exec(connection_->database.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK)
      return failure(connection_->database.get(), "be read or written");
    return {};
  }
  Result<void> begin_reading() override { return execute("BEGIN"); }
  Result<void> begin_writing() override { return execute("BEGIN IMMEDIATE"); }
  Result<void> commit() override { return execute("COMMIT"); }

 private:
  std::shared_ptr<Connection> connection_;
};

}  // namespace

Result<Database> Database::open(const std::string& path, Options options) {
  sqlite3* raw = nullptr;
  const int mode = options.read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
  const int flags = mode | (options.create ? SQLITE_OPEN_CREATE : 0) | SQLITE_OPEN_NOMUTEX |
                    SQLITE_OPEN_EXRESCODE;
  // Verifiers of passwords and everybody's questions are in it: whatever the umask, a new ledger is
  // its owner's alone, and SQLite gives the files beside it the same mode. Only a file that was not
  // there is opened here: closing one would let go of the locks that this process has on it.
  if (options.create)
    if (const int made = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        made >= 0)
      ::close(made);
  const int code = sqlite3_open_v2(path.c_str(), &raw, flags, options.vfs);
  Database database(std::make_unique<SqliteDatabase>(raw));
  if (code != SQLITE_OK)
    return Error{ErrorCode::Unavailable,
                 fmt::format("cannot open the ledger {}: {}. Its folder must be there, and this "
                             "user must be able to write it; another file is named in the "
                             "policy's [ledger] store.",
                             path, raw ? sqlite3_errmsg(raw) : "out of memory")};
  sqlite3_busy_timeout(raw, options.busy_timeout_ms);
  return database;
}

}  // namespace discreet::ledger
