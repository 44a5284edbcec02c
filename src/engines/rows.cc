#include "engines/rows.h"

namespace discreet {

const char* name(EngineType type) {
  switch (type) {
    case EngineType::Bool:
      return "bool";
    case EngineType::Int64:
      return "int64";
    case EngineType::HugeInt:
      return "hugeint";
    case EngineType::Double:
      return "double";
    case EngineType::Varchar:
      return "varchar";
    case EngineType::Date:
      return "date";
    case EngineType::Timestamp:
      return "timestamp";
  }
  fail_check("an EngineType", "name of an unknown type");
}

void EngineChunk::require(std::size_t column, std::size_t row, bool type_fits) const {
  DISCREET_CHECK(row < size_ || size_ == 0, "a row beyond the chunk");
  DISCREET_CHECK(type_fits && column < columns_.size(), "a column read as another type");
}

std::span<const std::int64_t> EngineChunk::int64s(std::size_t column) const {
  const EngineType type = columns_.at(column).type;
  require(column, 0,
          type == EngineType::Int64 || type == EngineType::Date || type == EngineType::Timestamp);
  return {static_cast<const std::int64_t*>(columns_[column].data), size_};
}

std::span<const double> EngineChunk::doubles(std::size_t column) const {
  require(column, 0, columns_.at(column).type == EngineType::Double);
  return {static_cast<const double*>(columns_[column].data), size_};
}

Int128 EngineChunk::int128(std::size_t column, std::size_t row) const {
  const Column& source = columns_.at(column);
  require(column, row, source.type == EngineType::HugeInt || source.type == EngineType::Int64);
  if (source.type == EngineType::Int64) return static_cast<const std::int64_t*>(source.data)[row];
  return source.read_wide(source.data, row);
}

bool EngineChunk::boolean(std::size_t column, std::size_t row) const {
  require(column, row, columns_.at(column).type == EngineType::Bool);
  // As a byte: at a null it may be neither 0 nor 1.
  return static_cast<const std::uint8_t*>(columns_[column].data)[row] != 0;
}

std::span<const std::uint8_t> EngineChunk::booleans(std::size_t column) const {
  require(column, 0, columns_.at(column).type == EngineType::Bool);
  return {static_cast<const std::uint8_t*>(columns_[column].data), size_};
}

std::string_view EngineChunk::varchar(std::size_t column, std::size_t row) const {
  require(column, row, columns_.at(column).type == EngineType::Varchar);
  if (is_null(column, row)) return {};  // a null's length is not to be trusted
  return columns_[column].read_text(columns_[column].data, row);
}

}  // namespace discreet
