#include <charconv>
#include <chrono>
#include <cstring>
#include <memory>
#include <new>

#include "bindings/arrow.h"

namespace discreet::python {
namespace {

enum class Kind { Int64, Double, Bool, Date, Timestamp, Text };

Kind kind_of(const std::string& type) {
  if (type == "bigint" || type == "integer" || type == "smallint") return Kind::Int64;
  if (type == "double precision" || type == "numeric" || type == "real") return Kind::Double;
  if (type == "boolean") return Kind::Bool;
  if (type == "date") return Kind::Date;
  if (type == "timestamp") return Kind::Timestamp;
  return Kind::Text;
}

const char* format_of(Kind kind) {
  switch (kind) {
    case Kind::Int64:
      return "l";
    case Kind::Double:
      return "g";
    case Kind::Bool:
      return "b";
    case Kind::Date:
      return "tdD";
    case Kind::Timestamp:
      return "tsu:";
    case Kind::Text:
      return "u";
  }
  return "u";
}

/// Owns the buffers of one column.
struct Column {
  std::string name;
  Kind kind = Kind::Text;
  std::int64_t length = 0, nulls = 0;
  std::vector<std::uint8_t> valid;   // bits
  std::vector<std::uint8_t> values;  // of any fixed width, or the text itself
  std::vector<std::int32_t> offsets;
  std::vector<const void*> buffers;

