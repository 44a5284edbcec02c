#include <sqlite3.h>

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

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}
void Database::Close::operator()(sqlite3* database) const {
  sqlite3_close_v2(database);
}

Statement& Statement::bind(std::int64_t value) {
  bound_ &= sqlite3_bind_int64(statement_.get(), next_++, value) == SQLITE_OK;
  return *this;
}
Statement& Statement::bind(double value) {
  bound_ &= sqlite3_bind_double(statement_.get(), next_++, value) == SQLITE_OK;
  return *this;
}
Statement& Statement::bind(std::string_view text) {
  bound_ &= sqlite3_bind_text64(statement_.get(), next_++, text.data(), text.size(),
                                SQLITE_TRANSIENT, SQLITE_UTF8) == SQLITE_OK;
  return *this;
}
Statement& Statement::bind_blob(std::span<const std::uint8_t> bytes) {
  // A null pointer would store NULL; an empty answer is a value.
  const void* data = bytes.empty() ? static_cast<const void*>("") : bytes.data();
  bound_ &= sqlite3_bind_blob64(statement_.get(), next_++, data, bytes.size(), SQLITE_TRANSIENT) ==
            SQLITE_OK;
  return *this;
}
Statement& Statement::bind_null() {
  bound_ &= sqlite3_bind_null(statement_.get(), next_++) == SQLITE_OK;
  return *this;
}

Result<bool> Statement::step() {
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

Result<void> Statement::run() {
  DISCREET_TRY(const bool row, step());
  DISCREET_CHECK(!row, "a statement without rows returned one");
  return {};
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}
double Statement::real(int column) const {
  return sqlite3_column_double(statement_.get(), column);
}
std::string Statement::text(int column) const {
  const void* bytes = sqlite3_column_blob(statement_.get(), column);  // text or blob, as stored
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return bytes ? std::string(static_cast<const char*>(bytes), static_cast<std::size_t>(size))
               : std::string();
}
bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

Result<Database> Database::open(const std::string& path, Options options) {
  sqlite3* raw = nullptr;
  const int mode = options.read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
  const int flags = mode | (options.create ? SQLITE_OPEN_CREATE : 0) | SQLITE_OPEN_NOMUTEX |
                    SQLITE_OPEN_EXRESCODE;
  const int code = sqlite3_open_v2(path.c_str(), &raw, flags, options.vfs);
  Database database(raw);
  if (code != SQLITE_OK)
    return Error{ErrorCode::Unavailable, fmt::format("cannot open the ledger {}: {}", path,
                                                     raw ? sqlite3_errmsg(raw) : "out of memory")};
  sqlite3_busy_timeout(raw, options.busy_timeout_ms);
  return database;
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* raw = nullptr;
  if (sqlite3_prepare_v2(database_.get(), sql.data(), static_cast<int>(sql.size()), &raw,
                         nullptr) != SQLITE_OK)
    return failure(database_.get(), "be read");
  return Statement(database_.get(), raw);
}

Result<void> Database::execute(const char* sql) {
  if (sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK)
    return failure(database_.get(), "be read or written");
  return {};
}

Result<Transaction> Transaction::begin(Database& database) {
  DISCREET_TRY_VOID(database.execute("BEGIN IMMEDIATE"));
  return Transaction(database);
}

Result<void> Transaction::commit() {
  DISCREET_TRY_VOID(database_->execute("COMMIT"));
  database_ = nullptr;
  return {};
}

Transaction::~Transaction() {
  if (database_) static_cast<void>(database_->execute("ROLLBACK"));
}

}  // namespace discreet::ledger
