// Under the thread sanitizer, DuckDB's memory comes from malloc.
//
// The released library brings an allocator of its own (jemalloc, names with duckdb_je_), which the
// sanitizer does not see: memory that one thread gave back and another got looks like one piece of
// memory that both write to. The library calls its allocator through the dynamic linker, so that
// these definitions, in the program, are used instead; the sanitizer knows malloc and forgets what
// was done to a piece of memory before it was handed out again. That the library hands memory from
// one of its threads to another before giving it back is its own affair, ordered by atomics that
// are not instrumented: giving back and getting are not themselves taken for writes.
// Linked into programs of a thread sanitizer's build only (tests/server/CMakeLists.txt);
// tests/server/tsan_probe.cc shows what happens with it and without.
#include <atomic>
#include <cstdint>
#include <cstdlib>

extern "C" {

// Of the sanitizer's run-time library.
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);

std::atomic<std::uint64_t> discreet_duckdb_allocations = 0;
}

namespace {

struct NotAWrite {
  NotAWrite() { AnnotateIgnoreWritesBegin(__FILE__, __LINE__); }
  ~NotAWrite() { AnnotateIgnoreWritesEnd(__FILE__, __LINE__); }
  NotAWrite(const NotAWrite&) = delete;
  NotAWrite& operator=(const NotAWrite&) = delete;
};

}  // namespace

extern "C" {

void* duckdb_je_malloc(std::size_t size) {
  const NotAWrite here;
  discreet_duckdb_allocations.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(size);
}

void* duckdb_je_realloc(void* memory, std::size_t size) {
  const NotAWrite here;
  return std::realloc(memory, size);
}

void duckdb_je_free(void* memory) {
  const NotAWrite here;
  std::free(memory);
}
}
