#include "anonymity/mondrian.h"

#include <algorithm>
#include <numeric>

namespace discreet::anonymity {
namespace {

using Rows = std::vector<std::size_t>;

Range range_of(const Column& column, const Rows& rows) {
  Range range{column.codes[rows.front()], column.codes[rows.front()]};
  for (const std::size_t row : rows) {
    range.lower = std::min(range.lower, column.codes[row]);
    range.upper = std::max(range.upper, column.codes[row]);
  }
  return range;
}

class Splitter {
 public:
  Splitter(const Table& table, const Requirements& requirements)
      : table_(table), requirements_(requirements) {
    Rows all(table.rows());
    std::iota(all.begin(), all.end(), std::size_t{0});
    for (const Column& column : table.quasi) {
      const Range range = range_of(column, all);
      spans_.push_back(static_cast<double>(range.upper - range.lower));
    }
    // A stack instead of recursion: the depth is the attacker's, or the data's, to choose.
    std::vector<Rows> open{std::move(all)};
    while (!open.empty()) {
      Rows rows = std::move(open.back());
      open.pop_back();
      auto halves = split(rows);
      if (halves.empty())
        keep(std::move(rows));
      else
        for (Rows& half : halves) open.push_back(std::move(half));
    }
  }

  Release take() { return std::move(release_); }

 private:
  // The two halves along the widest column that can be cut, or nothing.
  std::vector<Rows> split(const Rows& rows) const {
    std::vector<std::pair<double, std::size_t>> widths;
    for (std::size_t c = 0; c < table_.quasi.size(); ++c) {
      const Range range = range_of(table_.quasi[c], rows);
      if (range.lower < range.upper)
        widths.emplace_back(static_cast<double>(range.upper - range.lower) / spans_[c], c);
    }
    std::sort(widths.begin(), widths.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    for (const auto& [width, c] : widths) {
      std::vector<Rows> halves = cut(table_.quasi[c].codes, rows);
      if (meets(table_, halves[0], requirements_) && meets(table_, halves[1], requirements_))
        return halves;
    }
    return {};
  }

  static std::vector<Rows> cut(const std::vector<std::int64_t>& codes, const Rows& rows) {
    std::vector<std::int64_t> values;
    values.reserve(rows.size());
    for (const std::size_t row : rows) values.push_back(codes[row]);
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    const std::int64_t median = *middle;
    // Strict: equal values stay together, on the side where the cut is not empty.
    const bool below =
        std::any_of(rows.begin(), rows.end(), [&](std::size_t row) { return codes[row] < median; });
    std::vector<Rows> halves(2);
    for (const std::size_t row : rows)
      halves[(below ? codes[row] < median : codes[row] <= median) ? 0 : 1].push_back(row);
    return halves;
  }

  void keep(Rows rows) {
    Class made;
    for (const Column& column : table_.quasi) made.ranges.push_back(range_of(column, rows));
    made.rows = std::move(rows);
    release_.classes.push_back(std::move(made));
  }

  const Table& table_;
  const Requirements& requirements_;
  std::vector<double> spans_;
  Release release_;
};

}  // namespace

Result<Release> mondrian(const Table& table, const Requirements& requirements) {
  Rows all(table.rows());
  std::iota(all.begin(), all.end(), std::size_t{0});
  if (all.empty() || !meets(table, all, requirements))
    return Error{ErrorCode::Refused,
                 "The whole table does not meet the requirements, so no part of it can. Ask for a "
                 "smaller k or l, or a larger t."};
  return Splitter(table, requirements).take();
}

}  // namespace discreet::anonymity
