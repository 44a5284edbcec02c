// Policies as typed: whatever the text, reading it ends in a policy that holds together or in a
// message that names the file.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "catalog/policy.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace discreet::catalog;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto policy = Policy::parse(text, "p.toml", {.sources_exist = false});
  if (!policy) {
    DISCREET_CHECK(policy.error().message.starts_with("p.toml"), "a message names the file");
    return 0;
  }
  for (const Table& table : policy->tables()) {
    DISCREET_CHECK(table.is_public() == table.unit.people.empty(),
                   "private tables protect somebody");
    if (table.is_public() || table.unit.kind == Unit::Kind::Row) continue;
    DISCREET_CHECK(!table.unit.joined_column.empty(), "the unit can be found");
    DISCREET_CHECK(policy->table(table.unit.owner_table) != nullptr, "somebody owns the unit");
  }
  for (const Analyst& analyst : policy->analysts())
    DISCREET_CHECK(policy->budget(analyst.of) != nullptr, "every analyst is held by a budget");
  return 0;
}
