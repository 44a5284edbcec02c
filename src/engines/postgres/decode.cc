#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

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

/// The caller has looked that there are so many bytes.
template <class Unsigned>
Unsigned big_endian(const char* bytes) {
  static_assert(std::endian::native == std::endian::little);
  Unsigned value;
  std::memcpy(&value, bytes, sizeof(value));
  if constexpr (sizeof(value) == 2) return __builtin_bswap16(value);
  if constexpr (sizeof(value) == 4) return __builtin_bswap32(value);
  if constexpr (sizeof(value) == 8) return __builtin_bswap64(value);
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

int PostgresDecoder::size() const {
  return native == kInt2 ? 2 : native == kInt4 ? 4 : native == kInt8 ? 8 : 0;
}

std::optional<Int128> whole_numeric(std::string_view bytes) {
  // Number of digits, weight of the first, sign, digits after the point; digits are base 10^4.
  if (bytes.size() < 8) return std::nullopt;
  const auto word = [&](std::size_t i) { return big_endian<std::uint16_t>(bytes.data() + 2 * i); };
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
  const auto more = big_endian<std::uint32_t>(bytes.data() + 15);
  if (bytes.size() - 19 < more) return false;
  bytes.remove_prefix(19 + more);
  return true;
}

bool is_copy_trailer(std::string_view bytes) {
  return bytes == std::string_view("\377\377", 2);
}

PostgresChunk::PostgresChunk(const std::vector<PostgresDecoder>& decoders, std::size_t rows_max)
    : decoders_(decoders), columns_(std::make_shared<Columns>()) {
  columns_->all.resize(decoders.size());
  for (std::size_t i = 0; i < decoders.size(); ++i) {
    Column& column = columns_->all[i];
    column.validity.assign((rows_max + 63) / 64, ~std::uint64_t{0});
    switch (decoders[i].type) {
      case EngineType::Bool:
        column.flags.resize(rows_max);
        break;
      case EngineType::Int64:
      case EngineType::Date:
      case EngineType::Timestamp:
        column.wholes.resize(rows_max);
        break;
      case EngineType::HugeInt:
        column.wides.resize(rows_max);
        break;
      case EngineType::Double:
        column.reals.resize(rows_max);
        break;
      case EngineType::Varchar:
        column.texts.ends.resize(rows_max);
        break;
    }
  }
}

void PostgresChunk::clear() {
  size_ = 0;
  for (Column& column : columns_->all) {
    column.texts.bytes.clear();
    if (std::exchange(column.has_nulls, false))
      std::fill(column.validity.begin(), column.validity.end(), ~std::uint64_t{0});
  }
}

bool PostgresChunk::put(Column& column, const PostgresDecoder& decoder, std::string_view bytes) {
  const auto sized = [&](std::size_t size) { return bytes.size() == size; };
  const auto word16 = [&] { return big_endian<std::uint16_t>(bytes.data()); };
  const auto word32 = [&] { return big_endian<std::uint32_t>(bytes.data()); };
  const auto word64 = [&] { return big_endian<std::uint64_t>(bytes.data()); };
  const auto whole = [&](std::int64_t value) {
    column.wholes[size_] = value;
    return true;
  };
  switch (decoder.native) {
    case kBool:
      if (!sized(1)) return false;
      column.flags[size_] = static_cast<std::uint8_t>(bytes[0]);
      return true;
    case kInt2:
      if (!sized(2)) return false;
      return whole(static_cast<std::int16_t>(word16()));
    case kInt4:
      if (!sized(4)) return false;
      return whole(static_cast<std::int32_t>(word32()));
    case kInt8:
      if (!sized(8)) return false;
      return whole(static_cast<std::int64_t>(word64()));
    case kFloat4:
      if (!sized(4)) return false;
      column.reals[size_] = std::bit_cast<float>(word32());
      return true;
    case kFloat8:
      if (!sized(8)) return false;
      column.reals[size_] = std::bit_cast<double>(word64());
      return true;
    case kDate:
      if (!sized(4)) return false;
      return whole(since_1970(static_cast<std::int32_t>(word32()), kEpochDays));
    case kTimestamp:
      if (!sized(8)) return false;
      return whole(since_1970(static_cast<std::int64_t>(word64()), kEpochMicros));
    case kNumeric: {
      const auto value = whole_numeric(bytes);
      column.wides[size_] = value.value_or(0);
      return value.has_value();
    }
    default:
      column.texts.bytes += bytes;
      column.texts.ends[size_] = column.texts.bytes.size();
      return true;
  }
}

void PostgresChunk::put_null(Column& column, std::size_t row) {
  column.has_nulls = true;
  column.validity[row / 64] &= ~(std::uint64_t{1} << (row % 64));
  if (!column.texts.ends.empty()) column.texts.ends[row] = column.texts.bytes.size();
}

bool PostgresChunk::add(const postgres::Rows& rows, int row) {
  for (std::size_t i = 0; i < decoders_.size(); ++i) {
    const int at = static_cast<int>(i);
    if (rows.is_null(row, at))
      put_null(columns_->all[i], size_);
    else if (!put(columns_->all[i], decoders_[i], rows.bytes(row, at)))
      return false;
  }
  ++size_;
  return true;
}

bool PostgresChunk::add(std::string_view tuple) {
  // How many fields; before each its length, or -1 for NULL.
  const char* at = tuple.data();
  const char* const end = at + tuple.size();
  if (tuple.size() < 2 || big_endian<std::uint16_t>(at) != decoders_.size()) return false;
  at += 2;
  for (std::size_t i = 0; i < decoders_.size(); ++i) {
    if (end - at < 4) return false;
    const auto length = static_cast<std::int32_t>(big_endian<std::uint32_t>(at));
    at += 4;
    if (length < 0) {
      put_null(columns_->all[i], size_);
      continue;
    }
    if (end - at < length) return false;
    if (!put(columns_->all[i], decoders_[i], {at, static_cast<std::size_t>(length)})) return false;
    at += length;
  }
  ++size_;
  return at == end;
}

EngineChunk PostgresChunk::finish() const {
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
          const auto& texts = *static_cast<const Texts*>(data);
          const std::size_t begin = row == 0 ? 0 : texts.ends[row - 1];
          return std::string_view(texts.bytes).substr(begin, texts.ends[row] - begin);
        };
        break;
    }
  }
  ChunkAccess::own(chunk, columns_);
  return chunk;
}

}  // namespace discreet
