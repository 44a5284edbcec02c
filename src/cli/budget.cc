// `discreet budget`: what each account was granted, has spent, and has left.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/policy_option.h"
#include "cli/text_table.h"
#include "curator/accounts.h"

namespace discreet::cli {
namespace {

using nlohmann::ordered_json;

struct BudgetArguments {
  std::string policy;
  std::string as;
  bool json = false;
};

template <class Number>
ordered_json limit(const std::optional<Number>& value) {
  return value ? ordered_json(value->value()) : ordered_json("unlimited");
}
ordered_json finite(double value) {
  return std::isfinite(value) ? ordered_json(value) : ordered_json("infinite");
}

ordered_json to_json(const ledger::Balance& balance) {
  return {{"account", balance.account},
          {"of", balance.parent.empty() ? ordered_json(nullptr) : ordered_json(balance.parent)},
          {"filter", ledger::name(balance.filter)},
          {"granted",
           {{"epsilon", limit(balance.granted.epsilon)},
            {"delta", limit(balance.granted.delta)},
            {"rho", balance.rho_granted.value()}}},
          {"spent",
           {{"epsilon", finite(balance.spent.epsilon.value())},
            {"delta", balance.spent.delta.value()},
            {"rho", finite(balance.spent.rho.value())},
            {"charges", balance.spent.charges}}},
          {"left",
           {{"epsilon", limit(balance.left.epsilon)},
            {"delta", limit(balance.left.delta)},
            {"rho", balance.rho_left.value()},
            {"question", limit(balance.question_left)}}}};
}

/// A question must fit the account and all above it.
void narrow_to_chain(std::vector<ledger::Balance>& balances) {
  const auto narrower = [](auto own, auto above) {
    return !own || (above && *above < *own) ? above : own;
  };
  for (ledger::Balance& balance : balances)
    for (std::string name = balance.parent; !name.empty();) {
      const auto above = std::find_if(balances.begin(), balances.end(),
                                      [&](const auto& other) { return other.account == name; });
      if (above == balances.end()) break;
      balance.question_left = narrower(balance.question_left, above->question_left);
      name = above->parent;
    }
}

/// The account and those above it, or all of them.
Result<std::vector<ledger::Balance>> wanted(const BudgetArguments& arguments,
                                            ledger::Ledger& opened, const catalog::Policy& policy) {
  if (arguments.as.empty()) return opened.balances();
  DISCREET_TRY_VOID(ensure_account(opened, policy, arguments.as));
  std::vector<ledger::Balance> chain;
  for (std::string name = arguments.as; !name.empty(); name = chain.back().parent) {
    DISCREET_TRY(ledger::Balance balance, opened.balance(name));
    chain.push_back(std::move(balance));
  }
  return chain;
}

void print_table(const std::vector<ledger::Balance>& balances) {
  std::vector<std::vector<std::string>> rows;
  for (const ledger::Balance& balance : balances)
    rows.push_back({balance.account, balance.parent, shown(balance.granted.epsilon),
                    fmt::format("{:.4g}", balance.spent.epsilon.value()),
                    shown(balance.left.epsilon), shown(balance.granted.delta),
                    fmt::format("{:.4g}", balance.spent.delta.value()),
                    std::to_string(balance.spent.charges), shown(balance.question_left)});
  std::fputs(text_table({{"account"},
                         {"of"},
                         {"epsilon", true},
                         {"spent", true},
                         {"left", true},
                         {"delta", true},
                         {"spent", true},
                         {"charges", true},
                         {"largest question", true}},
                        rows)
                 .c_str(),
             stdout);
}

int show_budget(const BudgetArguments& arguments) {
  const auto policy = load_policy(arguments.policy);
  if (!policy) return fail(policy.error());
  const SystemClock clock;
  auto opened = open_ledger(*policy, clock);
  if (!opened) return fail(opened.error());
  auto balances = wanted(arguments, *opened, *policy);
  if (!balances) return fail(balances.error());
  narrow_to_chain(*balances);
  if (!arguments.json) {
    print_table(*balances);
    return kOk;
  }
  ordered_json accounts = ordered_json::array();
  for (const ledger::Balance& balance : *balances) accounts.push_back(to_json(balance));
  std::puts(
      ordered_json{{"ledger", policy->ledger_store()}, {"accounts", accounts}}.dump().c_str());
  return kOk;
}

}  // namespace

void add_budget(CLI::App& app, Action& chosen) {
  CLI::App* verb =
      add_verb(app, "budget", "What each account was granted, has spent and has left",
               "  discreet budget --policy discreet.toml --as alice\n\n"
               "\"largest question\" is the epsilon of one pure question that would still be\n"
               "admitted: many small ones are held by zCDP, which lets more of them through\n"
               "than sums do (docs/proofs/ledger_filter.md).");
  auto arguments = std::make_shared<BudgetArguments>();
  add_policy_option(verb, arguments->policy);
  verb->add_option("--as", arguments->as, "Only this account and the budget it is a share of");
  verb->add_flag("--json", arguments->json, "One JSON object instead of a table");
  verb->callback(
      [&chosen, arguments] { chosen = [arguments] { return show_budget(*arguments); }; });
}

}  // namespace discreet::cli
