#include "engines/compare.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <thread>

#include <fmt/format.h>

#include "base/check.h"
#include "base/clock.h"
#include "curator/curator.h"
#include "random/secure_random.h"

namespace discreet::bench {
namespace {

double own_cpu_seconds() {
  rusage own{};
  getrusage(RUSAGE_SELF, &own);
  return static_cast<double>(own.ru_utime.tv_sec + own.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(own.ru_utime.tv_usec + own.ru_stime.tv_usec);
}

/// Seconds of CPU of `other` and of everything below it and this process, children that ended
/// included.
double others_cpu_seconds(long other) {
  struct Process {
    long parent = 0;
    double seconds = 0;
  };
  std::map<long, Process> all;
  const double tick = 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK));
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file(entry.path() / "stat");
    std::string line, skipped;
    if (!std::getline(file, line)) continue;
    // After the name: state, parent; as fields 12 to 15 from there user and system time, and those
    // of children that have ended.
    std::istringstream fields(line.substr(std::min(line.size(), line.rfind(')') + 1)));
    Process process;
    fields >> skipped >> process.parent;
    for (int i = 0; i < 9; ++i) fields >> skipped;
    for (int i = 0; i < 4; ++i) {
      long ticks = 0;
      fields >> ticks;
      process.seconds += tick * static_cast<double>(ticks);
    }
    all[std::atol(name.c_str())] = process;
  }
  double total = 0;
  for (const auto& [id, process] : all) {
    if (id == getpid()) continue;
    long above = id;
    while (above > 1 && above != getpid() && above != other) {
      const auto found = all.find(above);
      above = found == all.end() ? 0 : found->second.parent;
    }
    if (above > 1) total += process.seconds;
  }
  return total;
}

/// MiB that this process has had in memory at most since forget_peak().
long peak_mib() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("VmHWM:")) return std::atol(line.c_str() + 6) / 1024;
  return 0;
}
void forget_peak() {
  std::ofstream("/proc/self/clear_refs") << "5";
}

struct Spent {
  double wall = 1e300, cpu = 1e300, here = 1e300;  // here: of this process alone

  void measure(const Place& place, const std::function<void()>& work) {
    const double others_before = others_cpu_seconds(place.process());
    const double own_before = own_cpu_seconds();
    const auto begin = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    wall = std::min(wall, took.count());
    const double own = own_cpu_seconds() - own_before;
    here = std::min(here, own);
    cpu = std::min(cpu, own + others_cpu_seconds(place.process()) - others_before);
  }
};

struct Asked {
  const char* name;
  const char* sql;  ///< with {} for the table
  const char* table;
  double limit;  ///< of private / plain
  /// The same without privacy but person by person: what any bound on a person needs at least.
  const char* by_person = nullptr;
  /// One sum over the columns that the private question has to read: whose row, and what is asked
  /// of.
  const char* reading = nullptr;
};

constexpr Asked kQuestions[] = {
    {"count, a row is somebody", "SELECT count(*) FROM {}", "by_row", 1.5},
    {"count of some, a row is somebody", "SELECT count(*) FROM {} WHERE amount < 500", "by_row",
     1.5},
    {"sum by 1,000 keys, a row is somebody", "SELECT key, sum(amount) FROM {} GROUP BY key",
     "by_row", 1.5},
    {"sum of one, a person is somebody", "SELECT sum(amount) FROM {}", "by_person", 3,
     "SELECT sum(mine) FROM (SELECT person, sum(amount) AS mine FROM {} GROUP BY person) AS t",
     "SELECT sum(person + amount) FROM {}"},
    {"sum by 3 words, a person is somebody", "SELECT word, sum(amount) FROM {} GROUP BY word",
     "by_person", 3,
     "SELECT word, sum(mine) FROM (SELECT person, word, sum(amount) AS mine FROM {} GROUP BY "
     "person, word) AS t GROUP BY word"},
    {"sum by 1,000 keys, a person is somebody", "SELECT key, sum(amount) FROM {} GROUP BY key",
     "by_person", 3,
     "SELECT key, sum(mine) FROM (SELECT person, key, sum(amount) AS mine FROM {} GROUP BY person, "
     "key) AS t GROUP BY key"},
    {"count and avg by 3 words, a person is somebody",
     "SELECT word, count(*), avg(amount) FROM {} GROUP BY word", "by_person", 3,
     "SELECT word, sum(times), sum(mine) / sum(times) FROM (SELECT person, word, count(*) AS "
     "times, "
     "sum(amount) AS mine FROM {} GROUP BY person, word) AS t GROUP BY word"},
};
constexpr Asked kGroups = {"every row a group, a row is somebody",
                           "SELECT key, count(*) FROM {} GROUP BY key", "many", 1.5};

