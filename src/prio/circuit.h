// What a client may contribute, and the arithmetic that checks it.
//
// Guarantee: a vector of field elements satisfies the circuit exactly if it encodes an allowed
//            measurement: a bit, a number in [0, max], a vector of them, one bucket of many, at
//            most `max` of many options, or a vector of numbers whose sum is at most `max`.
// Source:    draft-irtf-cfrg-vdaf-20 sections 7.4.1 to 7.4.5; draft-ietf-ppm-l1-bound-sum-02.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace discreet::prio {

enum class CircuitKind {
  Count,
  Sum,
  SumVec,
  Histogram,
  MultihotCountVec,
  L1BoundSum,
  SumVecMultiproof,  ///< SumVec over the small field with three proofs
  HigherDegree,      ///< the draft's test circuit: a number in {0, 1, 2}
};

const char* name(CircuitKind kind);
/// InvalidParameter: no circuit has this name. Lower case with dashes, for example `sum-vec`.
Result<CircuitKind> circuit_kind(std::string_view name);

struct Circuit {
  CircuitKind kind = CircuitKind::Count;
  std::uint64_t length = 1;        ///< entries of a vector, buckets
  std::uint64_t max = 1;           ///< largest number, weight or L1 norm
  std::uint64_t chunk_length = 0;  ///< 0: the one with the shortest proof

  friend bool operator==(const Circuit&, const Circuit&) = default;
};

/// Everything about a circuit that its parameters determine.
struct Shape {
  Circuit circuit;
  std::uint32_t algorithm;
  unsigned field_bits;  ///< 64 or 128
  unsigned proofs;
  std::size_t bits = 1;  ///< digits of one number
  std::uint64_t last_weight = 1;
  std::size_t measurement = 1, output = 1, joint = 0, results = 1;
  std::size_t arity = 1, degree = 2, calls = 1;
  std::size_t points = 2;         ///< P: a power of two above `calls`
  std::size_t gadget_values = 3;  ///< degree (P - 1) + 1
  std::size_t gadget_points = 4;  ///< the power of two not below that

  std::size_t proof() const { return arity + gadget_values; }
  std::size_t verifier() const { return arity + 2; }
  std::size_t query_randomness() const { return 1 + (results > 1 ? results : 0); }
  std::size_t element_bytes() const { return field_bits / 8; }
  bool uses_joint_randomness() const { return joint > 0; }
  /// Range checks in chunks, r^j x (x - 1), rather than one product or polynomial a call.
  bool is_chunked() const { return joint > 0; }
};

/// InvalidParameter: a length, maximum or chunk that is zero or too large.
Result<Shape> shape_of(const Circuit& circuit);

/// A measurement: one number, or `length` of them; for a histogram the bucket.
using Measurement = std::vector<std::uint64_t>;

/// The zeros and ones (for HigherDegree: twos) that the client shares. InvalidParameter: a
/// measurement the circuit does not allow. Takes the same steps for all measurements it allows.
Result<std::vector<std::uint8_t>> encode(const Shape& shape,
                                         std::span<const std::uint64_t> measurement);

}  // namespace discreet::prio
