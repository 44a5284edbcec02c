// What an anonymised release still gives away and what it lost.
#pragma once

#include <cstddef>
#include <vector>

#include "anonymity/table.h"

namespace discreet::anonymity {

struct Metrics {
  std::size_t k = 0;            ///< rows of the smallest class
  std::size_t l = 0;            ///< fewest distinct sensitive values in a class
  double entropy_l = 0;         ///< exp of the least entropy of a class's sensitive values
  double t = 0;                 ///< largest distance of a class from the table
  double prosecutor_max = 0;    ///< 1 / k: chance to find a person known to be in the table
  double prosecutor_mean = 0;   ///< classes / rows
  double alone = 0;             ///< share of rows that are alone in their class
  double homogeneous = 0;       ///< share of rows whose class has one sensitive value
  double information_loss = 0;  ///< NCP: mean share of each column's span that a row is blurred to
  double suppressed = 0;        ///< share of rows left out (they count as lost whole)
};

Metrics measure(const Table& table, const Release& release);

/// The table as it is: a class for each combination of quasi-identifiers.
Release as_published(const Table& table);

/// k and the share of people alone, as the first 1, 2, 3 ... quasi-identifiers are known.
struct CursePoint {
  std::size_t attributes;
  std::size_t k;
  double alone;
};
std::vector<CursePoint> curse_of_dimensionality(const Table& table);

}  // namespace discreet::anonymity
