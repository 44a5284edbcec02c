#include "base/check.h"
#include "ledger/sqlite_internal.h"

namespace discreet::ledger {

Statement& Statement::bind(std::int64_t value) {
  backend_->bind(value);
  return *this;
}
Statement& Statement::bind(double value) {
  backend_->bind(value);
  return *this;
}
Statement& Statement::bind(std::string_view text) {
  backend_->bind(text);
  return *this;
}
Statement& Statement::bind_blob(std::span<const std::uint8_t> bytes) {
  backend_->bind_blob(bytes);
  return *this;
}
Statement& Statement::bind_null() {
  backend_->bind_null();
  return *this;
}

Result<bool> Statement::step() {
  return backend_->step();
}

Result<void> Statement::run() {
  DISCREET_TRY(const bool row, step());
  DISCREET_CHECK(!row, "a statement without rows returned one");
  return {};
}

std::int64_t Statement::integer(int column) const {
  return backend_->integer(column);
}
double Statement::real(int column) const {
  return backend_->real(column);
}
std::string Statement::text(int column) const {
  return backend_->text(column);
}
bool Statement::is_null(int column) const {
  return backend_->is_null(column);
}

Result<Statement> Database::prepare(std::string_view sql) {
  return backend_->prepare(sql);
}
Result<void> Database::execute(const char* sql) {
  return backend_->execute(sql);
}
Result<void> Database::begin_reading() {
  return backend_->begin_reading();
}

Result<Transaction> Transaction::begin(Database& database) {
  DISCREET_TRY_VOID(database.backend_->begin_writing());
  return Transaction(database);
}

Result<void> Transaction::commit() {
  DISCREET_TRY_VOID(database_->backend_->commit());
  database_ = nullptr;
  return {};
}

Transaction::~Transaction() {
  if (database_) static_cast<void>(database_->execute("ROLLBACK"));
}

}  // namespace discreet::ledger
