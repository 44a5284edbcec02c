#include "ledger/sha256.h"

#include <openssl/evp.h>

#include "base/check.h"

namespace discreet::ledger {

Digest sha256(std::string_view bytes) {
  Digest digest{};
  unsigned int size = 0;
  const int done =
      EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr);
  DISCREET_CHECK(done == 1 && size == digest.size(), "SHA-256 is not available");
  return digest;
}

std::string to_hex(const Digest& digest) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : digest) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace discreet::ledger
