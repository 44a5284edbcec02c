// `discreet user add | password | token | remove | list`: who may log in. Passwords come on stdin,
// never as an argument, which other users of the machine could read.
#include <fmt/format.h>

#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/parse_number.h"
#include "base/suggest.h"
#include "cli/policy_option.h"
#include "cli/text_table.h"
#include "curator/accounts.h"
#include "ledger/report.h"
#include "ledger/scram.h"

namespace discreet::cli {
namespace {

using ledger::User;
using ledger::UserStore;
using nlohmann::ordered_json;

struct UserArguments {
  std::string policy;
  std::string name;
  std::string budget;
  std::string of = kOwnerAccount;
  bool password_stdin = false;
  bool json = false;
};

Result<std::string> verifier_from_stdin(const UserArguments& arguments) {
  if (!arguments.password_stdin)
    return invalid_parameter("the password comes on stdin: add --password-stdin and pipe it in");
  std::string password;
  std::getline(std::cin, password);
  if (!password.empty() && password.back() == '\r') password.pop_back();
  return ledger::make_scram_verifier(password);
}

/// "1.0,1e-8", "1.0" or "unlimited".
Result<Amount> read_amount(const std::string& text) {
  const auto comma = text.find(',');
  const std::string first = text.substr(0, comma);
  Amount amount{Epsilon::zero(), Delta::zero()};
  if (first == "unlimited") {
    amount.epsilon.reset();
  } else {
    DISCREET_TRY(const double value, parse_number(first, "the epsilon of --budget"));
    DISCREET_TRY(amount.epsilon, Epsilon::make(value));
  }
  if (comma == std::string::npos) return amount;
  const std::string second = text.substr(comma + 1);
  if (second == "unlimited") {
    amount.delta.reset();
  } else {
    DISCREET_TRY(const double value, parse_number(second, "the delta of --budget"));
    DISCREET_TRY(amount.delta, Delta::make(value));
  }
  return amount;
}

Result<void> add_new_user(const UserArguments& arguments, const catalog::Policy& policy,
                          ledger::Ledger& opened) {
  const catalog::Analyst* analyst = policy.analyst(arguments.name);
  if (policy.budget(arguments.name))
    return invalid_parameter(
        fmt::format("'{}' is a budget of the policy; choose another name", arguments.name));
  if (analyst && !arguments.budget.empty())
    return invalid_parameter(
        fmt::format("the policy gives '{}' a budget at line {}; change it there", arguments.name,
                    analyst->line));
  User user;
  user.name = arguments.name;
  user.parent = analyst ? analyst->of : arguments.of;
  if (!policy.budget(user.parent)) {
    std::vector<std::string> names;
    for (const auto& budget : policy.budgets()) names.push_back(budget.name);
    return Error{ErrorCode::NotFound, fmt::format("the policy has no budget '{}'{}", user.parent,
                                                  did_you_mean(user.parent, names))};
  }
  if (!arguments.budget.empty()) {
    DISCREET_TRY(user.share, read_amount(arguments.budget));
  }
  DISCREET_TRY(user.verifier, verifier_from_stdin(arguments));
  DISCREET_TRY_VOID(UserStore(opened).add(user));
  DISCREET_TRY_VOID(ensure_account(opened, policy, user.name));
  DISCREET_TRY(const ledger::Balance own, opened.balance(user.name));
  DISCREET_TRY(const ledger::Balance above, opened.balance(user.parent));
  if (arguments.json) {
    const auto limit = [](const auto& part) {
      return part ? ordered_json(part->value()) : ordered_json("unlimited");
    };
    std::puts(ordered_json{
        {"account", user.name},
        {"of", user.parent},
        {"granted", {{"epsilon", limit(own.granted.epsilon)}, {"delta", limit(own.granted.delta)}}}}
                  .dump()
                  .c_str());
  } else {
    const bool has_share = own.granted.epsilon || own.granted.delta;
    const Amount& amount = has_share ? own.granted : above.granted;
    fmt::print("{} may ask, held by {} (epsilon {}, delta {}{})\n", user.name,
               has_share ? "a budget of their own" : "budget '" + user.parent + "'",
               shown(amount.epsilon), shown(amount.delta),
               has_share ? ", of '" + user.parent + "'" : "");
  }
  return {};
}

Result<void> change_password(const UserArguments& arguments, const catalog::Policy&,
                             ledger::Ledger& opened) {
  DISCREET_TRY(const std::string verifier, verifier_from_stdin(arguments));
  DISCREET_TRY_VOID(UserStore(opened).set_password(arguments.name, verifier));
  fmt::print(stderr, "the password of {} is changed\n", arguments.name);
  return {};
}

Result<void> make_token(const UserArguments& arguments, const catalog::Policy&,
                        ledger::Ledger& opened) {
  DISCREET_TRY(const std::string token, UserStore(opened).renew_token(arguments.name));
  if (arguments.json)
    std::puts(ordered_json{{"account", arguments.name}, {"token", token}}.dump().c_str());
  else
    std::puts(token.c_str());
  fmt::print(stderr, "this token is shown once; an older one of {} no longer works\n",
             arguments.name);
  return {};
}

Result<void> remove_user(const UserArguments& arguments, const catalog::Policy&,
                         ledger::Ledger& opened) {
  DISCREET_TRY_VOID(UserStore(opened).remove(arguments.name));
  fmt::print(stderr, "{} can no longer log in; what they spent stays spent\n", arguments.name);
  return {};
}

Result<void> list_users(const UserArguments& arguments, const catalog::Policy& policy,
                        ledger::Ledger& opened) {
  DISCREET_TRY(const auto users, UserStore(opened).all());
  ordered_json all = ordered_json::array();
  std::vector<std::vector<std::string>> rows;
  for (const User& user : users) {
    const catalog::Analyst* analyst = policy.analyst(user.name);
    const std::string of = analyst ? analyst->of : user.parent;
    const auto& share = analyst ? analyst->share : user.share;
    const bool usable = policy.budget(of) != nullptr;
    all.push_back({{"account", user.name},
                   {"of", of},
                   {"usable", usable},
                   {"token", user.has_token},
                   {"since", ledger::to_iso(user.created)}});
    rows.push_back({user.name, usable ? of : of + " (not in the policy)",
                    share ? shown(share->epsilon) : "-", share ? shown(share->delta) : "-",
                    user.has_token ? "yes" : "no", ledger::to_iso(user.created).substr(0, 10)});
  }
  if (arguments.json)
    std::puts(all.dump().c_str());
  else
    std::fputs(
        text_table({{"user"}, {"of"}, {"epsilon", true}, {"delta", true}, {"token"}, {"since"}},
                   rows)
            .c_str(),
        stdout);
  return {};
}

using Work = Result<void> (*)(const UserArguments&, const catalog::Policy&, ledger::Ledger&);

int run_user(const UserArguments& arguments, Work work) {
  const auto policy = load_policy(arguments.policy);
  if (!policy) return fail(policy.error());
  const SystemClock clock;
  auto opened = open_ledger(*policy, clock);
  if (!opened) return fail(opened.error());
  const auto done = work(arguments, *policy, *opened);
  return done ? kOk : fail(done.error());
}

}  // namespace

void add_user(CLI::App& app, Action& chosen) {
  CLI::App* verb = add_verb(
      app, "user", "Who may log in: add, password, token, remove, list",
      "  printf '%s\\n' \"$PASSWORD\" | discreet user add alice --policy discreet.toml \\\n"
      "      --budget 1.0,1e-8 --password-stdin\n"
      "  discreet user token alice --policy discreet.toml");
  verb->require_subcommand(1);
  auto arguments = std::make_shared<UserArguments>();
  const auto add = [&](const char* name, const char* summary, const char* example, Work work,
                       bool named) {
    CLI::App* part = add_verb(*verb, name, summary, example);
    if (named) part->add_option("NAME", arguments->name, "Their name")->required();
    add_policy_option(part, arguments->policy);
    part->add_flag("--json", arguments->json, "JSON instead of a sentence");
    part->callback([&chosen, arguments, work] {
      chosen = [arguments, work] { return run_user(*arguments, work); };
    });
    return part;
  };
  constexpr char kStdin[] = "Read the password from the first line of stdin";
  CLI::App* adding = add("add", "Add a user, with an account in the policy's own store",
                         "  printf '%s\\n' \"$PASSWORD\" | discreet user add alice --policy "
                         "discreet.toml --password-stdin",
                         add_new_user, true);
  adding->add_option("--budget", arguments->budget,
                     "Their own limit, EPSILON,DELTA; without it only the budget's holds them");
  adding->add_option("--of", arguments->of, "The budget they are a share of")
      ->capture_default_str();
  adding->add_flag("--password-stdin", arguments->password_stdin, kStdin);
  add("password", "Change a password",
      "  printf '%s\\n' \"$PASSWORD\" | discreet user password alice --password-stdin",
      change_password, true)
      ->add_flag("--password-stdin", arguments->password_stdin, kStdin);
  add("token", "Make a token for programs, in place of an older one",
      "  discreet user token alice --policy discreet.toml", make_token, true);
  add("remove", "End a user's access", "  discreet user remove alice --policy discreet.toml",
      remove_user, true);
  add("list", "Everybody the store knows", "  discreet user list --policy discreet.toml",
      list_users, false);
}

}  // namespace discreet::cli
