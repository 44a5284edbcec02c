#include "curator/accounts.h"

#include <fmt/format.h>

namespace discreet {
namespace {

using ledger::AccountSpec;
using ledger::FilterKind;

AccountSpec spec_of(const catalog::Budget& budget) {
  const bool basic = budget.filter == catalog::FilterChoice::Basic;
  return {budget.name, "", budget.amount, budget.grant,
          basic ? FilterKind::Basic : FilterKind::Best};
}

AccountSpec spec_of(const catalog::Analyst& analyst) {
  return {analyst.name, analyst.of, analyst.share.value_or(Amount::unlimited()), std::nullopt,
          FilterKind::Best};
}

AccountSpec spec_of(const ledger::User& user) {
  return {user.name, user.parent, user.share.value_or(Amount::unlimited()), std::nullopt,
          FilterKind::Best};
}

bool in_policy(const catalog::Policy& policy, const std::string& name) {
  return policy.analyst(name) || policy.budget(name);
}

}  // namespace

Result<ledger::Ledger> open_ledger(const catalog::Policy& policy, const Clock& clock,
                                   ledger::LedgerOptions options) {
  std::vector<AccountSpec> accounts;
  for (const auto& budget : policy.budgets()) accounts.push_back(spec_of(budget));
  for (const auto& analyst : policy.analysts()) accounts.push_back(spec_of(analyst));
  DISCREET_TRY(ledger::Ledger opened,
               ledger::Ledger::open(policy.ledger_store(), std::move(accounts), clock, options));
  DISCREET_TRY(const auto users, ledger::UserStore(opened).all());
  for (const auto& user : users) {
    // A user whose budget the policy no longer has cannot pay, and must not stop the others.
    if (in_policy(policy, user.name) || !policy.budget(user.parent)) continue;
    DISCREET_TRY_VOID(opened.add_account(spec_of(user)));
  }
  return opened;
}

Result<void> ensure_account(ledger::Ledger& opened, const catalog::Policy& policy,
                            const std::string& name) {
  if (in_policy(policy, name) || opened.has_account(name)) return {};
  DISCREET_TRY(const auto user, ledger::UserStore(opened).find(name));
  if (!user)
    return Error{ErrorCode::NotFound,
                 fmt::format("nobody is called '{}' here; add them with `discreet user add {} "
                             "--policy {} --password-stdin`",
                             name, name, policy.path().string())};
  return opened.add_account(spec_of(*user));
}

}  // namespace discreet
