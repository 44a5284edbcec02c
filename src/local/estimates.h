// A tally as a table for people: what is estimated, how sure it is, made sensible if asked. The
// command line, the collector and Python show the same table.
//
// Post-processing treats each attribute of a record by itself: its counts, not all of them
// together, add up to the number of reports.
#pragma once

#include <string>
#include <vector>

#include "local/oracle.h"

namespace discreet::local {

struct EstimateRow {
  std::string value;
  double estimate, standard_error, low, high;
};

struct EstimateQuestion {
  double confidence = 0.95;
  bool simultaneous = false;                 ///< intervals that hold for all rows together
  std::string post = "none";                 ///< post_process_names()
  std::vector<std::string> candidates = {};  ///< these rows only; needed for open text
  std::size_t top = 0;                       ///< the largest ones only; zero for all, in order
};

/// InvalidParameter: confidence, post-processing or a candidate that the collection does not have.
Result<std::vector<EstimateRow>> estimate_rows(const Oracle& oracle, const Tally& tally,
                                               const EstimateQuestion& question);

}  // namespace discreet::local
