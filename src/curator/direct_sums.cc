#include "curator/direct_sums.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "mechanisms/moments.h"
#include "random/discrete_laplace_sampler.h"

namespace discreet {
namespace {

// The K-norm's column for a use, or nothing where it cannot serve it.
struct MomentUse {
  std::size_t sum_feature, square_feature;
  bool with_variance;
  IntegerRange range;
};

std::optional<MomentUse> moment_use(const sql::Release& release, const SumUse& use) {
  const auto& kind = release.aggregates[use.aggregate].kind;
  MomentUse moment{};
  if (const auto* avg = std::get_if<sql::AvgRelease>(&kind)) {
    moment = {avg->sum, 0, false, {}};
  } else if (const auto* sum = std::get_if<sql::SumRelease>(&kind); sum != nullptr && !use.raw) {
    moment = {sum->sum, 0, false, {}};
  } else if (const auto* variance = std::get_if<sql::VarianceRelease>(&kind)) {
    moment = {variance->sum, variance->squares, true, {}};
  } else {
    return std::nullopt;
  }
  const sql::Value& value = release.values[*release.features[moment.sum_feature].value];
  moment.range = {value.lower, value.upper};
  return moment;
}

std::size_t count_feature(const sql::AggregateKind& kind) {
  if (const auto* count = std::get_if<sql::CountRelease>(&kind)) return count->rows;
  if (const auto* sum = std::get_if<sql::SumRelease>(&kind)) return sum->count;
  if (const auto* avg = std::get_if<sql::AvgRelease>(&kind)) return avg->count;
  return std::get<sql::VarianceRelease>(kind).count;
}

}  // namespace

// One share of epsilon: either a K-norm draw for a family of aggregates over the same rows, or
// independent noise.
struct DirectSums::Part {
  std::vector<std::size_t> uses;  // indexes into the plan

  std::optional<KNorm> knorm;
  std::size_t count = 0;  // feature
  std::vector<std::pair<std::size_t, std::size_t>>
      columns;                             // sum and square features, by K-norm column
  std::vector<std::size_t> column_of_use;  // SIZE_MAX: the count itself

