// Any bytes as a client: openings, messages, parameters, SASL. Nothing may crash, and what is taken
// must be no more than what was given.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "server/pgwire/message.h"
#include "server/pgwire/types.h"
#include "server/scram_exchange.h"
#include "server/statement.h"

using namespace discreet::server;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  std::string_view rest = bytes;
  if (const auto opening = pgwire::take_opening(rest); opening && *opening) {
    if ((*opening)->bytes > rest.size()) std::abort();
    rest.remove_prefix((*opening)->bytes);
  }
  for (;;) {
    const auto frame = pgwire::take_frame(rest, 1 << 16);
    if (!frame || !*frame) break;
    if ((*frame)->bytes > rest.size() || (*frame)->bytes < 5) std::abort();
    const auto message = pgwire::decode((*frame)->message);
    rest.remove_prefix((*frame)->bytes);
    if (!message) continue;
    if (const auto* query = std::get_if<pgwire::Query>(&*message))
      for (const std::string& one : split_statements(query->sql)) static_cast<void>(classify(one));
    if (const auto* bind = std::get_if<pgwire::Bind>(&*message))
      for (const auto& value : bind->values)
        for (const std::uint32_t oid : {16U, 20U, 21U, 23U, 701U, 1082U, 1114U, 1700U})
          for (const bool binary : {false, true}) {
            const auto parameter = pgwire::to_parameter(oid, binary, value);
            // What was understood can be said again.
            if (parameter && binary && parameter->text && oid == 20U &&
                pgwire::to_binary(oid, *parameter->text).value() != *value)
              std::abort();
          }
    if (const auto* sasl = std::get_if<pgwire::AuthenticationData>(&*message)) {
      ScramExchange exchange("SCRAM-SHA-256$4096:c2FsdA==$AAAA:AAAA", true, "", "nonce");
      if (const auto initial = pgwire::decode_sasl_initial(sasl->bytes))
        static_cast<void>(exchange.first(initial->mechanism, initial->response));
      static_cast<void>(exchange.first("SCRAM-SHA-256", "n,,n=,r=x"));
      if (exchange.last(sasl->bytes)) std::abort();  // nobody gets in by chance
    }
  }
  return 0;
}
