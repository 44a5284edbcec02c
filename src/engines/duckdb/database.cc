#include "engines/duckdb/database.h"

#include <duckdb.h>
#include <unistd.h>

#include <atomic>
#include <new>

#include "engines/duckdb/connection_internal.h"
#include "engines/temporary_files.h"

namespace discreet {
namespace {

/// A duckdb_config that is destroyed on every path.
class Config {
 public:
  Config() {
    if (duckdb_create_config(&handle_) != DuckDBSuccess) throw std::bad_alloc();
  }
  ~Config() { duckdb_destroy_config(&handle_); }
  Config(const Config&) = delete;
  Config& operator=(const Config&) = delete;

  void set(const char* option, const std::string& value) {
    accepted_ = accepted_ && duckdb_set_config(handle_, option, value.c_str()) == DuckDBSuccess;
  }
  bool accepted() const { return accepted_; }
  duckdb_config handle() const { return handle_; }

 private:
  duckdb_config handle_ = nullptr;
  bool accepted_ = true;
};

Result<void> check_settings(const DuckDbSettings& settings) {
  if (settings.threads == 0u) return invalid_parameter("threads must be at least 1");
  if (settings.memory_max_mib == std::uint64_t{0})
    return invalid_parameter("the memory limit must be at least 1 MiB");
  if (settings.read_only && settings.path.empty())
    return invalid_parameter("a database in memory cannot be opened read-only");
  return {};
}

std::string quoted(std::string_view text, char quote) {
  std::string out(1, quote);
  for (const char c : text) {
    if (c == quote) out += quote;
    out += c;
  }
  return out + quote;
}

/// Where it makes a folder, if it has to, and takes it away at the end: its own choice is in the
/// current folder, for all to read. "": it does not spill.
std::string spill_folder() {
  static std::atomic<std::uint64_t> databases = 0;
  std::string folder = private_folder();
  if (!folder.empty()) folder += "/" + std::to_string(getpid()) + "-" + std::to_string(++databases);
  return folder;
}

}  // namespace

DuckDb::DuckDb(std::shared_ptr<DuckDbConnection> connection) : connection_(std::move(connection)) {}

Result<DuckDb> DuckDb::open(DuckDbSettings settings) {
  DISCREET_TRY_VOID(check_settings(settings));
  Config config;
  config.set("temp_directory", spill_folder());
  config.set("autoinstall_known_extensions", "false");
  config.set("autoload_known_extensions", "false");
  config.set("allow_community_extensions", "false");
  if (settings.threads) config.set("threads", std::to_string(*settings.threads));
  if (settings.memory_max_mib)
    config.set("memory_limit", std::to_string(*settings.memory_max_mib) + "MiB");
  if (settings.read_only) config.set("access_mode", "READ_ONLY");
  if (!settings.external_access) config.set("enable_external_access", "false");
  // What a file held before is not taken for what it holds: rows and their owners come from one
  // state of it.
  config.set("enable_external_file_cache", "false");
  config.set("lock_configuration", "true");

  auto instance =
      std::make_shared<DuckDbInstance>(std::move(settings.operator_log), settings.files_settle_s);
  constexpr char kNotOpened[] =
      "The database engine could not open its database; the operator's log has the reason.";
  if (!config.accepted()) return instance->failure("a setting was not accepted", kNotOpened);
  char* message = nullptr;
  const char* path = settings.path.empty() ? nullptr : settings.path.c_str();
  if (duckdb_open_ext(path, &instance->handle, config.handle(), &message) != DuckDBSuccess) {
    Error error = instance->failure(message, kNotOpened);
    duckdb_free(message);
    return error;
  }
  DISCREET_TRY(DuckDb opened,
               DuckDb(std::make_shared<DuckDbConnection>(std::move(instance))).connect());
  const DuckDbConnection& connection = *opened.connection_;
  if (!register_visit(connection.handle, connection.instance->visits))
    return connection.instance->failure("a function was not accepted", kNotOpened);
  return opened;
}

Result<DuckDb> DuckDb::connect() const {
  auto connection = std::make_shared<DuckDbConnection>(connection_->instance);
  if (duckdb_connect(connection->instance->handle, &connection->handle) != DuckDBSuccess)
    return connection->instance->failure("duckdb_connect failed",
                                         "The database engine refused another connection.");
  connection->files = connection_->files;
  return DuckDb(std::move(connection));
}

Result<void> DuckDb::execute(const std::string& sql) {
  duckdb_result result;
  const bool ok = duckdb_query(connection_->handle, sql.c_str(), &result) == DuckDBSuccess;
  Result<void> outcome;
  if (!ok) outcome = connection_->instance->failure(duckdb_result_error(&result), kStatementFailed);
  duckdb_destroy_result(&result);
  return outcome;
}

Result<void> DuckDb::check(const std::string& sql) {
  duckdb_prepared_statement statement = nullptr;
  const bool ok = duckdb_prepare(connection_->handle, sql.c_str(), &statement) == DuckDBSuccess;
  Result<void> outcome;
  if (!ok)
    outcome = connection_->instance->failure(duckdb_prepare_error(statement), kStatementFailed);
  duckdb_destroy_prepare(&statement);
  return outcome;
}

void DuckDb::interrupt() const {
  duckdb_interrupt(connection_->handle);
}

Result<void> DuckDb::begin() {
  connection_->cancellation.begin();
  return {};
}

void DuckDb::end() {
  connection_->cancellation.end();
}

void DuckDb::cancel() const {
  connection_->cancellation.ask();
  interrupt();
}

std::string DuckDb::library_version() {
  return duckdb_library_version();
}

std::string sql_literal(std::string_view text) {
  return quoted(text, '\'');
}

std::string sql_identifier(std::string_view name) {
  return quoted(name, '"');
}

}  // namespace discreet
