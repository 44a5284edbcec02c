#include "curator/row_bound.h"

#include <fmt/format.h>

#include <vector>

#include "mechanisms/bound_search.h"

namespace discreet {
namespace {

constexpr int kExponentMax = 20;  // up to 2^20 rows of one unit

}  // namespace

Result<std::uint64_t> find_row_bound(const sql::Release& release, Epsilon search, Epsilon noise,
                                     Engine& engine, RandomSource& random) {
  DISCREET_TRY(const auto bounds, BoundSearch::balanced(search, noise, 1));
  // Units by their number of rows; the rows stay where they are.
  DISCREET_TRY(EngineRows rows, engine.query(fmt::format(
                                    "SELECT CAST(n AS BIGINT) AS n, CAST(count(*) AS BIGINT) AS "
                                    "units FROM (SELECT unit, count(*) AS n FROM ({}) AS r "
                                    "GROUP BY unit) AS s GROUP BY n",
                                    release.rows_sql)));
  std::vector<std::int64_t> above(kExponentMax + 1);
  for (;;) {
    DISCREET_TRY(const auto chunk, rows.next());
    if (!chunk) break;
    for (std::size_t row = 0; row < chunk->size(); ++row) {
      const std::int64_t n = static_cast<std::int64_t>(chunk->int128(0, row)),
                         units = static_cast<std::int64_t>(chunk->int128(1, row));
      for (int i = 0; i <= kExponentMax && n > (std::int64_t{1} << i); ++i)
        above[static_cast<std::size_t>(i)] += units;
    }
  }
  return std::uint64_t{1} << bounds.release(above, random);
}

}  // namespace discreet
