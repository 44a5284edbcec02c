// Prio3 (draft-irtf-cfrg-vdaf-20, section 7): clients split a measurement between servers and prove
// it valid; the servers learn the sum over clients and nothing else.
//
// Guarantee: all messages are byte for byte those of the draft (wire version 18). If one server is
//            honest the others learn nothing about an honest client's measurement but its part in
//            the sum; if all follow the protocol a measurement the circuit forbids is refused but
//            for a chance below 2^-60 a report. A server that lies can make the sum wrong, not
//            private data known: docs/prio.md.
// Assumes:   TurboSHAKE128 is a random oracle; nonces do not repeat; the verify key is unknown to
// clients. Proof:     Davis, Patton, Rosulek and Schoppmann, "Verifiable Distributed Aggregation
// Functions" (PoPETs
//            2023), Theorems 1 and 2, as cited by the draft's section 9.
//
// Thread-safe: everything is const. Messages are what others sent, so every function that reads one
// returns InvalidInput for bytes that no honest party would write.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/check.h"
#include "base/saturating.h"
#include "prio/bytes.h"
#include "prio/circuit.h"
#include "prio/field64.h"
#include "prio/xof.h"

namespace discreet::prio {

/// Elements as words: one of 64 bits each, or two.
using FieldVector = std::vector<std::uint64_t>;

struct Report {
  Bytes public_share;
  std::vector<Bytes> input_shares;  ///< one a server; the first is the leader's
};

/// What a server keeps between the two rounds. Secret.
struct VerifyState {
  FieldVector out_share;
  std::optional<Seed> joint_seed;

  Bytes encode() const;
  static Result<VerifyState> decode(ByteSpan bytes);
};

struct VerifyStart {
  VerifyState state;
  Bytes verifier_share;
};

/// What a server needs to know to check one report.
struct VerifyInput {
  ByteSpan verify_key;  ///< kVerifyKeyBytes, shared by the servers
  ByteSpan context;     ///< the application's name, the same for all parties
  unsigned server = 0;
  ByteSpan nonce;  ///< kNonceBytes
  ByteSpan public_share;
  ByteSpan input_share;
};

/// The integer between -p/2 and p/2 that an element stands for: totals with noise may be negative.
inline Int128 centred(Wide element, Wide modulus) {
  const bool negative = element > modulus / 2;
  return negative ? -static_cast<Int128>(modulus - element) : static_cast<Int128>(element);
}

class Prio3 {
 public:
  /// InvalidParameter: bad circuit, or not 2 to 255 servers.
  static Result<std::unique_ptr<const Prio3>> make(const Circuit& circuit, unsigned servers);
  virtual ~Prio3() = default;

  const Shape& shape() const { return shape_; }
  unsigned servers() const { return servers_; }
  /// Random bytes that shard() consumes.
  std::size_t randomness_bytes() const;

  /// InvalidParameter: not a measurement of this circuit, or randomness or nonce of another length.
  virtual Result<Report> shard(ByteSpan context, std::span<const std::uint64_t> measurement,
                               ByteSpan nonce, ByteSpan randomness) const = 0;
  /// A client that lies: shares these elements whether or not they are valid, with the best proof
  /// it can make by following the protocol. For tests.
  virtual Result<Report> shard_encoded(ByteSpan context, std::span<const std::uint64_t> elements,
                                       ByteSpan nonce, ByteSpan randomness) const = 0;

  virtual Result<VerifyStart> verify_init(const VerifyInput& input) const = 0;
  /// Refused: the report is not valid.
  virtual Result<Bytes> verifier_shares_to_message(
      ByteSpan context, std::span<const ByteSpan> verifier_shares) const = 0;
  Result<Bytes> verifier_shares_to_message(ByteSpan context,
                                           std::span<const Bytes> verifier_shares) const {
    return verifier_shares_to_message(
        context, std::vector<ByteSpan>(verifier_shares.begin(), verifier_shares.end()));
  }
  /// The share to aggregate. Refused: the servers did not see the same joint randomness.
  Result<FieldVector> verify_next(VerifyState state, ByteSpan message) const;

  /// The verifier message that this public share promises: the joint seed of the parts it lists.
  Bytes announced_message(ByteSpan context, ByteSpan public_share) const;

  FieldVector aggregate_init() const;
  /// Inline, because for a count it is one addition.
  void aggregate(FieldVector& sum, const FieldVector& out_share) const {
    DISCREET_CHECK(sum.size() == out_share.size(), "shares of one circuit");
    if (shape_.field_bits == 64)
      Field64::add_words(sum.data(), out_share.data(), sum.size());
    else
      add_elements128(sum.data(), out_share.data(), sum.size() / 2);
  }
  /// Adds integers, negative ones modulo p: how noise enters a share.
  virtual void add_integers(FieldVector& sum, std::span<const std::int64_t> integers) const = 0;

  Bytes encode_vector(const FieldVector& vector) const;
  /// InvalidInput: wrong length or an element that is not reduced.
  virtual Result<FieldVector> decode_vector(ByteSpan bytes) const = 0;

  /// The sum of all servers' aggregate shares, each entry in [0, p).
  virtual Result<std::vector<Wide>> unshard(std::span<const Bytes> aggregate_shares) const = 0;
  virtual Wide modulus() const = 0;

 protected:
  Prio3(Shape shape, unsigned servers) : shape_(std::move(shape)), servers_(servers) {}
  Seed joint_seed(ByteSpan context, ByteSpan parts) const;
  Shape shape_;
  unsigned servers_;
};

}  // namespace discreet::prio
