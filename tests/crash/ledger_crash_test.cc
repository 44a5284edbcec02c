// Tries to lose a charge: at every write of the disk, at random instructions, with torn files, with
// processes that race. After each accident the ledger must hold every receipt that was handed out.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <thread>

#include <fmt/format.h>

#include "crash/faulty_disk.h"
#include "ledger/ledger.h"

namespace discreet::crash {
namespace {

namespace fs = std::filesystem;
using ledger::Charge;
using ledger::FilterKind;
using ledger::Ledger;
using ledger::Price;
using Fault = FaultyDisk::Fault;
using Leaves = FaultyDisk::Leaves;

Epsilon eps(double value) {
  return Epsilon::make(value).value();
}

Charge ask(int question, double epsilon) {
  const LossEvent loss = loss::Pure{eps(epsilon)};
  return {"alice",
          fmt::format("q{}", question),
          fmt::format("r{}", question),
          "",
          loss,
          Price::of({eps(epsilon), Delta::zero()}, loss)};
}

std::string slurp(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
void spill(const fs::path& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// In memory where there is such a place: what is synced is the faulty disk's to say, and pages
/// outlive a killed process anywhere.
fs::path scratch() {
  return ::access("/dev/shm", W_OK) == 0 ? fs::path("/dev/shm") : fs::temp_directory_path();
}

class LedgerCrashTest : public ::testing::Test {
 protected:
  LedgerCrashTest() {
    std::string text = (scratch() / "discreet-crash-XXXXXX").string();
    folder_ = ::mkdtemp(text.data());
    file_ = folder_ / "ledger.sqlite";
  }
  ~LedgerCrashTest() override { fs::remove_all(folder_); }

  Result<Ledger> open(const char* vfs = nullptr, double budget = 1) {
    const Amount amount{eps(budget), Delta::zero()};
    return Ledger::open(file_,
                        {{"default", "", amount, {}, FilterKind::Best},
                         {"alice", "default", amount, {}, FilterKind::Best}},
                        clock_, {.vfs = vfs});
  }
  void clean() {
    for (const char* end : {"", "-wal", "-shm", "-journal"}) fs::remove(file_.string() + end);
  }

  static constexpr int kQuestions = 4;
  static constexpr double kPrice = 0.25;

  struct Seen {
    std::vector<int> paid, answered;
  };
  /// Four questions that exactly fill the budget; notes what was handed out before things stopped.
  Seen use(const char* vfs) {
    Seen seen;
    auto ledger = open(vfs);
    if (!ledger) return seen;
    for (int q = 0; q < kQuestions; ++q) {
      auto receipt = ledger->charge(ask(q, kPrice));
      if (!receipt) continue;
      seen.paid.push_back(q);
      if (ledger->record_release(*std::move(receipt), fmt::format("answer {}", q)))
        seen.answered.push_back(q);
    }
    return seen;
  }

  /// The promises, after the accident and on a healthy disk.
  void check(const Seen& seen) {
    auto ledger = open();
    ASSERT_TRUE(ledger) << ledger.error().message;
    const auto verified = ledger->verify();
    ASSERT_TRUE(verified) << verified.error().message;
    const double spent = ledger->balance("default")->spent.epsilon.value();
    EXPECT_GE(spent, kPrice * static_cast<double>(seen.paid.size())) << "a charge was lost";
    EXPECT_LE(spent, 1.0) << "overspent";
    for (const int q : seen.answered) {
      const auto found = ledger->find_answer("alice", fmt::format("q{}", q));
      ASSERT_TRUE(found) << found.error().message;
      ASSERT_TRUE(*found) << "an answer left and is not on record";
      EXPECT_EQ((*found)->answer, fmt::format("answer {}", q));
    }
    // Life goes on: retries pay once, and the whole never exceeds the budget.
    for (int q = 0; q < kQuestions; ++q) {
      auto receipt = ledger->charge(ask(q, kPrice));
      ASSERT_TRUE(receipt) << receipt.error().message;
      ASSERT_TRUE(ledger->record_release(*std::move(receipt), fmt::format("answer {}", q)));
    }
    EXPECT_FALSE(ledger->charge(ask(99, kPrice)));
    EXPECT_EQ(ledger->balance("default")->spent.epsilon.value(), 1.0);
    const auto again = ledger->verify();
    EXPECT_TRUE(again) << again.error().message;
  }

  fs::path folder_, file_;
  SystemClock clock_;
};

struct Accident {
  const char* name;
  Fault fault;
  Leaves leaves;
};

class LedgerFaultTest : public LedgerCrashTest, public ::testing::WithParamInterface<Accident> {};

TEST_P(LedgerFaultTest, KeepsItsPromisesWhicheverOperationFails) {
  FaultyDisk disk;
  int at = 1, paid_while_failing = 0;
  for (;; ++at) {
    clean();
    disk.plan(GetParam().fault, at);
    const Seen seen = use(FaultyDisk::name());
    const bool struck = disk.struck();
    disk.restart(GetParam().leaves);
    paid_while_failing += static_cast<int>(seen.paid.size());
    SCOPED_TRACE(fmt::format("operation {}: {} paid, {} answered", at, seen.paid.size(),
                             seen.answered.size()));
    check(seen);
    if (HasFatalFailure() || !struck) break;
  }
  RecordProperty("operations", at - 1);
  std::cout << GetParam().name << ": failed at each of " << at - 1 << " operations\n";
  EXPECT_GT(at, 30) << "the disk was hardly used: the test does not test";
  EXPECT_GT(paid_while_failing, kQuestions);
}

INSTANTIATE_TEST_SUITE_P(Accidents, LedgerFaultTest,
                         ::testing::Values(Accident{"error", Fault::Error, Leaves::Everything},
                                           Accident{"full", Fault::Full, Leaves::Everything},
                                           Accident{"power_none", Fault::Power, Leaves::Nothing},
                                           Accident{"power_half", Fault::Power, Leaves::FirstHalf},
                                           Accident{"power_torn", Fault::Power, Leaves::TornHalf},
                                           Accident{"power_scattered", Fault::Power,
                                                    Leaves::Scattered},
                                           Accident{"power_all", Fault::Power, Leaves::Everything}),
                         [](const auto& instance) { return std::string(instance.param.name); });

TEST_F(LedgerCrashTest, TheFaultyDiskReallyLosesWhatWasNotSynced) {
  FaultyDisk disk;
  const std::string path = folder_ / "note";
  sqlite3_vfs* vfs = sqlite3_vfs_find(FaultyDisk::name());
  std::vector<std::max_align_t> memory(
      static_cast<std::size_t>(vfs->szOsFile) / sizeof(std::max_align_t) + 1);
  auto* file = reinterpret_cast<sqlite3_file*>(memory.data());
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MAIN_DB;
  ASSERT_EQ(vfs->xOpen(vfs, path.c_str(), file, flags, &flags), SQLITE_OK);
  disk.plan(Fault::Power, 4);
  EXPECT_EQ(file->pMethods->xWrite(file, "kept", 4, 0), SQLITE_OK);
  EXPECT_EQ(file->pMethods->xSync(file, SQLITE_SYNC_FULL), SQLITE_OK);
  EXPECT_EQ(file->pMethods->xWrite(file, "lost", 4, 4), SQLITE_OK);
  EXPECT_NE(file->pMethods->xSync(file, SQLITE_SYNC_FULL), SQLITE_OK) << "power went here";
  file->pMethods->xClose(file);
  EXPECT_EQ(slurp(path), "keptlost");
  disk.restart(Leaves::Nothing);
  EXPECT_EQ(slurp(path), "kept");
}

/// Charges for ever and says so through the pipe, one byte pair a receipt, until it is killed.
[[noreturn]] void spend_until_killed(const std::function<Result<Ledger>()>& open, int first,
                                     int pipe) {
  auto ledger = open();
  if (!ledger) ::_exit(3);
  for (int q = first;; ++q) {
    auto receipt = ledger->charge(ask(q, 1e-4));
    if (!receipt) ::_exit(4);
    if (::write(pipe, &q, sizeof q) != sizeof q) ::_exit(5);
    if (!ledger->record_release(*std::move(receipt), fmt::format("answer {}", q))) ::_exit(6);
  }
}

TEST_F(LedgerCrashTest, KillNineAtRandomMomentsLosesNoCharge) {
  const char* rounds_wanted = std::getenv("DISCREET_CRASH_ROUNDS");
  const int rounds = rounds_wanted ? std::atoi(rounds_wanted) : 25;
  std::vector<int> promised;
  for (int round = 0; round < rounds; ++round) {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0)
      spend_until_killed([&] { return open(nullptr, 1000); }, round * 100'000, ends[1]);
    ::close(ends[1]);
    std::this_thread::sleep_for(std::chrono::microseconds(3000 + (round * 7919 % 97) * 700));
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child stopped by itself with " << WEXITSTATUS(status);
    for (int q = 0; ::read(ends[0], &q, sizeof q) == sizeof q;) promised.push_back(q);
    ::close(ends[0]);
    if (round % 5 != 4 && round + 1 != rounds) continue;  // the next child recovers by itself
    auto ledger = open(nullptr, 1000);
    ASSERT_TRUE(ledger) << ledger.error().message;
    const auto verified = ledger->verify();
    ASSERT_TRUE(verified) << verified.error().message;
    const auto before = ledger->balance("alice")->spent;
    EXPECT_GE(before.charges, promised.size());
    for (const int q : promised) ASSERT_TRUE(ledger->charge(ask(q, 1e-4)));
    EXPECT_EQ(ledger->balance("alice")->spent, before)
        << "a receipt was handed out and its charge lost";
  }
  RecordProperty("receipts", static_cast<int>(promised.size()));
  std::cout << rounds << " kills, " << promised.size() << " receipts, none lost\n";
  EXPECT_GT(promised.size(), 20u);
}

TEST_F(LedgerCrashTest, ProcessesRacingForTheLastOfABudgetNeverOverspend) {
  constexpr int kProcesses = 4, kTries = 12;
  {
    ASSERT_TRUE(open());
  }
  std::vector<pid_t> children;
  for (int p = 0; p < kProcesses; ++p) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      auto ledger = open();
      int granted = 0;
      for (int i = 0; ledger && i < kTries; ++i)
        granted += ledger->charge(ask(p * 1000 + i, 1.0 / 32)).has_value();
      ::_exit(ledger ? granted : 99);
    }
    children.push_back(child);
  }
  int granted = 0;
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    ASSERT_LE(WEXITSTATUS(status), kTries);
    granted += WEXITSTATUS(status);
  }
  EXPECT_EQ(granted, 32);
  auto ledger = open();
  EXPECT_EQ(ledger->balance("default")->spent.epsilon.value(), 1.0);
  EXPECT_TRUE(ledger->verify());
}

TEST_F(LedgerCrashTest, ATornOrDamagedLogIsCutAtAWholeTransaction) {
  std::string database, log;
  std::uint64_t events_before = 0;
  std::size_t log_before = 0;
  {
    Ledger ledger = open().value();
    ASSERT_TRUE(ledger.charge(ask(0, 0.25)));
    events_before = ledger.verify()->events;
    log_before = slurp(file_.string() + "-wal").size();
    ASSERT_TRUE(ledger.charge(ask(1, 0.25)));
    database = slurp(file_);
    log = slurp(file_.string() + "-wal");  // still open: not yet checkpointed
  }
  ASSERT_GT(log.size(), log_before);
  const bool every_byte = std::getenv("DISCREET_CRASH_ROUNDS") != nullptr;
  const auto consistent = [&](const std::string& torn) {
    clean();
    spill(file_, database);
    spill(file_.string() + "-wal", torn);
    Ledger ledger = open().value();
    const auto verified = ledger.verify();
    ASSERT_TRUE(verified) << verified.error().message;
    EXPECT_EQ(verified->events,
              torn.size() == log.size() && torn == log ? events_before + 1 : events_before);
    EXPECT_LE(ledger.balance("default")->spent.epsilon.value(), 0.5);
  };
  int cases = 0;
  const std::size_t stride = every_byte ? 1 : 211;
  for (std::size_t size = log_before; size <= log.size(); size += stride, ++cases) {
    SCOPED_TRACE(fmt::format("cut to {} of {} bytes", size, log.size()));
    consistent(log.substr(0, size));
    if (HasFatalFailure()) return;
  }
  for (std::size_t at = log_before; at < log.size(); at += 7 * stride, ++cases) {
    SCOPED_TRACE(fmt::format("byte {} flipped", at));
    std::string damaged = log;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x40);
    consistent(damaged);
    if (HasFatalFailure()) return;
  }
  consistent(log);
  std::cout << cases << " damaged logs of " << log.size() - log_before << " bytes\n";
}

}  // namespace
}  // namespace discreet::crash
