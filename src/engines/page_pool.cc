#include "engines/page_pool.h"

#include <sys/mman.h>

#include <bit>
#include <cstdint>
#include <map>
#include <mutex>
#include <new>
#include <vector>

#include "engines/spare_memory.h"

namespace discreet {
namespace {

// Pieces of nearly the same size are of one, so that they can stand in for each other: the largest
// two bits below the first count. What is not touched of a piece costs nothing.
std::size_t rounded_up(std::size_t bytes) {
  const std::size_t pages = (bytes + PagePool::kPageBytes - 1) / PagePool::kPageBytes;
  const int width = static_cast<int>(std::bit_width(pages));
  const std::size_t step = width <= 3 ? 1 : std::size_t{1} << (width - 3);
  return (pages + step - 1) / step * step * PagePool::kPageBytes;
}

struct Kept {
  const std::size_t bytes_max = spare_memory(std::uint64_t{2} << 30);
  std::mutex mutex;
  std::map<std::size_t, std::vector<void*>> by_size;
  std::size_t bytes = 0;
};

Kept& kept() {
  static Kept& pieces = *new Kept;  // holders may outlive any static object
  return pieces;
}

void* map_pages(std::size_t bytes) {
  // A page more, so that one begins where it should; what is over at both ends goes back.
  const std::size_t more = bytes + PagePool::kPageBytes;
  void* mapped = ::mmap(nullptr, more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  auto* first = static_cast<char*>(mapped);
  const std::size_t before =
      (PagePool::kPageBytes - reinterpret_cast<std::uintptr_t>(mapped) % PagePool::kPageBytes) %
      PagePool::kPageBytes;
  if (before > 0) ::munmap(first, before);
  ::munmap(first + before + bytes, more - before - bytes);
  ::madvise(first + before, bytes, MADV_HUGEPAGE);
  return first + before;
}

}  // namespace

void* PagePool::take(std::size_t bytes) {
  const std::size_t size = rounded_up(bytes);
  {
    Kept& pieces = kept();
    const std::lock_guard lock(pieces.mutex);
    const auto found = pieces.by_size.find(size);
    if (found != pieces.by_size.end() && !found->second.empty()) {
      void* memory = found->second.back();
      found->second.pop_back();
      pieces.bytes -= size;
      return memory;
    }
  }
  return map_pages(size);
}

void PagePool::give(void* memory, std::size_t bytes) noexcept {
  if (memory == nullptr) return;
  const std::size_t size = rounded_up(bytes);
  try {
    Kept& pieces = kept();
    const std::lock_guard lock(pieces.mutex);
    if (pieces.bytes + size <= pieces.bytes_max) {
      pieces.by_size[size].push_back(memory);
      pieces.bytes += size;
      return;
    }
  } catch (const std::bad_alloc&) {
    // Then it goes back.
  }
  ::munmap(memory, size);
}

}  // namespace discreet
