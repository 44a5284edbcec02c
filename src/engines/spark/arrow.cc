#include <bit>
#include <cstring>
#include <deque>
#include <limits>

#include <fmt/format.h>

#include "engines/chunk_internal.h"
#include "engines/spark/arrow_internal.h"

namespace discreet::arrow {
namespace {

static_assert(std::endian::native == std::endian::little, "Arrow's bytes are read as they are");

/// Somebody else's bytes are not what they should be.
struct Broken {};

template <class Number>
Number load(std::string_view bytes, std::size_t at) {
  if (at > bytes.size() || bytes.size() - at < sizeof(Number)) throw Broken();
  Number value;
  std::memcpy(&value, bytes.data() + at, sizeof(Number));
  return value;
}

/// A table of FlatBuffers: fields are found through a list of offsets that lies elsewhere.
class FlatTable {
 public:
  static FlatTable root(std::string_view bytes) {
    return FlatTable(bytes, load<std::uint32_t>(bytes, 0));
  }

  template <class Number>
  Number number(int field, Number otherwise) const {
    const std::size_t at = place(field);
    return at == 0 ? otherwise : load<Number>(bytes_, at);
  }
  bool has(int field) const { return place(field) != 0; }
  FlatTable table(int field) const { return FlatTable(bytes_, follow(field)); }
  std::string_view text(int field) const {
    if (!has(field)) return {};
    const std::size_t at = follow(field);
    const auto length = load<std::uint32_t>(bytes_, at);
    if (bytes_.size() - at - 4 < length) throw Broken();
    return bytes_.substr(at + 4, length);
  }
  std::size_t count(int field) const {
    if (!has(field)) return 0;
    const auto count = load<std::uint32_t>(bytes_, follow(field));
    if (count > bytes_.size()) throw Broken();
    return count;
  }
  FlatTable element(int field, std::size_t i) const {
    const std::size_t at = follow(field) + 4 + 4 * i;
    return FlatTable(bytes_, at + load<std::uint32_t>(bytes_, at));
  }
  /// One of two 64-bit numbers of a structure in a list.
  std::int64_t pair(int field, std::size_t i, int which) const {
    return load<std::int64_t>(bytes_,
                              follow(field) + 4 + 16 * i + 8 * static_cast<std::size_t>(which));
  }

 private:
  FlatTable(std::string_view bytes, std::size_t at) : bytes_(bytes), at_(at) {
    const auto back = load<std::int32_t>(bytes_, at_);
    const auto list = static_cast<std::int64_t>(at_) - back;
    if (list < 0) throw Broken();
    list_ = static_cast<std::size_t>(list);
    list_size_ = load<std::uint16_t>(bytes_, list_);
  }
  /// Where the field is; 0 if it is left out.
  std::size_t place(int field) const {
    const std::size_t entry = 4 + 2 * static_cast<std::size_t>(field);
    if (entry + 2 > list_size_) return 0;
    const auto offset = load<std::uint16_t>(bytes_, list_ + entry);
    return offset == 0 ? 0 : at_ + offset;
  }
  std::size_t follow(int field) const {
    const std::size_t at = place(field);
    if (at == 0) throw Broken();
    return at + load<std::uint32_t>(bytes_, at);
  }

