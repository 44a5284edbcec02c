// What the programs that compare whole questions share: clocks, answers as text, errors.
#pragma once

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/check.h"
#include "engines/duckdb/database.h"

namespace discreet::bench {

/// Seconds by the wall and of all threads' CPU. On a machine that others use too, the CPU's are the
/// ones that can be compared.
struct Seconds {
  double wall = std::numeric_limits<double>::infinity();
  double cpu = std::numeric_limits<double>::infinity();

  /// The best of several runs, each clock by itself.
  void keep_best(const Seconds& other) {
    wall = std::min(wall, other.wall);
    cpu = std::min(cpu, other.cpu);
  }
};

class Stopwatch {
 public:
  Stopwatch() : began_(std::chrono::steady_clock::now()), cpu_(cpu_seconds()) {}
  Seconds read() const {
    return {std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count(),
            cpu_seconds() - cpu_};
  }

 private:
  static double cpu_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& t) {
      return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
  }
  std::chrono::steady_clock::time_point began_;
  double cpu_;
};

using TextRow = std::vector<std::optional<std::string>>;
using TextRows = std::vector<TextRow>;

/// All rows of a plain statement as text, as an analyst would see them.
inline TextRows fetch(DuckDb& engine, const std::string& sql) {
  auto rows = engine.query("SELECT CAST(COLUMNS(*) AS VARCHAR) FROM (" + sql + ")");
  DISCREET_CHECK(rows.has_value(), "a plain statement did not run");
  TextRows all;
  for (;;) {
    const auto chunk = rows->next();
    DISCREET_CHECK(chunk.has_value(), "a plain statement failed midway");
    if (!*chunk) return all;
    for (std::size_t row = 0; row < (*chunk)->size(); ++row) {
      TextRow text;
      for (std::size_t column = 0; column < rows->columns().size(); ++column) {
        if ((*chunk)->is_null(column, row))
          text.emplace_back();
        else
          text.emplace_back(std::string((*chunk)->varchar(column, row)));
      }
      all.push_back(std::move(text));
    }
  }
}

inline double median(std::vector<double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// How far released rows are from the exact ones, matched by their first `keys` columns.
struct Difference {
  std::vector<double> relative;  ///< of every cell that both have and that is not zero
  std::size_t kept = 0, lost = 0;
};

inline Difference compare(const TextRows& exact, const TextRows& released, std::size_t keys) {
  const auto key_of = [&](const TextRow& row) {
    std::string key;
    for (std::size_t i = 0; i < keys && i < row.size(); ++i) key += row[i].value_or("NULL") + "|";
    return key;
  };
  std::map<std::string, const TextRow*> by_key;
  for (const TextRow& row : released) by_key[key_of(row)] = &row;
  Difference difference;
  for (const TextRow& row : exact) {
    const auto found = by_key.find(key_of(row));
    if (found == by_key.end()) {
      ++difference.lost;
      continue;
    }
    ++difference.kept;
    for (std::size_t i = keys; i < row.size() && i < found->second->size(); ++i) {
      if (!row[i] || !(*found->second)[i]) continue;
      const double truth = std::strtod(row[i]->c_str(), nullptr);
      const double noisy = std::strtod((*found->second)[i]->c_str(), nullptr);
      if (truth != 0) difference.relative.push_back(std::fabs(noisy - truth) / std::fabs(truth));
    }
  }
  return difference;
}

}  // namespace discreet::bench
