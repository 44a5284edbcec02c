#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace discreet {

std::size_t worker_count() {
  return std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, 16);
}

void for_each_parallel(std::size_t count, bool threads,
                       const std::function<void(std::size_t, std::size_t)>& work) {
  const std::size_t helpers = threads ? worker_count() - 1 : 0;
  std::atomic<std::size_t> next = 0;
  std::exception_ptr failed;
  std::mutex mutex;
  const auto loop = [&](std::size_t worker) {
    try {
      for (std::size_t i = next++; i < count; i = next++) work(i, worker);
    } catch (...) {
      const std::lock_guard lock(mutex);
      failed = std::current_exception();
      next = count;
    }
  };
  {
    std::vector<std::jthread> running;
    for (std::size_t i = 0; i < helpers; ++i) running.emplace_back(loop, i + 1);
    loop(0);
  }
  if (failed) std::rethrow_exception(failed);
}

}  // namespace discreet
