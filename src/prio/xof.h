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

/// Which kind of algorithm a tag is for (draft, section 6.2.3).
enum class TagClass : std::uint8_t { Vdaf = 0, Idpf = 1 };

/// The domain separation tag of one use in one application.
Bytes domain_tag(TagClass tag_class, std::uint32_t algorithm, std::uint16_t usage,
                 ByteSpan context);
inline Bytes domain_tag(std::uint32_t algorithm, Usage usage, ByteSpan context) {
  return domain_tag(TagClass::Vdaf, algorithm, static_cast<std::uint16_t>(usage), context);
}

/// What is absorbed before the binder.
Bytes xof_prefix(ByteSpan domain, ByteSpan seed);
/// The same with the tag of one use, written in place; room is left for a binder.
Bytes xof_prefix(std::uint32_t algorithm, Usage usage, ByteSpan context, ByteSpan seed,
                 std::size_t binder_bytes);

/// Uniform elements from the next bytes of a stream, by rejection.
template <class Stream, class F>
void draw_elements(Stream& stream, std::span<F> out) {
  for (F& element : out) {
    std::uint8_t bytes[F::kBytes];
    do {
      stream.fill(bytes);
      if constexpr (requires { F::kTopByteMask; }) bytes[F::kBytes - 1] &= F::kTopByteMask;
    } while (!F::load(bytes, element));
  }
}

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
    draw_elements(*this, out);
  }

 private:
  TurboShake128 sponge_;
};

}  // namespace discreet::prio
