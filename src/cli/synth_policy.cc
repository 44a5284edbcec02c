#include "cli/synth_policy.h"

#include <fmt/format.h>

#include "base/clock.h"
#include "cli/policy_option.h"
#include "cli/question_options.h"
#include "curator/accounts.h"
#include "curator/twin_rows.h"
#include "ledger/sha256.h"

namespace discreet::cli {

Result<PolicyTwin> twin_under_policy(const PolicyTwinRequest& request, const CheckTwin& check,
                                     const MakeTwin& make) {
  DISCREET_TRY(const catalog::Policy policy, load_policy(request.policy));
  const catalog::Table* table = policy.table(request.table);
  if (table == nullptr)
    return Error{ErrorCode::NotFound,
                 fmt::format("the policy has no table '{}'; it has {}", request.table,
                             fmt::join(policy.table_names(), ", "))};
  DISCREET_TRY(Data data, Data::open(policy, operator_log()));
  DISCREET_TRY(const std::string snapshot, data.snapshot({table->name}));
  DISCREET_TRY(const TwinRows plan, TwinRows::plan(*table, data));
  DISCREET_TRY_VOID(check(plan.specs));
  DISCREET_TRY_VOID(data.engine().check(plan.sql));

  const SystemClock clock;
  DISCREET_TRY(ledger::Ledger opened, open_ledger(policy, clock));
  const std::string account = request.as.empty() ? std::string(kOwnerAccount) : request.as;
  if (account != kOwnerAccount) {
    DISCREET_TRY_VOID(ensure_account(opened, policy, account));
    if (const auto* analyst = policy.analyst(account); analyst && !analyst->may_ask(table->name))
      return Error{ErrorCode::PermissionDenied,
                   fmt::format("{} may not ask about table '{}'.", account, table->name)};
  }
  const std::string question = ledger::to_hex(ledger::sha256(fmt::format(
      "{}\n{}\n{}\n{}\n{}\n{}", request.what == "synthesize" ? "synth" : request.what, table->name,
      request.job, request.budget.epsilon.value(), request.budget.delta.value(), snapshot)));
  const auto with_balance = [&](Result<PolicyTwin> twin) {
    if (const auto balance = opened.balance(account); twin && balance)
      twin->left = fmt::format("left to {}: epsilon {}, delta {}", account,
                               shown(balance->left.epsilon), shown(balance->left.delta));
    return twin;
  };
  DISCREET_TRY(const auto recorded, opened.find_answer(account, question));
  if (recorded) {
    DISCREET_TRY(auto twins, RecordedTwins::from_bytes(recorded->answer));
    PolicyTwin twin{std::move(twins.tables), std::move(twins.notes), false, {}};
    DISCREET_TRY_VOID(opened.record_repeat(account, recorded->charge));
    twin.repeated = true;
    return with_balance(std::move(twin));
  }
  const LossEvent loss = loss::Approximate{request.budget.epsilon, request.budget.delta};
  DISCREET_TRY(ledger::Receipt receipt,
               opened.charge({account, question, "",
                              fmt::format("{} {} ({})", request.what, table->name, request.job),
                              loss, ledger::Price::of(request.budget, loss)}));
  const auto made = [&]() -> Result<PolicyTwin> {
    DISCREET_TRY(const auto raw, plan.read(data));
    return make(raw, plan.specs);
  }();
  if (!made)
    return Error{
        made.error().code == ErrorCode::Refused ? ErrorCode::Refused : ErrorCode::Unavailable,
        fmt::format("It was charged but could not be made ({}). Ask for the same again: it is not "
                    "charged twice.",
                    made.error().message)};
  PolicyTwin twin = *made;
  twin.notes.insert(twin.notes.end(), plan.notes.begin(), plan.notes.end());
  DISCREET_TRY(const std::string bytes,
               opened.record_release(std::move(receipt),
                                     RecordedTwins{twin.notes, twin.tables, {}}.to_bytes()));
  DISCREET_TRY(auto twins, RecordedTwins::from_bytes(bytes));
  return with_balance(PolicyTwin{std::move(twins.tables), std::move(twins.notes), false, {}});
}

}  // namespace discreet::cli
