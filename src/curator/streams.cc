#include "curator/streams.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "curator/stream_rows.h"
#include "curator/test_job.h"
#include "inference/quantile_interval.h"
#include "mechanisms/bound_search.h"
#include "mechanisms/discrete_laplace.h"
#include "mechanisms/extreme.h"
#include "mechanisms/quantile.h"
#include "mechanisms/quantiles.h"
#include "random/exponential_weights.h"

namespace discreet {
namespace {

constexpr double kSearchShare = 0.1;
constexpr int kBoundsMax = 20;  // up to 2^20 values of one unit
// What the mechanisms take; more would change no answer.
constexpr double kEpsilonMax = 0x1p20;

Epsilon each_of(Epsilon noise, std::uint64_t most) {
  return std::min(noise.share(most), Epsilon::make(kEpsilonMax).value());
}

std::size_t stream_of(const sql::AggregateKind& kind) {
  if (const auto* quantiles = std::get_if<sql::QuantilesRelease>(&kind)) return quantiles->stream;
  if (const auto* extreme = std::get_if<sql::ExtremeRelease>(&kind)) return extreme->stream;
  if (const auto* distinct = std::get_if<sql::CountDistinctRelease>(&kind)) return distinct->stream;
  if (const auto* mode = std::get_if<sql::ModeRelease>(&kind)) return mode->stream;
  if (const auto* interval = std::get_if<sql::QuantileIntervalRelease>(&kind))
    return interval->stream;
  return std::get<sql::TopKRelease>(kind).stream;
}

// Several quantiles: the inner ones jointly, the ends (0 and 1) each by the mechanism for extremes,
// with equal parts of epsilon.
struct SeveralQuantiles {
  std::vector<double> rising;  ///< all that are asked for, each once
  std::optional<Extreme> minimum, maximum;
  std::optional<Quantiles> inner;

  static Result<SeveralQuantiles> make(const sql::QuantilesRelease& asked, Epsilon epsilon,
                                       IntegerRange range) {
    SeveralQuantiles several;
    auto& rising = several.rising;
    rising = asked.fractions;
    std::sort(rising.begin(), rising.end());
    rising.erase(std::unique(rising.begin(), rising.end()), rising.end());
    const bool low = rising.front() == 0, high = rising.back() == 1;
    const std::vector<double> inner(rising.begin() + (low ? 1 : 0), rising.end() - (high ? 1 : 0));
    const Epsilon each =
        epsilon.share((low ? 1U : 0U) + (high ? 1U : 0U) + (inner.empty() ? 0U : 1U));
    if (low) {
      DISCREET_TRY(several.minimum, Extreme::make(each, ExtremeSide::Minimum, range));
    }
    if (high) {
      DISCREET_TRY(several.maximum, Extreme::make(each, ExtremeSide::Maximum, range));
    }
    if (!inner.empty()) {
      DISCREET_TRY(several.inner, Quantiles::make(each, inner, range));
    }
    return several;
  }

