// One question about privacy loss as data: the entries that `discreet account FILE` answers.
//
// An entry names a mechanism, its parameters, how often it ran, the neighbours, a quantity and
// where to take it; docs/formats/loss_events.md has the grammar. The answer is a certified bracket.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "accounting/bracket.h"
#include "base/result.h"
#include "privacy/loss_event.h"
#include "privacy/neighbours.h"

namespace discreet {

struct AccountAnswer {
  double value;  ///< never understates: the bracket's upper end, or its middle for two-sided ones
  Bracket bracket;
};

/// The mechanism of an entry, its parameters merged in, as an event. Names beyond those of
/// loss_event_from_json(): poisson_subsampled_gaussian, poisson_subsampled_laplace,
/// kary_randomized_response, heterogeneous (a list of parts with counts), and `a` in place of a
/// discrete Laplace `scale`.
Result<LossEvent> event_of_entry(const std::string& mechanism, const nlohmann::json& params);

/// Answers one entry. InvalidInput: it does not follow the grammar. Refused: no finite answer, or
/// none that is known.
Result<AccountAnswer> answer_entry(const nlohmann::json& entry);

}  // namespace discreet
