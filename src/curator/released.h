// Released values of one question: what post-processing may look at, and nothing else.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "curator/groups.h"

namespace discreet {

/// One aggregate, group by group. A list holds several numbers (quantiles, bins); text is for
/// modes.
struct ReleasedColumn {
  std::vector<Cell> values;  ///< numbers, text, or NULL; unused for lists
  std::vector<std::vector<double>> lists;
  std::vector<std::optional<double>>
      error95;  ///< half the width of a 95 % interval; of the noise, not of clipping
  bool is_list = false;
};

struct ReleasedTable {
  std::vector<std::vector<Cell>> keys;     ///< one tuple per group
  std::vector<ReleasedColumn> aggregates;  ///< in the order of sql::Release::aggregates
  std::vector<std::string>
      notices;  ///< found privately and paid for, hence sayable: bounds, kept groups
};

}  // namespace discreet
