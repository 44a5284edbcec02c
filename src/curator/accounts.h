// From the policy's budgets and analysts, and the users of the store, to accounts of the ledger.
//
// Guarantee: every charge of an analyst is also a charge on the budget they are a share of. The
//            policy wins over the store where both name somebody.
#pragma once

#include <string>

#include "base/clock.h"
#include "catalog/policy.h"
#include "ledger/ledger.h"
#include "ledger/users.h"

namespace discreet {

/// The account that pays when nobody is named: the data owner's.
inline constexpr char kOwnerAccount[] = "default";

/// The policy's ledger with an account for every budget, analyst and user. `clock` must outlive it.
Result<ledger::Ledger> open_ledger(const catalog::Policy& policy, const Clock& clock,
                                   ledger::LedgerOptions options = {});

/// The account of a user who may have been added since the ledger was opened. NotFound: neither the
/// policy nor the store knows the name.
Result<void> ensure_account(ledger::Ledger& ledger, const catalog::Policy& policy,
                            const std::string& name);

}  // namespace discreet
