#include "engines/duckdb/appender.h"

#include <duckdb.h>

#include <limits>
#include <utility>
#include <vector>

#include "engines/duckdb/connection_internal.h"

namespace discreet {

struct DuckDbAppender::State {
  explicit State(std::shared_ptr<DuckDbConnection> shared) : connection(std::move(shared)) {}
  ~State() {
    duckdb_destroy_data_chunk(&chunk);
    duckdb_appender_destroy(&appender);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  struct Column {
    duckdb_type type;
    duckdb_vector vector;
    void* data;
  };

  Result<void> make_chunk();
  void point_at_chunk();
  Result<void> flush_chunk();
  Error failure();
  /// The cell to write next, as an array of its type, after checking that the value fits it.
  template <class T>
  T& cell(bool type_fits) {
    DISCREET_CHECK(next_column < columns.size(), "more values than columns");
    DISCREET_CHECK(type_fits, "a value of another type than its column");
    return static_cast<T*>(columns[next_column++].data)[rows];
  }
  duckdb_type type() const {
    return next_column < columns.size() ? columns[next_column].type : DUCKDB_TYPE_INVALID;
  }

  std::shared_ptr<DuckDbConnection> connection;
  duckdb_appender appender = nullptr;
  duckdb_data_chunk chunk = nullptr;
  std::vector<Column> columns;
  std::size_t next_column = 0;
  idx_t rows = 0;
};

Error DuckDbAppender::State::failure() {
  duckdb_error_data data = duckdb_appender_error_data(appender);
  Error error = connection->instance->failure(
      duckdb_error_data_message(data),
      "The database engine could not load rows into a table; the operator's log has the reason.");
  duckdb_destroy_error_data(&data);
  return error;
}

Result<void> DuckDbAppender::State::make_chunk() {
  const idx_t count = duckdb_appender_column_count(appender);
  std::vector<duckdb_logical_type> types(count);
  bool all_known = true;
  for (idx_t column = 0; column < count; ++column) {
    types[column] = duckdb_appender_column_type(appender, column);
    const duckdb_type type = duckdb_get_type_id(types[column]);
    switch (type) {
      case DUCKDB_TYPE_BOOLEAN:
      case DUCKDB_TYPE_INTEGER:
      case DUCKDB_TYPE_BIGINT:
      case DUCKDB_TYPE_DOUBLE:
      case DUCKDB_TYPE_VARCHAR:
      case DUCKDB_TYPE_DATE:
        break;
      default:
        all_known = false;
    }
    columns.push_back({type, nullptr, nullptr});
  }
  if (all_known) chunk = duckdb_create_data_chunk(types.data(), count);
  for (duckdb_logical_type& type : types) duckdb_destroy_logical_type(&type);
  if (!all_known)
    return Error{ErrorCode::Refused,
                 "rows can only be loaded into columns of type BOOLEAN, INTEGER, BIGINT, DOUBLE, "
                 "VARCHAR and DATE"};
  if (chunk == nullptr) return failure();
  point_at_chunk();
  return {};
}

void DuckDbAppender::State::point_at_chunk() {
  for (std::size_t column = 0; column < columns.size(); ++column) {
    duckdb_vector vector = duckdb_data_chunk_get_vector(chunk, column);
    columns[column].vector = vector;
    columns[column].data = duckdb_vector_get_data(vector);
  }
}

Result<void> DuckDbAppender::State::flush_chunk() {
  duckdb_data_chunk_set_size(chunk, rows);
  rows = 0;
  if (duckdb_append_data_chunk(appender, chunk) != DuckDBSuccess) return failure();
  duckdb_data_chunk_reset(chunk);
  point_at_chunk();  // a reset may hand out other memory
  return {};
}

DuckDbAppender::DuckDbAppender(std::unique_ptr<State> state) : state_(std::move(state)) {}
DuckDbAppender::DuckDbAppender(DuckDbAppender&&) noexcept = default;
DuckDbAppender& DuckDbAppender::operator=(DuckDbAppender&&) noexcept = default;
DuckDbAppender::~DuckDbAppender() = default;

Result<DuckDbAppender> DuckDbAppender::make(const DuckDb& database, const std::string& table) {
  auto state = std::make_unique<State>(database.connection_);
  if (duckdb_appender_create(state->connection->handle, nullptr, table.c_str(), &state->appender) !=
      DuckDBSuccess)
    return state->failure();
  DISCREET_TRY_VOID(state->make_chunk());
  return DuckDbAppender(std::move(state));
}

std::size_t DuckDbAppender::columns() const {
  return state_->columns.size();
}

DuckDbAppender& DuckDbAppender::append(bool value) {
  state_->cell<bool>(state_->type() == DUCKDB_TYPE_BOOLEAN) = value;
  return *this;
}

DuckDbAppender& DuckDbAppender::append(std::int64_t value) {
  if (state_->type() == DUCKDB_TYPE_BIGINT) {
    state_->cell<std::int64_t>(true) = value;
    return *this;
  }
  const bool type_fits =
      state_->type() == DUCKDB_TYPE_INTEGER || state_->type() == DUCKDB_TYPE_DATE;
  DISCREET_CHECK(std::in_range<std::int32_t>(value), "a value too large for its column");
  state_->cell<std::int32_t>(type_fits) = static_cast<std::int32_t>(value);
  return *this;
}

DuckDbAppender& DuckDbAppender::append(double value) {
  state_->cell<double>(state_->type() == DUCKDB_TYPE_DOUBLE) = value;
  return *this;
}

DuckDbAppender& DuckDbAppender::append(std::string_view value) {
  DISCREET_CHECK(state_->type() == DUCKDB_TYPE_VARCHAR, "a value of another type than its column");
  duckdb_vector vector = state_->columns[state_->next_column++].vector;
  duckdb_vector_assign_string_element_len(vector, state_->rows, value.data(), value.size());
  return *this;
}

DuckDbAppender& DuckDbAppender::append_null() {
  DISCREET_CHECK(state_->type() != DUCKDB_TYPE_INVALID, "more values than columns");
  duckdb_vector vector = state_->columns[state_->next_column++].vector;
  duckdb_vector_ensure_validity_writable(vector);
  duckdb_validity_set_row_invalid(duckdb_vector_get_validity(vector), state_->rows);
  return *this;
}

Result<void> DuckDbAppender::end_row() {
  DISCREET_CHECK(state_->next_column == state_->columns.size(), "fewer values than columns");
  state_->next_column = 0;
  if (++state_->rows < duckdb_vector_size()) return {};
  return state_->flush_chunk();
}

Result<void> DuckDbAppender::close() {
  DISCREET_CHECK(state_->next_column == 0, "close() in the middle of a row");
  if (state_->rows > 0) DISCREET_TRY_VOID(state_->flush_chunk());
  if (duckdb_appender_close(state_->appender) != DuckDBSuccess) return state_->failure();
  return {};
}

}  // namespace discreet
