// Poplar1 (draft-irtf-cfrg-vdaf-20, section 8): each client holds a string of bits; two servers
// learn how many strings begin with each of the prefixes they ask about, and nothing else.
//
// Guarantee: all messages are byte for byte those of the draft (wire version 18). If one server is
//            honest the other learns nothing about an honest client's string but its part in the
//            counts both agreed to compute; if both follow the protocol a report counts for at most
//            one prefix of a query, once, but for a chance below 2^-60 (2^-250 for whole strings).
// Assumes:   what xof.h and idpf.h assume; nonces do not repeat; the verify key is unknown to
//            clients; the queries of one report follow each other (PrefixQuery::after), at most one
//            a length. Servers that ask twice about one length can undo the masks.
// Proof:     Boneh et al. 2021, Theorems 3 and 4; Davis et al. 2023, Theorem 5, as the draft cites.
//
// Counts of prefixes are not differentially private, and neither is the choice of the next query by
// them: prefix_counts.h adds noise to both.
//
// Thread-safe: everything is const.
#pragma once

#include <span>
#include <vector>

#include "prio/idpf.h"
#include "prio/prio3.h"

namespace discreet::prio {

/// What a server keeps between rounds. Secret.
struct PrefixVerifyState {
  bool leaf = false;
  unsigned server = 0;
  FieldVector masks;  ///< this server's shares of A and B (Boneh et al. 2021, appendix C.4)
  FieldVector out_share;
};

struct PrefixVerifyStart {
  PrefixVerifyState state;
  Bytes verifier_share;
};

class Poplar1 {
 public:
  static constexpr std::uint32_t kAlgorithm = 6;
  static constexpr std::size_t kRandomnessBytes = 2 * sizeof(AesBlock) + 3 * kSeedBytes;

  /// InvalidParameter: not 1 to 65536 bits.
  static Result<Poplar1> make(std::size_t bits);

  std::size_t bits() const { return bits_; }

  /// InvalidParameter: a string, nonce or randomness of another length.
  Result<Report> shard(ByteSpan context, const BitString& string, ByteSpan nonce,
                       ByteSpan randomness) const;
  /// A client that lies: counts for `weight` instead of one at every prefix of its string, with
  /// everything else as the protocol says. For tests.
  Result<Report> shard_weighted(ByteSpan context, const BitString& string, std::uint64_t weight,
                                ByteSpan nonce, ByteSpan randomness) const;

  /// Where a server starts in a report's tree.
  Result<std::vector<IdpfNode>> root(const VerifyInput& input) const;
  /// `nodes` are root(), or what the query before this one left there.
  Result<PrefixVerifyStart> verify_init(const VerifyInput& input, const PrefixQuery& query,
                                        std::vector<IdpfNode>& nodes) const;
  /// From the root, forgetting the nodes.
  Result<PrefixVerifyStart> verify_init(const VerifyInput& input, const PrefixQuery& query) const;

  /// Both servers' verifier shares, of the first round or of the second. Refused: not one-hot.
  Result<Bytes> verifier_shares_to_message(const PrefixQuery& query,
                                           std::span<const Bytes> verifier_shares) const;
  /// The verifier share of the second round.
  Result<Bytes> verify_next(const PrefixVerifyState& state, ByteSpan message) const;
  /// The share to aggregate, once the message of the second round has come.
  Result<FieldVector> verify_finish(PrefixVerifyState state, ByteSpan message) const;

  FieldVector aggregate_init(const PrefixQuery& query) const;
  void aggregate(const PrefixQuery& query, FieldVector& sum, const FieldVector& out_share) const;
  /// Adds integers, negative ones modulo p: how noise enters a share.
  void add_integers(const PrefixQuery& query, FieldVector& sum,
                    std::span<const std::int64_t> integers) const;
  static Bytes encode_vector(const FieldVector& vector);
  /// InvalidInput: wrong length or an element that is not reduced.
  Result<FieldVector> decode_vector(const PrefixQuery& query, ByteSpan bytes) const;
  /// The counts, centred. Refused: one is beyond 64 bits, as only a lying server makes it.
  Result<std::vector<std::int64_t>> unshard(const PrefixQuery& query,
                                            std::span<const Bytes> aggregate_shares) const;

 private:
  explicit Poplar1(std::size_t bits) : bits_(bits) {}
  bool is_leaf(const PrefixQuery& query) const { return query.level() + 1 == bits_; }
  Result<void> check(const PrefixQuery& query) const;
  std::size_t input_share_bytes() const;

  std::size_t bits_;
};

}  // namespace discreet::prio
