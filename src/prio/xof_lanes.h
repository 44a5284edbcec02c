// Up to four streams in step, in the four lanes of one vector permutation.
//
// A lane squeezes field elements, or absorbs bytes while another lane is still producing them: the
// commitment to a share is computed one block behind the share itself. Which lane waits when
// depends on lengths and on rejected candidates (chance 2^-32 or 2^-59 an element) only.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <span>

#include "base/check.h"
#include "prio/xof.h"

namespace discreet::prio {

class XofLanes {
 public:
  /// The message is absorbed in full, then elements are squeezed into `out`.
  template <class F>
  void expand(int lane, Bytes message, std::span<F> out) {
    Lane& it = lanes_[lane];
    it = Lane{};
    it.kind = Kind::Expand;
    it.message = std::move(message);
    it.available = it.message.size();
    it.out = reinterpret_cast<std::uint8_t*>(out.data());
    it.wanted = out.size() * F::kBytes;
    it.element_bytes = F::kBytes;
    it.accept = [](const std::uint8_t* bytes) {
      F ignored;
      return F::load(bytes, ignored);
    };
  }

  /// The message and then `tail_bytes` at `tail`, of which `available()` are there already; then a
  /// seed is squeezed.
  void commit(int lane, Bytes message, const std::uint8_t* tail, std::size_t tail_bytes,
              Seed& out) {
    Lane& it = lanes_[lane];
    it = Lane{};
    it.kind = Kind::Commit;
    it.message = std::move(message);
    it.available = it.message.size();
    it.tail = tail;
    it.tail_bytes = tail_bytes;
    it.out = out.data();
    it.wanted = out.size();
    it.element_bytes = 1;
  }

  /// How many bytes of its tail a committing lane may read from now on.
  void provide(int lane, std::size_t bytes) {
    lanes_[lane].available = lanes_[lane].message.size() + bytes;
  }
  std::size_t produced(int lane) const { return lanes_[lane].produced; }
  bool done(int lane) const { return lanes_[lane].done(); }

  /// One permutation for all lanes.
  void step();
  void run() {
    while (!(done(0) && done(1) && done(2) && done(3))) step();
  }

 private:
  enum class Kind { Idle, Expand, Commit };
  struct Lane {
    Kind kind = Kind::Idle;
    Bytes message;
    const std::uint8_t* tail = nullptr;
    std::size_t tail_bytes = 0, available = 0, absorbed = 0;
    bool padded = false;
    std::uint8_t* out = nullptr;
    std::size_t wanted = 0, produced = 0, element_bytes = 1;
    bool (*accept)(const std::uint8_t*) = nullptr;
    std::array<std::uint8_t, 16> held{};  // the part of an element that ended the last block
    std::size_t held_bytes = 0;

    bool done() const { return kind == Kind::Idle || (padded && produced == wanted); }
    std::size_t total() const { return message.size() + tail_bytes; }
    std::size_t copy(std::size_t from, std::span<std::uint8_t> to) const;
  };

  /// False: the lane has nothing to absorb yet and must not be permuted.
  bool absorb(int lane);
  void take(int lane);

  KeccakState4 states_;
  std::array<Lane, 4> lanes_;
};

}  // namespace discreet::prio