  std::string_view bytes_;
  std::size_t at_, list_ = 0, list_size_ = 0;
};

// Numbers of Arrow's Schema.fbs and Message.fbs.
enum MessageKind : std::uint8_t { kSchema = 1, kRecordBatch = 3 };
enum TypeNumber : std::uint8_t {
  kInt = 2,
  kFloatingPoint = 3,
  kBinary = 4,
  kUtf8 = 5,
  kBool = 6,
  kDecimal = 7,
  kDate = 8,
  kTimestamp = 10,
  kLargeUtf8 = 20,
};

std::optional<Field> field_of(const FlatTable& table) {
  using Layout = Field::Layout;
  const auto make = [&](EngineType type, Layout layout) {
    return Field{std::string(table.text(0)), type, layout};
  };
  if (table.has(4)) return std::nullopt;  // a dictionary
  const auto number = table.number<std::uint8_t>(2, 0);
  const auto type = [&] { return table.table(3); };
  switch (number) {
    case kInt: {
      if (!type().number<std::uint8_t>(1, 0)) return std::nullopt;
      switch (type().number<std::int32_t>(0, 0)) {
        case 8:
          return make(EngineType::Int64, Layout::Int8);
        case 16:
          return make(EngineType::Int64, Layout::Int16);
        case 32:
          return make(EngineType::Int64, Layout::Int32);
        case 64:
          return make(EngineType::Int64, Layout::Int64);
        default:
          return std::nullopt;
      }
    }
    case kFloatingPoint: {
      const auto precision = type().number<std::int16_t>(0, 0);
      if (precision == 1) return make(EngineType::Double, Layout::Float);
      if (precision == 2) return make(EngineType::Double, Layout::Double);
      return std::nullopt;
    }
    case kBool:
      return make(EngineType::Bool, Layout::Bool);
    case kBinary:
      return make(EngineType::Varchar, Layout::Bytes);
    case kUtf8:
      return make(EngineType::Varchar, Layout::Text);
    case kLargeUtf8:
      return make(EngineType::Varchar, Layout::LargeText);
    case kDecimal:
      // Whole numbers only: a fraction would be read as a larger number.
      if (type().number<std::int32_t>(1, 0) != 0 || type().number<std::int32_t>(2, 128) != 128)
        return std::nullopt;
      return make(EngineType::HugeInt, Layout::Decimal);
    case kDate:
      if (type().number<std::int16_t>(0, 1) != 0) return std::nullopt;  // not in days
      return make(EngineType::Date, Layout::Int32);
    case kTimestamp:
      if (type().number<std::int16_t>(0, 0) != 2) return std::nullopt;  // not in microseconds
      return make(EngineType::Timestamp, Layout::Int64);
    default:
      return std::nullopt;
  }
}

struct TextColumn {
  std::string_view bytes;
  std::vector<std::int64_t> ends;  // ends[i]: where text i ends; they begin at ends[i - 1]
  std::int64_t begin = 0;
  std::vector<std::string> repaired;
  std::vector<std::int64_t> repaired_at;  // by row; -1: as it is
  static std::string_view read(const void* data, std::size_t row) {
    const auto& self = *static_cast<const TextColumn*>(data);
    if (!self.repaired_at.empty() && self.repaired_at[row] >= 0)
      return self.repaired[static_cast<std::size_t>(self.repaired_at[row])];
    const std::int64_t from = row == 0 ? self.begin : self.ends[row - 1];
    return self.bytes.substr(static_cast<std::size_t>(from),
                             static_cast<std::size_t>(self.ends[row] - from));
  }
};

/// What chunks point into.
struct Memory {
  std::string bytes;
  std::deque<std::vector<std::uint64_t>> words;  // of bitmaps
  std::deque<std::vector<std::int64_t>> wholes;
  std::deque<std::vector<double>> reals;
  std::deque<std::vector<std::uint8_t>> flags;
  std::deque<std::vector<Int128>> wides;
  std::deque<TextColumn> texts;
};

template <class From, class To>
const To* widened(std::string_view buffer, std::size_t rows, std::deque<std::vector<To>>& keep) {
  if (buffer.size() / sizeof(From) < rows) throw Broken();
  auto& out = keep.emplace_back(rows);
  if constexpr (std::is_same_v<From, To>) {
    if (rows > 0) std::memcpy(out.data(), buffer.data(), rows * sizeof(To));
  } else {
    for (std::size_t i = 0; i < rows; ++i)
      out[i] = static_cast<To>(load<From>(buffer, i * sizeof(From)));
  }
  return out.data();
}

template <class Offset>
void read_bytes(std::string_view offsets, std::string_view bytes, std::size_t rows,
                TextColumn& out) {
  out.bytes = bytes;
  if (rows == 0) return;
  if (offsets.size() / sizeof(Offset) < rows + 1) throw Broken();
  std::int64_t last = load<Offset>(offsets, 0);
  out.begin = last;
  if (last < 0) throw Broken();
  out.ends.resize(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    const std::int64_t end = load<Offset>(offsets, (i + 1) * sizeof(Offset));
    if (end < last || static_cast<std::uint64_t>(end) > bytes.size()) throw Broken();
    out.ends[i] = last = end;
  }
}

template <class Offset>
void read_texts(std::string_view offsets, std::string_view bytes, std::size_t rows,
                const std::vector<std::uint64_t>* validity, TextColumn& out) {
  read_bytes<Offset>(offsets, bytes, rows, out);
  for (std::size_t i = 0; i < rows; ++i) {
    if (validity != nullptr && ((*validity)[i / 64] >> (i % 64) & 1) == 0) continue;
    if (auto better = repaired_utf8(TextColumn::read(&out, i))) {
      if (out.repaired_at.empty()) out.repaired_at.assign(rows, -1);
      out.repaired_at[i] = static_cast<std::int64_t>(out.repaired.size());
      out.repaired.push_back(*std::move(better));
    }
  }
}

/// The buffers of a batch, in order.
class Buffers {
 public:
  Buffers(const FlatTable& batch, std::string_view body) : batch_(batch), body_(body) {}
  std::string_view next() {
    if (at_ >= batch_.count(2)) throw Broken();
    const std::int64_t offset = batch_.pair(2, at_, 0), length = batch_.pair(2, at_, 1);
    ++at_;
    if (offset < 0 || length < 0 || static_cast<std::uint64_t>(offset) > body_.size() ||
        static_cast<std::uint64_t>(length) > body_.size() - static_cast<std::uint64_t>(offset))
      throw Broken();
    return body_.substr(static_cast<std::size_t>(offset), static_cast<std::size_t>(length));
  }