class Comparison {
 public:
  explicit Comparison(Place& place) : place_(place) {
    char name[] = "/tmp/discreet_bench_XXXXXX";
    folder_ = mkdtemp(name);
    std::ofstream out(folder_ / "policy.toml");
    for (const char* table : {"by_row", "by_person", "many"}) {
      out << fmt::format("[tables.{}]\nsource = \"{}\"\nunit = \"{}\"\n[tables.{}.columns]\n",
                         table, place.source(table), table[3] == 'p' ? "person" : "row", table);
      if (table[0] == 'b')
        out << "key = { range = [0, 999] }\namount = { range = [0, 1000] }\n"
               "word = { values = [\"red\", \"blue\", \"green\"] }\n";
    }
    out << "[budgets.default]\nepsilon = \"unlimited\"\ndelta = \"unlimited\"\n";
    out.close();
    policy_.emplace(catalog::Policy::load((folder_ / "policy.toml").string()).value());
    auto opened = Curator::open(*policy_, clock_, random_, [](std::string_view words) {
      std::fprintf(stderr, "%.*s\n", static_cast<int>(words.size()), words.data());
    });
    DISCREET_CHECK(opened.has_value(), "the benchmark's curator does not open");
    curator_.emplace(*std::move(opened));
  }
  ~Comparison() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Comparison(const Comparison&) = delete;
  Comparison& operator=(const Comparison&) = delete;

  void run(const Asked& asked, long long rows, int rounds) {
    Spent plain, by_person, reading, ours, first;
    std::size_t released = 0;
    forget_peak();
    const long before = peak_mib();
    for (int round = 0; round < rounds; ++round) {
      plain.measure(place_, [&] { place_.plain(asked.sql, asked.table); });
      Question question;
      question.sql = fmt::format(fmt::runtime(asked.sql), asked.table);
      question.epsilon = Epsilon::make(1 + 1e-3 * ++asked_).value();
      const auto ask = [&] {
        const auto answer = curator_->answer(question);
        DISCREET_CHECK(answer.has_value(), "a question failed");
        released = answer->rows.size();
      };
      if (round == 0)
        first.measure(place_, ask);
      else
        ours.measure(place_, ask);
    }
    // After the two that are compared: neither should pay for memory that these leave to the
    // engine.
    for (int round = 0; round < rounds; ++round) {
      if (asked.reading != nullptr)
        reading.measure(place_, [&] { place_.plain(asked.reading, asked.table); });
      // What takes long needs no more than two looks.
      constexpr double kLong = 5;
      if (asked.by_person != nullptr && (round < 2 || by_person.wall < kLong))
        by_person.measure(place_, [&] { place_.plain(asked.by_person, asked.table); });
    }
    if (rounds == 1) ours = first;
    const double ratio = ours.cpu / plain.cpu;
    std::string beside;
    if (asked.by_person != nullptr)
      beside +=
          fmt::format("   by person {:.3f} s {:.2f}x", by_person.cpu, ours.cpu / by_person.cpu);
    if (asked.reading != nullptr)
      beside += fmt::format("   reading {:.4f} s {:.2f}x", reading.cpu, ours.cpu / reading.cpu);
    std::printf(
        "%-9s %10lld  %-46s CPU %8.4f s %8.4f s (%.4f here) %6.2fx (at most %.1fx)%s   first %.4f "
        "s%s   wall %8.2f s %8.2f s   %zu groups, %+ld MiB\n",
        place_.name().c_str(), rows, asked.name, plain.cpu, ours.cpu, ours.here, ratio, asked.limit,
        ratio <= asked.limit ? "" : " MISSED", first.cpu, beside.c_str(), plain.wall, ours.wall,
        released, peak_mib() - before);
    std::fflush(stdout);
  }

 private:
  Place& place_;
  std::filesystem::path folder_;
  SystemClock clock_;
  SecureRandom random_;
  std::optional<catalog::Policy> policy_;
  std::optional<Curator> curator_;
  int asked_ = 0;
};

}  // namespace

int compare(Place& place, int argc, char** argv) {
  std::string sizes = "1000000,10000000", only, people = "turns";
  long long groups = 10'000'000;
  int rounds = 3;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--rows") == 0) sizes = argv[i + 1];
    if (std::strcmp(argv[i], "--rounds") == 0) rounds = std::atoi(argv[i + 1]);
    if (std::strcmp(argv[i], "--only") == 0) only = argv[i + 1];
    if (std::strcmp(argv[i], "--people") == 0) people = argv[i + 1];
    if (std::strcmp(argv[i], "--groups") == 0) groups = std::atoll(argv[i + 1]);
  }
  DISCREET_CHECK(people == "turns" || people == "mixed", "--people is turns or mixed");
  std::printf("people in %s\n", people == "mixed" ? "no order" : "turns");
  std::printf("%-9s %10s  %-46s     %10s %10s   ratio\n", "engine", "rows", "question", "plain",
              "private");
  std::stringstream list(sizes);
  bool first = true;
  for (std::string size; std::getline(list, size, ',');) {
    const long long rows = std::atoll(size.c_str());
    place.make(rows, groups, people == "mixed");
    // Files that were written just now are not taken to stay as they are
    // (DuckDbSettings::files_settle_s), which questions to older ones do not pay for.
    std::this_thread::sleep_for(std::chrono::seconds(4));
    Comparison comparison(place);
    const auto wanted = [&](const Asked& asked) {
      return std::string_view(asked.name).find(only) != std::string_view::npos;
    };
    for (const Asked& asked : kQuestions)
      if (wanted(asked)) comparison.run(asked, rows, rounds);
    if (std::exchange(first, false) && groups > 0 && wanted(kGroups))
      comparison.run(kGroups, groups, 1);
  }
  return 0;
}

}  // namespace discreet::bench
