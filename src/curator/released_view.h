// Puts released tables where the final statement can read them, and reads its rows. A statement
// that only picks columns is not run. Post-processing: the engine sees only released values here,
// under names that no private table has.
#pragma once

#include "curator/answer.h"
#include "curator/released.h"
#include "engines/duckdb/database.h"

namespace discreet {

/// Counts become whole and not negative; a table of counts keeps its total.
void make_sensible(const sql::Release& release, ReleasedTable& table);

/// Makes the table `release.table` for the final statement (and later releases).
Result<void> store_released(const sql::Release& release, const ReleasedTable& table,
                            DuckDb& engine);

using Texts = std::vector<std::vector<std::optional<std::string>>>;

/// These columns of the table (sql::PlannedQuestion::picked), as the engine would write them after
/// store_released(). Nothing: some are of a type that only the engine writes.
std::optional<Texts> picked_texts(const sql::Release& release, const ReleasedTable& table,
                                  const std::vector<std::size_t>& picked);

/// The rows of a statement all of whose columns are VARCHAR, in its order.
Result<Texts> read_texts(const std::string& sql, std::size_t columns, DuckDb& engine);

}  // namespace discreet