 private:
  const FlatTable& batch_;
  std::string_view body_;
  std::size_t at_ = 0;
};

EngineChunk chunk_of(const FlatTable& batch, std::string_view body,
                     const std::vector<Field>& fields, const std::shared_ptr<Memory>& memory) {
  if (batch.has(3)) throw Broken();  // compressed, which nobody asked for
  const auto length = batch.number<std::int64_t>(0, 0);
  // A row of any type takes a bit at least.
  if (length < 0 || (static_cast<std::uint64_t>(length) > body.size() * 8 && !fields.empty()))
    throw Broken();
  const auto rows = static_cast<std::size_t>(length);
  EngineChunk chunk = ChunkAccess::make();
  ChunkAccess::resize(chunk, rows, fields.size());
  Buffers buffers(batch, body);
  if (batch.count(1) != fields.size()) throw Broken();
  for (std::size_t i = 0; i < fields.size(); ++i) {
    ChunkAccess::Column& out = ChunkAccess::column(chunk, i);
    out.type = fields[i].type;
    if (batch.pair(1, i, 0) != length) throw Broken();
    const auto bitmap = buffers.next();
    const std::vector<std::uint64_t>* validity = nullptr;
    if (batch.pair(1, i, 1) != 0) {
      if (bitmap.size() < (rows + 7) / 8) throw Broken();
      auto& words = memory->words.emplace_back((rows + 63) / 64);
      if (rows > 0) std::memcpy(words.data(), bitmap.data(), (rows + 7) / 8);
      out.validity = words.data();
      validity = &words;
    }
    const auto data = buffers.next();
    switch (fields[i].layout) {
      case Field::Layout::Bool: {
        if (data.size() < (rows + 7) / 8) throw Broken();
        auto& flags = memory->flags.emplace_back(rows);
        for (std::size_t row = 0; row < rows; ++row)
          flags[row] = static_cast<unsigned char>(data[row / 8]) >> (row % 8) & 1;
        out.data = flags.data();
        break;
      }
      case Field::Layout::Int8:
        out.data = widened<std::int8_t>(data, rows, memory->wholes);
        break;
      case Field::Layout::Int16:
        out.data = widened<std::int16_t>(data, rows, memory->wholes);
        break;
      case Field::Layout::Int32:
        out.data = widened<std::int32_t>(data, rows, memory->wholes);
        break;
      case Field::Layout::Int64:
        out.data = widened<std::int64_t>(data, rows, memory->wholes);
        break;
      case Field::Layout::Float:
        out.data = widened<float>(data, rows, memory->reals);
        break;
      case Field::Layout::Double:
        out.data = widened<double>(data, rows, memory->reals);
        break;
      case Field::Layout::Decimal:
        out.data = widened<Int128>(data, rows, memory->wides);
        out.read_wide = [](const void* from, std::size_t row) {
          return static_cast<const Int128*>(from)[row];
        };
        break;
      case Field::Layout::Text:
      case Field::Layout::LargeText:
      case Field::Layout::Bytes: {
        auto& texts = memory->texts.emplace_back();
        if (fields[i].layout == Field::Layout::Bytes)
          read_bytes<std::int32_t>(data, buffers.next(), rows, texts);
        else if (fields[i].layout == Field::Layout::Text)
          read_texts<std::int32_t>(data, buffers.next(), rows, validity, texts);
        else
          read_texts<std::int64_t>(data, buffers.next(), rows, validity, texts);
        out.data = &texts;
        out.read_text = &TextColumn::read;
        break;
      }
    }
  }
  ChunkAccess::own(chunk, memory);
  return chunk;
}

}  // namespace

std::optional<std::string> repaired_utf8(std::string_view text) {
  // The length of the well-formed sequence at `at` (Unicode, table 3-7); 0 if there is none.
  const auto sequence = [&](std::size_t at) -> std::size_t {
    const auto byte = [&](std::size_t i) {
      return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u;
    };
    const auto tail = [&](std::size_t i, unsigned from = 0x80, unsigned to = 0xBF) {
      return byte(i) >= from && byte(i) <= to;
    };
    const unsigned first = byte(0);
    if (first < 0x80) return 1;
    if (first >= 0xC2 && first <= 0xDF) return tail(1) ? 2 : 0;
    if (first >= 0xE0 && first <= 0xEF)
      return tail(1, first == 0xE0 ? 0xA0 : 0x80, first == 0xED ? 0x9F : 0xBF) && tail(2) ? 3 : 0;
    if (first >= 0xF0 && first <= 0xF4)
      return tail(1, first == 0xF0 ? 0x90 : 0x80, first == 0xF4 ? 0x8F : 0xBF) && tail(2) && tail(3)
                 ? 4
                 : 0;
    return 0;
  };
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t step = sequence(at);
    if (step == 0) break;
    at += step;
  }
  if (at == text.size()) return std::nullopt;
  std::string out(text.substr(0, at));
  while (at < text.size()) {
    const std::size_t step = sequence(at);
    if (step == 0)
      out += "\xEF\xBF\xBD";
    else
      out += text.substr(at, step);
    at += step == 0 ? 1 : step;
  }
  return out;
}

