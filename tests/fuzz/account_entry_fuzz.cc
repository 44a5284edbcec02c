// Entries of `discreet account FILE`: whatever the JSON, the answer is a bracket in order or a
// sentence. Numbers are let through only where an answer takes little time, so that the search goes
// wide instead of deep.
#include <cmath>
#include <cstdint>
#include <string_view>

#include <nlohmann/json.hpp>

#include "accounting/account_question.h"
#include "accounting/loss_event_json.h"
#include "base/check.h"

namespace {

using nlohmann::json;

// Numbers that make a composition long: how often, how many values, how wide.
bool is_modest(const json& value, int depth = 0) {
  if (depth > 6) return false;
  if (value.is_number()) {
    const double x = value.get<double>();
    return !(std::fabs(x) > 50) && !(x != 0 && std::fabs(x) < 1e-9);
  }
  if (value.is_structured()) {
    if (value.size() > 8) return false;
    for (const auto& [key, inner] : value.items())
      if (!is_modest(inner, depth + 1)) return false;
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace discreet;
  const json entry = json::parse(data, data + size, nullptr, false);
  if (entry.is_discarded()) return 0;
  if (entry.is_object() && entry.contains("mechanism") && entry["mechanism"].is_string() &&
      entry.contains("params")) {
    // Reading takes any numbers; only answering is kept short.
    const auto event = event_of_entry(entry["mechanism"], entry["params"]);
    DISCREET_CHECK(event.has_value() || !event.error().message.empty(), "a refusal says why");
  }
  if (!is_modest(entry)) return 0;
  const auto answer = answer_entry(entry);
  if (!answer) {
    DISCREET_CHECK(!answer.error().message.empty(), "a refusal says why");
    return 0;
  }
  DISCREET_CHECK(!std::isnan(answer->value), "an answer is a number");
  DISCREET_CHECK(answer->bracket.lower <= answer->bracket.upper, "a bracket is in order");
  return 0;
}
