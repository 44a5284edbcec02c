#include "engines/duckdb/rows.h"

#include <duckdb.h>

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

}  // namespace

std::optional<DuckDbType> ChunkFiller::map_type(duckdb_type type) {
  switch (type) {
    case DUCKDB_TYPE_BOOLEAN:
      return DuckDbType::Bool;
    case DUCKDB_TYPE_TINYINT:
    case DUCKDB_TYPE_SMALLINT:
    case DUCKDB_TYPE_INTEGER:
    case DUCKDB_TYPE_BIGINT:
    case DUCKDB_TYPE_UTINYINT:
    case DUCKDB_TYPE_USMALLINT:
    case DUCKDB_TYPE_UINTEGER:
      return DuckDbType::Int64;
    case DUCKDB_TYPE_UBIGINT:
    case DUCKDB_TYPE_HUGEINT:
      return DuckDbType::HugeInt;
    case DUCKDB_TYPE_FLOAT:
    case DUCKDB_TYPE_DOUBLE:
      return DuckDbType::Double;
    case DUCKDB_TYPE_VARCHAR:
      return DuckDbType::Varchar;
    case DUCKDB_TYPE_DATE:
      return DuckDbType::Date;
    case DUCKDB_TYPE_TIMESTAMP:
      return DuckDbType::Timestamp;
    default:
      return std::nullopt;
  }
}

const char* name(DuckDbType type) {
  switch (type) {
    case DuckDbType::Bool:
      return "bool";
    case DuckDbType::Int64:
      return "int64";
    case DuckDbType::HugeInt:
      return "hugeint";
    case DuckDbType::Double:
      return "double";
    case DuckDbType::Varchar:
      return "varchar";
    case DuckDbType::Date:
      return "date";
    case DuckDbType::Timestamp:
      return "timestamp";
  }
  fail_check("a DuckDbType", "name of an unknown type");
}

