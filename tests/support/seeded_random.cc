#include "support/seeded_random.h"

#include <openssl/evp.h>

#include <cstring>

#include "base/check.h"

namespace discreet {

SeededRandom::SeededRandom(std::uint64_t seed) : cipher_(EVP_CIPHER_CTX_new()) {
  unsigned char key[32] = "discreet tests: not private";
  std::memcpy(key + 24, &seed, sizeof(seed));
  const unsigned char nonce[16] = {};
  DISCREET_CHECK(EVP_EncryptInit_ex(static_cast<EVP_CIPHER_CTX*>(cipher_), EVP_chacha20(), nullptr,
                                    key, nonce) == 1,
                 "ChaCha20 is not available");
}

SeededRandom::~SeededRandom() {
  EVP_CIPHER_CTX_free(static_cast<EVP_CIPHER_CTX*>(cipher_));
}

void SeededRandom::refill() {
  buffer_.fill(0);
  auto* bytes = reinterpret_cast<unsigned char*>(buffer_.data());
  int written = 0;
  DISCREET_CHECK(EVP_EncryptUpdate(static_cast<EVP_CIPHER_CTX*>(cipher_), bytes, &written, bytes,
                                   static_cast<int>(sizeof(buffer_))) == 1,
                 "the cipher failed");
  next_ = 0;
}

std::uint64_t SeededRandom::bits64() {
  if (next_ == buffer_.size()) refill();
  return buffer_[next_++];
}

void SeededRandom::fill(std::span<std::uint64_t> words) {
  for (auto& word : words) word = bits64();
}

std::uint64_t ScriptedRandom::bits64() {
  DISCREET_CHECK(next_ < words_.size(), "the script of random words has run out");
  return words_[next_++];
}

void ScriptedRandom::fill(std::span<std::uint64_t> words) {
  for (auto& word : words) word = bits64();
}

}  // namespace discreet
