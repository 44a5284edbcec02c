// How long is a charge, from the call until it is on disk, and how much of that is the disk? The
// same with a file in memory shows the ledger's own part.
#include <benchmark/benchmark.h>

#include <unistd.h>

#include <filesystem>
#include <string>

#include "ledger/ledger.h"

namespace discreet::ledger {
namespace {

namespace fs = std::filesystem;

const Amount kPlenty = Amount::unlimited();

/// A folder of its own, gone at the end.
class Folder {
 public:
  explicit Folder(const char* under) : path_((fs::path(under) / "discreet-bench-XXXXXX").string()) {
    if (!::mkdtemp(path_.data())) path_.clear();
  }
  ~Folder() { fs::remove_all(path_); }
  fs::path file() const { return fs::path(path_) / "ledger.sqlite"; }

 private:
  std::string path_;
};

void ChargeAndRelease(benchmark::State& state, const char* under) {
  const Folder folder(under);
  const SystemClock clock;
  Ledger ledger = Ledger::open(folder.file(),
                               {{"default", "", kPlenty, {}, FilterKind::Best},
                                {"alice", "default", kPlenty, {}, FilterKind::Best}},
                               clock)
                      .value();
  const Epsilon epsilon = Epsilon::make(0.1).value();
  const LossEvent loss = loss::Pure{epsilon};
  const Price price = Price::of({epsilon, Delta::zero()}, loss);
  const std::string answer(1000, 'x');
  int question = 0;
  for (auto _ : state) {
    auto receipt = ledger.charge(
        {"alice", std::to_string(question++), "", "select count(*) from people", loss, price});
    benchmark::DoNotOptimize(ledger.record_release(*std::move(receipt), answer).value());
  }
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK_CAPTURE(ChargeAndRelease, disk, "/tmp")->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(ChargeAndRelease, memory, "/dev/shm")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace discreet::ledger

BENCHMARK_MAIN();
