// What does a private answer cost on PostgreSQL beside the same query without privacy, and how does
// it grow with the rows?
//
// A server of the benchmark's own (Debian's postgresql, work_mem = 256 MB). N rows of N / 10
// people, 1,000 public keys. Every question runs through the whole path; the plain query runs in
// the same database. Both are the best of several runs, taken in turn, with fresh epsilons so that
// nothing is remembered. CPU is that of this process, the server and its workers: what counts on a
// machine that is busy.
//   bench_engines [--rows N,N,...] [--rounds N]
#include <sys/resource.h>
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

/// Seconds of CPU that this process and the server with all of its children have used so far.
double cpu_seconds() {
  rusage own{};
  getrusage(RUSAGE_SELF, &own);
  double total = static_cast<double>(own.ru_utime.tv_sec + own.ru_stime.tv_sec) +
                 1e-6 * static_cast<double>(own.ru_utime.tv_usec + own.ru_stime.tv_usec);
  long master = 0;
  std::ifstream(testing::postgres_server().folder() / "data/postmaster.pid") >> master;
  const double tick = 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK));
  for (const auto& process : std::filesystem::directory_iterator("/proc")) {
    const std::string name = process.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file(process.path() / "stat");
    std::string line;
    if (!std::getline(file, line)) continue;
    // After the name: state, parent, ... user and system time as fields 12 and 13 from there, then
    // those of children that have ended.
    std::istringstream fields(line.substr(std::min(line.size(), line.rfind(')') + 1)));
    std::string skipped;
    long parent = 0, user = 0, system = 0, children_user = 0, children_system = 0;
    fields >> skipped >> parent;
    for (int i = 0; i < 9; ++i) fields >> skipped;
    fields >> user >> system >> children_user >> children_system;
    if (std::atol(name.c_str()) == master)
      total += tick * static_cast<double>(user + system + children_user + children_system);
    else if (parent == master)
      total += tick * static_cast<double>(user + system);
  }
  return total;
}

struct Spent {
  double wall = 1e300, cpu = 1e300;
};

void measure(const std::function<void()>& work, Spent& least) {
  const double cpu = cpu_seconds();
  const auto begin = std::chrono::steady_clock::now();
  work();
  const double wall =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  least.wall = std::min(least.wall, wall);
  least.cpu = std::min(least.cpu, std::max(0.001, cpu_seconds() - cpu));
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
    Spent plain, ours;
    for (int round = 0; round < rounds; ++round) {
      measure(
          [&] {
            const auto rows_read = plain_connection->execute(
                fmt::format(fmt::runtime(asked.sql), std::string("bench.") + asked.table));
            DISCREET_CHECK(rows_read.has_value(), "the plain query failed");
          },
          plain);
      Question question;
      question.sql = fmt::format(fmt::runtime(asked.sql), asked.table);
      question.epsilon = Epsilon::make(1 + 0.001 * round).value();
      measure(
          [&] {
            const auto answer = curator->answer(question);
            DISCREET_CHECK(answer.has_value(), "a question failed");
          },
          ours);
    }
    std::printf(
        "%10lld  %-40s %8.3f s %8.3f s %6.2fx   CPU %8.2f s %8.2f s %6.2fx  (at most %.1fx)%s\n",
        rows, asked.name, plain.wall, ours.wall, ours.wall / plain.wall, plain.cpu, ours.cpu,
        ours.cpu / plain.cpu, asked.limit, ours.wall / plain.wall <= asked.limit ? "" : "  MISSED");
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
  std::printf("%10s  %-40s %10s %10s %7s\n", "rows", "question", "plain", "private", "ratio");
  std::stringstream list(sizes);
  for (std::string size; std::getline(list, size, ',');)
    discreet::bench::run(std::atoll(size.c_str()), rounds);
}
