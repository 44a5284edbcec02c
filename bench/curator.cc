// What does a private answer cost beside the same query without privacy?
//
// 10^7 rows of 10^6 people in Parquet, 1,000 public keys and 10^6 private ones, made by DuckDB.
// Every question runs through the whole path (plan, price, charge on disk, engine, noise, record)
// and is divided by plain DuckDB's time for the same rows. Both are the best of several runs, taken
// in turn.
//   bench_curator [--rows N] [--people N] [--rounds N] [--only TEXT] [--folder DIR]
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>

#include "curator/curator.h"
#include "measure.h"
#include "random/secure_random.h"

namespace discreet::bench {
namespace {

namespace fs = std::filesystem;

struct Options {
  long long rows = 10'000'000, people = 1'000'000;
  int rounds = 5;
  std::string only;
  fs::path folder = "/tmp";
};

class Folder {
 public:
  explicit Folder(const fs::path& under) : path_((under / "discreet-bench-XXXXXX").string()) {
    DISCREET_CHECK(::mkdtemp(path_.data()) != nullptr, "no folder for the benchmark's data");
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  fs::path path() const { return path_; }

 private:
  std::string path_;
};

void write_policy(const fs::path& file) {
  std::ofstream out(file);
  // The same rows twice: a row is somebody, or a person is.
  for (const char* table : {"by_row", "by_person"}) {
    out << "[tables." << table << "]\nsource = \"" << table << ".parquet\"\nunit = \""
        << (table[3] == 'r' ? "row" : "person") << "\"\n[tables." << table << ".columns]\n"
        << "key = { range = [0, 999] }\namount = { range = [0, 1000] }\nword = {}\n";
  }
  out << "[budgets.default]\nepsilon = \"unlimited\"\ndelta = \"unlimited\"\n";
}

void write_rows(DuckDb& engine, const fs::path& file, const Options& options) {
  const auto made = engine.execute(fmt::format(
      "COPY (SELECT (hash(i) % {1})::BIGINT AS person, (hash(i, 1) % 1000)::INTEGER AS key, "
      "(hash(i, 2) % {1})::BIGINT AS word, (hash(i, 3) % 1001)::INTEGER AS amount FROM range({0}) "
      "t(i)) TO {2} (FORMAT parquet)",
      options.rows, options.people, sql_literal(file.string())));
  DISCREET_CHECK(made.has_value(), "the rows were not made");
}

struct Comparison {
  const char* name;
  std::string private_sql, plain_sql;
  std::size_t keys;
  double target;           ///< ours / plain at most; 0: nobody said
  std::string slower_sql;  ///< and this must take at least twice ours
};

std::vector<Comparison> comparisons() {
  const std::string three = "SELECT key, count(*), sum(amount), avg(amount) FROM {} GROUP BY key";
  return {
      {"row: count, sum, avg by 1,000 keys", fmt::format(fmt::runtime(three), "by_row"),
       fmt::format(fmt::runtime(three), "plain"), 1, 1.3, ""},
      {"row: 10^6 private keys", "SELECT word, count(*) FROM by_row GROUP BY word",
       "SELECT word, count(*) FROM plain GROUP BY word", 1, 2, ""},
      {"person: 10^6 private keys", "SELECT word, count(*) FROM by_person GROUP BY word",
       "SELECT word, count(*) FROM plain GROUP BY word", 1, 2, ""},
      {"person: at most 3 groups, count",
       "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (max_groups_contributed = 3) key, count(*) FROM "
       "by_person GROUP BY key",
       "SELECT person, count(*) FROM plain GROUP BY person", 0, 1.5,
       "SELECT key, count(DISTINCT person) FROM plain GROUP BY key"},
      {"person: bounds found, count and sum",
       "SELECT key, count(*), sum(amount) FROM by_person GROUP BY key",
       "SELECT person, count(*), sum(amount) FROM plain GROUP BY person", 0, 0, ""},
  };
}

/// Rows are counted and dropped: 10^6 lines of text would be timed instead of the query.
std::size_t drain(DuckDb& engine, const std::string& sql) {
  auto rows = engine.query(sql);
  DISCREET_CHECK(rows.has_value(), "a plain statement did not run");
  std::size_t count = 0;
  for (;;) {
    const auto chunk = rows->next();
    DISCREET_CHECK(chunk.has_value(), "a plain statement failed midway");
    if (!*chunk) return count;
    count += (*chunk)->size();
  }
}

void run(const Comparison& one, const Options& options, DuckDb& plain, Curator& curator) {
  static int asked = 0;
  Seconds ours, theirs, slower;
  Answer last;
  for (int round = 0; round < options.rounds; ++round) {
    {
      const Stopwatch watch;
      drain(plain, one.plain_sql);
      theirs.keep_best(watch.read());
    }
    if (!one.slower_sql.empty()) {
      const Stopwatch watch;
      drain(plain, one.slower_sql);
      slower.keep_best(watch.read());
    }
    // Another epsilon is another question: the record would answer the same one for nothing.
    const Question question{one.private_sql,
                            kOwnerAccount,
                            Epsilon::make(1 + 1e-6 * ++asked).value(),
                            Delta::make(1e-7).value(),
                            {},
                            ""};
    const Stopwatch watch;
    auto answer = curator.answer(question);
    ours.keep_best(watch.read());
    if (!answer) {
      std::printf("%-38s refused: %s\n", one.name, answer.error().message.c_str());
      return;
    }
    last = *std::move(answer);
  }
  std::printf("%-38s %7.3f s %7.3f s  wall %5.2fx  cpu %5.2fx", one.name, ours.wall, theirs.wall,
              ours.wall / theirs.wall, ours.cpu / theirs.cpu);
  if (one.target > 0) std::printf("  (at most %.1fx)", one.target);
  if (!one.slower_sql.empty())
    std::printf("  count(distinct person) %.3f s = wall %.1fx, cpu %.1fx (at least 2x)",
                slower.wall, slower.wall / ours.wall, slower.cpu / ours.cpu);
  if (one.keys > 0) {
    const auto difference = compare(fetch(plain, one.plain_sql), last.rows, one.keys);
    std::printf("  groups %zu, lost %zu", difference.kept, difference.lost);
    if (!difference.relative.empty())
      std::printf(", median error %.2g %%", 100 * median(difference.relative));
  }
  std::printf("\n");
}

/// What a question costs before any row is read: plan, price, and a charge that is on disk.
void before_the_rows(Curator& curator, const char* name, const std::string& columns,
                     const std::string& after) {
  constexpr int kQuestions = 60;
  std::vector<double> plan, charge, both, cpu;
  for (int i = 0; i < kQuestions; ++i) {
    const Question question{
        fmt::format("SELECT {} FROM by_row WHERE amount < {}{}", columns, 1000 + i, after),
        kOwnerAccount,
        Epsilon::make(1).value(),
        Delta::zero(),
        {},
        ""};
    const Stopwatch watch;
    DISCREET_CHECK(curator.describe(question).has_value(), "the question was not planned");
    plan.push_back(watch.read().wall);
    const LossEvent loss = loss::Pure{*question.epsilon};
    const auto receipt = curator.ledger().charge(
        {kOwnerAccount, fmt::format("{} {}", name, i), "", question.sql, loss,
         ledger::Price::of({*question.epsilon, Delta::zero()}, loss)});
    const Seconds took = watch.read();
    DISCREET_CHECK(receipt.has_value(), "the charge was refused");
    charge.push_back(took.wall - plan.back());
    both.push_back(took.wall);
    cpu.push_back(took.cpu);
  }
  std::printf(
      "%s: plan and price %.2f ms, charge with fsync %.2f ms, together %.2f ms (CPU %.2f ms; at "
      "most 5 ms)\n",
      name, 1e3 * median(plan), 1e3 * median(charge), 1e3 * median(both), 1e3 * median(cpu));
}

/// The whole path without rows to speak of.
void overhead(Curator& curator) {
  const std::string three = "count(*), sum(amount), avg(amount)";
  before_the_rows(curator, "one group, declared bounds", three, "");
  before_the_rows(curator, "1,000 groups", "key, " + three, " GROUP BY key");
  std::vector<double> all, cpu;
  for (int i = 0; i < 40; ++i) {
    const Stopwatch watch;
    const auto answer = curator.answer(
        {fmt::format(
             "SELECT key, count(*), sum(amount), avg(amount) FROM by_row WHERE amount < 0 AND "
             "amount > {} GROUP BY key HAVING count(*) > 1000000",
             i),
         kOwnerAccount,
         Epsilon::make(1).value(),
         Delta::zero(),
         {},
         ""});
    const Seconds took = watch.read();
    all.push_back(took.wall);
    cpu.push_back(took.cpu);
    DISCREET_CHECK(answer.has_value(), "the small question was not answered");
  }
  std::printf(
      "whole path without rows (plan, price, two durable writes, 1,000 noisy groups): median %.2f "
      "ms (CPU %.2f ms)\n",
      1e3 * median(all), 1e3 * median(cpu));
}

}  // namespace
}  // namespace discreet::bench

int main(int argc, char** argv) {
  using namespace discreet;
  using namespace discreet::bench;
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i], value = argv[i + 1];
    if (name == "--rows") options.rows = std::stoll(value);
    if (name == "--people") options.people = std::stoll(value);
    if (name == "--rounds") options.rounds = std::stoi(value);
    if (name == "--only") options.only = value;
    if (name == "--folder") options.folder = value;
  }
  const Folder folder(options.folder);
  DuckDb plain = DuckDb::open({}).value();
  write_rows(plain, folder.path() / "by_row.parquet", options);
  DISCREET_CHECK(plain
                     .execute("CREATE VIEW plain AS SELECT * FROM " +
                              sql_literal((folder.path() / "by_row.parquet").string()))
                     .has_value(),
                 "the view was not made");
  fs::create_hard_link(folder.path() / "by_row.parquet", folder.path() / "by_person.parquet");
  write_policy(folder.path() / "discreet.toml");
  const auto policy = catalog::Policy::load(folder.path() / "discreet.toml", {});
  if (!policy) {
    std::fprintf(stderr, "%s\n", policy.error().message.c_str());
    return 1;
  }
  const SystemClock clock;
  SecureRandom random;
  auto curator = Curator::open(*policy, clock, random, [](std::string_view text) {
    std::fprintf(stderr, "engine: %.*s\n", static_cast<int>(text.size()), text.data());
  });
  if (!curator) {
    std::fprintf(stderr, "%s\n", curator.error().message.c_str());
    return 1;
  }
  std::printf(
      "%lld rows of %lld people in Parquet, epsilon 1, delta 1e-7, best of %d: private, plain, "
      "ratio\n",
      options.rows, options.people, options.rounds);
  for (const Comparison& one : comparisons())
    if (std::string(one.name).find(options.only) != std::string::npos)
      run(one, options, plain, *curator);
  overhead(*curator);
  return 0;
}
