// Tables of pandas, polars, pyarrow and DuckDB, read column by column where they lie: no row is a
// Python object on the way.
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

#include "bindings/arrow.h"
#include "synth/encoding.h"

namespace discreet::python {
namespace {

bool bit(const void* bits, std::int64_t at) {
  return ((static_cast<const std::uint8_t*>(bits)[at / 8] >> (at % 8)) & 1) != 0;
}

bool is_null(const ArrowArray& array, std::int64_t at) {
  return array.n_buffers > 0 && array.buffers[0] != nullptr && array.null_count != 0 &&
         !bit(array.buffers[0], at);
}

/// Distinct values get their text once; a row is then a lookup.
template <class T>
class Numbers {
 public:
  template <class Text>
  void add(synth::RawColumn& column, T value, const Text& text) {
    const auto [place, fresh] =
        known_.try_emplace(value, static_cast<std::uint32_t>(column.texts.size()));
    if (fresh) column.texts.push_back(text(value));
    column.rows.push_back(place->second);
  }

 private:
  std::unordered_map<T, std::uint32_t> known_;
};

std::string shortest(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  // Whole numbers without a point, as a column of whole numbers with gaps often comes as doubles.
  if (std::floor(value) == value && std::fabs(value) < 0x1p53)
    return fmt::format("{}", static_cast<std::int64_t>(value));
  return fmt::format("{}", value);
}

std::string time_text(std::int64_t count, std::int64_t per_second) {
  const std::int64_t per_day = 86'400 * per_second;
  std::int64_t days = count / per_day, rest = count % per_day;
  if (rest < 0) {
    rest += per_day;
    --days;
  }
  if (rest == 0) return synth::format_date(days);
  const std::int64_t seconds = rest / per_second;
  return fmt::format("{} {:02}:{:02}:{:02}", synth::format_date(days), seconds / 3600,
                     seconds / 60 % 60, seconds % 60);
}

/// Adds the cells of one array to a column, as texts.
class Reader {
 public:
  Reader(std::string_view format, synth::RawColumn& column) : format_(format), column_(column) {}

  void read(const ArrowArray& array, const ArrowSchema& schema) {
    if (schema.dictionary != nullptr) return read_dictionary(array, schema);
    const char kind = format_.empty() ? '?' : format_[0];
    switch (kind) {
      case 'c':
        return whole<std::int8_t>(array);
      case 'C':
        return whole<std::uint8_t>(array);
      case 's':
        return whole<std::int16_t>(array);
      case 'S':
        return whole<std::uint16_t>(array);
      case 'i':
        return whole<std::int32_t>(array);
      case 'I':
        return whole<std::uint32_t>(array);
      case 'l':
        return whole<std::int64_t>(array);
      case 'L':
        return whole<std::uint64_t>(array);
      case 'f':
        return real<float>(array);
      case 'g':
        return real<double>(array);
      case 'b':
        return booleans(array);
      case 'n':
        column_.rows.insert(column_.rows.end(), static_cast<std::size_t>(array.length),
                            synth::RawColumn::kNull);
        return;
      case 'u':
        return text<std::int32_t>(array);
      case 'U':
        return text<std::int64_t>(array);
      case 't':
        return times(array);
      default:
        break;
    }
    if (format_ == "vu") return views(array);
    throw Failure(invalid_input(fmt::format(
        "column \"{}\" has a type that has no text here (Arrow's \"{}\"); turn it into numbers, "
        "text or dates first",
        column_.name, format_)));
  }

 private:
  void null() { column_.rows.push_back(synth::RawColumn::kNull); }

  template <class T, class Text>
  void values(const ArrowArray& array, const Text& to_text) {
    const auto* cells = static_cast<const T*>(array.buffers[1]);
    for (std::int64_t i = array.offset; i < array.offset + array.length; ++i) {
      if (is_null(array, i))
        null();
      else
        whole_.add(column_, static_cast<std::int64_t>(cells[i]),
                   [&](std::int64_t v) { return to_text(static_cast<T>(v)); });
    }
  }
  template <class T>
  void whole(const ArrowArray& array) {
    values<T>(array, [](T v) { return fmt::format("{}", v); });
  }
  template <class T>
  void real(const ArrowArray& array) {
    const auto* cells = static_cast<const T*>(array.buffers[1]);
    for (std::int64_t i = array.offset; i < array.offset + array.length; ++i) {
      const auto cell = static_cast<double>(cells[i]);
      // What is not a number is a missing value: pandas has no other way to say so.
      if (is_null(array, i) || std::isnan(cell))
        null();
      else
        real_.add(column_, cell, shortest);
    }
  }
  void booleans(const ArrowArray& array) {
    for (std::int64_t i = array.offset; i < array.offset + array.length; ++i) {
      if (is_null(array, i))
        null();
      else
        whole_.add(column_, std::int64_t{bit(array.buffers[1], i)},
                   [](std::int64_t v) { return std::string(v != 0 ? "true" : "false"); });
    }
  }
  void times(const ArrowArray& array) {
    if (format_ == "tdD")
      return values<std::int32_t>(array, [](std::int32_t v) { return synth::format_date(v); });
    std::int64_t per_second = 0;
    if (format_ == "tdm" || format_.starts_with("tsm")) per_second = 1000;
    if (format_.starts_with("tss")) per_second = 1;
    if (format_.starts_with("tsu")) per_second = 1'000'000;
    if (format_.starts_with("tsn")) per_second = 1'000'000'000;
    if (per_second == 0)
      throw Failure(invalid_input(
          fmt::format("column \"{}\" is a time of day or a duration; turn it into a number first",
                      column_.name)));
    values<std::int64_t>(array, [per_second](std::int64_t v) { return time_text(v, per_second); });
  }

