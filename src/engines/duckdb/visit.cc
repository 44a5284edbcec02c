#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <vector>

#include "engines/duckdb/chunk_internal.h"
#include "engines/duckdb/connection_internal.h"
#include "engines/duckdb/database.h"
#include "engines/duckdb/hand_over_internal.h"
#include "engines/duckdb/visit_internal.h"

namespace discreet {

/// One call of DuckDb::visit(). Threads take a lane for a chunk and give it back.
class RowVisit {
 public:
  explicit RowVisit(const ChunkVisitor& visitor) : visitor_(visitor) {}

  /// False: no more rows are wanted.
  bool show(duckdb_data_chunk input) {
    if (stopped_) return false;
    const Taken lane(*this);
    const idx_t rows = duckdb_data_chunk_get_size(input);
    const idx_t columns = duckdb_data_chunk_get_column_count(input) - 1;  // the first is our number
    ChunkAccess::resize(*lane->chunk, rows, columns);
    for (idx_t column = 0; column < columns; ++column) {
      duckdb_vector vector = duckdb_data_chunk_get_vector(input, column + 1);
      if (lane->types.size() <= column && !add_type(*lane, column, vector)) return false;
      ChunkFiller::fill(*lane->chunk, column, lane->types[column], vector);
    }
    rows_ += rows;
    if (rows > 0 && !visitor_(*lane->chunk, lane->number)) stopped_ = true;
    return !stopped_;
  }

  /// After the statement. Every thread has given its lane back under this lock: what they wrote is
  /// seen by who called, however the engine ends its threads.
  void finish() { const std::lock_guard lock(mutex_); }

  void fail() {
    failed_ = true;
    stopped_ = true;
  }
  bool stopped() const { return stopped_; }
  bool failed() const { return failed_; }
  std::uint64_t rows() const { return rows_; }

 private:
  struct Lane {
    std::size_t number;
    std::unique_ptr<DuckDbChunk> chunk = ChunkAccess::make_shared_memory();
    std::vector<duckdb_type> types{};  // the same for every chunk of a statement
  };
  class Taken {
   public:
    explicit Taken(RowVisit& visit) : visit_(visit) {
      const std::lock_guard lock(visit.mutex_);
      if (visit.free_.empty()) {
        visit.lanes_.push_back(std::make_unique<Lane>(Lane{visit.lanes_.size()}));
        visit.free_.push_back(visit.lanes_.back().get());
      }
      lane_ = visit.free_.back();
      visit.free_.pop_back();
    }
    ~Taken() {
      const std::lock_guard lock(visit_.mutex_);
      visit_.free_.push_back(lane_);
    }
    Taken(const Taken&) = delete;
    Taken& operator=(const Taken&) = delete;
    Lane* operator->() const { return lane_; }
    Lane& operator*() const { return *lane_; }

   private:
    RowVisit& visit_;
    Lane* lane_;
  };

  bool add_type(Lane& lane, std::size_t column, duckdb_vector vector) {
    duckdb_logical_type logical = duckdb_vector_get_column_type(vector);
    duckdb_type type = duckdb_get_type_id(logical);
    if (type == DUCKDB_TYPE_DECIMAL) {
      // Its digits without the point, exactly as the engine keeps them.
      type = duckdb_decimal_internal_type(logical);
      ChunkAccess::column(*lane.chunk, column).decimal_digits = duckdb_decimal_scale(logical);
    }
    duckdb_destroy_logical_type(&logical);
    lane.types.push_back(type);
    if (!ChunkFiller::map_type(type)) fail();
    return !failed_;
  }

