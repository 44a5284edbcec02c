// The rows of a release's totals, from whichever reads them for less: the engine, or the embedded
// engine over the engine's own files.
#pragma once

#include <string>
#include <vector>

#include "engines/engine.h"
#include "sql/question.h"

namespace discreet {

/// These columns of release.totals_sql. Where the files cannot be read it is the engine that is
/// asked; not after the first row came.
Result<EngineRows> totals_rows(const sql::Release& release, const std::vector<std::string>& columns,
                               Engine& engine);

}  // namespace discreet
