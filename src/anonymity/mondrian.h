// Mondrian (LeFevre, DeWitt, Ramakrishnan 2006): split the widest quasi-identifier at its median,
// again and again, for as long as both halves meet the requirements.
//
// No privacy guarantee: see attack/intersection.h and attack/linkage.h for what it gives away.
#pragma once

#include "anonymity/table.h"
#include "base/result.h"

namespace discreet::anonymity {

/// Refused: the whole table does not meet the requirements.
Result<Release> mondrian(const Table& table, const Requirements& requirements);

}  // namespace discreet::anonymity
