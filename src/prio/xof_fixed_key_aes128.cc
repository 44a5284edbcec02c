#include "prio/xof_fixed_key_aes128.h"

#include <openssl/evp.h>

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace discreet::prio {
namespace {

constexpr std::uint8_t kFixedKeyDomain = 2;
constexpr std::size_t kBlocksAtOnce = 64;

AesBlock sigma(const AesBlock& block) {
  std::uint64_t low = 0, high = 0;
  std::memcpy(&low, block.data(), 8);
  std::memcpy(&high, block.data() + 8, 8);
  const std::uint64_t both = high ^ low;
  AesBlock out;
  std::memcpy(out.data(), &high, 8);
  std::memcpy(out.data() + 8, &both, 8);
  return out;
}

/// Fetched once: looking a cipher up by name costs more than using it.
const EVP_CIPHER* aes128() {
  static const EVP_CIPHER* const kCipher = EVP_CIPHER_fetch(nullptr, "AES-128-ECB", nullptr);
  DISCREET_CHECK(kCipher != nullptr, "OpenSSL has AES-128");
  return kCipher;
}

}  // namespace

struct FixedKeyAes128::Cipher {
  Cipher() : context(EVP_CIPHER_CTX_new()) {}
  ~Cipher() { EVP_CIPHER_CTX_free(context); }
  Cipher(const Cipher&) = delete;
  Cipher& operator=(const Cipher&) = delete;

  EVP_CIPHER_CTX* context;
};

FixedKeyAes128::FixedKeyAes128(ByteSpan domain, ByteSpan binder)
    : cipher_(std::make_unique<Cipher>()) {
  DISCREET_CHECK(domain.size() <= 0xffff, "tag too long");
  const std::uint8_t length[] = {static_cast<std::uint8_t>(domain.size()),
                                 static_cast<std::uint8_t>(domain.size() >> 8)};
  TurboShake128 sponge(kFixedKeyDomain);
  sponge.absorb(length);
  sponge.absorb(domain);
  sponge.absorb(binder);
  AesBlock key;
  sponge.squeeze(key);
  DISCREET_CHECK(
      cipher_->context != nullptr &&
          EVP_EncryptInit_ex2(cipher_->context, aes128(), key.data(), nullptr, nullptr) == 1 &&
          EVP_CIPHER_CTX_set_padding(cipher_->context, 0) == 1,
      "AES-128 key");
}

FixedKeyAes128::FixedKeyAes128(FixedKeyAes128&&) noexcept = default;
FixedKeyAes128& FixedKeyAes128::operator=(FixedKeyAes128&&) noexcept = default;
FixedKeyAes128::~FixedKeyAes128() = default;

void FixedKeyAes128::hash(std::span<AesBlock> blocks) {
  std::array<AesBlock, kBlocksAtOnce> mixed;
  while (!blocks.empty()) {
    const std::span<AesBlock> some = blocks.first(std::min(blocks.size(), kBlocksAtOnce));
    const auto bytes = static_cast<int>(some.size() * sizeof(AesBlock));
    std::transform(some.begin(), some.end(), mixed.begin(), sigma);
    int written = 0;
    DISCREET_CHECK(EVP_EncryptUpdate(cipher_->context, some.front().data(), &written,
                                     mixed.front().data(), bytes) == 1 &&
                       written == bytes,
                   "AES-128 of whole blocks");
    for (std::size_t i = 0; i < some.size(); ++i)
      for (std::size_t j = 0; j < sizeof(AesBlock); ++j) some[i][j] ^= mixed[i][j];
    blocks = blocks.subspan(some.size());
  }
}

void XofFixedKeyAes128::fill(std::span<std::uint8_t> out) {
  for (std::uint8_t& byte : out) {
    const std::size_t at = used_ % sizeof(AesBlock);
    if (at == 0) {
      block_ = stream_block(seed_, used_ / sizeof(AesBlock));
      key_.hash({&block_, 1});
    }
    byte = block_[at];
    ++used_;
  }
}

}  // namespace discreet::prio
