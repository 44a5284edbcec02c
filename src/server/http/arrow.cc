#include "server/http/arrow.h"

#include <bit>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <vector>

namespace discreet::server::http {
namespace {

template <class Number>
void append_number(std::string& out, Number value) {
  for (std::size_t i = 0; i < sizeof value; ++i)
    out += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i) & 0xff);
}

/// FlatBuffers written forwards: a table first, what it points to after it.
class FlatBuffer {
 public:
  struct Field {
    std::uint16_t id;
    std::uint8_t size;  // 1, 2, 4 or 8 bytes; an offset has 4
    std::uint64_t value = 0;
  };
  using Places = std::map<std::uint16_t, std::size_t>;  // by id: where the field is

  FlatBuffer() { append_number(bytes_, std::uint32_t{0}); }

  /// Fields are laid out largest first, so that each is aligned; returns where the table is and
  /// where its fields are.
  std::pair<std::size_t, Places> table(const std::vector<Field>& fields) {
    std::uint16_t ids = 0;
    for (const Field& field : fields) ids = std::max<std::uint16_t>(ids, field.id + 1);
    const std::size_t vtable_size = 4 + 2 * std::size_t{ids};
    // The table starts 4 bytes before a multiple of 8: its first field after the vtable's offset
    // is then aligned for everything.
    while ((bytes_.size() + vtable_size) % 8 != 4) bytes_ += '\0';
    const std::size_t vtable = bytes_.size(), start = vtable + vtable_size;
    std::vector<std::uint16_t> offsets(ids, 0);
    std::string inlined;
    Places places;
    for (const unsigned size : {8U, 4U, 2U, 1U})
      for (const Field& field : fields) {
        if (field.size != size) continue;
        offsets[field.id] = static_cast<std::uint16_t>(4 + inlined.size());
        places[field.id] = start + 4 + inlined.size();
        for (std::size_t i = 0; i < size; ++i)
          inlined += static_cast<char>(field.value >> (8 * i) & 0xff);
      }
    append_number(bytes_, static_cast<std::uint16_t>(vtable_size));
    append_number(bytes_, static_cast<std::uint16_t>(4 + inlined.size()));
    for (const std::uint16_t offset : offsets) append_number(bytes_, offset);
    append_number(bytes_, static_cast<std::uint32_t>(start - vtable));
    bytes_ += inlined;
    return {start, places};
  }
  std::size_t text(const std::string& value) {
    pad(4, 0);
    const std::size_t at = bytes_.size();
    append_number(bytes_, static_cast<std::uint32_t>(value.size()));
    bytes_ += value;
    bytes_ += '\0';
    return at;
  }
  /// A vector of offsets, to be pointed later; returns where it is.
  std::size_t offsets(std::size_t count) {
    pad(4, 0);
    const std::size_t at = bytes_.size();
    append_number(bytes_, static_cast<std::uint32_t>(count));
    bytes_.append(4 * count, '\0');
    return at;
  }
  /// A vector of structs of two 64-bit numbers.
  std::size_t pairs(const std::vector<std::pair<std::int64_t, std::int64_t>>& values) {
    pad(8, 4);
    const std::size_t at = bytes_.size();
    append_number(bytes_, static_cast<std::uint32_t>(values.size()));
    for (const auto& [first, second] : values) {
      append_number(bytes_, first);
      append_number(bytes_, second);
    }
    return at;
  }
  void point(std::size_t from, std::size_t to) {
    const auto distance = static_cast<std::uint32_t>(to - from);
    for (std::size_t i = 0; i < 4; ++i)
      bytes_[from + i] = static_cast<char>(distance >> (8 * i) & 0xff);
  }
  void root(std::size_t table) { point(0, table); }
  const std::string& bytes() const { return bytes_; }

 private:
  void pad(std::size_t multiple, std::size_t rest) {
    while (bytes_.size() % multiple != rest) bytes_ += '\0';
  }
  std::string bytes_;
};

// Numbers of Arrow's Schema.fbs and Message.fbs.
constexpr std::uint64_t kVersion5 = 4, kSchemaMessage = 1, kBatchMessage = 3;
constexpr std::uint64_t kInt = 2, kFloatingPoint = 3, kUtf8 = 5, kBool = 6, kDate = 8;

std::uint64_t type_of(const std::string& type) {
  if (type == "bigint" || type == "integer") return kInt;
  if (type == "double precision" || type == "numeric") return kFloatingPoint;
  if (type == "boolean") return kBool;
  if (type == "date") return kDate;
  return kUtf8;
}

/// The metadata and the body of one message, framed.
std::string framed(const FlatBuffer& metadata, const std::string& body) {
  std::string header = metadata.bytes();
  while (header.size() % 8 != 0) header += '\0';
  std::string out;
  append_number(out, std::uint32_t{0xffffffff});
  append_number(out, static_cast<std::uint32_t>(header.size()));
  return out + header + body;
}