  void add_text(std::string_view cell) {
    const auto [place, fresh] =
        texts_.try_emplace(std::string(cell), static_cast<std::uint32_t>(column_.texts.size()));
    if (fresh) column_.texts.emplace_back(cell);
    column_.rows.push_back(place->second);
  }
  template <class Offset>
  void text(const ArrowArray& array) {
    const auto* offsets = static_cast<const Offset*>(array.buffers[1]);
    const auto* bytes = static_cast<const char*>(array.buffers[2]);
    for (std::int64_t i = array.offset; i < array.offset + array.length; ++i) {
      if (is_null(array, i))
        null();
      else
        add_text({bytes + offsets[i], static_cast<std::size_t>(offsets[i + 1] - offsets[i])});
    }
  }
  /// Arrow's views: length, then the text itself (12 bytes) or prefix, buffer and offset.
  void views(const ArrowArray& array) {
    struct View {
      std::int32_t length;
      std::array<char, 4> prefix;
      std::int32_t buffer, offset;
    };
    const auto* cells = static_cast<const View*>(array.buffers[1]);
    for (std::int64_t i = array.offset; i < array.offset + array.length; ++i) {
      if (is_null(array, i)) {
        null();
        continue;
      }
      const View& view = cells[i];
      const auto size = static_cast<std::size_t>(view.length);
      if (size <= 12)
        add_text({view.prefix.data(), size});
      else
        add_text({static_cast<const char*>(array.buffers[2 + view.buffer]) + view.offset, size});
    }
  }

  void read_dictionary(const ArrowArray& array, const ArrowSchema& schema) {
    synth::RawColumn words;
    words.name = column_.name;
    Reader(schema.dictionary->format, words).read(*array.dictionary, *schema.dictionary);
    const auto add = [&](std::int64_t at, auto index) {
      const auto word = is_null(array, at) ? synth::RawColumn::kNull
                                           : words.rows[static_cast<std::size_t>(index)];
      if (word == synth::RawColumn::kNull)
        null();
      else
        add_text(words.texts[word]);
    };
    const auto all = [&]<class T>(T /*of this type*/) {
      const auto* cells = static_cast<const T*>(array.buffers[1]);
      for (std::int64_t i = array.offset; i < array.offset + array.length; ++i) add(i, cells[i]);
    };
    switch (format_.empty() ? '?' : format_[0]) {
      case 'c':
        return all(std::int8_t{});
      case 'C':
        return all(std::uint8_t{});
      case 's':
        return all(std::int16_t{});
      case 'S':
        return all(std::uint16_t{});
      case 'i':
        return all(std::int32_t{});
      case 'I':
        return all(std::uint32_t{});
      case 'l':
        return all(std::int64_t{});
      case 'L':
        return all(std::uint64_t{});
      default:
        throw Failure(invalid_input("a dictionary's indices are whole numbers"));
    }
  }

  std::string format_;
  synth::RawColumn& column_;
  Numbers<std::int64_t> whole_;
  Numbers<double> real_;
  std::unordered_map<std::string, std::uint32_t> texts_;
};

template <class Struct>
struct Owned {
  Struct held{};
  Owned() = default;
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (held.release != nullptr) held.release(&held);
  }
};

void check(int code, ArrowArrayStream* stream) {
  if (code == 0) return;
  const char* said = stream->get_last_error(stream);
  throw Failure(
      invalid_input(fmt::format("the table's stream failed: {}", said == nullptr ? "" : said)));
}

std::string type_of(const ArrowSchema& schema) {
  if (schema.dictionary != nullptr) return type_of(*schema.dictionary);
  const std::string_view format = schema.format;
  constexpr std::string_view kWhole = "cCsSiIlL";
  if (format.size() == 1 && kWhole.find(format[0]) != std::string_view::npos) return "bigint";
  if (format == "f" || format == "g") return "double precision";
  if (format == "b") return "boolean";
  if (format == "tdD" || format == "tdm") return "date";
  if (format.starts_with("ts")) return "timestamp";
  return "text";
}

ImportedTable read_stream(ArrowArrayStream* stream) {
  Owned<ArrowSchema> schema;
  check(stream->get_schema(stream, &schema.held), stream);
  if (std::string_view(schema.held.format) != "+s")
    throw Failure(invalid_input("a table is wanted here, not a single column"));
  const auto columns = static_cast<std::size_t>(schema.held.n_children);
  ImportedTable imported;
  synth::RawTable& table = imported.raw;
  table.columns.resize(columns);
  std::vector<Reader> readers;
  readers.reserve(columns);
  for (std::size_t i = 0; i < columns; ++i) {
    table.columns[i].name = schema.held.children[i]->name;
    readers.emplace_back(schema.held.children[i]->format, table.columns[i]);
    imported.types.push_back(type_of(*schema.held.children[i]));
  }
  for (;;) {
    Owned<ArrowArray> batch;
    check(stream->get_next(stream, &batch.held), stream);
    if (batch.held.release == nullptr) break;
    for (std::size_t i = 0; i < columns; ++i)
      readers[i].read(*batch.held.children[i], *schema.held.children[i]);
  }
  return imported;
}

}  // namespace

ImportedTable import_table(const nb::object& source) {
  const nb::object capsule = PyCapsule_CheckExact(source.ptr()) != 0
                                 ? nb::borrow(source)
                                 : source.attr("__arrow_c_stream__")();
  auto* stream =
      static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule.ptr(), "arrow_array_stream"));
  if (stream == nullptr) throw nb::python_error();
  // The producer may need Python's lock (pandas makes batches as they are asked for).
  return read_stream(stream);
}

}  // namespace discreet::python
