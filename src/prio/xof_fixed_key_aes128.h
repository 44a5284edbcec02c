// XofFixedKeyAes128 of VDAF (draft-irtf-cfrg-vdaf-20, section 6.2.2): a stream from AES under a key
// that everyone may know, several times faster than a sponge. Used only inside the IDPF.
//
// Guarantee: the same stream as the draft's for the same seed, domain and binder.
// Assumes:   AES-128 is an ideal cipher and binders are random nonces; then the hash of a block is
//            circular correlation robust (Guo, Katz, Wang, Weng and Yu, "Better concrete security
//            for half-gates garbling", CRYPTO 2020, section 4.2). Not a random oracle: do not use
//            it where one is needed.
//
// Not thread-safe: one object a thread. OpenSSL's AES runs in constant time where the processor has
// AES instructions.
#pragma once

#include <array>
#include <memory>
#include <span>

#include "prio/xof.h"

namespace discreet::prio {

using AesBlock = std::array<std::uint8_t, 16>;

/// The block hash of one domain and binder. Its key is made once and serves any number of seeds.
class FixedKeyAes128 {
 public:
  FixedKeyAes128(ByteSpan domain, ByteSpan binder);
  FixedKeyAes128(FixedKeyAes128&&) noexcept;
  FixedKeyAes128& operator=(FixedKeyAes128&&) noexcept;
  ~FixedKeyAes128();

  /// AES(sigma(x)) + sigma(x) of every block, where sigma(low, high) = (high, high + low). Many
  /// blocks in one call keep the processor's pipeline full.
  void hash(std::span<AesBlock> blocks);

 private:
  struct Cipher;
  std::unique_ptr<Cipher> cipher_;
};

/// The i-th block a seed is expanded to, before hashing.
inline AesBlock stream_block(AesBlock seed, std::uint64_t index) {
  for (std::size_t i = 0; i < 8; ++i) seed[i] ^= static_cast<std::uint8_t>(index >> (8 * i));
  return seed;
}

class XofFixedKeyAes128 {
 public:
  XofFixedKeyAes128(FixedKeyAes128& key, const AesBlock& seed) : key_(key), seed_(seed) {}

  void fill(std::span<std::uint8_t> out);
  template <class F>
  void elements(std::span<F> out) {
    draw_elements(*this, out);
  }

 private:
  FixedKeyAes128& key_;
  AesBlock seed_, block_{};
  std::uint64_t used_ = 0;  // bytes of the stream
};

}  // namespace discreet::prio