std::string schema_message(const Answer& answer) {
  FlatBuffer flat;
  const auto [message, in_message] =
      flat.table({{0, 2, kVersion5}, {1, 1, kSchemaMessage}, {2, 4}, {3, 8, 0}});
  flat.root(message);
  const auto [schema, in_schema] = flat.table({{0, 2, 0}, {1, 4}});
  flat.point(in_message.at(2), schema);
  const std::size_t fields = flat.offsets(answer.columns.size());
  flat.point(in_schema.at(1), fields);
  for (std::size_t i = 0; i < answer.columns.size(); ++i) {
    const std::uint64_t type = type_of(answer.columns[i].type);
    const auto [field, in_field] = flat.table({{0, 4}, {1, 1, 1}, {2, 1, type}, {3, 4}, {5, 4}});
    flat.point(fields + 4 + 4 * i, field);
    flat.point(in_field.at(0), flat.text(answer.columns[i].name));
    std::vector<FlatBuffer::Field> details;
    if (type == kInt) details = {{0, 4, 64}, {1, 1, 1}};
    if (type == kFloatingPoint) details = {{0, 2, 2}};
    if (type == kDate) details = {{0, 2, 0}};
    flat.point(in_field.at(3), flat.table(details).first);
    flat.point(in_field.at(5), flat.offsets(0));
  }
  return framed(flat, {});
}

class BatchBody {
 public:
  void buffer(std::string bytes) {
    buffers_.emplace_back(static_cast<std::int64_t>(body_.size()),
                          static_cast<std::int64_t>(bytes.size()));
    body_ += bytes;
    while (body_.size() % 8 != 0) body_ += '\0';
  }
  const std::string& bytes() const { return body_; }
  const std::vector<std::pair<std::int64_t, std::int64_t>>& buffers() const { return buffers_; }

 private:
  std::string body_;
  std::vector<std::pair<std::int64_t, std::int64_t>> buffers_;
};

std::string bitmap(const std::vector<bool>& bits) {
  std::string bytes((bits.size() + 7) / 8, '\0');
  for (std::size_t i = 0; i < bits.size(); ++i)
    if (bits[i]) bytes[i / 8] = static_cast<char>(bytes[i / 8] | 1 << (i % 8));
  return bytes;
}

std::optional<std::int32_t> days_of(const std::string& text) {
  int year = 0;
  unsigned month = 0, day = 0;
  if (std::sscanf(text.c_str(), "%d-%u-%u", &year, &month, &day) != 3) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month),
                                         std::chrono::day(day)};
  if (!date.ok()) return std::nullopt;
  return static_cast<std::int32_t>(std::chrono::sys_days(date).time_since_epoch().count());
}

template <class Number>
std::optional<Number> parsed(const std::string& text) {
  Number value{};
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The buffers of one column; how many of its values are null.
std::int64_t write_column(const Answer& answer, std::size_t column, BatchBody& body) {
  const std::uint64_t type = type_of(answer.columns[column].type);
  std::vector<bool> valid, flags;
  std::string data, offsets;
  append_number(offsets, std::int32_t{0});
  std::int64_t nulls = 0;
  for (const auto& row : answer.rows) {
    const auto& cell = row[column];
    bool present = cell.has_value();
    if (type == kInt) {
      const auto value = present ? parsed<std::int64_t>(*cell) : std::nullopt;
      present = value.has_value();
      append_number(data, value.value_or(0));
    } else if (type == kFloatingPoint) {
      const auto value = present ? parsed<double>(*cell) : std::nullopt;
      present = value.has_value();
      append_number(data, std::bit_cast<std::uint64_t>(value.value_or(0)));
    } else if (type == kDate) {
      const auto value = present ? days_of(*cell) : std::nullopt;
      present = value.has_value();
      append_number(data, value.value_or(0));
    } else if (type == kBool) {
      flags.push_back(present && *cell == "true");
    } else {
      if (present) data += *cell;
      append_number(offsets, static_cast<std::int32_t>(data.size()));
    }
    valid.push_back(present);
    nulls += !present;
  }
  body.buffer(bitmap(valid));
  if (type == kUtf8) body.buffer(std::move(offsets));
  body.buffer(type == kBool ? bitmap(flags) : std::move(data));
  return nulls;
}

std::string batch_message(const Answer& answer) {
  BatchBody body;
  const auto rows = static_cast<std::int64_t>(answer.rows.size());
  std::vector<std::pair<std::int64_t, std::int64_t>> nodes;
  for (std::size_t i = 0; i < answer.columns.size(); ++i)
    nodes.emplace_back(rows, write_column(answer, i, body));
  FlatBuffer flat;
  const auto [message, in_message] =
      flat.table({{0, 2, kVersion5}, {1, 1, kBatchMessage}, {2, 4}, {3, 8, body.bytes().size()}});
  flat.root(message);
  const auto [batch, in_batch] =
      flat.table({{0, 8, static_cast<std::uint64_t>(rows)}, {1, 4}, {2, 4}});
  flat.point(in_message.at(2), batch);
  flat.point(in_batch.at(1), flat.pairs(nodes));
  flat.point(in_batch.at(2), flat.pairs(body.buffers()));
  return framed(flat, body.bytes());
}

}  // namespace

std::string arrow_stream(const Answer& answer) {
  std::string out = schema_message(answer) + batch_message(answer);
  append_number(out, std::uint32_t{0xffffffff});
  append_number(out, std::uint32_t{0});
  return out;
}

}  // namespace discreet::server::http
