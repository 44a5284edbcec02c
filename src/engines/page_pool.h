// Large pieces of memory, kept for whoever needs as much next.
//
// Memory that comes from the system has to be cleared by it, page after page, which takes longer
// than to fill it; and one question after another needs about as much.
// Guarantee: a piece belongs to one holder; at most 2 GiB, of a small machine an eighth of its
//            memory, wait for the next.
// Assumes:   whoever takes a piece writes before reading: it holds what was there before, which
//            never leaves the process.
#pragma once

#include <cstddef>

namespace discreet {

class PagePool {
 public:
  static constexpr std::size_t kPageBytes = std::size_t{2} << 20;

  /// At a multiple of kPageBytes, in pages of that size where the machine has them. Throws
  /// std::bad_alloc.
  static void* take(std::size_t bytes);
  /// As many as were taken.
  static void give(void* memory, std::size_t bytes) noexcept;
};

}  // namespace discreet
