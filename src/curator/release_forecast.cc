// What EXPLAIN tells of a release: mechanisms and errors before anything is paid.
#include <cmath>

#include "curator/release_job.h"
#include "curator/tables_job.h"

namespace discreet {

std::vector<std::string> ReleaseJob::notes(Engine& engine) const {
  return tables_ ? tables_->notes(engine) : std::vector<std::string>{};
}

// Noise is in proportion to the bound, so the error at a bound of one row says it for every bound.
// Quotients are those of a group of 1,000 rows.
std::vector<std::optional<double>> ReleaseJob::clipped_errors_per_row() const {
  constexpr double kRows = 1000;
  if (blocks_.empty()) return std::vector<std::optional<double>>(release_->aggregates.size());
  NoisyGroup noisy{std::vector<double>(sums_.sums.size(), 0),
                   std::vector<double>(sums_.sums.size(), 0)};
  std::vector<bool> known(sums_.sums.size(), false);
  const Epsilon share = for_sums_.share(blocks_.size());
  for (const auto& block : blocks_) {
    std::vector<Sum> sums;
    for (const std::size_t sum : block) sums.push_back(sums_.sums[sum]);
    if (!sums.front().bounded) continue;
    const auto take = [&](const auto& mechanism) {
      for (std::size_t i = 0; i < block.size() && mechanism; ++i) {
        noisy.sd[block[i]] = mechanism->noise_sd_per_row(i);
        known[block[i]] = true;
      }
    };
    if (centred_.empty())
      take(ClippedSums::make(share, sums, clip_options(sums)));
    else
      take(CentredSums::make(share, sums, centred_, clip_options(sums)));
  }
  std::vector<std::optional<double>> errors(release_->aggregates.size());
  for (const SumUse& use : sums_.uses) {
    const auto& aggregate = release_->aggregates[use.aggregate];
    const auto is_known = [&](const std::optional<std::size_t>& sum) {
      return !sum || known[*sum];
    };
    if ((!use.raw && !known[use.count]) || !is_known(use.linear) || !is_known(use.square) ||
        !is_known(use.linear_y) || !is_known(use.square_y) || !is_known(use.product) ||
        std::holds_alternative<sql::HistogramRelease>(aggregate.kind))
      continue;
    NoisyGroup group = noisy;
    if (!use.raw) group.value[use.count] = kRows;
    const double error = estimate(aggregate, use, group, 1).error95;
    if (std::isfinite(error) && error > 0) errors[use.aggregate] = error;
  }
  return errors;
}

std::vector<AggregateForecast> ReleaseJob::forecast() const {
  std::vector<AggregateForecast> forecast(release_->aggregates.size());
  if (tables_) {
    // The worst of the grouping sets; notes() has each.
    for (std::size_t i = 0; i < forecast.size(); ++i) {
      forecast[i].mechanism = "joint tables, discrete Gaussian";
      for (std::size_t set = 0; set < release_->grouping_sets->size(); ++set)
        if (const auto error = tables_->error95(i, set))
          forecast[i].error95 = std::max(forecast[i].error95.value_or(0), *error);
    }
    return forecast;
  }
  if (direct_) {
    const auto errors = direct_->error95_before(1000);
    const auto names = direct_->mechanisms();
    for (std::size_t i = 0; i < forecast.size(); ++i) {
      const auto& kind = release_->aggregates[i].kind;
      const bool per_row = std::holds_alternative<sql::AvgRelease>(kind) ||
                           std::holds_alternative<sql::VarianceRelease>(kind) ||
                           std::holds_alternative<sql::CovarianceRelease>(kind);
      const auto* histogram = std::get_if<sql::HistogramRelease>(&kind);
      forecast[i] = {names[i], errors[i],
                     per_row || (histogram != nullptr && histogram->cumulative)};
    }
  } else {
    for (const SumUse& use : sums_.uses)
      forecast[use.aggregate] = {sums_delta_.value() > 0
                                     ? "clipped sum, discrete Laplace or Gaussian"
                                     : "clipped sum, discrete Laplace",
                                 std::nullopt, false};
    const auto per_row = clipped_errors_per_row();
    for (std::size_t i = 0; i < per_row.size(); ++i) forecast[i].error95_per_row = per_row[i];
    for (const auto& block : blocks_) {
      std::vector<Sum> sums;
      for (const std::size_t sum : block) sums.push_back(sums_.sums[sum]);
      const ClipOptions options = clip_options(sums);
      if (!options.size_max) continue;
      const auto clipped = ClippedSums::make(for_sums_.share(blocks_.size()), sums, options);
      for (const SumUse& use : sums_.uses)
        for (std::size_t i = 0; i < block.size(); ++i)
          if (block[i] == use.count && !use.linear && use.bins.empty())
            forecast[use.aggregate] = {
                "discrete Laplace", whole_error95(*clipped.value().noise_sd(i)), false, {}};
    }
  }
  for (const TestJob& test : tests_)
    forecast[test.aggregate()] = {test.mechanism(), test.error95_before(), true};
  for (const ClampedAggregate& clamped : clamped_)
    forecast[clamped.aggregate()] = {"clamped sum, discrete Laplace", clamped.error95_before(),
                                     false};
  for (std::size_t i = 0; i < streams_.size(); ++i)
    forecast[stream_aggregates_[i]] = {streams_[i].mechanism(), std::nullopt, false};
  return forecast;
}

}  // namespace discreet
