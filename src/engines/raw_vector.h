// A vector whose new elements are not set to zero: for large arrays that are written right away.
#pragma once

#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "engines/page_pool.h"

namespace discreet {

template <class T>
struct RawAllocator : std::allocator<T> {
  static_assert(std::is_trivially_copyable_v<T>);
  template <class U>
  struct rebind {
    using other = RawAllocator<U>;
  };
  T* allocate(std::size_t count) {
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(T))
      throw std::bad_array_new_length();
    const std::size_t bytes = count * sizeof(T);
    if (in_pages(bytes)) return static_cast<T*>(PagePool::take(bytes));
    void* memory = std::malloc(bytes);
    if (memory == nullptr && bytes > 0) throw std::bad_alloc();
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) noexcept {
    if (in_pages(count * sizeof(T)))
      PagePool::give(memory, count * sizeof(T));
    else
      std::free(memory);
  }
  /// Large, but not so large that a part may never be touched.
  static constexpr bool in_pages(std::size_t bytes) {
    return bytes >= PagePool::kPageBytes && bytes <= 2048 * PagePool::kPageBytes;
  }

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
