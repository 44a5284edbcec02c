// Answers and explanations as rows and sentences that both protocols give out.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "curator/curator.h"

namespace discreet::server {

/// EXPLAIN's lines: columns with mechanism and error, cost, what is left, the plan.
std::vector<std::string> explain_lines(const Explanation& explanation);
/// The object `discreet explain --json` prints.
nlohmann::ordered_json explain_object(const Explanation& explanation);

/// What the account can still spend: the least that it and the accounts above it have left.
Result<ledger::Balance> spendable(Curator& curator, const std::string& account);

/// "cost: epsilon 0.5; left to alice: epsilon 3.5, delta 7.5e-08"
std::string cost_sentence(const Answer& answer, const ledger::Balance& left);

/// With a column "x_error95" behind every column that has an error (SET discreet.errors = on).
std::vector<DescribedColumn> with_error_columns(const std::vector<DescribedColumn>& described);

}  // namespace discreet::server
