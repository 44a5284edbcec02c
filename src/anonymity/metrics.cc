#include "anonymity/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace discreet::anonymity {

Metrics measure(const Table& table, const Release& release) {
  Metrics found;
  const auto rows = static_cast<double>(table.rows());
  if (table.rows() == 0) return found;
  std::vector<double> spans;
  for (const Column& column : table.quasi) {
    const auto [least, most] = std::minmax_element(column.codes.begin(), column.codes.end());
    spans.push_back(static_cast<double>(*most - *least));
  }
  found.k = found.l = std::numeric_limits<std::size_t>::max();
  found.entropy_l = std::numeric_limits<double>::infinity();
  const SensitiveShares shares(table);
  double blurred = 0;
  for (const Class& part : release.classes) {
    const auto size = static_cast<double>(part.rows.size());
    std::map<std::int64_t, std::size_t> counts;
    for (const std::size_t row : part.rows) ++counts[table.sensitive.codes[row]];
    double entropy = 0;
    for (const auto& [code, count] : counts) {
      const double share = static_cast<double>(count) / size;
      entropy -= share * std::log(share);
    }
    found.k = std::min(found.k, part.rows.size());
    found.l = std::min(found.l, counts.size());
    found.entropy_l = std::min(found.entropy_l, std::exp(entropy));
    found.t = std::max(found.t, shares.distance(part.rows));
    if (part.rows.size() == 1) found.alone += 1 / rows;
    if (counts.size() == 1) found.homogeneous += size / rows;
    for (std::size_t c = 0; c < spans.size(); ++c)
      if (spans[c] > 0)
        blurred +=
            size * std::min(1.0, static_cast<double>(part.ranges[c].upper - part.ranges[c].lower) /
                                     spans[c]);
  }
  if (release.classes.empty()) {
    found.k = found.l = 0;
    found.entropy_l = 0;
  }
  const auto left_out = static_cast<double>(release.suppressed.size());
  const auto columns = static_cast<double>(std::max<std::size_t>(1, table.quasi.size()));
  found.information_loss = (blurred / columns + left_out) / rows;
  found.suppressed = left_out / rows;
  found.prosecutor_max = found.k > 0 ? 1 / static_cast<double>(found.k) : 0;
  const double kept = rows - left_out;
  found.prosecutor_mean = kept > 0 ? static_cast<double>(release.classes.size()) / kept : 0;
  return found;
}

namespace {

Release by_first(const Table& table, std::size_t attributes) {
  std::map<std::vector<std::int64_t>, std::size_t> places;
  Release release;
  std::vector<std::int64_t> key(attributes);
  for (std::size_t row = 0; row < table.rows(); ++row) {
    for (std::size_t c = 0; c < attributes; ++c) key[c] = table.quasi[c].codes[row];
    const auto [place, fresh] = places.emplace(key, release.classes.size());
    if (fresh) {
      release.classes.emplace_back();
      for (const std::int64_t code : key) release.classes.back().ranges.push_back({code, code});
    }
    release.classes[place->second].rows.push_back(row);
  }
  return release;
}

}  // namespace

Release as_published(const Table& table) {
  return by_first(table, table.quasi.size());
}

std::vector<CursePoint> curse_of_dimensionality(const Table& table) {
  std::vector<CursePoint> points;
  for (std::size_t attributes = 1; attributes <= table.quasi.size(); ++attributes) {
    std::size_t least = table.rows(), alone = 0;
    for (const Class& part : by_first(table, attributes).classes) {
      least = std::min(least, part.rows.size());
      alone += part.rows.size() == 1;
    }
    points.push_back(
        {attributes, least,
         table.rows() == 0 ? 0 : static_cast<double>(alone) / static_cast<double>(table.rows())});
  }
  return points;
}

}  // namespace discreet::anonymity
