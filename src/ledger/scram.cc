#include "ledger/scram.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <array>
#include <charconv>
#include <vector>

#include <fmt/format.h>

#include "ledger/sha256.h"

namespace discreet::ledger {
namespace {

Digest hmac(const Digest& key, std::string_view text) {
  Digest mac{};
  unsigned int size = 0;
  const auto* done =
      HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
           reinterpret_cast<const unsigned char*>(text.data()), text.size(), mac.data(), &size);
  DISCREET_CHECK(done && size == mac.size(), "HMAC is not available");
  return mac;
}

template <std::size_t size>
std::array<std::uint8_t, size> random_bytes() {
  std::array<std::uint8_t, size> bytes{};
  DISCREET_CHECK(RAND_bytes(bytes.data(), static_cast<int>(size)) == 1,
                 "no randomness for a secret");
  return bytes;
}

std::vector<std::uint8_t> from_base64(std::string_view text) {
  std::vector<std::uint8_t> bytes(text.size() / 4 * 3 + 3);
  const int size =
      EVP_DecodeBlock(bytes.data(), reinterpret_cast<const unsigned char*>(text.data()),
                      static_cast<int>(text.size()));
  if (size < 0) return {};
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  bytes.resize(static_cast<std::size_t>(size) - padding);
  return bytes;
}

}  // namespace

std::string base64(std::span<const std::uint8_t> bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes.data(),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

std::string scram_verifier(std::string_view password, std::span<const std::uint8_t> salt,
                           int iterations) {
  Digest salted{};
  const int done = PKCS5_PBKDF2_HMAC(password.data(), static_cast<int>(password.size()),
                                     salt.data(), static_cast<int>(salt.size()), iterations,
                                     EVP_sha256(), static_cast<int>(salted.size()), salted.data());
  DISCREET_CHECK(done == 1, "PBKDF2 is not available");
  const Digest client = hmac(salted, "Client Key");
  const Digest stored = sha256({reinterpret_cast<const char*>(client.data()), client.size()});
  const Digest server = hmac(salted, "Server Key");
  return fmt::format("SCRAM-SHA-256${}:{}${}:{}", iterations, base64(salt), base64(stored),
                     base64(server));
}

Result<std::string> make_scram_verifier(std::string_view password) {
  if (password.size() < kPasswordLengthMin)
    return invalid_parameter(
        fmt::format("a password needs at least {} characters", kPasswordLengthMin));
  if (password.size() > 1024) return invalid_parameter("a password may have 1024 characters");
  for (const char c : password)
    if (c < 0x20 || c > 0x7e)
      return invalid_parameter("a password may hold printable ASCII characters only");
  return scram_verifier(password, random_bytes<16>(), kScramIterations);
}

bool password_matches(std::string_view password, const std::string& verifier) {
  const auto dollar = verifier.find('$');
  const auto colon = verifier.find(':', dollar + 1);
  const auto second = verifier.find('$', colon + 1);
  if (dollar == std::string::npos || colon == std::string::npos || second == std::string::npos)
    return false;
  int iterations = 0;
  std::from_chars(verifier.data() + dollar + 1, verifier.data() + colon, iterations);
  const auto salt = from_base64(std::string_view(verifier).substr(colon + 1, second - colon - 1));
  if (iterations < 1 || salt.empty()) return false;
  const std::string made = scram_verifier(password, salt, iterations);
  return made.size() == verifier.size() &&
         CRYPTO_memcmp(made.data(), verifier.data(), made.size()) == 0;
}

std::string make_token() {
  std::string text = "dsc_" + base64(random_bytes<32>());
  for (char& c : text) {
    if (c == '+') c = '-';
    if (c == '/') c = '_';
  }
  while (text.back() == '=') text.pop_back();
  return text;
}

}  // namespace discreet::ledger
