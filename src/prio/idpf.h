// The incremental distributed point function of Boneh, Boyle, Corrigan-Gibbs, Gilboa and Ishai
// ("Lightweight techniques for private heavy hitters", 2021, section 6), as draft-irtf-cfrg-vdaf-20
// writes it (section 8.3): two keys that describe a binary tree of values, zero everywhere but
// along one path.
//
// Guarantee: the two parties' values at a node add up to that level's value on the path and to zero
//            elsewhere; keys and messages are byte for byte those of the draft.
// Assumes:   XofFixedKeyAes128 and TurboSHAKE128 as their headers say; then one key and the public
//            share hide path and values, but for their lengths (the paper's Theorem 2).
// Proof:     the draft's vectors; idpf_test.cc for values on and off the path.
//
// Which child is the path's is chosen by masks, never by a branch.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "prio/field255.h"
#include "prio/prefix_walk.h"
#include "prio/xof_fixed_key_aes128.h"

namespace discreet::prio {

/// Poplar1's pair: the datum and its authenticator.
template <class F>
using IdpfValue = std::array<F, 2>;

struct IdpfPublicShare {
  struct Correction {
    AesBlock seed{};
    std::array<std::uint8_t, 2> control{};  ///< one bit each, for the left and the right child
  };
  std::vector<Correction> corrections;    ///< one a level
  std::vector<IdpfValue<Field64>> inner;  ///< corrections of values, but for the last level
  IdpfValue<Field255> leaf{};

  std::size_t bits() const { return corrections.size(); }
  Bytes encode() const;
  /// InvalidInput: another length, bits set that nobody reads, or an element that is not reduced.
  static Result<IdpfPublicShare> decode(ByteSpan bytes, std::size_t bits);
};

/// What both parties must agree on. The context and nonce must outlive what is made with it.
struct IdpfBinding {
  ByteSpan context;
  ByteSpan nonce;  ///< kNonceBytes, random
};

/// `keys` are random. InvalidParameter: fewer or more inner values than bits but one.
Result<IdpfPublicShare> idpf_generate(const BitString& path,
                                      std::span<const IdpfValue<Field64>> inner,
                                      const IdpfValue<Field255>& leaf, const IdpfBinding& binding,
                                      const std::array<AesBlock, 2>& keys);

struct IdpfNode {
  AesBlock seed;
  std::uint8_t control;  ///< 0 or 1
};
/// Where party 0 or 1 starts.
inline IdpfNode idpf_root(unsigned party, const AesBlock& key) {
  return {key, static_cast<std::uint8_t>(party)};
}

/// This party's share of the values at the query's prefixes: F is Field255 if these are whole
/// strings and Field64 if not. `nodes` are those of the query's roots, and become those of its
/// prefixes.
template <class F>
std::vector<IdpfValue<F>> idpf_evaluate(unsigned party, const IdpfPublicShare& public_share,
                                        const PrefixQuery& query, const IdpfBinding& binding,
                                        std::vector<IdpfNode>& nodes);

}  // namespace discreet::prio
