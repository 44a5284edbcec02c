// What passes through DuckDB from the thread that gave it to the thread that is called back.
//
// DuckDB orders the two with its own queues and atomics. A released library is not instrumented, so
// the thread sanitizer cannot see that; here it is told, for one address. Elsewhere this is
// nothing.
#pragma once

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define DISCREET_TELLS_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif
#endif

namespace discreet {

inline void given_to_duckdb([[maybe_unused]] void* passed) {
#ifdef DISCREET_TELLS_THREAD_SANITIZER
  __tsan_release(passed);
#endif
}

inline void got_from_duckdb([[maybe_unused]] void* passed) {
#ifdef DISCREET_TELLS_THREAD_SANITIZER
  __tsan_acquire(passed);
#endif
}

}  // namespace discreet