Result<Batches> read_stream(std::string bytes) {
  auto memory = std::make_shared<Memory>();
  memory->bytes = std::move(bytes);
  const std::string_view all = memory->bytes;
  Batches batches;
  bool has_schema = false;
  try {
    std::size_t at = 0;
    while (at < all.size()) {
      auto size = load<std::uint32_t>(all, at);
      at += 4;
      if (size == 0xFFFFFFFFu) {
        size = load<std::uint32_t>(all, at);
        at += 4;
      }
      if (size == 0) break;  // the end
      if (all.size() - at < size) throw Broken();
      const auto message = FlatTable::root(all.substr(at, size));
      at += size;
      const auto length = message.number<std::int64_t>(3, 0);
      if (length < 0 || all.size() - at < static_cast<std::uint64_t>(length)) throw Broken();
      const auto body = all.substr(at, static_cast<std::size_t>(length));
      at += static_cast<std::size_t>(length);
      switch (message.number<std::uint8_t>(1, 0)) {
        case kSchema: {
          const auto schema = message.table(2);
          batches.fields.clear();
          for (std::size_t i = 0; i < schema.count(1); ++i) {
            const auto table = schema.element(1, i);
            auto field = field_of(table);
            if (!field)
              return Error{ErrorCode::Refused,
                           fmt::format("column {} has a Spark type that has no exact meaning here",
                                       table.text(0))};
            batches.fields.push_back(*std::move(field));
          }
          has_schema = true;
          break;
        }
        case kRecordBatch: {
          if (!has_schema) throw Broken();
          EngineChunk chunk = chunk_of(message.table(2), body, batches.fields, memory);
          if (chunk.size() > 0) batches.chunks.push_back(std::move(chunk));
          break;
        }
        default:
          throw Broken();
      }
    }
    if (!has_schema) throw Broken();
  } catch (const Broken&) {
    return invalid_input("these bytes are not an Arrow stream that this program reads");
  }
  return batches;
}

}  // namespace discreet::arrow
