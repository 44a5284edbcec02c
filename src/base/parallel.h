// Independent pieces of work on a few threads.
#pragma once

#include <cstddef>
#include <functional>

namespace discreet {

/// The machine's cores, 16 at most.
std::size_t worker_count();

/// Calls work(0, w), ..., work(count - 1, w), in any order, on worker_count() threads, or on this
/// one alone where `threads` is false. `w` < worker_count() numbers the thread. What a piece throws
/// is thrown here, after all have stopped.
void for_each_parallel(std::size_t count, bool threads,
                       const std::function<void(std::size_t piece, std::size_t worker)>& work);

}  // namespace discreet
