// A table as text, before anything is known about its columns: what CSV and other files give.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace discreet::synth {

/// Distinct texts once, and for each row which one it has.
struct RawColumn {
  static constexpr std::uint32_t kNull = 0xffffffffu;

  std::string name;
  std::vector<std::string> texts;
  std::vector<std::uint32_t> rows;  ///< positions in texts, or kNull
};

struct RawTable {
  std::vector<RawColumn> columns;

  std::size_t rows() const { return columns.empty() ? 0 : columns.front().rows.size(); }
};

/// Adds texts to a column, finding repeats.
class RawColumnBuilder {
 public:
  explicit RawColumnBuilder(std::string name);
  RawColumnBuilder(RawColumnBuilder&&) noexcept;
  ~RawColumnBuilder();
  void add(std::string_view text);
  void add_null();
  RawColumn take();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Comma-separated with a header, quotes doubled (RFC 4180). An empty field without quotes is NULL.
/// Short rows are filled with NULL and long ones cut: whether there is such a row must not show.
/// InvalidInput: no header, or two columns of one name.
Result<RawTable> parse_csv(std::string_view text);

/// The inverse: NULL is an empty field, an empty text is "".
std::string format_csv(const RawTable& table);

}  // namespace discreet::synth
