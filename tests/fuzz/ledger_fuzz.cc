// Events as somebody could have left them on disk: whatever the kind and the text, decoding ends in
// a body or a sentence, a body encodes to a text that decodes to the same, and an account that
// meets it neither crashes nor admits what it cannot hold.
//
// Input: the kind, a newline, the body.
#include <cstdint>
#include <string>

#include "base/check.h"
#include "ledger/account.h"

namespace {

using namespace discreet;
using namespace discreet::ledger;

void meet_account(const GrantEvent& grant, const Price& price) {
  Account account("fuzz", grant);
  for (int i = 0; i < 3; ++i) {
    if (!account.admit(price)) return;
    account.spend(price);
    const Amount& total = account.grant().total;
    // What was admitted is held by one of the two filters: sums, or zCDP.
    const bool by_sums = !total.epsilon || account.spent().epsilon.value() <=
                                               total.epsilon->value() * (1 + 2 * kSlack);
    const bool by_zcdp = total.epsilon && account.spent().rho.value() <=
                                              concentrated_limit(total).value() * (1 + 2 * kSlack);
    DISCREET_CHECK(by_sums || by_zcdp, "an account admitted more than it holds");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::size_t newline = text.find('\n');
  if (newline == std::string::npos) return 0;
  const std::string kind = text.substr(0, newline);
  const auto body = decode_body(kind, text.substr(newline + 1));
  if (!body) {
    DISCREET_CHECK(!body.error().message.empty(), "a refusal says why");
    return 0;
  }
  DISCREET_CHECK(kind == kind_name(*body), "a body is of the kind it was read as");
  const std::string encoded = encode_body(*body);
  const auto again = decode_body(kind, encoded);
  DISCREET_CHECK(again.has_value(), "what was encoded can be decoded");
  DISCREET_CHECK(encode_body(*again) == encoded, "encoding is canonical");

  const auto half = Epsilon::make(0.5).value();
  if (const auto* grant = std::get_if<GrantEvent>(&*body))
    meet_account(*grant, Price{half, Delta::zero(),
                               ConcentratedCost{Rho::make(0.125).value(), Delta::zero()}});
  if (const auto* charge = std::get_if<ChargeEvent>(&*body))
    meet_account(GrantEvent{"", FilterKind::Best, {half, Delta::make(1e-6).value()}, 0},
                 charge->price);
  return 0;
}
