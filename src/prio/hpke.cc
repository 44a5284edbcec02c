#include "prio/hpke.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <memory>

#include "base/check.h"

namespace discreet::prio {
namespace {

constexpr std::size_t kHashBytes = 32, kAeadKeyBytes = 16, kAeadNonceBytes = 12, kTagBytes = 16;
constexpr std::array<std::uint8_t, 5> kKemSuite = {'K', 'E', 'M', 0x00, 0x20};
constexpr std::array<std::uint8_t, 10> kSuite = {'H',  'P',  'K',  'E',  0x00,
                                                 0x20, 0x00, 0x01, 0x00, 0x01};

template <auto kFree>
struct Free {
  template <class T>
  void operator()(T* pointer) const {
    kFree(pointer);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using KeyContext = std::unique_ptr<EVP_PKEY_CTX, Free<EVP_PKEY_CTX_free>>;
using Cipher = std::unique_ptr<EVP_CIPHER_CTX, Free<EVP_CIPHER_CTX_free>>;

Bytes hmac(ByteSpan key, ByteSpan message) {
  Bytes out(kHashBytes);
  unsigned length = 0;
  const std::uint8_t empty = 0;  // OpenSSL takes no null key
  const bool ok =
      HMAC(EVP_sha256(), key.empty() ? &empty : key.data(), static_cast<int>(key.size()),
           message.data(), message.size(), out.data(), &length) != nullptr;
  DISCREET_CHECK(ok && length == kHashBytes, "HMAC-SHA256");
  return out;
}

Bytes labelled(ByteSpan suite, std::string_view label, ByteSpan rest) {
  Bytes out;
  append(out, as_bytes("HPKE-v1"));
  append(out, suite);
  append(out, as_bytes(label));
  append(out, rest);
  return out;
}
Bytes extract(ByteSpan salt, ByteSpan suite, std::string_view label, ByteSpan material) {
  return hmac(salt, labelled(suite, label, material));
}
/// At most one block, which is all HPKE's base mode asks for.
Bytes expand(ByteSpan key, ByteSpan suite, std::string_view label, ByteSpan info,
             std::size_t length) {
  Bytes message = {0, static_cast<std::uint8_t>(length)};
  append(message, labelled(suite, label, info));
  message.push_back(1);
  Bytes out = hmac(key, message);
  out.resize(length);
  return out;
}

/// Empty: OpenSSL refused, for example a point of small order.
Bytes diffie_hellman(ByteSpan secret_key, ByteSpan public_key) {
  if (public_key.size() != kHpkeKeyBytes) return {};
  const Key own(
      EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, nullptr, secret_key.data(), secret_key.size()));
  const Key other(
      EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, nullptr, public_key.data(), public_key.size()));
  if (!own || !other) return {};
  const KeyContext context(EVP_PKEY_CTX_new(own.get(), nullptr));
  Bytes out(kHpkeKeyBytes);
  std::size_t length = out.size();
  if (!context || EVP_PKEY_derive_init(context.get()) != 1 ||
      EVP_PKEY_derive_set_peer(context.get(), other.get()) != 1 ||
      EVP_PKEY_derive(context.get(), out.data(), &length) != 1 || length != out.size())
    return {};
  return out;
}

struct AeadKey {
  Bytes key, nonce;
};

/// RFC 9180 sections 4.1 and 5.1, mode base.
AeadKey key_schedule(ByteSpan shared_point, ByteSpan encapsulated, ByteSpan public_key,
                     ByteSpan info, std::uint64_t sequence) {
  Bytes kem_context(encapsulated.begin(), encapsulated.end());
  append(kem_context, public_key);
  const Bytes shared = expand(extract({}, kKemSuite, "eae_prk", shared_point), kKemSuite,
                              "shared_secret", kem_context, kHashBytes);
  Bytes context = {0};
  append(context, extract({}, kSuite, "psk_id_hash", {}));
  append(context, extract({}, kSuite, "info_hash", info));
  const Bytes secret = extract(shared, kSuite, "secret", {});
  AeadKey out{expand(secret, kSuite, "key", context, kAeadKeyBytes),
              expand(secret, kSuite, "base_nonce", context, kAeadNonceBytes)};
  for (std::size_t i = 0; i < 8; ++i)
    out.nonce[kAeadNonceBytes - 1 - i] ^= static_cast<std::uint8_t>(sequence >> (8 * i));
  return out;
}

Bytes encrypt(const AeadKey& key, ByteSpan aad, ByteSpan message) {
  const Cipher cipher(EVP_CIPHER_CTX_new());
  Bytes out(message.size() + kTagBytes);
  int length = 0;
  bool ok = cipher && EVP_EncryptInit_ex(cipher.get(), EVP_aes_128_gcm(), nullptr, key.key.data(),
                                         key.nonce.data()) == 1;
  ok = ok && EVP_EncryptUpdate(cipher.get(), nullptr, &length, aad.data(),
                               static_cast<int>(aad.size())) == 1;
  ok =
      ok && (message.empty() || EVP_EncryptUpdate(cipher.get(), out.data(), &length, message.data(),
                                                  static_cast<int>(message.size())) == 1);
  ok = ok && EVP_EncryptFinal_ex(cipher.get(), out.data() + message.size(), &length) == 1;
  ok = ok && EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_GET_TAG, kTagBytes,
                                 out.data() + message.size()) == 1;
  DISCREET_CHECK(ok, "AES-128-GCM");
  return out;
}

Result<Bytes> decrypt(const AeadKey& key, ByteSpan aad, ByteSpan ciphertext) {
  const Error refused =
      invalid_input("a sealed message was not sealed to this key, or was changed");
  if (ciphertext.size() < kTagBytes) return refused;
  const std::size_t size = ciphertext.size() - kTagBytes;
  Bytes out(size), tag(ciphertext.end() - kTagBytes, ciphertext.end());
  const Cipher cipher(EVP_CIPHER_CTX_new());
  int length = 0;
  bool ok = cipher && EVP_DecryptInit_ex(cipher.get(), EVP_aes_128_gcm(), nullptr, key.key.data(),
                                         key.nonce.data()) == 1;
  ok = ok && EVP_DecryptUpdate(cipher.get(), nullptr, &length, aad.data(),
                               static_cast<int>(aad.size())) == 1;
  ok = ok && (size == 0 || EVP_DecryptUpdate(cipher.get(), out.data(), &length, ciphertext.data(),
                                             static_cast<int>(size)) == 1);
  ok = ok && EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_SET_TAG, kTagBytes, tag.data()) == 1;
  std::uint8_t nothing = 0;
  ok = ok && EVP_DecryptFinal_ex(cipher.get(), &nothing, &length) == 1;
  if (!ok) return refused;
  return out;
}

}  // namespace

