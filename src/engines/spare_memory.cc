#include "engines/spare_memory.h"

#include <unistd.h>

#include <algorithm>

namespace discreet {

std::uint64_t spare_memory(std::uint64_t most) {
  constexpr std::uint64_t kShare = 8;
  const long pages = ::sysconf(_SC_PHYS_PAGES), bytes = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || bytes <= 0) return most / kShare;
  return std::min(most,
                  static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(bytes) / kShare);
}

}  // namespace discreet
