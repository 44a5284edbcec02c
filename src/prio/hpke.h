// Hybrid public key encryption (RFC 9180), base mode, one message a key: DHKEM(X25519,
// HKDF-SHA256), HKDF-SHA256, AES-128-GCM - the suite DAP requires.
//
// Guarantee: only who holds the secret key can read a sealed message, and no bit of it, of `info`
// or of
//            `aad` can be changed unnoticed. The sender is not authenticated.
// Assumes:   what RFC 9180 section 9 assumes of X25519, SHA-256 and AES-GCM; OpenSSL computes them.
// Proof:     RFC 9180, Appendix A.1 (hpke_test.cc)
#pragma once

#include <cstdint>

#include "prio/bytes.h"
#include "random/random_source.h"

namespace discreet::prio {

inline constexpr std::uint16_t kHpkeKem = 0x0020, kHpkeKdf = 0x0001, kHpkeAead = 0x0001;
inline constexpr std::size_t kHpkeKeyBytes = 32;

struct HpkeKeyPair {
  Bytes secret_key, public_key;
};

/// InvalidParameter: not 32 bytes.
Result<HpkeKeyPair> hpke_key_pair(ByteSpan secret_key);
HpkeKeyPair hpke_generate(RandomSource& random);

struct Sealed {
  Bytes encapsulated;  ///< the sender's one-time public key
  Bytes ciphertext;    ///< 16 bytes longer than the message
};

/// InvalidInput: not a usable public key.
Result<Sealed> hpke_seal(ByteSpan public_key, ByteSpan info, ByteSpan aad, ByteSpan message,
                         RandomSource& random);
/// InvalidInput, always with the same sentence: it was not sealed to this key with this info and
/// aad.
Result<Bytes> hpke_open(const HpkeKeyPair& key, ByteSpan info, ByteSpan aad, const Sealed& sealed);

/// Message `sequence` under a chosen one-time key: what the published vectors fix.
Result<Sealed> hpke_seal_with(const HpkeKeyPair& one_time, ByteSpan public_key, ByteSpan info,
                              ByteSpan aad, ByteSpan message, std::uint64_t sequence);

}  // namespace discreet::prio
