// The tables of the town, told once: from this come the files' columns, the sample policy, the
// README beside the data, and the tests that hold the rows to the policy.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace discreet::town {

enum class ColumnKind { Boolean, Integer, Text, Date };

/// Both ends included; for dates, days since 1970-01-01.
struct Range {
  std::int64_t least;
  std::int64_t most;
};

struct Column {
  std::string_view name;
  ColumnKind kind;
  std::string_view what;
  std::optional<Range> range{};
  std::vector<std::string_view> values{};  // public keys; empty: none are declared
  bool hidden = false;                     // the policy lets no question use it
};

struct Table {
  std::string_view name;
  std::string_view what;
  std::string_view unit;  // as in the policy: "person_id", or a link; empty: the table is public
  int max_rows_per_unit;  // 0 for public tables
  std::vector<Column> columns;
};

/// In the order in which they are written.
const std::vector<Table>& tables();
const Table& table(std::string_view name);

/// BOOLEAN, BIGINT, VARCHAR or DATE.
std::string_view sql_type(ColumnKind kind);
/// 2026-01-01
std::string iso_date(std::int64_t day);

}  // namespace discreet::town