DuckDbChunk::DuckDbChunk(DuckDbChunk&& other) noexcept
    : chunk_(std::exchange(other.chunk_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      columns_(std::move(other.columns_)) {}

DuckDbChunk& DuckDbChunk::operator=(DuckDbChunk&& other) noexcept {
  std::swap(chunk_, other.chunk_);
  std::swap(size_, other.size_);
  std::swap(columns_, other.columns_);
  return *this;
}

DuckDbChunk::~DuckDbChunk() {
  auto chunk = static_cast<duckdb_data_chunk>(chunk_);
  duckdb_destroy_data_chunk(&chunk);
}

void DuckDbChunk::require(std::size_t column, std::size_t row, bool type_fits) const {
  DISCREET_CHECK(row < size_ || size_ == 0, "a row beyond the chunk");
  DISCREET_CHECK(type_fits && column < columns_.size(), "a column read as another type");
}

std::span<const std::int64_t> DuckDbChunk::int64s(std::size_t column) const {
  const DuckDbType type = columns_.at(column).type;
  require(column, 0,
          type == DuckDbType::Int64 || type == DuckDbType::Date || type == DuckDbType::Timestamp);
  return {static_cast<const std::int64_t*>(columns_[column].data), size_};
}

std::span<const double> DuckDbChunk::doubles(std::size_t column) const {
  require(column, 0, columns_.at(column).type == DuckDbType::Double);
  return {static_cast<const double*>(columns_[column].data), size_};
}

Int128 DuckDbChunk::int128(std::size_t column, std::size_t row) const {
  const Column& source = columns_.at(column);
  require(column, row, source.type == DuckDbType::HugeInt || source.type == DuckDbType::Int64);
  if (source.type == DuckDbType::Int64) return static_cast<const std::int64_t*>(source.data)[row];
  if (source.is_unsigned) return static_cast<const std::uint64_t*>(source.data)[row];
  const duckdb_hugeint& value = static_cast<const duckdb_hugeint*>(source.data)[row];
  // Built from halves, because DuckDB aligns them to 8 bytes and an Int128 wants 16.
  const UInt128 bits = static_cast<UInt128>(static_cast<std::uint64_t>(value.upper)) << 64;
  return static_cast<Int128>(bits | value.lower);
}

bool DuckDbChunk::boolean(std::size_t column, std::size_t row) const {
  require(column, row, columns_.at(column).type == DuckDbType::Bool);
  // As a byte: at a null it may be neither 0 nor 1.
  return static_cast<const std::uint8_t*>(columns_[column].data)[row] != 0;
}

std::span<const std::uint8_t> DuckDbChunk::booleans(std::size_t column) const {
  require(column, 0, columns_.at(column).type == DuckDbType::Bool);
  return {static_cast<const std::uint8_t*>(columns_[column].data), size_};
}

std::string_view DuckDbChunk::varchar(std::size_t column, std::size_t row) const {
  require(column, row, columns_.at(column).type == DuckDbType::Varchar);
  if (is_null(column, row)) return {};  // a null's length is not to be trusted
  const auto& text = static_cast<const duckdb_string_t*>(columns_[column].data)[row];
  const std::uint32_t length = text.value.inlined.length;
  return {length <= 12 ? text.value.inlined.inlined : text.value.pointer.ptr, length};
}

struct DuckDbRows::State {
  explicit State(std::shared_ptr<DuckDbConnection> shared) : connection(std::move(shared)) {}
  ~State() {
    duckdb_destroy_result(&result);
    duckdb_destroy_pending(&pending);
    duckdb_destroy_prepare(&statement);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  Error failure(const char* message) const {
    return connection->instance->failure(message, kStatementFailed);
  }
  Result<void> read_columns();

  std::shared_ptr<DuckDbConnection> connection;
  duckdb_prepared_statement statement = nullptr;
  duckdb_pending_result pending = nullptr;
  duckdb_result result{};
  std::vector<DuckDbColumn> columns;
  std::vector<duckdb_type> native;
  bool ended = false;
  bool failed = false;  // for good: a caller that asks again must not take a failure for the end
};

DuckDbRows::DuckDbRows(std::unique_ptr<State> state) : state_(std::move(state)) {}
DuckDbRows::DuckDbRows(DuckDbRows&&) noexcept = default;
DuckDbRows& DuckDbRows::operator=(DuckDbRows&&) noexcept = default;
DuckDbRows::~DuckDbRows() = default;

const std::vector<DuckDbColumn>& DuckDbRows::columns() const {
  return state_->columns;
}

Result<void> DuckDbRows::State::read_columns() {
  const idx_t count = duckdb_column_count(&result);
  for (idx_t column = 0; column < count; ++column) {
    const duckdb_type type = duckdb_column_type(&result, column);
    const auto mapped = ChunkFiller::map_type(type);
    std::string column_name = duckdb_column_name(&result, column);
    if (!mapped)
      return Error{ErrorCode::Refused, "column " + sql_identifier(column_name) +
                                           " has a type that has no exact meaning here; cast it "
                                           "to BIGINT, HUGEINT, DOUBLE, VARCHAR or DATE"};
    columns.push_back({std::move(column_name), *mapped});
    native.push_back(type);
  }
  return {};
}

Result<DuckDbRows> DuckDbRows::start(std::shared_ptr<DuckDbConnection> connection,
                                     const std::string& sql) {
  auto state = std::make_unique<State>(std::move(connection));
  State& s = *state;
  if (duckdb_prepare(s.connection->handle, sql.c_str(), &s.statement) != DuckDBSuccess)
    return s.failure(duckdb_prepare_error(s.statement));
  // Marked deprecated for years without a successor; DuckDB's own bindings stream with it.
  if (duckdb_pending_prepared_streaming(s.statement, &s.pending) != DuckDBSuccess)
    return s.failure(duckdb_pending_error(s.pending));
  if (duckdb_execute_pending(s.pending, &s.result) != DuckDBSuccess)
    return s.failure(duckdb_result_error(&s.result));
  DISCREET_TRY_VOID(s.read_columns());
  return DuckDbRows(std::move(state));
}

void ChunkFiller::fill(DuckDbChunk& chunk, std::size_t column, duckdb_type native,
                       duckdb_vector vector) {
  DuckDbChunk::Column& out = chunk.columns_[column];
  const std::size_t size = chunk.size_;
  const void* data = duckdb_vector_get_data(vector);
  out.type = *map_type(native);
  out.validity = duckdb_vector_get_validity(vector);
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
  out.is_unsigned = native == DUCKDB_TYPE_UBIGINT;
}

Result<std::optional<DuckDbChunk>> DuckDbRows::next() {
  State& s = *state_;
  if (s.failed) return s.failure(nullptr);
  while (!s.ended) {
    duckdb_data_chunk fetched = duckdb_fetch_chunk(s.result);
    if (fetched == nullptr) {
      s.ended = true;
      const char* message = duckdb_result_error(&s.result);
      s.failed = message != nullptr && *message != '\0';
      if (s.failed) return s.failure(message);
      break;
    }
    DuckDbChunk chunk;
    chunk.chunk_ = fetched;
    ChunkFiller::resize(chunk, duckdb_data_chunk_get_size(fetched), s.columns.size());
    if (chunk.size_ == 0) continue;
    for (std::size_t column = 0; column < s.columns.size(); ++column) {
      ChunkFiller::fill(chunk, column, s.native[column],
                        duckdb_data_chunk_get_vector(fetched, column));
    }
    return std::optional<DuckDbChunk>(std::move(chunk));
  }
  return std::optional<DuckDbChunk>();
}

}  // namespace discreet
