// The Arrow C data and stream interfaces, as Arrow's specification lays them out, and what the
// bindings do with them: hand out answers, take in tables.
//
// Format: the columnar format and C stream interface of Apache Arrow; structs by their published
// layout, everything else written here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bindings/glue.h"
#include "synth/raw_table.h"

extern "C" {

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema* out);
  int (*get_next)(ArrowArrayStream*, ArrowArray* out);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};

}  // extern "C"

namespace discreet::python {

/// One column of a table that leaves: text for every cell, and the type to give it.
struct TextColumn {
  std::string name;
  std::string type;  ///< as PostgreSQL calls it; what is not known is handed out as text
  std::vector<std::optional<std::string>> cells;
};

/// A capsule named "arrow_array_stream" with one batch of typed columns.
nb::object export_stream(const std::vector<TextColumn>& columns);

/// A table that was taken in: texts, and of each column the type (as TextColumn has it) that its
/// schema declares.
struct ImportedTable {
  synth::RawTable raw;
  std::vector<std::string> types;
};

/// Reads a whole stream (an object with __arrow_c_stream__, or such a capsule) as texts. A number
/// is written in the fewest digits that read back as the same one, a date as YYYY-MM-DD.
/// InvalidInput: not a table, or a column of a type that has no text.
ImportedTable import_table(const nb::object& source);

}  // namespace discreet::python
