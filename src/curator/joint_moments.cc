#include "curator/joint_moments.h"

#include <algorithm>
#include <cmath>

namespace discreet {
namespace {

// The rows an aggregate is over: the feature that counts them, or nothing for all rows.
std::optional<std::size_t> family_of(const sql::Release& release, const SumUse& use) {
  const auto& aggregate = release.aggregates[use.aggregate];
  std::size_t feature = 0;
  if (const auto* count = std::get_if<sql::CountRelease>(&aggregate.kind))
    feature = count->rows;
  else if (const auto* sum = std::get_if<sql::SumRelease>(&aggregate.kind))
    feature = sum->count;
  else if (const auto* avg = std::get_if<sql::AvgRelease>(&aggregate.kind))
    feature = avg->count;
  else if (const auto* variance = std::get_if<sql::VarianceRelease>(&aggregate.kind))
    feature = variance->count;
  else
    return aggregate.filter_rows;  // count(distinct unit)
  const bool all = release.features[feature].kind == sql::Feature::Kind::Rows &&
                   !release.features[feature].condition;
  return all ? std::nullopt : std::optional(feature);
}

struct Wanted {
  std::size_t sum, square;
  bool with_variance;
};

std::optional<Wanted> column_of(const sql::AggregateKind& kind) {
  if (const auto* avg = std::get_if<sql::AvgRelease>(&kind))
    return Wanted{avg->sum, avg->sum, false};
  if (const auto* sum = std::get_if<sql::SumRelease>(&kind))
    return Wanted{sum->sum, sum->sum, false};
  if (const auto* variance = std::get_if<sql::VarianceRelease>(&kind))
    return Wanted{variance->sum, variance->squares, true};
  return std::nullopt;
}

}  // namespace

bool JointMoments::serves(const sql::Release& release, const SumUse& use) {
  const auto& kind = release.aggregates[use.aggregate].kind;
  return std::holds_alternative<sql::CountRelease>(kind) ||
         std::holds_alternative<sql::CountUnitsRelease>(kind) ||
         std::holds_alternative<sql::AvgRelease>(kind) ||
         std::holds_alternative<sql::VarianceRelease>(kind) ||
         (std::holds_alternative<sql::SumRelease>(kind) && !use.raw);
}

Result<JointMoments> JointMoments::make(const sql::Release& release, const SumPlan& plan,
                                        std::vector<std::size_t> uses, Epsilon epsilon) {
  struct Family {
    std::optional<std::size_t> count;
    std::vector<Wanted> columns;
  };
  std::vector<Family> families;
  std::vector<std::pair<std::size_t, std::optional<std::size_t>>> places;  // by use
  for (const std::size_t u : uses) {
    const SumUse& use = plan.uses[u];
    const auto count = family_of(release, use);
    std::size_t f = 0;
    while (f < families.size() && families[f].count != count) ++f;
    if (f == families.size()) families.push_back({count, {}});
    auto& columns = families[f].columns;
    const auto wanted = column_of(release.aggregates[use.aggregate].kind);
    std::optional<std::size_t> at;
    if (wanted) {
      at = 0;
      while (*at < columns.size() && columns[*at].sum != wanted->sum) ++*at;
      if (*at == columns.size())
        columns.push_back(*wanted);
      else if (wanted->with_variance)
        columns[*at] = *wanted;
    }
    places.emplace_back(f, at);
  }
  const auto has_variance = [](const Family& family) {
    return std::any_of(family.columns.begin(), family.columns.end(),
                       [](const Wanted& column) { return column.with_variance; });
  };
  const auto everybody = std::find_if(families.begin(), families.end(),
                                      [](const Family& family) { return !family.count; });
  // count(*) and one family of which it is not a member.
  const bool apart =
      families.size() == 2 && everybody != families.end() && everybody->columns.empty();

  // What the K-norm counts: all rows where somebody asks for that, or where two families have
  // variances (a row outside the count may not have one); else the rows of one family.
  std::size_t base = families.size();
  if (apart)
    base = everybody == families.begin() ? 1 : 0;
  else if (everybody != families.end())
    base = static_cast<std::size_t>(everybody - families.begin());
  else if (std::count_if(families.begin(), families.end(), has_variance) <= 1)
    base = static_cast<std::size_t>(std::max_element(families.begin(), families.end(),
                                                     [&](const Family& a, const Family& b) {
                                                       return has_variance(a) < has_variance(b);
                                                     }) -
                                    families.begin());
  const bool counts_all = base == families.size() || !families[base].count;

  std::vector<MomentColumn> moments;
  std::vector<Column> columns;
  std::vector<std::optional<Presence>> presence, of_family(families.size());
  std::vector<std::vector<std::size_t>> place(families.size());
  for (std::size_t f = 0; f < families.size(); ++f) {
    if (apart && f != base) continue;
    const Family& family = families[f];
    if (f != base) {
      // Present or not, as 1 or -1 where all rows are counted, as 1 or 0 where they are not.
      of_family[f] =
          counts_all ? Presence{columns.size(), 0.5, 0.5} : Presence{columns.size(), 1, 0};
      moments.push_back({counts_all ? IntegerRange{0, 1} : IntegerRange{-1, 1}, false});
      columns.push_back({std::nullopt, *family.count, *family.count, true});
      presence.emplace_back();
    }
    for (const Wanted& wanted : family.columns) {
      const sql::Value& value = release.values[*release.features[wanted.sum].value];
      place[f].push_back(columns.size());
      moments.push_back({{value.lower, value.upper}, wanted.with_variance});
      columns.push_back({family.count, wanted.sum, wanted.square, false});
      presence.push_back(of_family[f]);
    }
  }
  DISCREET_TRY(KNorm knorm, KNorm::make(epsilon, moments));
  constexpr std::int64_t kBoundMax = std::int64_t{1} << 40;  // of KNorm::from_sums
  const bool fits = std::all_of(moments.begin(), moments.end(), [](const MomentColumn& column) {
    return column.range.lower >= -kBoundMax && column.range.upper <= kBoundMax;
  });
  if (!knorm.exact_grid() || !fits)
    return Error{ErrorCode::Refused, "the columns are too wide for one exact grid"};
  JointMoments joint(release, std::move(knorm));
  joint.uses_ = std::move(uses);
  if (!counts_all) joint.base_ = families[base].count;
  joint.columns_ = std::move(columns);
  joint.presence_ = std::move(presence);
  for (const auto& [family, at] : places) {
    Served served;
    served.family = of_family[family];
    served.everybody = apart && family != base;
    if (at) served.column = place[family][*at];
    joint.served_.push_back(served);
  }
  if (apart) {
    DISCREET_TRY(joint.others_, DiscreteLaplace::make(epsilon, L1Sensitivity{1}));
  }
  return joint;
}

Int128 JointMoments::count_of(const std::optional<std::size_t>& feature,
                              const GroupTotals& totals) const {
  return feature ? totals.features[*feature] : totals.units;
}

void JointMoments::release(const SumPlan& plan, const GroupTotals& totals, RandomSource& random,
                           const Put& put) const {
  std::vector<Int128> counts, sums, squares;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const Column& column = columns_[i];
    counts.push_back(column.is_indicator ? totals.units : count_of(column.family_count, totals));
    sums.push_back(totals.features[column.sum]);
    squares.push_back(totals.features[column.square]);
  }
  const Int128 counted = count_of(base_, totals);
  const auto exact = knorm_.from_sums(static_cast<std::uint64_t>(counted), counts, sums, squares);
  const MomentEstimates estimates(knorm_, knorm_.release(exact.value(), random), presence_);
  double others = 0, others_sd = 0;
  if (others_) {
    others = static_cast<double>(others_->release(saturate(totals.units - counted), random));
    others_sd = std::sqrt(others_->variance());
  }
  for (std::size_t i = 0; i < uses_.size(); ++i) {
    const SumUse& use = plan.uses[uses_[i]];
    const Served& served = served_[i];
    const auto& kind = release_->aggregates[use.aggregate].kind;
    const double unit = use.x.grid_unit;
    if (!served.column) {
      Estimate count = served.family ? estimates.count(*served.family) : estimates.count();
      if (served.everybody)
        count = {count.value + others, std::hypot(count.standard_error, others_sd)};
      put(use, std::round(count.value), whole_error95(count.standard_error));
      continue;
    }
    Estimate found{};
    double scale = unit;
    if (std::holds_alternative<sql::AvgRelease>(kind)) {
      found = estimates.mean(*served.column);
    } else if (std::holds_alternative<sql::SumRelease>(kind)) {
      found = estimates.sum(*served.column);
    } else {
      const auto& variance = std::get<sql::VarianceRelease>(kind);
      const Divisor divisor = variance.sample ? Divisor::Sample : Divisor::Population;
      found = variance.standard_deviation ? estimates.deviation(*served.column, divisor)
                                          : estimates.variance(*served.column, divisor);
      if (!variance.standard_deviation) scale = unit * unit;
    }
    put(use, found.value * scale, kLaplace95 * found.standard_error * scale);
  }
}

