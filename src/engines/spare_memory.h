// How much memory there is to be had.
#pragma once

#include <cstdint>

namespace discreet {

/// An eighth of this machine's memory, but at most `most`: what may be held for later without being
/// in anybody's way.
std::uint64_t spare_memory(std::uint64_t most);

}  // namespace discreet
