// What local reports cost: making one on the client, decoding many on the collector.
#include <benchmark/benchmark.h>

#include "local/oracle.h"
#include "random/secure_random.h"

namespace {

using namespace discreet::local;

std::unique_ptr<Oracle> oracle_of(OracleKind kind, std::uint64_t values) {
  Spec spec;
  spec.kind = kind;
  spec.epsilon = 2;
  spec.values = is_mean(kind) ? 0 : values;
  return Oracle::make(spec).value();
}

void make_report(benchmark::State& state, OracleKind kind) {
  const auto oracle = oracle_of(kind, 1024);
  discreet::SecureRandom random;
  std::vector<std::uint8_t> report(oracle->report_bytes());
  std::uint64_t value = 0;
  for (auto _ : state) {
    oracle->randomize(value++ % 1024, random, report);
    benchmark::DoNotOptimize(report.data());
  }
  state.counters["bytes"] = static_cast<double>(oracle->report_bytes());
}

// Items are reports; the number of reports is the argument. CPU time is that of all threads.
void decode_reports(benchmark::State& state, OracleKind kind) {
  const auto oracle = oracle_of(kind, 1024);
  const auto count = static_cast<std::size_t>(state.range(0));
  discreet::SecureRandom random;
  std::vector<std::uint8_t> reports(count * oracle->report_bytes());
  for (std::size_t i = 0; i < count; ++i)
    oracle->randomize(
        i % 1024, random,
        std::span(reports).subspan(i * oracle->report_bytes(), oracle->report_bytes()));
  for (auto _ : state) {
    auto tally = oracle->empty_tally();
    oracle->add(reports, tally);
    const auto estimates = oracle->estimate(tally);
    benchmark::DoNotOptimize(estimates->front().estimate);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(count) * state.iterations());
}

}  // namespace

int main(int argc, char** argv) {
  for (const auto kind : all_oracles()) {
    if (kind == OracleKind::Rappor) continue;  // 1,024 candidates need wider filters
    benchmark::RegisterBenchmark((std::string("Report/") + name(kind)).c_str(), make_report, kind);
    if (is_mean(kind)) continue;
    auto* decode = benchmark::RegisterBenchmark((std::string("Decode/") + name(kind)).c_str(),
                                                decode_reports, kind);
    decode->Arg(kind == OracleKind::OptimizedHash ? 1'000'000 : 20'000)
        ->MeasureProcessCPUTime()
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
