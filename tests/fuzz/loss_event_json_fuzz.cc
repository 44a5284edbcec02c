// Loss documents of any bytes: read, or refused with a sentence; what is read survives a round
// trip.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "accounting/loss_event_json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto event = discreet::decode_loss_document(text);
  if (!event) return event.error().message.empty() ? std::abort(), 0 : 0;
  const auto again = discreet::decode_loss_document(discreet::encode_loss_document(*event));
  if (!again || !discreet::same_event(*event, *again)) std::abort();
  return 0;
}