  std::vector<std::int64_t> release(std::vector<std::int64_t>& values, RandomSource& random) const {
    std::vector<std::int64_t> found;
    if (minimum) found.push_back(minimum->release(values, random));
    if (maximum) found.push_back(maximum->release(values, random));
    if (inner) {
      const auto between = inner->release(values, random);
      found.insert(found.end(), between.begin(), between.end());
    }
    std::sort(found.begin(), found.end());  // as quantiles are
    return found;
  }
};

bool is_inner(const sql::QuantilesRelease& asked) {
  return asked.fractions.size() == 1 && asked.fractions.front() > 0 && asked.fractions.front() < 1;
}

// All fractions lie inside: a tree of counts tells them and their errors. Ends (0 and 1) are
// extremes, which have none.
bool has_interval(const sql::QuantilesRelease& asked) {
  return std::all_of(asked.fractions.begin(), asked.fractions.end(),
                     [](double fraction) { return fraction > 0 && fraction < 1; });
}

Result<inference::QuantileInterval> interval_of_rows(const sql::QuantilesRelease& asked,
                                                     IntegerRange range, Epsilon each) {
  return inference::QuantileInterval::make(each, asked.fractions, range, 0.95,
                                           inference::QuantileOf::Rows);
}

Result<void> check_mechanism(const sql::Release& release, const sql::ValueStream& values,
                             const sql::AggregateKind& kind, Epsilon each, bool errors) {
  if (each.value() == 0)
    return invalid_parameter("this epsilon is too small for the rows that one unit may have");
  if (std::holds_alternative<sql::CountDistinctRelease>(kind)) {
    DISCREET_TRY([[maybe_unused]] const auto made, DiscreteLaplace::make(each, L1Sensitivity{1}));
    return {};
  }
  if (const auto* interval = std::get_if<sql::QuantileIntervalRelease>(&kind)) {
    const sql::Value& value = release.values[values.value];
    DISCREET_TRY(
        [[maybe_unused]] const auto made,
        inference::QuantileInterval::make(each, interval->fraction, {value.lower, value.upper}));
    return {};
  }
  const auto* extreme = std::get_if<sql::ExtremeRelease>(&kind);
  const auto* quantiles = std::get_if<sql::QuantilesRelease>(&kind);
  if (extreme == nullptr && quantiles == nullptr) return {};
  const IntegerRange range{release.values[values.value].lower, release.values[values.value].upper};
  if (extreme != nullptr) {
    DISCREET_TRY([[maybe_unused]] const auto made,
                 Extreme::make(each, ExtremeSide::Maximum, range));
    return {};
  }
  if (errors && has_interval(*quantiles)) {
    DISCREET_TRY([[maybe_unused]] const auto made, interval_of_rows(*quantiles, range, each));
    return {};
  }
  if (is_inner(*quantiles)) {
    DISCREET_TRY([[maybe_unused]] const auto made,
                 Quantile::make(each, quantiles->fractions.front(), range));
    return {};
  }
  DISCREET_TRY([[maybe_unused]] const auto made, SeveralQuantiles::make(*quantiles, each, range));
  return {};
}

}  // namespace

Result<StreamRelease> StreamRelease::make(const sql::Release& release, std::size_t aggregate,
                                          Epsilon epsilon, bool errors) {
  const auto& kind = release.aggregates[aggregate].kind;
  StreamRelease stream;
  stream.release_ = &release;
  stream.aggregate_ = aggregate;
  stream.errors_ = errors;
  if (release.bounds.one_row_per_unit || release.bounds.rows_max == 1) {
    stream.values_max_ = 1;
  } else if (release.options && release.options->max_rows_contributed) {
    stream.values_max_ = release.options->max_rows_contributed;
  }
  DISCREET_TRY(stream.search_,
               Epsilon::make(stream.values_max_ ? 0 : mul_down(kSearchShare, epsilon.value())));
  DISCREET_TRY(stream.noise_, Epsilon::make(sub_down(epsilon.value(), stream.search_.value())));
  const sql::ValueStream& values = release.streams[stream_of(kind)];
  const bool choice = std::holds_alternative<sql::ModeRelease>(kind) ||
                      std::holds_alternative<sql::TopKRelease>(kind);
  if (choice && values.domain.empty())
    return Error{ErrorCode::Refused,
                 fmt::format("{} chooses among values, and which values exist is private. List the "
                             "column's public keys in the "
                             "policy (values = [...]), or GROUP BY the column and count.",
                             release.aggregates[aggregate].text)};
  // Limits of the mechanisms are found now, before anything is charged: for one value of a unit
  // and for the most there may be.
  const std::uint64_t most = stream.values_max_.value_or(std::uint64_t{1} << kBoundsMax);
  for (const Epsilon each : {each_of(stream.noise_, 1), each_of(stream.noise_, most)})
    DISCREET_TRY_VOID(check_mechanism(release, values, kind, each, errors));
  return stream;
}

Result<ReleasedColumn> StreamRelease::release(Groups& groups, const std::vector<bool>* kept,
                                              Engine& engine, RandomSource& random) const {
  const auto& kind = release_->aggregates[aggregate_].kind;
  const sql::ValueStream& stream = release_->streams[stream_of(kind)];
  DISCREET_TRY(StreamRows read_rows, StreamRows::load(*release_, stream, groups, kept, engine));
  std::vector<StreamRow>& rows = read_rows.rows;

  std::uint64_t most = values_max_.value_or(0);
  if (!values_max_) {
    std::vector<std::int64_t> above(kBoundsMax + 1);
    for (std::size_t begin = 0; begin < rows.size();) {
      std::uint64_t total = 0;
      const std::uint32_t unit = rows[begin].unit;
      for (; begin < rows.size() && rows[begin].unit == unit; ++begin) total += rows[begin].times;
      for (int i = 0; i <= kBoundsMax && total > (std::uint64_t{1} << i); ++i)
        ++above[static_cast<std::size_t>(i)];
    }
    DISCREET_TRY(const auto search, BoundSearch::balanced(search_, noise_, 1));
    most = std::uint64_t{1} << search.release(above, random);
  }
  read_rows.limit_units(most, random);
  const Epsilon each = each_of(noise_, most);

  // Choices and counts of different values work on numbers of occurrences, the rest on the values.
  if (std::holds_alternative<sql::CountDistinctRelease>(kind)) {
    std::vector<std::set<std::int64_t>> different(groups.size());
    for (const StreamRow& row : rows)
      if (row.times > 0) different[row.group].insert(row.value);
    DISCREET_TRY(const auto laplace, DiscreteLaplace::make(each, L1Sensitivity{1}));
    ReleasedColumn column;
    for (const auto& values : different) {
      column.values.emplace_back(static_cast<double>(laplace.release(std::ssize(values), random)));
      column.error95.emplace_back(laplace.error_bound(0.95));
    }
    return column;
  }
  if (!stream.domain.empty() && (std::holds_alternative<sql::ModeRelease>(kind) ||
                                 std::holds_alternative<sql::TopKRelease>(kind))) {
    std::unordered_map<std::string, std::size_t> text_index;
    std::unordered_map<std::int64_t, std::size_t> number_index;
    const sql::Value& value = release_->values[stream.value];
    std::vector<Cell> domain;
    for (std::size_t i = 0; i < stream.domain.size(); ++i) {
      domain.push_back(to_cell(stream.domain[i], value.type));
      if (const auto* text = std::get_if<std::string>(&domain.back()))
        text_index.emplace(*text, i);
      else
        number_index.emplace(static_cast<std::int64_t>(std::llround(
                                 catalog::as_number(stream.domain[i]) / value.grid.unit())),
                             i);
    }
    std::vector<std::vector<std::uint64_t>> counts(groups.size(),
                                                   std::vector<std::uint64_t>(domain.size()));
    for (const StreamRow& row : rows) {
      if (stream.is_text) {
        const auto at = text_index.find(read_rows.texts[static_cast<std::size_t>(row.value)]);
        if (at != text_index.end()) counts[row.group][at->second] += row.times;
      } else if (const auto at = number_index.find(row.value); at != number_index.end()) {
        counts[row.group][at->second] += row.times;
      }
    }
    const auto* top = std::get_if<sql::TopKRelease>(&kind);
    const std::size_t k = top == nullptr ? 1 : std::min<std::size_t>(top->k, domain.size());
    // Counts only rise when a row joins (monotone), so weights exp(epsilon count) are epsilon-DP
    // per choice.
    const Rational unit = exact_rational(each.share(k).value()).value();
    ReleasedColumn column;
    for (const auto& group_counts : counts) {
      const std::uint64_t best = *std::max_element(group_counts.begin(), group_counts.end());
      std::vector<std::uint64_t> distances;
      for (const std::uint64_t count : group_counts) distances.push_back(best - count);
      DISCREET_TRY(const auto weights, ExponentialWeights::make(distances, unit));
      std::string joined;
      const auto chosen = weights.draw_distinct(k, random);
      if (top == nullptr) {
        column.values.push_back(domain[chosen.front()]);
      } else {
        for (const std::size_t i : chosen)
          joined += (joined.empty() ? "" : ", ") + catalog::to_string(stream.domain[i]);
        column.values.emplace_back(std::move(joined));
      }
      column.error95.emplace_back(std::nullopt);
    }
    return column;
  }
  std::vector<std::vector<std::int64_t>> values(groups.size());
  for (const StreamRow& row : rows)
    values[row.group].insert(values[row.group].end(), row.times, row.value);
  return release_values(values, each, random);
}

Result<ReleasedColumn> StreamRelease::release_values(std::vector<std::vector<std::int64_t>>& values,
                                                     Epsilon each, RandomSource& random) const {
  const auto& kind = release_->aggregates[aggregate_].kind;
  const sql::Value& value = release_->values[release_->streams[stream_of(kind)].value];
  const IntegerRange range{value.lower, value.upper};
  const double unit = value.grid.unit();
  const auto cell = [&](std::int64_t q) -> Cell {
    if (value.type.kind == sql::TypeKind::Integer || value.type.is_time()) return q;
    return static_cast<double>(q) * unit;
  };
  ReleasedColumn column;
  if (const auto* extreme = std::get_if<sql::ExtremeRelease>(&kind)) {
    DISCREET_TRY(
        const auto mechanism,
        Extreme::make(each, extreme->maximum ? ExtremeSide::Maximum : ExtremeSide::Minimum, range));
    for (const auto& group : values) {
      column.values.push_back(cell(mechanism.release(group, random)));
      column.error95.emplace_back(std::nullopt);
    }
    return column;
  }
  if (const auto* interval = std::get_if<sql::QuantileIntervalRelease>(&kind)) {
    DISCREET_TRY(const auto mechanism,
                 inference::QuantileInterval::make(each, interval->fraction, range));
    for (const auto& group : values) {
      const auto found = mechanism.release(group, random);
      column.values.emplace_back(quantile_text(found.estimate * unit, found.interval.low * unit,
                                               found.interval.high * unit, found.rows));
      column.error95.emplace_back(std::nullopt);
    }
    return column;
  }
  const auto& asked = std::get<sql::QuantilesRelease>(kind);
  column.is_list = asked.as_list;
  if (errors_ && has_interval(asked)) {
    DISCREET_TRY(const auto mechanism, interval_of_rows(asked, range, each));
    for (const auto& group : values) {
      // One error for a list: within it lie all its quantiles at once.
      double error = 0;
      std::vector<double> estimates;
      for (const auto& found : mechanism.release_all(group, random)) {
        estimates.push_back(std::round(found.estimate));
        error = std::max(
            {error, estimates.back() - found.interval.low, found.interval.high - estimates.back()});
      }
      column.error95.emplace_back(unit * error);
      if (asked.as_list) {
        for (double& estimate : estimates) estimate *= unit;
        column.lists.push_back(std::move(estimates));
      } else {
        column.values.push_back(cell(static_cast<std::int64_t>(estimates.front())));
      }
    }
    return column;
  }
  if (is_inner(asked)) {
    DISCREET_TRY(const auto mechanism, Quantile::make(each, asked.fractions.front(), range));
    for (const auto& group : values) {
      const std::int64_t q = mechanism.release(group, random);
      if (asked.as_list)
        column.lists.push_back({static_cast<double>(q) * unit});
      else
        column.values.push_back(cell(q));
      column.error95.emplace_back(std::nullopt);
    }
    return column;
  }
  DISCREET_TRY(const auto mechanism, SeveralQuantiles::make(asked, each, range));
  for (auto& group : values) {
    const auto found = mechanism.release(group, random);
    const auto& rising = mechanism.rising;
    std::vector<double> list;
    for (const double fraction : asked.fractions) {
      const auto at = static_cast<std::size_t>(
          std::lower_bound(rising.begin(), rising.end(), fraction) - rising.begin());
      list.push_back(static_cast<double>(found[at]) * unit);
    }
    if (asked.as_list)
      column.lists.push_back(std::move(list));
    else
      column.values.push_back(cell(found.front()));
    column.error95.emplace_back(std::nullopt);
  }
  return column;
}

const char* StreamRelease::mechanism() const {
  const auto& kind = release_->aggregates[aggregate_].kind;
  const auto* quantiles = std::get_if<sql::QuantilesRelease>(&kind);
  if (std::holds_alternative<sql::QuantileIntervalRelease>(kind) ||
      (errors_ && quantiles != nullptr && has_interval(*quantiles)))
    return "tree, discrete Laplace";
  return std::holds_alternative<sql::CountDistinctRelease>(kind) ? "discrete Laplace"
                                                                 : "exponential mechanism";
}

}  // namespace discreet
