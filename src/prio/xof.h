// XofTurboShake128 of VDAF (draft-irtf-cfrg-vdaf-20, section 6.2.1), and the seeds it is used with.
//
// Guarantee: the same stream as the draft's for the same seed, domain and binder; field elements by
//            rejection, so they are uniform if the stream is.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "prio/turboshake.h"

namespace discreet::prio {

inline constexpr std::size_t kSeedBytes = 32;
inline constexpr std::size_t kNonceBytes = 16;
inline constexpr std::size_t kVerifyKeyBytes = 32;
inline constexpr std::uint8_t kVdafVersion = 18;  ///< on the wire since draft 18

using Seed = std::array<std::uint8_t, kSeedBytes>;

/// What a stream is for (draft, section 7.2).
enum class Usage : std::uint16_t {
  MeasurementShare = 1,
  ProofShare = 2,
  JointRandomness = 3,
  ProveRandomness = 4,
  QueryRandomness = 5,
  JointSeed = 6,
  JointPart = 7,
};

/// The domain separation tag of one use in one application.
Bytes domain_tag(std::uint32_t algorithm, Usage usage, ByteSpan context);

/// What is absorbed before the binder.
Bytes xof_prefix(ByteSpan domain, ByteSpan seed);
/// The same with the tag of one use, written in place; room is left for a binder.
Bytes xof_prefix(std::uint32_t algorithm, Usage usage, ByteSpan context, ByteSpan seed,
                 std::size_t binder_bytes);

class Xof {
 public:
  Xof(ByteSpan seed, ByteSpan domain, ByteSpan binder);
  /// Of a prefix with its binder.
  explicit Xof(ByteSpan message) : sponge_(1) { sponge_.absorb(message); }

  void bind(ByteSpan more) { sponge_.absorb(more); }
  void fill(std::span<std::uint8_t> out) { sponge_.squeeze(out); }
  Seed seed();

  template <class F>
  void elements(std::span<F> out) {
    for (F& element : out) {
      std::uint8_t bytes[F::kBytes];
      do fill(bytes);
      while (!F::load(bytes, element));
    }
  }

 private:
  TurboShake128 sponge_;
};

}  // namespace discreet::prio
