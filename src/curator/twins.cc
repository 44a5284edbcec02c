#include "curator/twins.h"

#include <fmt/format.h>

#include <algorithm>

#include "engines/duckdb/appender.h"
#include "sql/synthesize.h"

namespace discreet {
namespace {

constexpr std::size_t kNameMax = 63;  // as PostgreSQL's
constexpr char kStaging[] = "discreet_twin_staging";
constexpr std::string_view kPrefix = "twin.";

std::string relation_of(const std::string& name) {
  return std::string(kPrefix) + name;
}

// Texts as they were recorded, then the types of the original columns. The rows are public, so a
// cast may fail in the open; NULL is still friendlier.
Result<void> load(const std::string& name, const RecordedTwins& twins, DuckDb& local) {
  const synth::RawTable& rows = twins.tables.front();
  std::string columns, casts;
  for (std::size_t i = 0; i < rows.columns.size(); ++i) {
    const std::string column = sql_identifier(rows.columns[i].name);
    const std::string& type = i < twins.types.size() ? twins.types[i] : "VARCHAR";
    columns += fmt::format("{}{} VARCHAR", i == 0 ? "" : ", ", column);
    casts += fmt::format("{}TRY_CAST({} AS {}) AS {}", i == 0 ? "" : ", ", column, type, column);
  }
  DISCREET_TRY_VOID(
      local.execute(fmt::format("CREATE OR REPLACE TABLE {}({})", kStaging, columns)));
  DISCREET_TRY(DuckDbAppender appender, DuckDbAppender::make(local, kStaging));
  for (std::size_t row = 0; row < rows.rows(); ++row) {
    for (const synth::RawColumn& column : rows.columns) {
      const std::uint32_t text = column.rows[row];
      if (text == synth::RawColumn::kNull)
        appender.append_null();
      else
        appender.append(std::string_view(column.texts[text]));
    }
    DISCREET_TRY_VOID(appender.end_row());
  }
  DISCREET_TRY_VOID(appender.close());
  return local.execute(fmt::format("CREATE TABLE {} AS SELECT {} FROM {}; DROP TABLE {}",
                                   sql_identifier(relation_of(name)), casts, kStaging, kStaging));
}

}  // namespace

Result<void> check_twin_name(const std::string& name) {
  const bool plain = !name.empty() && name.size() <= kNameMax &&
                     std::all_of(name.begin(), name.end(), [](unsigned char c) {
                       return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
                     });
  if (!plain || name.starts_with("discreet") || name.starts_with("released_") ||
      (name[0] >= '0' && name[0] <= '9'))
    return invalid_parameter(
        fmt::format("a twin cannot be called '{}': take small letters, digits and _, not "
                    "starting with a digit, discreet or released_.",
                    name));
  return {};
}

const catalog::Table* Twins::table(const std::string& name) const {
  const std::scoped_lock lock(mutex_);
  const auto found = known_.find(name);
  return found == known_.end() ? nullptr : &found->second.table;
}

std::vector<Twins::Listed> Twins::all() const {
  const std::scoped_lock lock(mutex_);
  std::vector<Listed> listed;
  for (const auto& [name, known] : known_) listed.push_back({&known.shown, known.columns});
  return listed;
}

// Called with the lock held.
const Twins::Known* Twins::find(const std::string& relation) const {
  if (!relation.starts_with(kPrefix)) return nullptr;
  const auto found = known_.find(relation.substr(kPrefix.size()));
  return found == known_.end() ? nullptr : &found->second;
}

bool Twins::holds(const std::string& relation) const {
  const std::scoped_lock lock(mutex_);
  return find(relation) != nullptr;
}

Result<std::vector<sql::SchemaColumn>> Twins::columns(const std::string& relation) const {
  const std::scoped_lock lock(mutex_);
  const Known* found = find(relation);
  if (found == nullptr)
    return Error{ErrorCode::NotFound, fmt::format("There is no table '{}'.", relation)};
  return found->columns;
}

std::string Twins::state(const std::string& relation) const {
  const std::scoped_lock lock(mutex_);
  const Known* found = find(relation);
  return found == nullptr ? "" : fmt::format("{} of charge {}\n", found->shown.name, found->charge);
}

Result<void> Twins::add(const std::string& name, std::uint64_t charge, const RecordedTwins& twins,
                        DuckDb& local) {
  const std::scoped_lock lock(mutex_);
  return add_locked(name, charge, twins, local);
}

Result<void> Twins::add_locked(const std::string& name, std::uint64_t charge,
                               const RecordedTwins& twins, DuckDb& local) {
  if (known_.contains(name)) return {};
  if (twins.tables.empty() || twins.tables.front().columns.empty())
    return invalid_input("the recorded twin has no columns");
  DISCREET_TRY_VOID(load(name, twins, local));
  Known known{{}, {}, {}, charge};
  known.shown.name = name;
  known.table.name = relation_of(name);
  const auto& columns = twins.tables.front().columns;
  for (std::size_t i = 0; i < columns.size(); ++i)
    known.columns.push_back(
        {columns[i].name, i < twins.types.size() ? twins.types[i] : std::string("VARCHAR")});
  known_.emplace(name, std::move(known));
  return {};
}

Result<bool> Twins::find_recorded(ledger::Ledger& ledger, DuckDb& local) {
  const std::scoped_lock lock(mutex_);
  // Newest first in the ledger; the oldest of a name is the twin, so they are added backwards.
  std::vector<std::pair<std::uint64_t, std::string>> found;
  std::uint64_t newest = seen_;
  for (ledger::EventPage page{.limit = 1000, .kind = "charge"};;) {
    DISCREET_TRY(const auto events, ledger.recent_events(page));
    bool done = events.size() < page.limit;
    for (const auto& event : events) {
      if (event.sequence <= seen_) {
        done = true;
        break;
      }
      newest = std::max(newest, event.sequence);
      page.before = event.sequence;
      if (event.body.find("SYNTHESIZE") == std::string::npos &&
          event.body.find("synthesize") == std::string::npos)
        continue;
      DISCREET_TRY(const auto body, ledger::decode_body(event.kind, event.body));
      const auto statement = sql::read_synthesize(std::get<ledger::ChargeEvent>(body).purpose);
      if (statement && *statement) found.emplace_back(event.sequence, (*statement)->twin);
    }
    if (done) break;
  }
  bool any = false;
  std::uint64_t unanswered = newest + 1;
  for (auto charge = found.rbegin(); charge != found.rend(); ++charge) {
    DISCREET_TRY(const auto record, ledger.record(charge->first));
    if (!record.release) {
      unanswered = std::min(unanswered, charge->first);  // being made: look again
      continue;
    }
    const auto twins = RecordedTwins::from_bytes(record.answer);
    if (!twins || !check_twin_name(charge->second)) continue;
    any |= !known_.contains(charge->second);
    DISCREET_TRY_VOID(add_locked(charge->second, charge->first, *twins, local));
  }
  seen_ = std::min(newest, unanswered - 1);
  return any;
}

}  // namespace discreet
