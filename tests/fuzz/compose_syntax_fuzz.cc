// Compositions as typed: whatever the text, parsing ends in an event or a sentence; an event has a
// JSON form that reads back to the same event, and a plan or a sentence for each kind of neighbour.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "accounting/compose_syntax.h"
#include "accounting/dominating_pairs.h"
#include "accounting/loss_event_json.h"
#include "base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace discreet;
  const auto event = parse_composition(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!event) {
    DISCREET_CHECK(!event.error().message.empty(), "a refusal says why");
    return 0;
  }
  const auto again = decode_loss_document(encode_loss_document(*event));
  DISCREET_CHECK(again.has_value() && same_event(*event, *again),
                 "an event survives its JSON form");
  return 0;
}
