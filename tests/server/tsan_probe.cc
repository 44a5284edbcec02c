// Does the thread sanitizer see what it should, and only that? tests/server/sanitized_run.sh runs
//   clean   many threads load and read tables at once: no report where duckdb_malloc.cc is linked,
//           and one where it is not, because nothing else differs between the two programs
//   rows    DuckDB's threads write, unguarded, to memory of ours in a visit: a report
//   string  two threads of ours copy to one string, unguarded: a report, although the standard
//           library that DuckDB uses is not watched
//   chunk   two threads of ours, one of which writes, in one chunk of DuckDB's memory: a report
// so that what is not reported elsewhere is not there, and not merely unseen.
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "engines/duckdb/appender.h"
#include "engines/duckdb/database.h"

extern "C" {
// Absent in the program without duckdb_malloc.cc.
[[gnu::weak]] extern std::atomic<std::uint64_t> discreet_duckdb_allocations;
}

namespace discreet {
namespace {

void load_and_read(DuckDb database, int thread, std::atomic<std::int64_t>& total) {
  for (int round = 0; round < 20; ++round) {
    const std::string table = "t" + std::to_string(thread) + "_" + std::to_string(round);
    database.execute("CREATE TABLE " + table + "(a BIGINT, b DOUBLE)").value();
    auto appender = DuckDbAppender::make(database, table).value();
    for (std::int64_t i = 0; i < 3000; ++i) {
      appender.append(i).append(0.5);
      appender.end_row().value();
    }
    appender.close().value();
    EngineRows rows = database.query("SELECT a, b FROM " + table).value();
    std::int64_t sum = 0;
    for (auto chunk = rows.next().value(); chunk; chunk = rows.next().value())
      for (std::size_t row = 0; row < chunk->size(); ++row)
        if (!chunk->is_null(0, row)) sum += static_cast<std::int64_t>(chunk->int128(0, row));
    std::atomic<std::int64_t> seen = 0;
    std::vector<std::int64_t> of_lane(64);
    (void)database
        .visit("SELECT a FROM " + table, {"a"},
               [&](const EngineChunk& chunk, std::size_t lane) {
                 for (const std::int64_t value : chunk.int64s(0)) of_lane.at(lane) += value;
                 return true;
               })
        .value();
    for (const std::int64_t value : of_lane) seen += value;
    DISCREET_CHECK(sum == seen, "a stream and a visit show the same rows");
    total += sum;
    // A file's names and options are strings that DuckDB hands from thread to thread.
    const std::string file =
        "/tmp/discreet_tsan_probe_" + std::to_string(::getpid()) + table + ".csv";
    database.execute("COPY " + table + " TO '" + file + "' (HEADER)").value();
    database
        .execute("CREATE OR REPLACE VIEW v_" + table + " AS SELECT * FROM read_csv('" + file +
                 "', ignore_errors = true)")
        .value();
    (void)database.query("SELECT sum(a) FROM v_" + table).value().next().value();
    std::remove(file.c_str());
    database.execute("DROP TABLE " + table).value();
  }
}

void clean(const DuckDb& database) {
  std::atomic<std::int64_t> total = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread, connection = database.connect().value()]() mutable {
      load_and_read(std::move(connection), thread, total);
    });
  for (std::thread& thread : threads) thread.join();
  std::printf("read %lld\n", static_cast<long long>(total.load()));
}

void rows(DuckDb& database) {
  database.execute("CREATE TABLE many AS SELECT i FROM range(2000000) r(i)").value();
  std::int64_t sum = 0;  // the bug: every thread adds to it
  (void)database
      .visit("SELECT i FROM many", {"i"},
             [&](const EngineChunk& chunk, std::size_t) {
               for (const std::int64_t value : chunk.int64s(0)) sum += value;
               return true;
             })
      .value();
  std::printf("summed %lld\n", static_cast<long long>(sum));
}

void chunk(DuckDb& database) {
  EngineRows stream = database.query("SELECT i FROM range(2000) r(i)").value();
  const auto read = stream.next().value();
  auto* memory = const_cast<std::int64_t*>(read->int64s(0).data());
  std::thread writer([&] {
    for (int i = 0; i < 1000; ++i) memory[i] = 0;  // the bug: nobody was told
  });
  Int128 sum = 0;
  for (int i = 0; i < 1000; ++i) sum += read->int128(0, static_cast<std::size_t>(i));
  writer.join();
  std::printf("summed %lld\n", static_cast<long long>(sum));
}

void strings() {
  std::string shared(200, 'a');
  const std::string other(200, 'b');
  std::thread writer([&] {
    for (int i = 0; i < 1000; ++i) shared = other;  // the bug: nobody was told
  });
  for (int i = 0; i < 1000; ++i) shared = other;
  writer.join();
  std::printf("copied %zu letters\n", shared.size());
}

int probe(const std::string& what) {
  auto database = DuckDb::open({.threads = 4u}).value();
  if (what == "clean")
    clean(database);
  else if (what == "rows")
    rows(database);
  else if (what == "chunk")
    chunk(database);
  else if (what == "string")
    strings();
  else
    return 2;
  if (&discreet_duckdb_allocations != nullptr) {
    const auto made = discreet_duckdb_allocations.load();
    std::printf("DuckDB asked malloc %llu times\n", static_cast<unsigned long long>(made));
    if (made == 0) return 3;  // the library did not use it: nothing is proved
  }
  return 0;
}

}  // namespace
}  // namespace discreet

int main(int argc, char** argv) {
  return argc == 2 ? discreet::probe(argv[1]) : 2;
}
