#include <bit>
#include <cstring>
#include <limits>

#include "engines/chunk_internal.h"
#include "engines/postgres/decode_internal.h"

namespace discreet {
namespace {

// Numbers of built-in types (pg_type.dat); they never change.
enum Native : std::uint32_t {
  kBool = 16,
  kName = 19,
  kInt8 = 20,
  kInt2 = 21,
  kInt4 = 23,
  kText = 25,
  kUnknown = 705,
  kFloat4 = 700,
  kFloat8 = 701,
  kBpChar = 1042,
  kVarChar = 1043,
  kDate = 1082,
  kTimestamp = 1114,
  kNumeric = 1700,
};

// PostgreSQL counts from 2000-01-01.
constexpr std::int64_t kEpochDays = 10'957;
constexpr std::int64_t kEpochMicros = kEpochDays * 86'400'000'000;

template <class Unsigned>
Unsigned big_endian(std::string_view bytes) {
  Unsigned value = 0;
  for (const char c : bytes.substr(0, sizeof(Unsigned)))
    value = static_cast<Unsigned>(value << 8 | static_cast<unsigned char>(c));
  return value;
}

/// Infinite times are as far as the embedded engine has them: both ends of its type.
template <class Raw>
std::int64_t since_1970(Raw raw, std::int64_t by) {
  constexpr Raw kMost = std::numeric_limits<Raw>::max();
  if (raw == kMost) return kMost;
  if (raw == std::numeric_limits<Raw>::min()) return -std::int64_t{kMost};
  return raw > std::numeric_limits<std::int64_t>::max() - by ? kMost : std::int64_t{raw} + by;
}

}  // namespace

std::optional<PostgresDecoder> postgres_decoder(std::uint32_t native) {
  const auto as = [&](EngineType type) { return PostgresDecoder{type, native}; };
  switch (native) {
    case kBool:
      return as(EngineType::Bool);
    case kInt2:
    case kInt4:
    case kInt8:
      return as(EngineType::Int64);
    case kNumeric:
      return as(EngineType::HugeInt);
    case kFloat4:
    case kFloat8:
      return as(EngineType::Double);
    case kName:
    case kText:
    case kUnknown:
    case kBpChar:
    case kVarChar:
      return as(EngineType::Varchar);
    case kDate:
      return as(EngineType::Date);
    case kTimestamp:
      return as(EngineType::Timestamp);
    default:
      return std::nullopt;
  }
}

std::optional<Int128> whole_numeric(std::string_view bytes) {
  // Number of digits, weight of the first, sign, digits after the point; digits are base 10^4.
  if (bytes.size() < 8) return std::nullopt;
  const auto word = [&](std::size_t i) { return big_endian<std::uint16_t>(bytes.substr(2 * i)); };
  const std::size_t digits = word(0);
  const auto weight = static_cast<std::int16_t>(word(1));
  const std::uint16_t sign = word(2);
  if ((sign != 0 && sign != 0x4000) || bytes.size() != 8 + 2 * digits) return std::nullopt;
  constexpr Int128 kMax = static_cast<Int128>(~UInt128{0} >> 1);
  Int128 value = 0;
  for (int place = 0; place <= weight; ++place) {
    const std::size_t index = static_cast<std::size_t>(place);
    const Int128 digit = index < digits ? word(4 + index) : 0;
    if (digit > 9999 || value > (kMax - digit) / 10'000) return std::nullopt;
    value = value * 10'000 + digit;
  }
  for (std::size_t i = weight < 0 ? 0 : static_cast<std::size_t>(weight) + 1; i < digits; ++i)
    if (word(4 + i) != 0) return std::nullopt;
  return sign == 0 ? value : -value;
}

bool skip_copy_header(std::string_view& bytes) {
  // Eleven bytes that say what it is, flags, and the length of what else is said.
  constexpr std::string_view kSignature("PGCOPY\n\377\r\n\0", 11);
  if (!bytes.starts_with(kSignature) || bytes.size() < 19) return false;
  const auto more = big_endian<std::uint32_t>(bytes.substr(15));
  if (bytes.size() - 19 < more) return false;
  bytes.remove_prefix(19 + more);
  return true;
}

bool is_copy_trailer(std::string_view bytes) {
  return bytes == std::string_view("\377\377", 2);
}

PostgresChunk::PostgresChunk(const std::vector<PostgresDecoder>& decoders)
    : decoders_(decoders), columns_(std::make_shared<Columns>()) {
  columns_->all.resize(decoders.size());
}

bool PostgresChunk::add_value(Column& column, const PostgresDecoder& decoder,
                              std::string_view bytes) {
  const auto sized = [&](std::size_t size) { return bytes.size() == size; };
  switch (decoder.native) {
    case kBool:
      column.flags.push_back(bytes.empty() ? 0 : static_cast<std::uint8_t>(bytes[0]));
      return sized(1);
    case kInt2:
      column.wholes.push_back(static_cast<std::int16_t>(big_endian<std::uint16_t>(bytes)));
      return sized(2);
    case kInt4:
      column.wholes.push_back(static_cast<std::int32_t>(big_endian<std::uint32_t>(bytes)));
      return sized(4);
    case kInt8:
      column.wholes.push_back(static_cast<std::int64_t>(big_endian<std::uint64_t>(bytes)));
      return sized(8);
    case kFloat4:
      column.reals.push_back(std::bit_cast<float>(big_endian<std::uint32_t>(bytes)));
      return sized(4);
    case kFloat8:
      column.reals.push_back(std::bit_cast<double>(big_endian<std::uint64_t>(bytes)));
      return sized(8);
    case kDate:
      column.wholes.push_back(
          since_1970(static_cast<std::int32_t>(big_endian<std::uint32_t>(bytes)), kEpochDays));
      return sized(4);
    case kTimestamp:
      column.wholes.push_back(
          since_1970(static_cast<std::int64_t>(big_endian<std::uint64_t>(bytes)), kEpochMicros));
      return sized(8);
    case kNumeric: {
      const auto value = whole_numeric(bytes);
      column.wides.push_back(value.value_or(0));
      return value.has_value();
    }
    default:
      column.texts.emplace_back(bytes);
      return true;
  }
}

bool PostgresChunk::add_cell(std::size_t index, std::optional<std::string_view> bytes) {
  Column& column = columns_->all[index];
  if (column.validity.size() * 64 <= size_) column.validity.push_back(~std::uint64_t{0});
  if (bytes) return add_value(column, decoders_[index], *bytes);
  column.has_nulls = true;
  column.validity[size_ / 64] &= ~(std::uint64_t{1} << (size_ % 64));
  switch (decoders_[index].type) {
    case EngineType::Bool:
      column.flags.push_back(0);
      break;
    case EngineType::Int64:
    case EngineType::Date:
    case EngineType::Timestamp:
      column.wholes.push_back(0);
      break;
    case EngineType::HugeInt:
      column.wides.push_back(0);
      break;
    case EngineType::Double:
      column.reals.push_back(0);
      break;
    case EngineType::Varchar:
      column.texts.emplace_back();
      break;
  }
  return true;
}

bool PostgresChunk::add(const postgres::Rows& rows, int row) {
  for (std::size_t i = 0; i < decoders_.size(); ++i) {
    const int at = static_cast<int>(i);
    if (!add_cell(i, rows.is_null(row, at) ? std::nullopt : std::optional(rows.bytes(row, at))))
      return false;
  }
  ++size_;
  return true;
}

bool PostgresChunk::add(std::string_view tuple) {
  // How many fields; before each its length, or -1 for NULL.
  if (tuple.size() < 2 || big_endian<std::uint16_t>(tuple) != decoders_.size()) return false;
  tuple.remove_prefix(2);
  for (std::size_t i = 0; i < decoders_.size(); ++i) {
    if (tuple.size() < 4) return false;
    const auto length = static_cast<std::int32_t>(big_endian<std::uint32_t>(tuple));
    tuple.remove_prefix(4);
    if (length < 0) {
      if (!add_cell(i, std::nullopt)) return false;
      continue;
    }
    if (tuple.size() < static_cast<std::size_t>(length)) return false;
    if (!add_cell(i, tuple.substr(0, static_cast<std::size_t>(length)))) return false;
    tuple.remove_prefix(static_cast<std::size_t>(length));
  }
  ++size_;
  return tuple.empty();
}

EngineChunk PostgresChunk::finish() && {
  EngineChunk chunk = ChunkAccess::make();
  ChunkAccess::resize(chunk, size_, decoders_.size());
  for (std::size_t i = 0; i < decoders_.size(); ++i) {
    ChunkAccess::Column& out = ChunkAccess::column(chunk, i);
    const Column& from = columns_->all[i];
    out.type = decoders_[i].type;
    out.validity = from.has_nulls ? from.validity.data() : nullptr;
    switch (out.type) {
      case EngineType::Bool:
        out.data = from.flags.data();
        break;
      case EngineType::Int64:
      case EngineType::Date:
      case EngineType::Timestamp:
        out.data = from.wholes.data();
        break;
      case EngineType::Double:
        out.data = from.reals.data();
        break;
      case EngineType::HugeInt:
        out.data = from.wides.data();
        out.read_wide = [](const void* data, std::size_t row) {
          return static_cast<const Int128*>(data)[row];
        };
        break;
      case EngineType::Varchar:
        out.data = &from.texts;
        out.read_text = [](const void* data, std::size_t row) {
          return std::string_view((*static_cast<const std::deque<std::string>*>(data))[row]);
        };
        break;
    }
  }
  ChunkAccess::own(chunk, columns_);
  return chunk;
}

}  // namespace discreet
