// What does a private answer cost on Spark beside the same query without privacy, and how does it
// grow with the rows?
//
// A Spark Connect server of the benchmark's own with two executors (DISCREET_SPARK_HOME, as make
// test-spark has it), N rows of N / 10 people in Parquet. Best of several runs, taken in turn, with
// fresh epsilons so that nothing is remembered.
//   bench_spark [--rows N,N,...] [--rounds N]
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "base/clock.h"
#include "curator/curator.h"
#include "engines/spark/engine.h"
#include "engines/spark/spark_server.h"
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
  auto& server = testing::spark_server();
  server.run("DROP DATABASE IF EXISTS bench CASCADE");
  server.run("CREATE DATABASE bench");
  server.run(fmt::format(
      "CREATE TABLE bench.by_row USING parquet AS SELECT id * 7919 % {1} AS person, CAST(id * "
      "104729 % 1000 AS INT) AS key, CAST(id % 1000 AS INT) AS amount, element_at(array('red', "
      "'blue', 'green'), CAST(1 + id % 3 AS INT)) AS word FROM range({0})",
      rows, std::max(1LL, rows / 10)));
  server.run("CREATE VIEW bench.by_person AS SELECT * FROM bench.by_row");
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
    std::fprintf(stderr, "%.*s\n", static_cast<int>(words.size()), words.data());
  });
  DISCREET_CHECK(curator.has_value(), "the benchmark's curator does not open");
  auto plain_engine = SparkEngine::open(spark::Address::parse(server.address()).value(), {});
  DISCREET_CHECK(plain_engine.has_value(), "the benchmark's server does not answer");
  for (const Asked& asked : kQuestions) {
    double plain = 1e300, ours = 1e300;
    for (int round = 0; round < rounds; ++round) {
      plain = std::min(plain, seconds([&] {
                         auto answer =
                             (*plain_engine)
                                 ->query(fmt::format(fmt::runtime(asked.sql),
                                                     std::string("bench.") + asked.table));
                         DISCREET_CHECK(answer.has_value(), "the plain query failed");
                         for (auto chunk = answer->next(); chunk && chunk->has_value();)
                           chunk = answer->next();
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
  setenv("DISCREET_SPARK_COMPILED", "1", 1);
  std::printf("%10s  %-42s %11s %11s %8s\n", "rows", "question", "plain", "private", "ratio");
  std::stringstream list(sizes);
  for (std::string size; std::getline(list, size, ',');)
    discreet::bench::run(std::atoll(size.c_str()), rounds);
}
