#include "mechanisms/sample_and_aggregate.h"

#include <vector>

#include <fmt/format.h>

#include "base/saturating.h"
#include "mechanisms/for_error.h"
#include "random/uniform.h"

namespace discreet {

Result<SampleAndAggregate> SampleAndAggregate::for_error(double error, double confidence,
                                                         std::uint64_t blocks, IntegerRange output,
                                                         BlockAggregate aggregate) {
  if (!(confidence > 0 && confidence < 1))
    return invalid_parameter("confidence must lie strictly between 0 and 1");
  return least_epsilon_for_error(
      error, {0x1p-20, 0x1p20},
      [&](Epsilon epsilon) { return make(epsilon, blocks, output, aggregate); },
      [&](const SampleAndAggregate& mechanism) { return mechanism.error_bound(confidence); });
}

Result<SampleAndAggregate> SampleAndAggregate::make(Epsilon epsilon, std::uint64_t blocks,
                                                    IntegerRange output, BlockAggregate aggregate) {
  if (blocks == 0 || blocks > (std::uint64_t{1} << 24))
    return invalid_parameter(fmt::format("use between 1 and 2^24 blocks, not {}", blocks));
  DISCREET_TRY_VOID(check_range(output));
  if (aggregate == BlockAggregate::Median) {
    // Exchanging an answer is one removal and one addition, each at half of epsilon.
    DISCREET_TRY(auto median, Quantile::make(epsilon.share(2), 0.5, output));
    return SampleAndAggregate(epsilon, blocks, output, std::move(median));
  }
  if (epsilon.value() < 0x1p-39 || epsilon.value() > 0x1p20)
    return invalid_parameter(
        fmt::format("epsilon must lie between 2^-39 and 2^20, not {}", epsilon.value()));
  DISCREET_TRY(const auto sensitivity, L1Sensitivity::make(count_up(output.size() - 1)));
  DISCREET_TRY(auto noise, DiscreteLaplace::make(epsilon, sensitivity));
  return SampleAndAggregate(epsilon, blocks, output, std::move(noise));
}

double SampleAndAggregate::release(std::size_t rows, const BlockEstimator& estimator,
                                   RandomSource& random) const {
  std::vector<std::vector<std::size_t>> dealt(blocks_);
  for (std::size_t row = 0; row < rows; ++row) dealt[uniform_below(blocks_, random)].push_back(row);
  std::vector<std::int64_t> answers;
  answers.reserve(blocks_);
  for (const auto& block : dealt) answers.push_back(output_.clamp(estimator(block)));
  if (const auto* median = std::get_if<Quantile>(&combine_))
    return static_cast<double>(median->release(answers, random));
  Int128 sum = 0;
  for (const std::int64_t answer : answers) sum += Int128{answer} - output_.lower;
  const std::int64_t noisy = std::get<DiscreteLaplace>(combine_).release(saturate(sum), random);
  return static_cast<double>(output_.lower) +
         static_cast<double>(noisy) / static_cast<double>(blocks_);
}

LossEvent SampleAndAggregate::loss() const {
  // Two steps of range epsilon / 2 span at most epsilon together.
  if (std::holds_alternative<Quantile>(combine_)) return loss::BoundedRange{epsilon_};
  return std::get<DiscreteLaplace>(combine_).loss();
}

double SampleAndAggregate::error_bound(double confidence) const {
  if (const auto* median = std::get_if<Quantile>(&combine_))
    return median->rank_error_bound(confidence);
  return std::get<DiscreteLaplace>(combine_).error_bound(confidence) / static_cast<double>(blocks_);
}

}  // namespace discreet
