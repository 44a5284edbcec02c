// Parameters as typed: whatever the text, parsing and making a mechanism ends in a value or a
// sentence, and a mechanism that was made can be asked for its error and released once.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/parse_number.h"
#include "mechanisms/discrete_laplace.h"
#include "support/seeded_random.h"

namespace {

std::string_view next_word(std::string_view& text) {
  const std::size_t space = text.find(' ');
  const std::string_view word = text.substr(0, space);
  text = space == std::string_view::npos ? std::string_view{} : text.substr(space + 1);
  return word;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace discreet;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto epsilon_text = parse_number(next_word(text), "epsilon");
  const auto sensitivity_text = parse_number(next_word(text), "sensitivity");
  const auto value = parse_integer(next_word(text), "value");
  if (!epsilon_text || !sensitivity_text || !value) return 0;
  const auto epsilon = Epsilon::make(*epsilon_text);
  const auto sensitivity = L1Sensitivity::make(*sensitivity_text);
  if (!epsilon || !sensitivity) return 0;
  const auto mechanism = DiscreteLaplace::make(*epsilon, *sensitivity);
  if (!mechanism) return 0;
  SeededRandom random(size);
  (void)mechanism->release(*value, random);
  DISCREET_CHECK(mechanism->error_bound(0.95) >= 0, "an error bound is a distance");
  DISCREET_CHECK(mechanism->variance() >= 0, "a variance is not negative");
  return 0;
}
