// What does a private answer cost on PostgreSQL beside the same query without privacy, and how does
// it grow with the rows?
//
// A server of the benchmark's own (Debian's postgresql, work_mem = 256 MB). N rows of N / 10
// people, 1,000 public keys. Every question runs through the whole path; the plain query runs in
// the same database. Both are the best of several runs, taken in turn, with fresh epsilons so that
// nothing is remembered.
//   bench_engines [--rows N,N,...] [--rounds N]
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "base/check.h"
#include "base/clock.h"
#include "curator/curator.h"
#include "engines/postgres_server.h"
#include "random/secure_random.h"

namespace discreet::bench {
namespace {

double seconds(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

struct Asked {
  const char* name;
  const char* sql;  ///< with {} for the table
  const char* table;
  double limit;  ///< of private / plain
};

constexpr Asked kQuestions[] = {
    {"count, a row is somebody", "SELECT count(*) FROM {}", "by_row", 1.5},
    {"sum by 1,000 keys, a row is somebody", "SELECT key, sum(amount) FROM {} GROUP BY key",
     "by_row", 1.5},
    {"sum of one, a person is somebody", "SELECT sum(amount) FROM {}", "by_person", 3},
    {"sum by 3 words, a person is somebody", "SELECT word, sum(amount) FROM {} GROUP BY word",
     "by_person", 3},
    {"sum by 1,000 keys, a person is somebody", "SELECT key, sum(amount) FROM {} GROUP BY key",
     "by_person", 3},
};

void run(long long rows, int rounds) {
  auto& server = testing::postgres_server();
  // As whoever asks such questions of it would have it: sums per person stay in memory.
  server.run("ALTER SYSTEM SET work_mem = '256MB'");
  server.run("SELECT pg_reload_conf()");
  server.run(fmt::format(
      "DROP SCHEMA IF EXISTS bench CASCADE; CREATE SCHEMA bench; CREATE UNLOGGED TABLE "
      "bench.by_row "
      "AS SELECT i::bigint * 7919 % {1} AS person, (i::bigint * 104729 % 1000)::int AS key, (i % "
      "1000)::int AS amount, (ARRAY['red', 'blue', 'green'])[1 + i % 3] AS word FROM "
      "generate_series(1, {0}) i; CREATE VIEW bench.by_person AS SELECT * FROM bench.by_row; "
      "ANALYZE "
      "bench.by_row",
      rows, std::max(1LL, rows / 10)));
  char name[] = "/tmp/discreet_bench_XXXXXX";
  const std::filesystem::path folder = mkdtemp(name);
  {
    std::ofstream out(folder / "policy.toml");
    for (const char* table : {"by_row", "by_person"})
      out << "[tables." << table << "]\nsource = \""
          << server.address(std::string("bench.") + table) << "\"\nunit = \""
          << (table[3] == 'r' ? "row" : "person") << "\"\n[tables." << table
          << ".columns]\nkey = { range = [0, 999] }\namount = { range = [0, 1000] }\n"
          << "word = { values = [\"red\", \"blue\", \"green\"] }\n";
    out << "[budgets.default]\nepsilon = \"unlimited\"\ndelta = \"unlimited\"\n";
  }
  const auto policy = catalog::Policy::load((folder / "policy.toml").string()).value();
  const SystemClock clock;
  SecureRandom random;
  auto curator = Curator::open(policy, clock, random, [](std::string_view words) {
    std::fprintf(stderr, "%.*s", static_cast<int>(words.size()), words.data());
  });
  DISCREET_CHECK(curator.has_value(), "the benchmark's curator does not open");
  auto plain_connection = postgres::Connection::open(
      postgres::Address::parse(server.address()).value(), postgres::Settings{});
  DISCREET_CHECK(plain_connection.has_value(), "the benchmark's server does not answer");
  for (const Asked& asked : kQuestions) {
    double plain = 1e300, ours = 1e300;
    for (int round = 0; round < rounds; ++round) {
      plain = std::min(plain, seconds([&] {
                         const auto rows_read = plain_connection->execute(fmt::format(
                             fmt::runtime(asked.sql), std::string("bench.") + asked.table));
                         DISCREET_CHECK(rows_read.has_value(), "the plain query failed");
                       }));
      Question question;
      question.sql = fmt::format(fmt::runtime(asked.sql), asked.table);
      question.epsilon = Epsilon::make(1 + 0.001 * round).value();
      ours = std::min(ours, seconds([&] {
                        const auto answer = curator->answer(question);
                        DISCREET_CHECK(answer.has_value(), "a question failed");
                      }));
    }
    std::printf("%10lld  %-42s %9.3f s %9.3f s %7.2fx  (at most %.1fx)%s\n", rows, asked.name,
                plain, ours, ours / plain, asked.limit,
                ours / plain <= asked.limit ? "" : "  MISSED");
    std::fflush(stdout);
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

}  // namespace
}  // namespace discreet::bench

int main(int argc, char** argv) {
  std::string sizes = "1000000,10000000";
  int rounds = 3;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--rows") == 0) sizes = argv[i + 1];
    if (std::strcmp(argv[i], "--rounds") == 0) rounds = std::atoi(argv[i + 1]);
  }
  std::printf("%10s  %-42s %11s %11s %8s\n", "rows", "question", "plain", "private", "ratio");
  std::stringstream list(sizes);
  for (std::string size; std::getline(list, size, ',');)
    discreet::bench::run(std::atoll(size.c_str()), rounds);
}
