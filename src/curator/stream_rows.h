// The values of a stream with their units, and the limit on how many a unit may have.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "curator/groups.h"
#include "random/random_source.h"

namespace discreet {

struct StreamRow {
  std::uint32_t unit, group;
  std::int64_t value;  ///< q, or the number of a text
  std::uint64_t times;
};

struct StreamRows {
  std::vector<StreamRow> rows;     ///< those of one unit together
  std::vector<std::string> texts;  ///< of a text stream, by number

  /// Runs the stream's statement. Rows outside the public domain, or of groups not kept, are
  /// dropped.
  static Result<StreamRows> load(const sql::Release& release, const sql::ValueStream& stream,
                                 Groups& groups, const std::vector<bool>* kept, Engine& engine);

  /// At most `most` values of every unit, uniformly without replacement over its (group, value)
  /// occurrences.
  void limit_units(std::uint64_t most, RandomSource& random);
};

}  // namespace discreet
