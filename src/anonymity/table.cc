#include "anonymity/table.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

namespace discreet::anonymity {
namespace {

std::string date_text(std::int64_t day) {
  const std::chrono::year_month_day date{
      std::chrono::sys_days{std::chrono::days{static_cast<int>(day)}}};
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

std::map<std::int64_t, double> shares(const std::vector<std::int64_t>& codes,
                                      const std::vector<std::size_t>& rows) {
  std::map<std::int64_t, double> found;
  for (const std::size_t row : rows) found[codes[row]] += 1.0 / static_cast<double>(rows.size());
  return found;
}

}  // namespace

std::string describe(const Column& column, const Range& range) {
  const auto [least, most] = std::minmax_element(column.codes.begin(), column.codes.end());
  if (column.codes.empty()) return "*";
  if (range.lower != range.upper && range.lower <= *least && range.upper >= *most) return "*";
  if (!column.labels.empty()) {
    const auto label = [&](std::int64_t code) {
      return column.labels[static_cast<std::size_t>(code)];
    };
    if (range.lower == range.upper) return label(range.lower);
    if (range.upper - range.lower > 3)
      return fmt::format("{{{} .. {}}}", label(range.lower), label(range.upper));
    std::string out = "{";
    for (std::int64_t code = range.lower; code <= range.upper; ++code)
      out += (code == range.lower ? "" : ", ") + label(code);
    return out + "}";
  }
  if (column.is_date)
    return range.lower == range.upper ? date_text(range.lower)
                                      : date_text(range.lower) + ".." + date_text(range.upper);
  return range.lower == range.upper ? std::to_string(range.lower)
                                    : fmt::format("{}-{}", range.lower, range.upper);
}

SensitiveShares::SensitiveShares(const Table& table) : table_(table) {
  for (const std::int64_t code : table.sensitive.codes)
    whole_[code] += 1.0 / static_cast<double>(table.rows());
}

double SensitiveShares::distance(const std::vector<std::size_t>& rows) const {
  // Both add up to one, so half the L1 distance is what the class has too much of.
  double distance = 0;
  for (const auto& [code, share] : shares(table_.sensitive.codes, rows))
    distance += std::fmax(0, share - whole_.at(code));
  return distance;
}

double sensitive_distance(const Table& table, const std::vector<std::size_t>& rows) {
  return SensitiveShares(table).distance(rows);
}

bool meets(const Table& table, const std::vector<std::size_t>& rows,
           const Requirements& requirements) {
  if (rows.size() < requirements.k) return false;
  if (requirements.l > 1) {
    std::set<std::int64_t> values;
    for (const std::size_t row : rows) values.insert(table.sensitive.codes[row]);
    if (values.size() < requirements.l) return false;
  }
  return requirements.t >= 1 || sensitive_distance(table, rows) <= requirements.t;
}

}  // namespace discreet::anonymity
