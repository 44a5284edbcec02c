#include "engines/duckdb/rows.h"

#include <duckdb.h>

#include <chrono>
#include <thread>
#include <utility>

#include "engines/duckdb/chunk_internal.h"
#include "engines/duckdb/connection_internal.h"

namespace discreet {
namespace {

template <class From, class To>
const void* widen(const void* data, std::size_t size, std::vector<To>& out) {
  const auto* from = static_cast<const From*>(data);
  out.assign(from, from + size);
  return out.data();
}

Int128 read_unsigned(const void* data, std::size_t row) {
  return static_cast<const std::uint64_t*>(data)[row];
}

Int128 read_wide(const void* data, std::size_t row) {
  const duckdb_hugeint& value = static_cast<const duckdb_hugeint*>(data)[row];
  // Built from halves, because DuckDB aligns them to 8 bytes and an Int128 wants 16.
  const UInt128 bits = static_cast<UInt128>(static_cast<std::uint64_t>(value.upper)) << 64;
  return static_cast<Int128>(bits | value.lower);
}

std::string_view read_text(const void* data, std::size_t row) {
  const auto& text = static_cast<const duckdb_string_t*>(data)[row];
  const std::uint32_t length = text.value.inlined.length;
  return {length <= 12 ? text.value.inlined.inlined : text.value.pointer.ptr, length};
}

/// Nothing, if no bit of a null is among them: most columns that may have nulls have none.
const std::uint64_t* validity_of(duckdb_vector vector, std::size_t size) {
  const std::uint64_t* bits = duckdb_vector_get_validity(vector);
  if (bits == nullptr) return nullptr;
  std::uint64_t all = UINT64_MAX;
  for (std::size_t word = 0; word < size / 64; ++word) all &= bits[word];
  if (size % 64 > 0) all &= bits[size / 64] | UINT64_MAX << (size % 64);
  return all == UINT64_MAX ? nullptr : bits;
}

}  // namespace

std::optional<EngineType> ChunkFiller::map_type(duckdb_type type) {
  switch (type) {
    case DUCKDB_TYPE_BOOLEAN:
      return EngineType::Bool;
    case DUCKDB_TYPE_TINYINT:
    case DUCKDB_TYPE_SMALLINT:
    case DUCKDB_TYPE_INTEGER:
    case DUCKDB_TYPE_BIGINT:
    case DUCKDB_TYPE_UTINYINT:
    case DUCKDB_TYPE_USMALLINT:
    case DUCKDB_TYPE_UINTEGER:
      return EngineType::Int64;
    case DUCKDB_TYPE_UBIGINT:
    case DUCKDB_TYPE_HUGEINT:
      return EngineType::HugeInt;
    case DUCKDB_TYPE_FLOAT:
    case DUCKDB_TYPE_DOUBLE:
      return EngineType::Double;
    case DUCKDB_TYPE_VARCHAR:
      return EngineType::Varchar;
    case DUCKDB_TYPE_DATE:
      return EngineType::Date;
    case DUCKDB_TYPE_TIMESTAMP:
      return EngineType::Timestamp;
    default:
      return std::nullopt;
  }
}

namespace {

class DuckDbStream final : public RowSource {
 public:
  explicit DuckDbStream(std::shared_ptr<DuckDbConnection> shared)
      : connection_(std::move(shared)) {}
  ~DuckDbStream() override {
    duckdb_destroy_result(&result_);
    duckdb_destroy_pending(&pending_);
    duckdb_destroy_prepare(&statement_);
  }
  DuckDbStream(const DuckDbStream&) = delete;
  DuckDbStream& operator=(const DuckDbStream&) = delete;

  Result<void> start(const std::string& sql) {
    if (duckdb_prepare(connection_->handle, sql.c_str(), &statement_) != DuckDBSuccess)
      return failure(duckdb_prepare_error(statement_));
    // Marked deprecated for years without a successor; DuckDB's own bindings stream with it.
    if (duckdb_pending_prepared_streaming(statement_, &pending_) != DuckDBSuccess)
      return failure(duckdb_pending_error(pending_));
    // duckdb_execute_pending() alone asks without a pause whether others are done.
    for (auto state = duckdb_pending_execute_task(pending_);
         state != DUCKDB_PENDING_ERROR && !duckdb_pending_execution_is_finished(state);
         state = duckdb_pending_execute_task(pending_))
      if (state == DUCKDB_PENDING_NO_TASKS_AVAILABLE)
        std::this_thread::sleep_for(std::chrono::microseconds(20));
    if (duckdb_execute_pending(pending_, &result_) != DuckDBSuccess)
      return failure(duckdb_result_error(&result_));
    return read_columns();
  }

