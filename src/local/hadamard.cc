// Hadamard response (Acharya, Sun and Zhang 2019): an index of the half of the columns where the
// value's row of Sylvester's matrix is plus one, with chance e^epsilon / (e^epsilon + 1).
#include <bit>

#include "local/coin.h"
#include "local/oracles_internal.h"
#include "local/report_bytes_internal.h"

namespace discreet::local {
namespace {

class HadamardResponse final : public PureOracle {
 public:
  HadamardResponse(const Spec& spec, std::uint64_t columns, Coin lie)
      : PureOracle(spec, bytes_below(columns), columns, lie.opposite().chance(), 0.5),
        columns_(columns),
        lie_(lie) {}

  // Flipping the lowest bit of the row in a uniform column changes the sign of the entry and keeps
  // the column uniform within the half it lands in.
  void randomize(std::uint64_t input, RandomSource& random,
                 std::span<std::uint8_t> report) const override {
    const std::uint64_t row = input + 1;  // row 0 is plus one everywhere
    const bool negative = lie_.toss(random);
    const std::uint64_t column = random.bits64() & (columns_ - 1);
    const bool turn = hadamard_negative(row, column) != negative;
    put(report.data(), column ^ (turn ? row & (0 - row) : 0), report_bytes());
  }

  Rational likelihood(Bytes report, std::uint64_t input) const override {
    if (!valid(report)) return 0;
    const bool negative = hadamard_negative(input + 1, get(report.data(), report_bytes()));
    return (negative ? lie_.exact() : Rational(1 - lie_.exact())) * 2 / Rational(columns_);
  }

  bool valid(Bytes report) const override {
    return report.size() == report_bytes() && get(report.data(), report_bytes()) < columns_;
  }

 protected:
  void add_valid(Bytes reports, std::span<std::int64_t> cells) const override {
    for (std::size_t i = 0; i < reports.size(); i += report_bytes())
      ++cells[get(reports.data() + i, report_bytes())];
  }

  // A report supports every value whose row is plus one in its column: one transform counts all.
  std::vector<double> estimate_valid(const Tally& tally,
                                     std::span<const std::uint64_t> inputs) const override {
    auto sums = tally.cells;
    walsh_hadamard(sums);
    const auto n = static_cast<double>(tally.reports);
    std::vector<double> out;
    for (const auto input : inputs)
      out.push_back(from_support((n + static_cast<double>(sums[input + 1])) / 2, tally.reports));
    return out;
  }

 private:
  std::uint64_t columns_;
  Coin lie_;
};

}  // namespace

std::unique_ptr<Oracle> make_hadamard(const Spec& spec) {
  return std::make_unique<HadamardResponse>(
      spec, std::bit_ceil(spec.values + 1),
      Coin::at_least(Probability::logistic(exact_epsilon(spec))));
}

}  // namespace discreet::local