  const ChunkVisitor& visitor_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<Lane*> free_;
  std::atomic<std::uint64_t> rows_ = 0;
  std::atomic<bool> stopped_ = false, failed_ = false;
};

std::optional<VisitRegistry::Number> VisitRegistry::add(RowVisit* visit) {
  const std::lock_guard lock(mutex_);
  Number free = 0;
  for (const auto& [number, running] : visits_)
    if (number == free) ++free;
  if (free == std::numeric_limits<Number>::max()) return std::nullopt;
  visits_[free] = visit;
  return free;
}

void VisitRegistry::remove(Number number) {
  const std::lock_guard lock(mutex_);
  visits_.erase(number);
}

RowVisit* VisitRegistry::find(Number number) {
  const std::lock_guard lock(mutex_);
  const auto found = visits_.find(number);
  return found == visits_.end() ? nullptr : found->second;
}

namespace {

// No exception may pass through the engine, and no message may hold a value.
void visit_rows(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector) {
  void* passed = duckdb_scalar_function_get_extra_info(info);
  got_from_duckdb(passed);
  VisitRegistry& registry = **static_cast<std::shared_ptr<VisitRegistry>*>(passed);
  const idx_t rows = duckdb_data_chunk_get_size(input);
  if (rows == 0) return;
  const auto* numbers = static_cast<const VisitRegistry::Number*>(
      duckdb_vector_get_data(duckdb_data_chunk_get_vector(input, 0)));
  RowVisit* visit = registry.find(numbers[0]);
  bool go_on = false;
  if (visit != nullptr) {
    try {
      go_on = visit->show(input);
    } catch (const std::exception&) {
      visit->fail();
    }
  }
  if (!go_on) {
    duckdb_scalar_function_set_error(info, "the visit was stopped");
    return;
  }
}

void delete_registry(void* registry) {
  got_from_duckdb(registry);
  delete static_cast<std::shared_ptr<VisitRegistry>*>(registry);
}

}  // namespace

bool register_visit(duckdb_connection connection, const std::shared_ptr<VisitRegistry>& registry) {
  duckdb_scalar_function function = duckdb_create_scalar_function();
  duckdb_logical_type whole = duckdb_create_logical_type(DUCKDB_TYPE_BIGINT);
  duckdb_logical_type number = duckdb_create_logical_type(DUCKDB_TYPE_SMALLINT);
  duckdb_logical_type any = duckdb_create_logical_type(DUCKDB_TYPE_ANY);
  duckdb_scalar_function_set_name(function, kVisitFunction);
  duckdb_scalar_function_add_parameter(function, number);
  duckdb_scalar_function_set_varargs(function, any);
  duckdb_scalar_function_set_return_type(function, whole);
  // Once for every row, also where arguments are NULL or repeat.
  duckdb_scalar_function_set_special_handling(function);
  duckdb_scalar_function_set_volatile(function);
  duckdb_scalar_function_set_function(function, visit_rows);
  auto* passed = new std::shared_ptr<VisitRegistry>(registry);
  given_to_duckdb(passed);
  duckdb_scalar_function_set_extra_info(function, passed, delete_registry);
  const bool registered = duckdb_register_scalar_function(connection, function) == DuckDBSuccess;
  duckdb_destroy_logical_type(&whole);
  duckdb_destroy_logical_type(&number);
  duckdb_destroy_logical_type(&any);
  duckdb_destroy_scalar_function(&function);
  return registered;
}

Result<VisitedRows> DuckDb::visit(const std::string& sql, const std::vector<std::string>& columns,
                                  const ChunkVisitor& visitor) {
  DISCREET_TRY_VOID(connection_->cancellation.check());
  RowVisit visit(visitor);
  const auto number = connection_->instance->visits->add(&visit);
  if (!number) return Error{ErrorCode::Unavailable, kStatementFailed};
  struct Registered {
    VisitRegistry& registry;
    VisitRegistry::Number number;
    ~Registered() { registry.remove(number); }
  } const registered{*connection_->instance->visits, *number};
  std::string arguments = "CAST(" + std::to_string(registered.number) + " AS SMALLINT)";
  for (const std::string& column : columns) arguments += ", " + sql_identifier(column);
  const auto failed = [&] {
    return connection_->instance->failure("a visit of rows did not end well", kStatementFailed);
  };
  const auto run = [&]() -> Result<Int128> {
    DISCREET_TRY(DuckDbRows totals, query("SELECT count(*), count(" + std::string(kVisitFunction) +
                                          "(" + arguments + ")) FROM (" + sql + ")"));
    DISCREET_TRY(const auto chunk, totals.next());
    if (!chunk || chunk->size() != 1) return failed();
    return chunk->int128(0, 0);
  };
  const auto rows = run();
  visit.finish();
  if (visit.failed()) return failed();
  if (visit.stopped()) return VisitedRows{visit.rows(), true};
  if (!rows) return rows.error();
  // Whatever the optimizer did, no row may be missing or shown twice.
  if (*rows != Int128{visit.rows()}) return failed();
  return VisitedRows{visit.rows(), false};
}

}  // namespace discreet