  const std::vector<EngineColumn>& columns() const override { return columns_; }
  Result<std::optional<EngineChunk>> next() override;

 private:
  Error failure(const char* message) const {
    return connection_->instance->failure(message, kStatementFailed);
  }
  Result<void> read_columns();

  std::shared_ptr<DuckDbConnection> connection_;
  duckdb_prepared_statement statement_ = nullptr;
  duckdb_pending_result pending_ = nullptr;
  duckdb_result result_{};
  std::vector<EngineColumn> columns_;
  std::vector<duckdb_type> native_;
  bool ended_ = false;
  bool failed_ = false;  // for good: a caller that asks again must not take a failure for the end
};

Result<void> DuckDbStream::read_columns() {
  const idx_t count = duckdb_column_count(&result_);
  for (idx_t column = 0; column < count; ++column) {
    const duckdb_type type = duckdb_column_type(&result_, column);
    const auto mapped = ChunkFiller::map_type(type);
    std::string column_name = duckdb_column_name(&result_, column);
    if (!mapped)
      return Error{ErrorCode::Refused, "column " + sql_identifier(column_name) +
                                           " has a type that has no exact meaning here; cast it "
                                           "to BIGINT, HUGEINT, DOUBLE, VARCHAR or DATE"};
    columns_.push_back({std::move(column_name), *mapped});
    native_.push_back(type);
  }
  return {};
}

Result<std::optional<EngineChunk>> DuckDbStream::next() {
  if (failed_) return failure(nullptr);
  while (!ended_) {
    duckdb_data_chunk fetched = duckdb_fetch_chunk(result_);
    if (fetched == nullptr) {
      ended_ = true;
      const char* message = duckdb_result_error(&result_);
      failed_ = message != nullptr && *message != '\0';
      if (failed_) return failure(message);
      break;
    }
    EngineChunk chunk = ChunkAccess::make();
    ChunkAccess::own(chunk, std::shared_ptr<void>(fetched, [](void* held) {
                       auto handle = static_cast<duckdb_data_chunk>(held);
                       duckdb_destroy_data_chunk(&handle);
                     }));
    ChunkAccess::resize(chunk, duckdb_data_chunk_get_size(fetched), columns_.size());
    if (chunk.size() == 0) continue;
    for (std::size_t column = 0; column < columns_.size(); ++column)
      ChunkFiller::fill(chunk, column, native_[column],
                        duckdb_data_chunk_get_vector(fetched, column));
    return std::optional<EngineChunk>(std::move(chunk));
  }
  return std::optional<EngineChunk>();
}

}  // namespace

Result<EngineRows> DuckDb::query(const std::string& sql) {
  DISCREET_TRY_VOID(connection_->cancellation.check());
  auto stream = std::make_unique<DuckDbStream>(connection_);
  DISCREET_TRY_VOID(stream->start(sql));
  return EngineRows(std::move(stream));
}

void ChunkFiller::fill(EngineChunk& chunk, std::size_t column, duckdb_type native,
                       duckdb_vector vector) {
  ChunkAccess::Column& out = ChunkAccess::column(chunk, column);
  const std::size_t size = chunk.size();
  const void* data = duckdb_vector_get_data(vector);
  out.type = *map_type(native);
  out.validity = validity_of(vector, size);
  switch (native) {
    case DUCKDB_TYPE_TINYINT:
      out.data = widen<std::int8_t>(data, size, out.widened);
      break;
    case DUCKDB_TYPE_SMALLINT:
      out.data = widen<std::int16_t>(data, size, out.widened);
      break;
    case DUCKDB_TYPE_INTEGER:
    case DUCKDB_TYPE_DATE:
      out.data = widen<std::int32_t>(data, size, out.widened);
      break;
    case DUCKDB_TYPE_UTINYINT:
      out.data = widen<std::uint8_t>(data, size, out.widened);
      break;
    case DUCKDB_TYPE_USMALLINT:
      out.data = widen<std::uint16_t>(data, size, out.widened);
      break;
    case DUCKDB_TYPE_UINTEGER:
      out.data = widen<std::uint32_t>(data, size, out.widened);
      break;
    case DUCKDB_TYPE_FLOAT:
      out.data = widen<float>(data, size, out.widened_doubles);
      break;
    default:
      out.data = data;
  }
  out.read_wide = native == DUCKDB_TYPE_UBIGINT ? read_unsigned : read_wide;
  out.read_text = read_text;
}

}  // namespace discreet
