// How long does a client need to share a measurement, and a server to check and add one? CPU time
// of one thread, a report; decoding and encoding of messages and the client's random bytes are
// included.
#include <benchmark/benchmark.h>

#include "mechanisms/discrete_laplace.h"
#include "prio/prio3.h"
#include "random/secure_random.h"

namespace discreet::prio {
namespace {

const std::string kContext = "bench";

struct Case {
  const char* name;
  Circuit circuit;
  Measurement measurement;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> kCases = {
      {"Count", {CircuitKind::Count}, {1}},
      {"Sum32", {CircuitKind::Sum, 1, 0xffffffff}, {123456789}},
      {"SumVec1000", {CircuitKind::SumVec, 1000, 1}, Measurement(1000, 1)},
      {"Histogram10", {CircuitKind::Histogram, 10}, {3}},
      {"Histogram1000", {CircuitKind::Histogram, 1000}, {500}},
      {"MultihotCountVec1000", {CircuitKind::MultihotCountVec, 1000, 10}, Measurement(1000, 0)},
      {"L1BoundSum100", {CircuitKind::L1BoundSum, 100, 1000}, Measurement(100, 10)}};
  return kCases;
}

Bytes random_bytes(std::size_t size, RandomSource& random) {
  std::vector<std::uint64_t> words((size + 7) / 8);
  random.fill(words);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(words.data());
  return {bytes, bytes + size};
}

/// One report on its way through two servers.
struct Flow {
  explicit Flow(const Case& which) : prio(Prio3::make(which.circuit, 2).value()) {
    key = random_bytes(kVerifyKeyBytes, random);
    nonce = random_bytes(kNonceBytes, random);
    report = prio->shard(as_bytes(kContext), which.measurement, nonce,
                         random_bytes(prio->randomness_bytes(), random))
                 .value();
    for (unsigned server : {0U, 1U}) starts.push_back(init(server));
    message = to_message();
    out = prio->verify_next(starts[1].state, message).value();
  }
  VerifyStart init(unsigned server) const {
    return prio
        ->verify_init({.verify_key = key,
                       .context = as_bytes(kContext),
                       .server = server,
                       .nonce = nonce,
                       .public_share = report.public_share,
                       .input_share = report.input_shares[server]})
        .value();
  }
  Bytes to_message() const {
    const ByteSpan shares[] = {starts[0].verifier_share, starts[1].verifier_share};
    return prio->verifier_shares_to_message(as_bytes(kContext), std::span<const ByteSpan>(shares))
        .value();
  }

  std::unique_ptr<const Prio3> prio;
  SecureRandom random;
  Bytes key, nonce, message;
  Report report;
  std::vector<VerifyStart> starts;
  FieldVector out;
};

void Shard(benchmark::State& state, const Case& which) {
  Flow flow(which);
  for (auto _ : state)
    benchmark::DoNotOptimize(
        flow.prio->shard(as_bytes(kContext), which.measurement, flow.nonce,
                         random_bytes(flow.prio->randomness_bytes(), flow.random)));
}
void VerifyInit(benchmark::State& state, const Case& which, unsigned server) {
  const Flow flow(which);
  for (auto _ : state) benchmark::DoNotOptimize(flow.init(server));
}
void ToMessage(benchmark::State& state, const Case& which) {
  const Flow flow(which);
  for (auto _ : state) benchmark::DoNotOptimize(flow.to_message());
}
void VerifyNext(benchmark::State& state, const Case& which) {
  const Flow flow(which);
  for (auto _ : state) {
    VerifyState copy = flow.starts[1].state;
    benchmark::DoNotOptimize(flow.prio->verify_next(std::move(copy), flow.message));
  }
}
void Aggregate(benchmark::State& state, const Case& which) {
  const Flow flow(which);
  FieldVector sum = flow.prio->aggregate_init();
  for (auto _ : state) {
    flow.prio->aggregate(sum, flow.out);
    benchmark::ClobberMemory();
  }
}
/// Noise for one batch of a histogram of 1000 buckets.
void Noise(benchmark::State& state) {
  SecureRandom random;
  const auto prio = Prio3::make({CircuitKind::Histogram, 1000}, 2).value();
  const auto laplace = DiscreteLaplace::make(Epsilon::make(1).value(), L1Sensitivity{2}).value();
  FieldVector sum = prio->aggregate_init();
  for (auto _ : state) {
    std::vector<std::int64_t> noise(1000);
    laplace.release(noise, random);
    prio->add_integers(sum, noise);
  }
}

void declare() {
  for (const Case& which : cases()) {
    const std::string name = which.name;
    const auto add = [&](const char* stage, auto body) {
      benchmark::RegisterBenchmark((name + "/" + stage).c_str(), body)
          ->Unit(benchmark::kMicrosecond);
    };
    add("shard", [&](benchmark::State& state) { Shard(state, which); });
    add("verify_init_leader", [&](benchmark::State& state) { VerifyInit(state, which, 0); });
    add("verify_init_helper", [&](benchmark::State& state) { VerifyInit(state, which, 1); });
    add("shares_to_message", [&](benchmark::State& state) { ToMessage(state, which); });
    add("verify_next_helper", [&](benchmark::State& state) { VerifyNext(state, which); });
    add("aggregate", [&](benchmark::State& state) { Aggregate(state, which); });
  }
  benchmark::RegisterBenchmark("Histogram1000/noise", Noise)->Unit(benchmark::kMicrosecond);
}

}  // namespace
}  // namespace discreet::prio

int main(int argc, char** argv) {
  discreet::prio::declare();
  benchmark::Initialize(&argc, argv);
  benchmark::AddCustomContext("keccak", discreet::prio::name(discreet::prio::keccak_form()));
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
