// k-ary randomized response (GRR; Warner's for two values): the value, or another one.
#include "local/coin.h"
#include "local/oracles_internal.h"
#include "local/report_bytes_internal.h"
#include "random/uniform.h"

namespace discreet::local {
namespace {

class Response final : public PureOracle {
 public:
  Response(const Spec& spec, Coin lie)
      : PureOracle(spec, bytes_below(spec.values), spec.values, lie.opposite().chance(),
                   lie.chance() / static_cast<double>(spec.values - 1)),
        lie_(lie) {}

  // Both draws are made every time, so a lie takes as long as the truth.
  void randomize(std::uint64_t input, RandomSource& random,
                 std::span<std::uint8_t> report) const override {
    const bool lies = lie_.toss(random);
    const std::uint64_t drawn = uniform_below(spec().values - 1, random);
    const std::uint64_t other = drawn + (drawn >= input ? 1 : 0);
    put(report.data(), lies ? other : input, report_bytes());
  }

  Rational likelihood(Bytes report, std::uint64_t input) const override {
    if (!valid(report)) return 0;
    if (get(report.data(), report_bytes()) == input) return 1 - lie_.exact();
    return lie_.exact() / Rational(spec().values - 1);
  }

  bool valid(Bytes report) const override {
    return report.size() == report_bytes() && get(report.data(), report_bytes()) < spec().values;
  }

 protected:
  void add_valid(Bytes reports, std::span<std::int64_t> cells) const override {
    for (std::size_t i = 0; i < reports.size(); i += report_bytes())
      ++cells[get(reports.data() + i, report_bytes())];
  }

 private:
  Coin lie_;
};

}  // namespace

std::unique_ptr<Oracle> make_randomized_response(const Spec& spec) {
  return std::make_unique<Response>(
      spec, Coin::at_least(Probability::logistic(exact_epsilon(spec), Rational(spec.values - 1))));
}

}  // namespace discreet::local
