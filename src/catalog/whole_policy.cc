#include <algorithm>
#include <map>

#include "base/suggest.h"
#include "catalog/policy_values_internal.h"
#include "catalog/whole_policy_internal.h"

namespace discreet::catalog {
namespace {

/// One file under two names could be public under one of them, or protect different people.
void check_sources_once(const Policy& policy, Problems& problems) {
  std::map<std::string, const Table*> seen;
  for (const Table& table : policy.tables()) {
    if (table.source.location.empty()) continue;
    const auto [at, fresh] = seen.emplace(table.source.location, &table);
    if (!fresh)
      problems.add(table.line,
                   fmt::format("tables '{}' and '{}' have the same source; declare it once",
                               at->second->name, table.name));
  }
}

}  // namespace

std::vector<std::string> check_whole(const Policy& policy, Problems& problems) {
  check_sources_once(policy, problems);
  std::vector<std::string> warnings;
  bool any_private = false;
  for (const Table& table : policy.tables()) any_private = any_private || !table.is_public();
  if (any_private && policy.budgets().empty())
    problems.add(
        0, "no budget, so nothing could be asked; add [budgets.default] with epsilon and delta");
  std::vector<std::string> names;
  for (const Budget& budget : policy.budgets()) {
    names.push_back(budget.name);
    if (budget.amount.is_unlimited())
      warnings.push_back(
          fmt::format("budget '{}' has no limit on {}: only for data that is not about "
                      "people",
                      budget.name, !budget.amount.epsilon ? "epsilon" : "delta"));
  }
  for (const Analyst& analyst : policy.analysts()) {
    if (policy.budget(analyst.name))
      problems.add(analyst.line, fmt::format("'{0}' is both an analyst and a budget; rename one: "
                                             "[budgets.{0}-data]",
                                             analyst.name));
    const Budget* of = policy.budget(analyst.of);
    if (!of) {
      std::string hint = did_you_mean(analyst.of, names);
      if (hint.empty()) hint = fmt::format("; add [budgets.{}]", analyst.of);
      problems.add(analyst.line,
                   fmt::format("the budget of analyst '{}' is a share of the unknown budget '{}'{}",
                               analyst.name, analyst.of, hint));
    } else if (analyst.share && !of->grant && exceeds(*analyst.share, of->amount)) {
      warnings.push_back(
          fmt::format("analyst '{}' is given more than the whole budget '{}'; the budget "
                      "will stop them first",
                      analyst.name, of->name));
    }
    // Such a table would name the other one in every plan, so it is not shown at all.
    for (const Table& table : policy.tables()) {
      const auto other =
          std::find_if(table.unit.links.begin(), table.unit.links.end(),
                       [&](const Link& link) { return !analyst.may_ask(link.table); });
      if (analyst.may_ask(table.name) && other != table.unit.links.end())
        warnings.push_back(
            fmt::format("analyst '{}' does not see table '{}': whose rows these are is found "
                        "through '{}', which is not among their tables",
                        analyst.name, table.name, other->table));
    }
  }
  return warnings;
}

}  // namespace discreet::catalog
