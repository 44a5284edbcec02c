// Local hashing (Wang et al. 2017): each client draws a hash function of its own, hashes the value
// into a few cells, and answers randomized response over the cells.
#include <algorithm>
#include <thread>

#include "local/coin.h"
#include "local/hash.h"
#include "local/hash_decode_internal.h"
#include "local/oracles_internal.h"
#include "local/report_bytes_internal.h"
#include "random/uniform.h"

namespace discreet::local {
namespace {

constexpr std::size_t kBytes = 12;  // a, b, cell

class LocalHash final : public PureOracle {
 public:
  LocalHash(const Spec& spec, Coin lie)
      : PureOracle(spec, kBytes, spec.values, lie.opposite().chance(), 1.0 / spec.cells),
        lie_(lie) {}

  void randomize(std::uint64_t input, RandomSource& random,
                 std::span<std::uint8_t> report) const override {
    const SmallHash hash{static_cast<std::uint32_t>(uniform_below(SmallHash::kPrime, random)),
                         static_cast<std::uint32_t>(uniform_below(SmallHash::kPrime, random))};
    const std::uint64_t cell = hash.bucket(input, spec().cells);
    const bool lies = lie_.toss(random);
    const std::uint64_t drawn = uniform_below(spec().cells - 1, random);
    const std::uint64_t other = drawn + (drawn >= cell ? 1 : 0);
    put(report.data(), hash.a, 4);
    put(report.data() + 4, hash.b, 4);
    put(report.data() + 8, lies ? other : cell, 4);
  }

  Rational likelihood(Bytes report, std::uint64_t input) const override {
    if (!valid(report)) return 0;
    const SmallHash hash = hash_of(report.data());
    const Rational of_hash(1, BigInt(SmallHash::kPrime) * SmallHash::kPrime);
    if (get(report.data() + 8, 4) == hash.bucket(input, spec().cells))
      return of_hash * (1 - lie_.exact());
    return of_hash * lie_.exact() / Rational(spec().cells - 1);
  }

  bool valid(Bytes report) const override {
    return report.size() == kBytes && get(report.data(), 4) < SmallHash::kPrime &&
           get(report.data() + 4, 4) < SmallHash::kPrime &&
           get(report.data() + 8, 4) < spec().cells;
  }

 protected:
  // n times d hash evaluations: shared between threads when that is more than a moment's work.
  void add_valid(Bytes reports, std::span<std::int64_t> cells) const override {
    const std::size_t count = reports.size() / kBytes;
    std::vector<HashWalk> walks(count);
    for (std::size_t i = 0; i < count; ++i) walks[i] = walk(reports.data() + i * kBytes);
    const std::size_t threads =
        count * cells.size() < (std::size_t{1} << 24)
            ? 1
            : std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, 16);
    if (threads == 1) {
      count_support(walks, cells);
      return;
    }
    std::vector<std::vector<std::int64_t>> parts(threads, std::vector<std::int64_t>(cells.size()));
    std::vector<std::thread> workers;
    for (std::size_t t = 0; t < threads; ++t)
      workers.emplace_back([&, t] {
        const std::size_t first = count * t / threads, last = count * (t + 1) / threads;
        count_support(std::span(walks).subspan(first, last - first), parts[t]);
      });
    for (auto& worker : workers) worker.join();
    for (const auto& part : parts)
      for (std::size_t i = 0; i < cells.size(); ++i) cells[i] += part[i];
  }

 private:
  static SmallHash hash_of(const std::uint8_t* report) {
    return {static_cast<std::uint32_t>(get(report, 4)),
            static_cast<std::uint32_t>(get(report + 4, 4))};
  }

  // Points are taken relative to the first point of the reported cell, modulo the prime: a value is
  // supported when its point is below the cell's length.
  HashWalk walk(const std::uint8_t* report) const {
    const SmallHash hash = hash_of(report);
    const std::uint64_t cell = get(report + 8, 4);
    const std::uint32_t first = SmallHash::first_point(cell, spec().cells);
    const std::uint32_t end = SmallHash::first_point(cell + 1, spec().cells);
    const std::uint32_t start =
        hash.b >= first ? hash.b - first : hash.b + (SmallHash::kPrime - first);
    return {hash.a, start, end - first};
  }

  Coin lie_;
};

}  // namespace

std::unique_ptr<Oracle> make_local_hash(const Spec& spec) {
  return std::make_unique<LocalHash>(
      spec, Coin::at_least(Probability::logistic(exact_epsilon(spec), Rational(spec.cells - 1))));
}

}  // namespace discreet::local
