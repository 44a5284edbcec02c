#include "curator/asker_schema.h"

#include <algorithm>

namespace discreet {

bool shows(const catalog::Policy& policy, const std::string& account, const catalog::Table& table) {
  const catalog::Analyst* analyst = policy.analyst(account);
  if (analyst == nullptr) return true;
  return analyst->may_ask(table.name) &&
         std::all_of(table.unit.links.begin(), table.unit.links.end(),
                     [&](const catalog::Link& link) { return analyst->may_ask(link.table); });
}

std::vector<std::string> shown_names(const catalog::Policy& policy, const std::string& account) {
  std::vector<std::string> names;
  for (const catalog::Table& table : policy.tables())
    if (shows(policy, account, table)) names.push_back(table.name);
  return names;
}

Result<std::vector<sql::SchemaColumn>> AskerSchema::columns(const std::string& table) const {
  if (const catalog::Table* listed = policy_.table(table);
      listed != nullptr && !shows(policy_, account_, *listed))
    return Error{ErrorCode::NotFound, "There is no table '" + table + "'."};
  return data_.columns(table);
}

}  // namespace discreet
