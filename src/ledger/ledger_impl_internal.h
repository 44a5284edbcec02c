// What a Ledger holds: the file, the accounts the policy lists, and a lock.
#pragma once

#include <map>
#include <mutex>

#include "ledger/ledger.h"
#include "ledger/store_internal.h"

namespace discreet::ledger {

class Ledger::Impl {
 public:
  Impl(Store store_in, const Clock& clock_in) : store(std::move(store_in)), clock(clock_in) {}

  /// From the account to the budget at the top. NotFound: the policy lists no such account.
  Result<std::vector<const AccountSpec*>> chain(const std::string& account) const;

  /// Checks that the spec's parents exist and run in no circle, then lists it.
  Result<void> list(const AccountSpec& spec);

  /// The account as it is on record, after recording a grant if the policy or the calendar changed
  /// it. Inside a Transaction.
  Result<Account> current(const AccountSpec& spec);
  /// The same without writing: what the grant would be now.
  Result<Account> preview(const AccountSpec& spec);

  Result<void> record_grants();

  std::mutex mutex;
  Store store;
  const Clock& clock;
  std::map<std::string, AccountSpec> specs;
  std::vector<std::string> order;  ///< names, as listed

 private:
  GrantEvent wanted(const AccountSpec& spec, const std::optional<Account>& recorded) const;
};

}  // namespace discreet::ledger
