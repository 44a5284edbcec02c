// What does a private answer cost on PostgreSQL, and on files, beside the same query without
// privacy, and how does it grow with the rows?
//
// A PostgreSQL server of the benchmark's own (Debian's postgresql, work_mem = 256 MB), or Parquet
// files behind the embedded engine.
//   bench_engines [--engine postgres|files] [--rows N,N,...] [--rounds N] [--groups N]
//     [--people turns|mixed] [--only WORDS]
// and of PostgreSQL's table by_person [--partitions N] [--view yes], of its address
//     [--sent sums]: as it may be written for a slow network.
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include <fmt/format.h>

#include "base/check.h"
#include "engines/compare.h"
#include "engines/duckdb/database.h"
#include "engines/postgres_server.h"

namespace discreet::bench {
namespace {

class PostgresPlace final : public Place {
 public:
  PostgresPlace(int partitions, bool view, std::string sent)
      : partitions_(partitions), view_(view), sent_(std::move(sent)) {
    // As whoever asks such questions of it would have it: sums per person stay in memory.
    server_.run("ALTER SYSTEM SET work_mem = '256MB'");
    server_.run("SELECT pg_reload_conf()");
    auto opened = postgres::Connection::open(postgres::Address::parse(server_.address()).value(),
                                             postgres::Settings{});
    DISCREET_CHECK(opened.has_value(), "the benchmark's server does not answer");
    connection_.emplace(*std::move(opened));
  }
  std::string name() const override { return "postgres"; }
  void make(long long rows, long long groups, bool mixed) override {
    // In pieces: a statement may take ten minutes.
    constexpr long long kPiece = 10'000'000;
    server_.run(fmt::format(
        "DROP SCHEMA IF EXISTS bench CASCADE; CREATE SCHEMA bench; CREATE {} TABLE "
        "bench.by_person (person bigint, key int, amount int, word text) {}; CREATE VIEW "
        "bench.by_row "
        "AS SELECT * FROM bench.by_person; CREATE UNLOGGED TABLE bench.many (key bigint)",
        partitions_ == 0 ? "UNLOGGED" : "", partitions_ == 0 ? "" : "PARTITION BY HASH (person)"));
    server_.run("CREATE VIEW bench.seen AS SELECT * FROM bench.by_person WHERE amount >= 0");
    for (int part = 0; part < partitions_; ++part)
      server_.run(fmt::format(
          "CREATE UNLOGGED TABLE bench.part_{0} PARTITION OF bench.by_person FOR VALUES WITH "
          "(MODULUS {1}, REMAINDER {0})",
          part, partitions_));
    for (long long done = 0; done < rows; done += kPiece)
      server_.run(fmt::format(
          "INSERT INTO bench.by_person SELECT {3} % {2}, i * 104729 % 1000, i % 1000, "
          "(ARRAY['red', 'blue', 'green'])[1 + i % 3] FROM generate_series({0}::bigint, {1}) i",
          done + 1, std::min(rows, done + kPiece), std::max(1LL, rows / 10),
          mixed ? "(hashint8(i)::bigint & 2147483647)" : "i * 7919"));
    server_.run(fmt::format(
        "INSERT INTO bench.many SELECT i * 7919 FROM generate_series(1::bigint, {}) i; ANALYZE "
        "bench.by_person; ANALYZE bench.many",
        groups));
  }
  std::string source(const std::string& table) const override {
    return server_.address("bench." + seen(table)) + (sent_ == "sums" ? "&rows=summed" : "");
  }
  void plain(const std::string& sql, const std::string& table) override {
    // One row at a time too: many groups take no memory here.
    DISCREET_CHECK(
        connection_->send(fmt::format(fmt::runtime(sql), "bench." + seen(table))).has_value(),
        "the plain query failed");
    for (auto row = connection_->next_row();; row = connection_->next_row()) {
      DISCREET_CHECK(row.has_value(), "the plain query failed");
      if (!*row) return;
    }
  }
  long process() const override {
    long master = 0;
    std::ifstream(server_.folder() / "data/postmaster.pid") >> master;
    return master;
  }

 private:
  std::string seen(const std::string& table) const {
    return view_ && table == "by_person" ? "seen" : table;
  }

  int partitions_;
  bool view_;
  std::string sent_;
  testing::PostgresServer& server_ = testing::postgres_server();
  std::optional<postgres::Connection> connection_;
};

class FilesPlace final : public Place {
 public:
  FilesPlace() : engine_(DuckDb::open({}).value()) {
    char name[] = "/tmp/discreet_files_XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~FilesPlace() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  std::string name() const override { return "files"; }
  void make(long long rows, long long groups, bool mixed) override {
    const auto made = engine_.execute(fmt::format(
        "COPY (SELECT CAST({5} % {1} AS BIGINT) AS person, (i * 104729 % 1000)::INTEGER AS key, (i "
        "% "
        "1000)::INTEGER AS amount, ['red', 'blue', 'green'][1 + i % 3] AS word FROM range({0}) "
        "t(i)) TO {3} (FORMAT parquet); COPY (SELECT i * 7919 AS key FROM range({2}) t(i)) TO {4} "
        "(FORMAT parquet)",
        rows, std::max(1LL, rows / 10), groups, sql_literal(source("by_row")),
        sql_literal(source("many")), mixed ? "hash(i)" : "i * 7919"));
    DISCREET_CHECK(made.has_value(), "the rows were not made");
    // The same rows under another name: a policy names a file once.
    std::filesystem::remove(source("by_person"));
    std::filesystem::create_hard_link(source("by_row"), source("by_person"));
  }
  std::string source(const std::string& table) const override {
    return (folder_ / (table + ".parquet")).string();
  }
  void plain(const std::string& sql, const std::string& table) override {
    auto rows = engine_.query(fmt::format(fmt::runtime(sql), sql_literal(source(table))));
    DISCREET_CHECK(rows.has_value(), "the plain query failed");
    for (auto chunk = rows->next();; chunk = rows->next()) {
      DISCREET_CHECK(chunk.has_value(), "the plain query failed");
      if (!*chunk) return;
    }
  }

 private:
  DuckDb engine_;
  std::filesystem::path folder_;
};

}  // namespace
}  // namespace discreet::bench

int main(int argc, char** argv) {
  std::string engine, sent;
  int partitions = 0;
  bool view = false;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--engine") == 0) engine = argv[i + 1];
    if (std::strcmp(argv[i], "--partitions") == 0) partitions = std::atoi(argv[i + 1]);
    if (std::strcmp(argv[i], "--view") == 0) view = std::strcmp(argv[i + 1], "yes") == 0;
    if (std::strcmp(argv[i], "--sent") == 0) sent = argv[i + 1];
  }
  if (engine.empty() || engine == "files") {
    discreet::bench::FilesPlace files;
    discreet::bench::compare(files, argc, argv);
  }
  if (engine.empty() || engine == "postgres") {
    discreet::bench::PostgresPlace postgres(partitions, view, sent);
    discreet::bench::compare(postgres, argc, argv);
  }
}