std::vector<double> JointMoments::error95_before(const SumPlan& plan, double rows) const {
  std::vector<double> errors;
  for (std::size_t i = 0; i < uses_.size(); ++i) {
    const SumUse& use = plan.uses[uses_[i]];
    const Served& served = served_[i];
    const auto& kind = release_->aggregates[use.aggregate].kind;
    const double unit = use.x.grid_unit, middle = static_cast<double>(use.x.middle),
                 half = static_cast<double>(use.x.half);
    if (!served.column) {
      double variance = noise_with(knorm_, 0, served.family).count;
      if (served.everybody) variance += others_->variance();
      errors.push_back(whole_error95(std::sqrt(variance)));
    } else if (const auto* variance = std::get_if<sql::VarianceRelease>(&kind)) {
      const double error = planned_variance_error(knorm_, *served.column, rows, middle,
                                                  half * half / 3, presence_[*served.column]);
      errors.push_back(kLaplace95 * (variance->standard_deviation
                                         ? error * unit / (2 * half / std::sqrt(3.0))
                                         : error * unit * unit));
    } else if (std::holds_alternative<sql::AvgRelease>(kind)) {
      errors.push_back(
          kLaplace95 * unit *
          planned_mean_error(knorm_, *served.column, rows, middle, presence_[*served.column]));
    } else {
      const MomentNoise noise = noise_with(knorm_, *served.column, presence_[*served.column]);
      errors.push_back(kLaplace95 * unit *
                       std::sqrt(noise.linear * half * half + noise.count * middle * middle));
    }
  }
  return errors;
}

}  // namespace discreet
