#include "curator/data.h"

#include <fmt/format.h>

#include "curator/twins.h"
#include "ledger/sha256.h"
#include "sql/emit.h"

namespace discreet {

Result<Data> Data::open(const catalog::Policy& policy, OperatorLog log) {
  DuckDbSettings settings;
  const OperatorLog remote_log = log;
  settings.operator_log = std::move(log);
  DISCREET_TRY(DuckDb engine, DuckDb::open(std::move(settings)));
  Data data(std::move(engine), std::make_shared<Twins>());
  data.policy_ = &policy;
  if (!policy.tables().empty() && RemoteTables::lives_elsewhere(policy.tables().front())) {
    DISCREET_TRY(data.remote_, RemoteTables::open(policy, remote_log));
    return data;
  }
  DISCREET_TRY(FileTables files, FileTables::open(policy, data.engine_));
  data.files_ = std::move(files);
  return data;
}

Result<Data> Data::connect() const {
  DISCREET_TRY(DuckDb engine, engine_.connect());
  Data data(std::move(engine), twins_);
  data.files_ = files_;
  data.policy_ = policy_;
  if (remote_) {
    DISCREET_TRY(data.remote_, remote_->connect());
  }
  return data;
}

const catalog::Table* Data::twin(const std::string& table) const {
  return twins_->table(table);
}

std::string Data::scan(const sql::Scan& scan) const {
  if (remote_) return remote_->dialect().scan(scan, [](sql::ColumnId) { return true; });
  std::string columns;
  for (const auto& [name, id] : scan.columns)
    columns += fmt::format("{}{} AS {}", columns.empty() ? "" : ", ", sql_identifier(name),
                           sql::column_name(id));
  return fmt::format("SELECT {} FROM {}", columns, sql_identifier(scan.table));
}

std::string Data::statement(const std::string& sql) const {
  return remote_ ? remote_->dialect().statement(sql) : sql;
}

Result<std::vector<sql::SchemaColumn>> Data::columns(const std::string& table) const {
  if (twins_->holds(table)) return twins_->columns(table);
  if (remote_) return remote_->columns(table);
  return files_->columns(table);
}

Result<void> Data::check(const sql::PlannedQuestion& question) {
  return remote_ ? remote_->check(question) : Result<void>();
}

Result<void> Data::bring(const sql::PlannedQuestion& question) {
  if (!remote_) return {};
  for (const std::string& table : question.tables)
    if (const auto* found = policy_->table(table);
        found != nullptr && found->is_public() &&
        question.final_text_sql.find(table) != std::string::npos)
      DISCREET_TRY_VOID(remote_->bring(table, engine_));
  return {};
}

void Data::carry(const sql::Release& release, const ReleasedTable& table) {
  if (remote_) remote_->carry(release, table);
}

void Data::carry_nothing() {
  if (remote_) remote_->carry_nothing();
}

Result<std::string> Data::snapshot(const std::vector<std::string>& tables) {
  std::string state;
  std::vector<std::string> owned;
  for (const std::string& table : tables) {
    if (twins_->holds(table))
      state += twins_->state(table);
    else
      owned.push_back(table);
  }
  if (remote_) {
    DISCREET_TRY(const std::string there, remote_->state(owned));
    return ledger::to_hex(ledger::sha256(there + state));
  }
  DISCREET_TRY(const std::string here, files_->state(owned, engine_));
  return ledger::to_hex(ledger::sha256(here + state));
}

}  // namespace discreet
