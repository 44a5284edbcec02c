// A vector whose new elements are not set to zero: for large arrays that are written right away.
#pragma once

#include <sys/mman.h>

#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace discreet {

template <class T>
struct RawAllocator : std::allocator<T> {
  static_assert(std::is_trivially_copyable_v<T>);
  template <class U>
  struct rebind {
    using other = RawAllocator<U>;
  };
  // Of arrays that are large, but not so large that a part of them may never be touched, memory
  // comes in pages of 2 MiB: getting it 4 KiB at a time takes as long as writing it.
  T* allocate(std::size_t count) {
    constexpr std::size_t kPage = std::size_t{2} << 20, kLarge = 4 * kPage, kHuge = 256 * kPage;
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(T))
      throw std::bad_array_new_length();
    const std::size_t bytes = count * sizeof(T);
    const bool in_pages = bytes >= kLarge && bytes <= kHuge;
    void* memory = in_pages ? std::aligned_alloc(kPage, (bytes + kPage - 1) / kPage * kPage)
                            : std::malloc(bytes);
    if (memory == nullptr && bytes > 0) throw std::bad_alloc();
    if (in_pages) ::madvise(memory, bytes, MADV_HUGEPAGE);  // where the machine has them
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t) noexcept { std::free(memory); }

  template <class U>
  void construct(U* at) noexcept {
    ::new (static_cast<void*>(at)) U;
  }
  template <class U, class... Args>
  void construct(U* at, Args&&... args) {
    ::new (static_cast<void*>(at)) U(std::forward<Args>(args)...);
  }
};

template <class T>
using RawVector = std::vector<T, RawAllocator<T>>;

}  // namespace discreet
