// What was released, to whom, at what cost in every definition: for the data owner and for
// auditors.
//
// Guarantee: costs are upper bounds. Sums hold however questions were chosen; the Renyi and the
// tight
//            figure (PLD) hold for questions fixed in advance and are there for comparison.
#pragma once

#include <string>

#include "ledger/ledger.h"

namespace discreet::ledger {

/// One JSON object: `accounts` with their costs, `releases` with theirs, `head` of the chain. The
/// chain is verified first; InvalidInput: it is broken.
Result<std::string> report_json(Ledger& ledger);

/// The same as one HTML page that needs nothing else.
Result<std::string> report_html(Ledger& ledger);

/// The same as Markdown.
Result<std::string> report_markdown(Ledger& ledger);

/// Events one a line, oldest first; `body` byte for byte as sealed.
Result<void> export_events(Ledger& ledger, const std::function<void(const std::string&)>& line);

/// "2026-11-15T13:04:05.000000Z".
std::string to_iso(Instant at);

}  // namespace discreet::ledger