  std::vector<std::size_t> sums;  // of the plan, with independent noise
  std::vector<DiscreteLaplaceSampler> noise;
  std::vector<double> noise_sd;
  double count_floor = 1;
};

Result<DirectSums> DirectSums::make(const sql::Release& release, const SumPlan& plan,
                                    Epsilon epsilon) {
  if (epsilon.value() == 0)
    return invalid_parameter("epsilon must be positive: at zero nothing can be released");
  DirectSums direct;
  direct.release_ = &release;
  direct.plan_ = plan;

  // Families: aggregates over the same rows that a K-norm draw can serve together.
  std::map<std::size_t, std::vector<std::size_t>> families;
  std::vector<std::vector<std::size_t>> others;  // uses that get independent noise
  for (std::size_t u = 0; u < plan.uses.size(); ++u) {
    const auto& kind = release.aggregates[plan.uses[u].aggregate].kind;
    if (moment_use(release, plan.uses[u]) || std::holds_alternative<sql::CountRelease>(kind))
      families[count_feature(kind)].push_back(u);
    else
      others.push_back({u});
  }
  std::vector<Part> parts;
  for (auto& [count, uses] : families) {
    Part part;
    part.uses = uses;
    part.count = count;
    parts.push_back(std::move(part));
  }
  for (auto& uses : others) {
    Part part;
    part.uses = uses;
    parts.push_back(std::move(part));
  }
  const Epsilon share = epsilon.share(parts.size());

  for (Part& part : parts) {
    part.count_floor = std::max(1.0, 4 / share.value());
    std::vector<MomentColumn> columns;
    for (const std::size_t u : part.uses) {
      const auto moment = moment_use(release, plan.uses[u]);
      if (!moment) {
        part.column_of_use.push_back(SIZE_MAX);
        continue;
      }
      std::size_t at = 0;
      while (at < part.columns.size() && part.columns[at].first != moment->sum_feature) ++at;
      if (at == part.columns.size()) {
        part.columns.emplace_back(moment->sum_feature, moment->square_feature);
        columns.push_back({moment->range, moment->with_variance});
      } else if (moment->with_variance) {
        part.columns[at].second = moment->square_feature;
        columns[at].with_variance = true;
      }
      part.column_of_use.push_back(at);
    }
    if (!columns.empty()) {
      auto knorm = KNorm::make(share, columns);
      if (knorm && knorm->exact_grid()) part.knorm = *std::move(knorm);
    }
    if (!part.knorm) {
      // Independent noise: with J sums each measured by its row maximum, a row has L1 size at most
      // J (one for the bins of a histogram, which exclude each other).
      bool exclusive = true;
      for (const std::size_t u : part.uses) {
        const SumUse& use = plan.uses[u];
        const auto add = [&](std::size_t sum) {
          if (std::find(part.sums.begin(), part.sums.end(), sum) == part.sums.end())
            part.sums.push_back(sum);
        };
        for (const std::size_t bin : use.bins) add(bin);
        if (!use.bins.empty()) continue;
        if (!use.raw) add(use.count);
        for (const auto& sum : {use.linear, use.square, use.linear_y, use.square_y, use.product})
          if (sum) {
            add(*sum);
            exclusive = false;
          }
      }
      const std::size_t size = exclusive ? 1 : part.sums.size();
      for (const std::size_t sum : part.sums) {
        const auto row_max = static_cast<UInt128>(plan.sums[sum].row_max);
        const BigInt maximum = (BigInt(static_cast<std::uint64_t>(row_max >> 64)) << 64) |
                               static_cast<std::uint64_t>(row_max);
        const Rational rate = exact_rational(share.value()).value() / Rational(maximum * size);
        DISCREET_TRY(auto sampler, DiscreteLaplaceSampler::make(rate));
        const double r = rate.convert_to<double>();
        part.noise_sd.push_back(std::sqrt(2 * std::exp(-r)) / -std::expm1(-r));
        part.noise.push_back(std::move(sampler));
      }
    }
    direct.parts_.push_back(std::make_shared<const Part>(std::move(part)));
  }
  return direct;
}

void DirectSums::release(const GroupTotals& totals, RandomSource& random,
                         std::vector<ReleasedColumn>& columns) const {
  const auto put = [&](const SumUse& use, double value, double error95) {
    ReleasedColumn& column = columns[use.aggregate];
    column.values.emplace_back(value);
    column.error95.emplace_back(error95);
  };
  for (const auto& part : parts_) {
    if (part->knorm) {
      std::vector<Int128> sums, squares;
      for (const auto& [sum, square] : part->columns) {
        sums.push_back(totals.features[sum]);
        squares.push_back(totals.features[square]);
      }
      const auto exact = part->knorm->from_sums(
          static_cast<std::uint64_t>(totals.features[part->count]), sums, squares);
      const MomentEstimates estimates(*part->knorm, part->knorm->release(exact.value(), random));
      for (std::size_t i = 0; i < part->uses.size(); ++i) {
        const SumUse& use = plan_.uses[part->uses[i]];
        const std::size_t column = part->column_of_use[i];
        const auto& kind = release_->aggregates[use.aggregate].kind;
        const double unit = use.x.grid_unit;
        if (column == SIZE_MAX) {
          put(use, std::round(estimates.count().value),
              kNormal975 * estimates.count().standard_error);
        } else if (std::holds_alternative<sql::AvgRelease>(kind)) {
          put(use, estimates.mean(column).value * unit,
              kNormal975 * estimates.mean(column).standard_error * unit);
        } else if (std::holds_alternative<sql::SumRelease>(kind)) {
          put(use, estimates.sum(column).value * unit,
              kNormal975 * estimates.sum(column).standard_error * unit);
        } else {
          const auto& variance = std::get<sql::VarianceRelease>(kind);
          const Divisor divisor = variance.sample ? Divisor::Sample : Divisor::Population;
          const Estimate e = variance.standard_deviation ? estimates.deviation(column, divisor)
                                                         : estimates.variance(column, divisor);
          const double scale = variance.standard_deviation ? unit : unit * unit;
          put(use, e.value * scale, kNormal975 * e.standard_error * scale);
        }
      }
      continue;
    }
    NoisyGroup noisy{std::vector<double>(plan_.sums.size()),
                     std::vector<double>(plan_.sums.size())};
    for (std::size_t i = 0; i < part->sums.size(); ++i) {
      const Sum& sum = plan_.sums[part->sums[i]];
      const Int128 exact = sum.counts_units() && !sum.takes_part ? totals.units
                           : sum.counts_units()                  ? totals.features[*sum.takes_part]
                                                                 : sum.of(totals.features);
      noisy.value[part->sums[i]] = static_cast<double>(exact + part->noise[i].draw(random));
      noisy.sd[part->sums[i]] = part->noise_sd[i];
    }
    for (const std::size_t u : part->uses) {
      const SumUse& use = plan_.uses[u];
      const auto& aggregate = release_->aggregates[use.aggregate];
      if (const auto* histogram = std::get_if<sql::HistogramRelease>(&aggregate.kind)) {
        columns[use.aggregate].is_list = true;
        columns[use.aggregate].lists.push_back(estimate_bins(*histogram, use, noisy));
        columns[use.aggregate].error95.emplace_back(kNormal975 * part->noise_sd.front());
        continue;
      }
      const Estimated e = estimate(aggregate, use, noisy, part->count_floor);
      put(use, e.value, e.error95);
    }
  }
}

std::vector<std::optional<double>> DirectSums::error95_before(double rows) const {
  std::vector<std::optional<double>> errors(release_->aggregates.size());
  for (const auto& part : parts_)
    for (std::size_t i = 0; i < part->uses.size(); ++i) {
      const SumUse& use = plan_.uses[part->uses[i]];
      const double unit = use.x.grid_unit;
      const auto& kind = release_->aggregates[use.aggregate].kind;
      if (!part->knorm) {
        NoisyGroup typical{std::vector<double>(plan_.sums.size()),
                           std::vector<double>(plan_.sums.size())};
        for (std::size_t s = 0; s < part->sums.size(); ++s)
          typical.sd[part->sums[s]] = part->noise_sd[s];
        typical.value[use.count] = rows;
        if (use.bins.empty())
          errors[use.aggregate] =
              estimate(release_->aggregates[use.aggregate], use, typical, 1).error95;
        else
          errors[use.aggregate] = kNormal975 * part->noise_sd.front();
        continue;
      }
      const std::size_t column = part->column_of_use[i];
      const double middle = static_cast<double>(use.x.middle),
                   half = static_cast<double>(use.x.half);
      if (column == SIZE_MAX)
        errors[use.aggregate] = kNormal975 * std::sqrt(part->knorm->noise(0).count);
      else if (const auto* variance = std::get_if<sql::VarianceRelease>(&kind)) {
        const double error =
            planned_variance_error(*part->knorm, column, rows, middle, half * half / 3);
        errors[use.aggregate] =
            kNormal975 * (variance->standard_deviation ? error * unit / (2 * half / std::sqrt(3.0))
                                                       : error * unit * unit);
      } else if (std::holds_alternative<sql::AvgRelease>(kind)) {
        errors[use.aggregate] =
            kNormal975 * planned_mean_error(*part->knorm, column, rows, middle) * unit;
      } else {
        const MomentNoise noise = part->knorm->noise(column);
        errors[use.aggregate] =
            kNormal975 * std::sqrt(noise.linear * half * half + noise.count * middle * middle) *
            unit;
      }
    }
  return errors;
}

std::vector<std::string> DirectSums::mechanisms() const {
  std::vector<std::string> names(release_->aggregates.size());
  for (const auto& part : parts_)
    for (const std::size_t u : part->uses)
      names[plan_.uses[u].aggregate] = part->knorm ? "K-norm" : "discrete Laplace";
  return names;
}

}  // namespace discreet
