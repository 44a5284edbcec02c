#include "local/crowd.h"

#include <cmath>

namespace discreet::local {

std::vector<std::uint64_t> zipf_counts(std::uint64_t people, std::uint64_t values, double skew) {
  double whole = 0;
  for (std::uint64_t v = 0; v < values; ++v) whole += std::pow(static_cast<double>(v + 1), -skew);
  std::vector<std::uint64_t> counts(values);
  double below = 0;
  std::uint64_t given = 0;
  for (std::uint64_t v = 0; v < values; ++v) {
    below += std::pow(static_cast<double>(v + 1), -skew);
    const auto until = v + 1 == values
                           ? people
                           : std::min(people, static_cast<std::uint64_t>(std::llround(
                                                  below / whole * static_cast<double>(people))));
    counts[v] = until - given;
    given = until;
  }
  return counts;
}

Tally collect_from_crowd(const Oracle& oracle, std::span<const std::uint64_t> truth,
                         RandomSource& random) {
  const std::size_t size = oracle.report_bytes();
  const std::size_t batch = std::max<std::size_t>(1, (std::size_t{1} << 22) / size);
  std::vector<std::uint8_t> reports;
  reports.reserve(batch * size);
  Tally tally = oracle.empty_tally();
  for (std::uint64_t v = 0; v < truth.size(); ++v)
    for (std::uint64_t i = 0; i < truth[v]; ++i) {
      reports.resize(reports.size() + size);
      oracle.randomize(v, random, std::span(reports).last(size));
      if (reports.size() < batch * size) continue;
      oracle.add(reports, tally);
      reports.clear();
    }
  oracle.add(reports, tally);
  return tally;
}

std::vector<std::uint64_t> zipf_record_counts(std::uint64_t people, const Spec& record,
                                              double skew) {
  std::vector<std::uint64_t> rows;
  for (const Spec& attribute : record.attributes) {
    const auto counts = zipf_counts(people, attribute.values, skew);
    rows.insert(rows.end(), counts.begin(), counts.end());
  }
  return rows;
}

// Who holds the most frequent value of one attribute is moved on a little for the next, so that
// attributes are not all of a piece; only the counts matter here.
Tally collect_records_from_crowd(const Oracle& oracle, std::span<const std::uint64_t> rows,
                                 RandomSource& random) {
  const auto& attributes = oracle.spec().attributes;
  std::uint64_t people = 0;
  for (std::uint64_t v = 0; v < attributes.front().values; ++v) people += rows[v];
  struct Column {
    std::span<const std::uint64_t> counts;
    std::uint64_t value = 0, left = 0;
  };
  std::vector<Column> columns;
  for (std::size_t i = 0; i < attributes.size(); ++i) {
    Column column{rows.first(attributes[i].values)};
    rows = rows.subspan(attributes[i].values);
    std::uint64_t skip = people / attributes.size() * i;
    column.left = column.counts[0];
    while (column.left <= skip) {
      skip -= column.left;
      column.value = (column.value + 1) % column.counts.size();
      column.left = column.counts[column.value];
    }
    column.left -= skip;
    columns.push_back(column);
  }
  Tally tally = oracle.empty_tally();
  const std::size_t size = oracle.report_bytes();
  const std::size_t batch = std::max<std::size_t>(1, (std::size_t{1} << 22) / size);
  std::vector<std::uint8_t> reports;
  for (std::uint64_t person = 0; person < people; ++person) {
    std::uint64_t input = 0, weight = 1;
    for (Column& column : columns) {
      while (column.left == 0) {
        column.value = (column.value + 1) % column.counts.size();
        column.left = column.counts[column.value];
      }
      --column.left;
      input += weight * column.value;
      weight *= column.counts.size();
    }
    reports.resize(reports.size() + size);
    oracle.randomize(input, random, std::span(reports).last(size));
    if (reports.size() < batch * size && person + 1 < people) continue;
    oracle.add(reports, tally);
    reports.clear();
  }
  return tally;
}

}  // namespace discreet::local
