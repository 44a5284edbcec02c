// What does a private answer cost on Spark beside the same query without privacy, and how does it
// grow with the rows?
//
// A Spark Connect server of the benchmark's own with two executors (DISCREET_SPARK_HOME, as make
// test-spark has it), tables in Parquet.
//   bench_spark [--rows N,N,...] [--rounds N] [--groups N] [--people turns|mixed] [--only WORDS]
//     [--partitioned yes] (by the three words) [--sent files|words|sums] (as of a server elsewhere:
//     columns of its files, which is what it is asked for; rows, where files are not to be had; or
//     what it adds up itself)
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "base/check.h"
#include "engines/compare.h"
#include "engines/spark/engine.h"
#include "engines/spark/spark_server.h"

namespace discreet::bench {
namespace {

class SparkPlace final : public Place {
 public:
  SparkPlace(bool partitioned, std::string sent)
      : partitioned_(partitioned),
        sent_(std::move(sent)),
        engine_(SparkEngine::open(spark::Address::parse(server_.address()).value(), {}).value()) {}
  std::string name() const override { return "spark"; }
  void make(long long rows, long long groups, bool mixed) override {
    // A server that is there already may have the rows too.
    if (std::getenv("DISCREET_SPARK_MADE") != nullptr) return;
    server_.run("DROP DATABASE IF EXISTS bench CASCADE");
    server_.run("CREATE DATABASE bench");
    // As Spark keeps as many rows: in files of 50 MB.
    const long long files = std::max(2LL, rows / 10'000'000);
    server_.run(fmt::format(
        "CREATE TABLE bench.by_row USING parquet {3} AS SELECT pmod({2}, {1}) AS person, CAST(id * "
        "104729 % 1000 AS INT) AS key, CAST(id % 1000 AS INT) AS amount, element_at(array('red', "
        "'blue', 'green'), CAST(1 + id % 3 AS INT)) AS word FROM range(0, {0}, 1, {4})",
        rows, std::max(1LL, rows / 10), mixed ? "xxhash64(id)" : "id * 7919",
        partitioned_ ? "PARTITIONED BY (word)" : "", files));
    server_.run("CREATE VIEW bench.by_person AS SELECT * FROM bench.by_row");
    server_.run(fmt::format(
        "CREATE TABLE bench.many USING parquet AS SELECT id * 7919 AS key FROM range({})", groups));
    // The session of the plain queries may know the files of smaller tables.
    for (const char* table : {"bench.by_row", "bench.many"})
      DISCREET_CHECK(engine_->describe(table).has_value(), "the benchmark's tables are not there");
  }
  std::string source(const std::string& table) const override {
    return server_.address("bench." + table) + (sent_ == "sums"    ? "?rows=summed"
                                                : sent_ == "words" ? "?files=there"
                                                : sent_ == "files" ? "?files=sent"
                                                                   : "");
  }
  void plain(const std::string& sql, const std::string& table) override {
    auto rows = engine_->query(fmt::format(fmt::runtime(sql), "bench." + table));
    DISCREET_CHECK(rows.has_value(), "the plain query failed");
    for (auto chunk = rows->next();; chunk = rows->next()) {
      DISCREET_CHECK(chunk.has_value(), "the plain query failed");
      if (!*chunk) return;
    }
  }
  /// A server that is there already (DISCREET_SPARK_PORT) is no child of this process.
  long process() const override {
    const char* running = std::getenv("DISCREET_SPARK_PROCESS");
    return running == nullptr ? 0 : std::atol(running);
  }

 private:
  bool partitioned_;
  std::string sent_;
  testing::SparkServer& server_ = testing::spark_server();
  std::unique_ptr<SparkEngine> engine_;
};

}  // namespace
}  // namespace discreet::bench

int main(int argc, char** argv) {
  setenv("DISCREET_SPARK_COMPILED", "1", 1);
  bool partitioned = false;
  std::string sent;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--partitioned") == 0)
      partitioned = std::strcmp(argv[i + 1], "yes") == 0;
    if (std::strcmp(argv[i], "--sent") == 0) sent = argv[i + 1];
  }
  discreet::bench::SparkPlace place(partitioned, sent);
  return discreet::bench::compare(place, argc, argv);
}