Result<HpkeKeyPair> hpke_key_pair(ByteSpan secret_key) {
  if (secret_key.size() != kHpkeKeyBytes) return invalid_parameter("an X25519 key has 32 bytes");
  const Key key(
      EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, nullptr, secret_key.data(), secret_key.size()));
  HpkeKeyPair pair{Bytes(secret_key.begin(), secret_key.end()), Bytes(kHpkeKeyBytes)};
  std::size_t length = kHpkeKeyBytes;
  const bool ok =
      key && EVP_PKEY_get_raw_public_key(key.get(), pair.public_key.data(), &length) == 1;
  DISCREET_CHECK(ok && length == kHpkeKeyBytes, "X25519");
  return pair;
}

HpkeKeyPair hpke_generate(RandomSource& random) {
  std::array<std::uint64_t, 4> words{};
  random.fill(words);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(words.data());
  return hpke_key_pair({bytes, sizeof words}).value();
}

Result<Sealed> hpke_seal_with(const HpkeKeyPair& one_time, ByteSpan public_key, ByteSpan info,
                              ByteSpan aad, ByteSpan message, std::uint64_t sequence) {
  const Bytes shared = diffie_hellman(one_time.secret_key, public_key);
  if (shared.empty()) return invalid_input("this is not a usable X25519 public key");
  const AeadKey key = key_schedule(shared, one_time.public_key, public_key, info, sequence);
  return Sealed{one_time.public_key, encrypt(key, aad, message)};
}

Result<Sealed> hpke_seal(ByteSpan public_key, ByteSpan info, ByteSpan aad, ByteSpan message,
                         RandomSource& random) {
  return hpke_seal_with(hpke_generate(random), public_key, info, aad, message, 0);
}

Result<Bytes> hpke_open(const HpkeKeyPair& key, ByteSpan info, ByteSpan aad, const Sealed& sealed) {
  const Bytes shared = diffie_hellman(key.secret_key, sealed.encapsulated);
  if (shared.empty())
    return invalid_input("a sealed message was not sealed to this key, or was changed");
  return decrypt(key_schedule(shared, sealed.encapsulated, key.public_key, info, 0), aad,
                 sealed.ciphertext);
}

}  // namespace discreet::prio