  template <class T>
  void push(T value) {
    const std::size_t at = values.size();
    values.resize(at + sizeof(T));
    std::memcpy(values.data() + at, &value, sizeof(T));
  }
};

template <class T>
bool read_number(const std::string& text, T& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

/// YYYY-MM-DD at the front, as days since 1970.
bool read_days(const std::string& text, std::int32_t& out) {
  int year = 0;
  unsigned month = 0, day = 0;
  const char* const begin = text.data();
  if (text.size() < 10 || text[4] != '-' || text[7] != '-') return false;
  if (std::from_chars(begin, begin + 4, year).ec != std::errc() ||
      std::from_chars(begin + 5, begin + 7, month).ec != std::errc() ||
      std::from_chars(begin + 8, begin + 10, day).ec != std::errc())
    return false;
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month),
                                         std::chrono::day(day)};
  if (!date.ok()) return false;
  out = static_cast<std::int32_t>(std::chrono::sys_days(date).time_since_epoch().count());
  return true;
}

/// YYYY-MM-DD HH:MM:SS[.ffffff], as microseconds since 1970.
bool read_microseconds(const std::string& text, std::int64_t& out) {
  std::int32_t days = 0;
  int hour = 0, minute = 0, second = 0;
  const char* const begin = text.data();
  if (!read_days(text, days)) return false;
  if (text.size() >= 19 && (std::from_chars(begin + 11, begin + 13, hour).ec != std::errc() ||
                            std::from_chars(begin + 14, begin + 16, minute).ec != std::errc() ||
                            std::from_chars(begin + 17, begin + 19, second).ec != std::errc()))
    return false;
  std::int64_t micro = 0;
  if (text.size() > 20 && text[19] == '.')
    for (std::size_t i = 0; i < 6; ++i) {
      const char digit = 20 + i < text.size() ? text[20 + i] : '0';
      if (digit < '0' || digit > '9') return false;
      micro = 10 * micro + (digit - '0');
    }
  constexpr std::int64_t kSecond = 1'000'000;
  out = (std::int64_t{days} * 86'400 + hour * 3600 + minute * 60 + second) * kSecond + micro;
  return true;
}

/// A cell that does not read as its type makes the whole column text: nothing is lost.
bool fill(Column& column, const TextColumn& source) {
  std::size_t row = 0;
  if (column.kind == Kind::Text) column.offsets.push_back(0);
  column.valid.assign((source.cells.size() + 7) / 8, 0);
  if (column.kind == Kind::Bool) column.values.assign((source.cells.size() + 7) / 8, 0);
  for (const auto& cell : source.cells) {
    const std::string text = cell.value_or("");
    const auto bit = static_cast<std::uint8_t>(1U << (row % 8));
    if (cell)
      column.valid[row / 8] |= bit;
    else
      ++column.nulls;
    std::int64_t whole = 0;
    double real = 0;
    std::int32_t days = 0;
    bool read = true;
    switch (column.kind) {
      case Kind::Int64:
        read = !cell || read_number(text, whole);
        column.push(whole);
        break;
      case Kind::Double:
        read = !cell || read_number(text, real);
        column.push(real);
        break;
      case Kind::Bool:
        read = !cell || text == "true" || text == "false" || text == "t" || text == "f";
        if (!text.empty() && text[0] == 't') column.values[row / 8] |= bit;
        break;
      case Kind::Date:
        read = !cell || read_days(text, days);
        column.push(days);
        break;
      case Kind::Timestamp:
        read = !cell || read_microseconds(text, whole);
        column.push(whole);
        break;
      case Kind::Text:
        column.values.insert(column.values.end(), text.begin(), text.end());
        if (column.values.size() > INT32_MAX)
          throw Failure(invalid_input("a column of text is longer than 2 GiB"));
        column.offsets.push_back(static_cast<std::int32_t>(column.values.size()));
        break;
    }
    if (!read) return false;
    ++row;
  }
  column.length = static_cast<std::int64_t>(row);
  return true;
}

Column column_of(const TextColumn& source) {
  Column column;
  column.name = source.name;
  column.kind = kind_of(source.type);
  if (fill(column, source)) return column;
  Column text;
  text.name = source.name;
  fill(text, source);
  return text;
}

struct Batch {
  std::vector<Column> columns;
};

// What a schema or an array hands out lives as long as its private data; children keep the batch
// alive too, because a consumer may move them out of their parent.
struct SchemaData {
  std::shared_ptr<const Batch> batch;
  std::vector<ArrowSchema> children;
  std::vector<ArrowSchema*> pointers;
};
struct ArrayData {
  std::shared_ptr<const Batch> batch;
  std::vector<const void*> buffers;
  std::vector<ArrowArray> children;
  std::vector<ArrowArray*> pointers;
};

template <class Struct, class Data>
void release_struct(Struct* self) {
  auto* data = static_cast<Data*>(self->private_data);
  for (Struct* child : data->pointers)
    if (child->release != nullptr) child->release(child);
  delete data;
  self->release = nullptr;
}

void fill_schema(ArrowSchema* out, const std::shared_ptr<const Batch>& batch,
                 const Column* column) {
  auto data = std::make_unique<SchemaData>();
  data->batch = batch;
  if (column == nullptr) {
    data->children.resize(batch->columns.size());
    for (std::size_t i = 0; i < batch->columns.size(); ++i) {
      fill_schema(&data->children[i], batch, &batch->columns[i]);
      data->pointers.push_back(&data->children[i]);
    }
  }
  constexpr std::int64_t kNullable = 2;
  *out = {};
  out->format = column == nullptr ? "+s" : format_of(column->kind);
  out->name = column == nullptr ? "" : column->name.c_str();
  out->flags = column == nullptr ? 0 : kNullable;
  out->n_children = static_cast<std::int64_t>(data->pointers.size());
  out->children = data->pointers.data();
  out->release = release_struct<ArrowSchema, SchemaData>;
  out->private_data = data.release();
}

void fill_array(ArrowArray* out, const std::shared_ptr<const Batch>& batch, const Column* column) {
  auto data = std::make_unique<ArrayData>();
  data->batch = batch;
  *out = {};
  if (column == nullptr) {
    data->children.resize(batch->columns.size());
    for (std::size_t i = 0; i < batch->columns.size(); ++i) {
      fill_array(&data->children[i], batch, &batch->columns[i]);
      data->pointers.push_back(&data->children[i]);
    }
    data->buffers = {nullptr};
    out->length = batch->columns.empty() ? 0 : batch->columns.front().length;
  } else {
    data->buffers = {column->nulls == 0 ? nullptr : column->valid.data()};
    if (column->kind == Kind::Text) data->buffers.push_back(column->offsets.data());
    // An empty buffer still needs an address.
    static const std::uint64_t nothing = 0;
    data->buffers.push_back(column->values.empty() ? static_cast<const void*>(&nothing)
                                                   : column->values.data());
    out->length = column->length;
    out->null_count = column->nulls;
  }
  out->n_buffers = static_cast<std::int64_t>(data->buffers.size());
  out->buffers = data->buffers.data();
  out->n_children = static_cast<std::int64_t>(data->pointers.size());
  out->children = data->pointers.data();
  out->release = release_struct<ArrowArray, ArrayData>;
  out->private_data = data.release();
}

struct StreamData {
  std::shared_ptr<const Batch> batch;
  bool given = false;
};

int stream_schema(ArrowArrayStream* self, ArrowSchema* out) {
  fill_schema(out, static_cast<StreamData*>(self->private_data)->batch, nullptr);
  return 0;
}
int stream_next(ArrowArrayStream* self, ArrowArray* out) {
  auto* data = static_cast<StreamData*>(self->private_data);
  *out = {};  // the end of the stream
  if (!data->given) fill_array(out, data->batch, nullptr);
  data->given = true;
  return 0;
}
const char* stream_error(ArrowArrayStream* /*self*/) {
  return nullptr;
}
void stream_release(ArrowArrayStream* self) {
  delete static_cast<StreamData*>(self->private_data);
  self->release = nullptr;
}

void destroy_capsule(PyObject* capsule) {
  auto* stream =
      static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule, "arrow_array_stream"));
  if (stream == nullptr) return;
  if (stream->release != nullptr) stream->release(stream);
  delete stream;
}

}  // namespace

nb::object export_stream(const std::vector<TextColumn>& columns) {
  auto batch = std::make_shared<Batch>();
  for (const TextColumn& column : columns) batch->columns.push_back(column_of(column));
  auto stream = std::make_unique<ArrowArrayStream>();
  stream->get_schema = stream_schema;
  stream->get_next = stream_next;
  stream->get_last_error = stream_error;
  stream->release = stream_release;
  stream->private_data = new StreamData{std::move(batch)};
  PyObject* capsule = PyCapsule_New(stream.get(), "arrow_array_stream", destroy_capsule);
  if (capsule == nullptr) {
    stream->release(stream.get());
    throw nb::python_error();
  }
  static_cast<void>(stream.release());
  return nb::steal(capsule);
}

}  // namespace discreet::python
