#include "curator/sums.h"

#include <algorithm>

#include "curator/clamped_aggregate.h"

namespace discreet {
namespace {

Int128 absolute(Int128 value) {
  return value < 0 ? -value : value;
}

class Planner {
 public:
  explicit Planner(const sql::Release& release) : release_(release) {
    for (const auto& aggregate : release.aggregates)
      averages_ = averages_ || (wants_average(aggregate.kind) && !has_bounds_per_group(aggregate));
  }

  SumPlan plan() {
    for (std::size_t i = 0; i < release_.aggregates.size(); ++i) {
      const auto& aggregate = release_.aggregates[i];
      if (!is_additive(aggregate.kind) || has_bounds_per_group(aggregate)) continue;
      SumUse use;
      use.aggregate = i;
      std::visit([&](const auto& kind) { add(kind, use); }, release_.aggregates[i].kind);
      plan_.uses.push_back(std::move(use));
    }
    return std::move(plan_);
  }

 private:
  static bool wants_average(const sql::AggregateKind& kind) {
    return std::holds_alternative<sql::AvgRelease>(kind) ||
           std::holds_alternative<sql::VarianceRelease>(kind) ||
           std::holds_alternative<sql::CovarianceRelease>(kind);
  }

  void add(const sql::CountRelease& kind, SumUse& use) { use.count = count(kind.rows); }
  void add(const sql::CountUnitsRelease&, SumUse& use) {
    Sum sum;
    sum.takes_part = release_.aggregates[use.aggregate].filter_rows;
    use.count = intern(std::move(sum));
  }
  // A sum alone has the least error as it is; beside a count it is released centred.
  void add(const sql::SumRelease& kind, SumUse& use) {
    use.x = centre(kind.sum);
    if (const auto counted = count_beside(kind, release_.aggregates[use.aggregate])) {
      use.count = count(*counted);
      use.linear = linear(*counted, kind.sum);
    } else {
      use.raw = true;
      use.linear = raw(kind.sum);
    }
  }

  // A count of the sum's own values, or else of its rows: where a value is missing, a row adds zero
  // to the sum and the centre's negative to the centred sum. With one row a unit that could be
  // more than the largest row, and there the joint draw finds its own families of rows.
  std::optional<std::size_t> count_beside(const sql::SumRelease& kind,
                                          const sql::AggregateRelease& aggregate) const {
    std::optional<std::size_t> rows;
    for (const auto& other : release_.aggregates) {
      if (has_bounds_per_group(other)) continue;
      const auto* average = std::get_if<sql::AvgRelease>(&other.kind);
      const auto* variance = std::get_if<sql::VarianceRelease>(&other.kind);
      const auto* counted = std::get_if<sql::CountRelease>(&other.kind);
      if ((average != nullptr && average->count == kind.count) ||
          (variance != nullptr && variance->count == kind.count) ||
          (counted != nullptr && counted->rows == kind.count))
        return kind.count;
      if (counted == nullptr || release_.bounds.one_row_per_unit || !bounded(kind.sum)) continue;
      const sql::Feature& feature = release_.features[counted->rows];
      if (feature.kind == sql::Feature::Kind::Rows &&
          (aggregate.filter_rows ? counted->rows == *aggregate.filter_rows : !feature.condition))
        rows = counted->rows;
    }
    if (!rows && averages_) return kind.count;
    return rows;
  }
  void add(const sql::AvgRelease& kind, SumUse& use) {
    use.x = centre(kind.sum);
    use.count = count(kind.count);
    use.linear = linear(kind.count, kind.sum);
  }
  void add(const sql::VarianceRelease& kind, SumUse& use) {
    use.x = centre(kind.sum);
    use.count = count(kind.count);
    use.linear = linear(kind.count, kind.sum);
    use.square = square(kind.count, kind.sum, kind.squares);
  }
  void add(const sql::CovarianceRelease& kind, SumUse& use) {
    use.x = centre(kind.sum_x);
    use.y = centre(kind.sum_y);
    use.count = count(kind.count);
    use.linear = linear(kind.count, kind.sum_x);
    use.linear_y = linear(kind.count, kind.sum_y);
    use.product = product(kind, use.x, use.y);
    if (kind.kind == sql::CovarianceRelease::Kind::Correlation) {
      use.square = square(kind.count, kind.sum_x, kind.squares_x);
      use.square_y = square(kind.count, kind.sum_y, kind.squares_y);
    }
  }
  void add(const sql::HistogramRelease& kind, SumUse& use) {
    for (const std::size_t bin : kind.bins) use.bins.push_back(count(bin));
  }
  template <class Stream>
  void add(const Stream&, SumUse&) {}

