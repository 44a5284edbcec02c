#include "cli/synth_policy.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "cli/policy_option.h"
#include "cli/question_options.h"
#include "cli/synth_query.h"
#include "curator/accounts.h"
#include "curator/data.h"
#include "ledger/sha256.h"

namespace discreet::cli {
namespace {

std::string plain(const catalog::Literal& literal) {
  struct {
    std::string operator()(bool value) const { return value ? "true" : "false"; }
    std::string operator()(std::int64_t value) const { return std::to_string(value); }
    std::string operator()(double value) const { return fmt::format("{}", value); }
    std::string operator()(const std::string& value) const { return value; }
    std::string operator()(catalog::Date date) const { return synth::format_date(date.days); }
    std::string operator()(catalog::Timestamp) const { return ""; }
  } text;
  return std::visit(text, literal);
}

bool is_whole(const std::string& type) {
  return type == "TINYINT" || type == "SMALLINT" || type == "INTEGER" || type == "BIGINT" ||
         type == "UTINYINT" || type == "USMALLINT" || type == "UINTEGER" || type == "UBIGINT" ||
         type == "HUGEINT";
}

// What the policy and the schema say a column holds; nothing, and why, if it must be left out.
std::optional<synth::ColumnSpec> spec_of(const catalog::Column& column, const std::string& type,
                                         std::string& why) {
  synth::ColumnSpec spec{column.name, synth::KeyColumn{}};
  if (column.has_public_keys()) {
    synth::ValueColumn values;
    for (const auto& value : column.values) values.values.push_back(plain(value));
    spec.kind = std::move(values);
    return spec;
  }
  if (column.range) {
    const bool date = std::holds_alternative<catalog::Date>(column.range->lower);
    if (std::holds_alternative<catalog::Timestamp>(column.range->lower)) {
      why = "timestamps cannot be synthesised yet; add a column with their date";
      return std::nullopt;
    }
    synth::NumberColumn numbers{catalog::as_number(column.range->lower),
                                catalog::as_number(column.range->upper), 1, date};
    if (!date && !is_whole(type))
      numbers.step = column.grid.value_or((numbers.upper - numbers.lower) / 1e6);
    if (!(numbers.step > 0) || !((numbers.upper - numbers.lower) / numbers.step < 0x1p30)) {
      why = "its range holds more than 2^30 steps; give it a coarser grid";
      return std::nullopt;
    }
    spec.kind = numbers;
    return spec;
  }
  if (type == "BOOLEAN") {
    spec.kind = synth::ValueColumn{{"false", "true"}, false};
    return spec;
  }
  if (type == "VARCHAR") return spec;
  why = "numbers and dates need a range in the policy";
  return std::nullopt;
}

struct Plan {
  std::vector<synth::ColumnSpec> specs;
  std::string sql;
  std::vector<std::string> notes;
};

Result<Plan> plan_columns(const catalog::Table& table,
                          const std::vector<sql::SchemaColumn>& columns) {
  Plan plan;
  std::string select;
  for (const auto& column : columns) {
    const catalog::Column said = table.column(column.name);
    if (said.hidden || column.name == table.unit.column) continue;
    std::string why;
    auto spec = spec_of(said, column.engine_type, why);
    if (!spec) {
      plan.notes.push_back(fmt::format("column {} is left out: {}", column.name, why));
      continue;
    }
    spec->name = column.name;
    const std::string name = sql_identifier(column.name);
    select += fmt::format("{}CAST({} AS VARCHAR) AS {}", select.empty() ? "" : ", ", name, name);
    plan.specs.push_back(*std::move(spec));
  }
  if (plan.specs.empty())
    return Error{ErrorCode::Refused,
                 "no column of this table can be synthesised; give columns values or ranges"};
  const std::string from = sql_identifier(table.name);
  switch (table.unit.kind) {
    case catalog::Unit::Kind::Row:
      plan.sql = fmt::format("SELECT {} FROM {}", select, from);
      break;
    case catalog::Unit::Kind::None:
      return Error{ErrorCode::Refused, "the table is public: copy it, a twin would only be worse"};
    case catalog::Unit::Kind::Column:
    case catalog::Unit::Kind::Linked: {
      if (table.unit.column.empty())
        return Error{ErrorCode::Refused,
                     "the table must be joined to learn whose rows it holds; take the table that "
                     "has the unit as a column"};
      // One row per unit, drawn anew: which one says nothing about other units.
      const std::string unit = sql_identifier(table.unit.column);
      plan.sql = fmt::format(
          "SELECT {} FROM (SELECT *, row_number() OVER (PARTITION BY {} ORDER BY random()) AS "
          "discreet_row FROM {} WHERE {} IS NOT NULL) WHERE discreet_row = 1",
          select, unit, from, unit);
      plan.notes.push_back(
          fmt::format("one row per {} is used, drawn at random", table.unit.column));
      break;
    }
  }
  return plan;
}

std::string to_bytes(const PolicyTwin& twin) {
  nlohmann::json out = {{"notes", twin.notes}, {"tables", nlohmann::json::array()}};
  for (const auto& table : twin.tables) out["tables"].push_back(synth::format_csv(table));
  return out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<PolicyTwin> from_bytes(const std::string& bytes) {
  const auto parsed = nlohmann::json::parse(bytes, nullptr, false);
  if (!parsed.is_object() || !parsed.contains("tables"))
    return invalid_input("the recorded twin cannot be read back");
  PolicyTwin twin;
  for (const auto& note : parsed["notes"]) twin.notes.push_back(note.get<std::string>());
  for (const auto& text : parsed["tables"]) {
    DISCREET_TRY(auto table, synth::parse_csv(text.get<std::string>()));
    twin.tables.push_back(std::move(table));
  }
  return twin;
}

}  // namespace

Result<PolicyTwin> twin_under_policy(const PolicyTwinRequest& request, const CheckTwin& check,
                                     const MakeTwin& make) {
  DISCREET_TRY(const catalog::Policy policy, load_policy(request.policy));
  const catalog::Table* table = policy.table(request.table);
  if (table == nullptr)
    return Error{ErrorCode::NotFound,
                 fmt::format("the policy has no table '{}'; it has {}", request.table,
                             fmt::join(policy.table_names(), ", "))};
  DISCREET_TRY(Data data, Data::open(policy, operator_log()));
  if (data.is_remote())
    return Error{ErrorCode::Refused,
                 "synth reads files only; export the table to Parquet and name it in the policy."};
  DISCREET_TRY(const std::string snapshot, data.snapshot({table->name}));
  DISCREET_TRY(const auto columns, data.columns(table->name));
  DISCREET_TRY(Plan plan, plan_columns(*table, columns));
  DISCREET_TRY_VOID(check(plan.specs));

  const SystemClock clock;
  DISCREET_TRY(ledger::Ledger opened, open_ledger(policy, clock));
  const std::string account = request.as.empty() ? std::string(kOwnerAccount) : request.as;
  if (account != kOwnerAccount) {
    DISCREET_TRY_VOID(ensure_account(opened, policy, account));
    if (const auto* analyst = policy.analyst(account); analyst && !analyst->may_ask(table->name))
      return Error{ErrorCode::PermissionDenied,
                   fmt::format("{} may not ask about table '{}'.", account, table->name)};
  }
  const std::string question = ledger::to_hex(ledger::sha256(fmt::format(
      "{}\n{}\n{}\n{}\n{}\n{}", request.what == "synthesize" ? "synth" : request.what, table->name,
      request.job, request.budget.epsilon.value(), request.budget.delta.value(), snapshot)));
  const auto with_balance = [&](Result<PolicyTwin> twin) {
    if (const auto balance = opened.balance(account); twin && balance)
      twin->left = fmt::format("left to {}: epsilon {}, delta {}", account,
                               shown(balance->left.epsilon), shown(balance->left.delta));
    return twin;
  };
  DISCREET_TRY(const auto recorded, opened.find_answer(account, question));
  if (recorded) {
    DISCREET_TRY(PolicyTwin twin, from_bytes(recorded->answer));
    DISCREET_TRY_VOID(opened.record_repeat(account, recorded->charge));
    twin.repeated = true;
    return with_balance(std::move(twin));
  }
  const LossEvent loss = loss::Approximate{request.budget.epsilon, request.budget.delta};
  DISCREET_TRY(ledger::Receipt receipt,
               opened.charge({account, question, "",
                              fmt::format("{} {} ({})", request.what, table->name, request.job),
                              loss, ledger::Price::of(request.budget, loss)}));
  const auto made = [&]() -> Result<PolicyTwin> {
    DISCREET_TRY(const auto raw, query_as_text(data.local(), plan.sql));
    return make(raw, plan.specs);
  }();
  if (!made)
    return Error{
        made.error().code == ErrorCode::Refused ? ErrorCode::Refused : ErrorCode::Unavailable,
        fmt::format("It was charged but could not be made ({}). Ask for the same again: it is not "
                    "charged twice.",
                    made.error().message)};
  PolicyTwin twin = *made;
  twin.notes.insert(twin.notes.end(), plan.notes.begin(), plan.notes.end());
  DISCREET_TRY(const std::string bytes, opened.record_release(std::move(receipt), to_bytes(twin)));
  return with_balance(from_bytes(bytes));
}

}  // namespace discreet::cli
