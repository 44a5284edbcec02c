// Values of a policy that have rules of their own: ranges, key lists, periods, verifiers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "catalog/policy.h"

namespace discreet::catalog {

Date date_of(int year, unsigned month, unsigned day);

/// Two ends of one ordered kind, the first below the second. A whole number beside a fraction
/// counts as a fraction; dates may also be written as text ("2026-01-31"). Errors continue "range
/// of 'age' ...".
Result<Range> make_range(const std::vector<Literal>& ends);

/// Keys of one kind, none twice. Errors continue "values of 'ward' ...".
Result<std::vector<Literal>> make_keys(const std::vector<Literal>& listed);

/// "30 days", "1 week", "12 hours". Months and years are refused: they have no fixed length.
Result<std::chrono::seconds> read_period(const std::string& text);

/// A date or timestamp, also as text "2026-01-31"; nothing for other values.
std::optional<Instant> instant_of(const std::optional<Literal>& literal);

/// The verifier in PostgreSQL's form, from that form or from "scram-sha-256:" and the rest of it;
/// nothing for text that is not one.
std::optional<std::string> scram_verifier(const std::string& text);

/// Is any limited part of `share` beyond that of `whole`?
bool exceeds(const Amount& share, const Amount& whole);

}  // namespace discreet::catalog