  const sql::Value& value_of(std::size_t feature) const {
    return release_.values[*release_.features[feature].value];
  }

  Centre centre(std::size_t sum_feature) const {
    const sql::Value& value = value_of(sum_feature);
    Centre centre;
    centre.grid_unit = value.grid.unit();
    const Int128 width = Int128{value.upper} - value.lower;
    if (bounded(sum_feature)) centre.middle = static_cast<std::int64_t>(value.lower + width / 2);
    const Int128 half =
        std::max(Int128{value.upper} - centre.middle, Int128{centre.middle} - value.lower);
    centre.half = static_cast<std::int64_t>(std::max<Int128>(1, std::min<Int128>(half, INT64_MAX)));
    centre.below = centre.above = static_cast<double>(centre.half);
    return centre;
  }
  bool bounded(std::size_t feature) const {
    return value_of(feature).origin != sql::BoundsOrigin::Technical;
  }

  std::size_t count(std::size_t feature) {
    Sum sum;
    sum.terms = {{feature, 1}};
    return intern(std::move(sum));
  }
  std::size_t raw(std::size_t feature) {
    const sql::Value& value = value_of(feature);
    Sum sum;
    sum.terms = {{feature, 1}};
    sum.row_max = std::max<Int128>(1, std::max(absolute(value.lower), absolute(value.upper)));
    sum.bounded = bounded(feature);
    return intern(std::move(sum));
  }
  std::size_t linear(std::size_t count_feature, std::size_t sum_feature) {
    const Centre c = centre(sum_feature);
    Sum sum;
    sum.terms = {{sum_feature, 1}};
    if (c.middle != 0) sum.terms.push_back({count_feature, -Int128{c.middle}});
    sum.row_max = c.half;
    sum.bounded = bounded(sum_feature);
    sum.weight =
        averages_ ? 2 : 1;  // an average divides the count's error away, the sum's it keeps
    return intern(std::move(sum));
  }
  // 2 (x - m)^2 - h^2, between -h^2 and h^2 as x runs over its range.
  std::size_t square(std::size_t count_feature, std::size_t sum_feature,
                     std::size_t square_feature) {
    const Centre c = centre(sum_feature);
    const Int128 m = c.middle, h = c.half;
    Sum sum;
    sum.terms = {{square_feature, 2}, {sum_feature, -4 * m}, {count_feature, 2 * m * m - h * h}};
    sum.row_max = h * h;
    sum.bounded = bounded(sum_feature);
    return intern(std::move(sum));
  }
  std::size_t product(const sql::CovarianceRelease& kind, const Centre& x, const Centre& y) {
    const Int128 mx = x.middle, my = y.middle;
    Sum sum;
    sum.terms = {{kind.products, 1}, {kind.sum_y, -mx}, {kind.sum_x, -my}, {kind.count, mx * my}};
    sum.row_max = Int128{x.half} * y.half;
    sum.bounded = bounded(kind.sum_x) && bounded(kind.sum_y);
    return intern(std::move(sum));
  }

  std::size_t intern(Sum sum) {
    for (std::size_t i = 0; i < plan_.sums.size(); ++i) {
      const Sum& have = plan_.sums[i];
      if (have.terms == sum.terms && have.takes_part == sum.takes_part) return i;
    }
    plan_.sums.push_back(std::move(sum));
    return plan_.sums.size() - 1;
  }

  const sql::Release& release_;
  SumPlan plan_;
  bool averages_ = false;
};

}  // namespace

bool is_additive(const sql::AggregateKind& kind) {
  return std::holds_alternative<sql::CountRelease>(kind) ||
         std::holds_alternative<sql::SumRelease>(kind) ||
         std::holds_alternative<sql::AvgRelease>(kind) ||
         std::holds_alternative<sql::VarianceRelease>(kind) ||
         std::holds_alternative<sql::CovarianceRelease>(kind) ||
         std::holds_alternative<sql::CountUnitsRelease>(kind) ||
         std::holds_alternative<sql::HistogramRelease>(kind);
}

SumPlan plan_sums(const sql::Release& release) {
  return Planner(release).plan();
}

bool is_of_one_sign(const sql::Release& release, const Sum& sum) {
  if (sum.terms.size() != 1) return false;
  const sql::Feature& feature = release.features[sum.terms.front().feature];
  switch (feature.kind) {
    case sql::Feature::Kind::Rows:
    case sql::Feature::Kind::Count:
      return true;
    case sql::Feature::Kind::Sum: {
      const sql::Value& value = release.values[*feature.value];
      return value.lower >= 0 || value.upper <= 0;
    }
    default:
      return false;
  }
}

}  // namespace discreet
