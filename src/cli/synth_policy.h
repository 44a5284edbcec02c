// A twin of a policy's table: which columns, whose rows, and who pays.
//
// Guarantee: the whole (epsilon, delta) is charged before a private row is read, and a twin that
// was
//            paid for is given again for nothing. With a unit column each unit keeps one row, drawn
//            at random, so that one unit is one row of what is synthesised.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "privacy/parameters.h"
#include "synth/encoding.h"
#include "synth/raw_table.h"

namespace discreet::cli {

struct PolicyTwin {
  std::vector<synth::RawTable> tables;
  std::vector<std::string> notes;
  bool repeated = false;  ///< paid for before
  std::string left;       ///< what the account has left, for people
};

struct PolicyTwinRequest {
  std::string policy, table, as;
  ApproxDp budget;
  std::string job;                  ///< method, workload, sizes: the same text is the same question
  std::string what = "synthesize";  ///< what is done with the rows, for the ledger
};

/// Makes the tables from raw rows; called once, after the charge.
using MakeTwin = std::function<Result<PolicyTwin>(const synth::RawTable& raw,
                                                  const std::vector<synth::ColumnSpec>& specs)>;
/// Checks what can be checked without rows; called before the charge.
using CheckTwin = std::function<Result<void>(const std::vector<synth::ColumnSpec>& specs)>;

Result<PolicyTwin> twin_under_policy(const PolicyTwinRequest& request, const CheckTwin& check,
                                     const MakeTwin& make);

}  // namespace discreet::cli
