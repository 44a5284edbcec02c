// Any bytes as a statement: the planner must plan or refuse, never crash, and what it refuses it
// must refuse with words.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "sql/explain.h"
#include "sql/planner.h"

namespace {

using namespace discreet;

const char* const kPolicy = R"(
[tables.patients]
source = "p.parquet"
unit = "id"
[tables.patients.columns]
age = { range = [0, 120] }
ssn = { hidden = true }
[tables.visits]
source = "v.parquet"
unit = "id -> patients.id"
max_rows_per_unit = 9
[tables.wards]
source = "w.csv"
public = true
[budgets.default]
epsilon = 1.0
delta = 1e-7
)";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto policy =
      catalog::Policy::parse(kPolicy, "fuzz.toml", {.sources_exist = false}).value();
  static const auto schema = [] {
    sql::FixedSchema made;
    made.add("patients", {{"id", "INTEGER"},
                          {"age", "INTEGER"},
                          {"ward", "VARCHAR"},
                          {"ssn", "VARCHAR"},
                          {"born", "DATE"}});
    made.add("visits", {{"id", "INTEGER"}, {"cost", "DECIMAL(10,2)"}, {"day", "DATE"}});
    made.add("wards", {{"ward", "VARCHAR"}, {"beds", "INTEGER"}});
    return made;
  }();
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto planned = sql::Planner(policy, schema).plan(text);
  if (!planned) {
    if (planned.error().message.empty()) std::abort();
    return 0;
  }
  // A hidden column reaches no engine statement.
  for (const auto& release : planned->releases)
    if (release.partials_sql.find("ssn\" AS") != std::string::npos) std::abort();
  if (sql::explain_text(*planned).empty() || sql::explain_json(*planned).empty()) std::abort();
  return 0;
}
