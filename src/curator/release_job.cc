#include "curator/release_job.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "curator/tables_job.h"
#include "curator/totals_rows.h"
#include "random/pooled_random.h"

namespace discreet {
namespace {

// Shares of a release's epsilon where keys are private; what is left goes to the aggregates.
constexpr double kGroupsShare = 0.05, kKeysShare = 0.25;
constexpr int kGroupBoundsMax = 16;  // up to 2^16 groups of one unit
// More than this buys no more names: the aggregates get it.
constexpr double kKeysEpsilonMax = 512;

Epsilon part(Epsilon whole, double share) {
  return Epsilon::make(mul_down(whole.value(), share)).value();
}
Epsilon rest(Epsilon whole, Epsilon used) {
  return Epsilon::make(std::max(0.0, sub_down(whole.value(), used.value()))).value();
}

Epsilon for_keys(Epsilon whole, double share) {
  return Epsilon::make(std::min(kKeysEpsilonMax, part(whole, share).value())).value();
}

}  // namespace

bool selects_groups(const sql::Release& release) {
  if (release.grouping_sets) return false;
  if (std::any_of(release.keys.begin(), release.keys.end(),
                  [](const sql::Key& key) { return !key.is_public(); }))
    return true;
  return !release.keys.empty() && release.options &&
         release.options->min_privacy_units_per_group.value_or(1) > 1 &&
         release.options->group_selection != sql::GroupSelection::PublicGroups;
}

bool may_be_gaussian(const sql::Release& release) {
  // Most units must be able to touch many cells, and there must be that many.
  const auto& bounds = release.bounds;
  if (release.keys.empty() || bounds.one_row_per_unit) return false;
  std::uint64_t groups_max = bounds.groups_max.value_or(UINT64_MAX);
  if (release.options)
    groups_max = std::min(groups_max, release.options->max_rows_contributed.value_or(
                                          release.options->max_groups_contributed.value_or(1)));
  const SumPlan sums = plan_sums(release);
  const auto bounded = static_cast<std::uint64_t>(std::count_if(
      sums.sums.begin(), sums.sums.end(), [](const Sum& sum) { return sum.bounded; }));
  return bounded > 0 && groups_max > ClippedSums::kLaplaceCellsMax / bounded;
}

Result<ReleaseJob> ReleaseJob::make(const sql::Release& release, ApproxDp budget, bool errors) {
  if (budget.epsilon.value() == 0)
    return invalid_parameter("epsilon must be positive: at zero nothing can be released");
  ReleaseJob job;
  job.release_ = &release;
  job.budget_ = budget;
  if (release.grouping_sets) {
    DISCREET_TRY(TablesJob made, TablesJob::make(release, budget));
    job.tables_ = std::make_shared<const TablesJob>(std::move(made));
    return job;
  }
  if (release.options && (release.options->public_total || release.options->questions ||
                          !release.options->public_counts.empty()))
    return Error{ErrorCode::Refused,
                 "public_total, public_counts and questions are for tables that are planned "
                 "together: write GROUP "
                 "BY GROUPING SETS, CUBE or ROLLUP (one set will do)."};
  job.private_keys_ = selects_groups(release);
  job.sums_ = plan_sums(release);
  std::vector<std::size_t> clamped, tests;
  for (std::size_t i = 0; i < release.aggregates.size(); ++i) {
    if (has_bounds_per_group(release.aggregates[i]))
      clamped.push_back(i);
    else if (std::holds_alternative<sql::TestRelease>(release.aggregates[i].kind))
      tests.push_back(i);
    else if (!is_additive(release.aggregates[i].kind))
      job.stream_aggregates_.push_back(i);
  }
  job.limit_groups();
  const bool single_row = release.bounds.one_row_per_unit || release.bounds.rows_max == 1;
  if (single_row) job.groups_max_ = 1;

  Epsilon left = budget.epsilon;
  if (job.private_keys_) {
    if (budget.delta.value() == 0)
      return Error{
          ErrorCode::Refused,
          "Which groups of this question are named is private, and that needs a delta. Set "
          "one (for example delta = 1e-7), or list "
          "the column's public keys in the policy (values = [...])."};
    if (!job.groups_max_) job.for_groups_ = part(budget.epsilon, kGroupsShare);
    job.for_keys_ = for_keys(budget.epsilon, kKeysShare);
    job.keys_delta_ = budget.delta;
    if (may_be_gaussian(release)) {
      job.sums_delta_ = Delta::make(budget.delta.value() / 2).value();  // exact in binary
      job.keys_delta_ = job.sums_delta_;
    }
    left = rest(rest(left, job.for_groups_), job.for_keys_);
  } else if (release.options && release.options->min_privacy_units_per_group.value_or(1) > 1) {
    return Error{ErrorCode::Refused,
                 "min_privacy_units_per_group chooses among groups, and here all are answered: "
                 "leave it out, or leave out PUBLIC_GROUPS."};
  }

  if (!job.private_keys_ && may_be_gaussian(release)) job.sums_delta_ = budget.delta;

  // Aggregates share what is left by their number: one with bounds per group or a stream each, the
  // sums together.
  const std::size_t alone = clamped.size() + tests.size() + job.stream_aggregates_.size();
  const std::size_t parts = job.sums_.uses.size() + alone;
  if (parts == 0) {  // SELECT DISTINCT key: only the keys are released
    job.for_keys_ = for_keys(rest(budget.epsilon, job.for_groups_), 1);
    left = Epsilon::zero();
  }
  const Epsilon share = parts == 0 ? left : left.share(parts);
  job.for_sums_ =
      alone == 0
          ? left
          : Epsilon::make(mul_down(share.value(), static_cast<double>(job.sums_.uses.size())))
                .value();
  for (const std::size_t aggregate : clamped) {
    if (!job.groups_max_)
      return Error{ErrorCode::Refused,
                   fmt::format("{}: bounds per group bound nothing while one of {} may be in any "
                               "number of groups. Say how many: SELECT WITH DIFFERENTIAL_PRIVACY "
                               "OPTIONS (max_groups_contributed = 1) ...",
                               release.aggregates[aggregate].text, release.people)};
    DISCREET_TRY(auto made, ClampedAggregate::make(release, aggregate, share, *job.groups_max_));
    job.clamped_.push_back(std::move(made));
  }
  for (const std::size_t aggregate : tests) {
    DISCREET_CHECK(single_row, "the planner lets tests through for one row per unit only");
    DISCREET_TRY(auto made, TestJob::make(release, aggregate, share));
    job.tests_.push_back(std::move(made));
  }
  for (const std::size_t aggregate : job.stream_aggregates_) {
    DISCREET_TRY(auto stream, StreamRelease::make(release, aggregate, share, errors));
    job.streams_.push_back(std::move(stream));
  }
  if (job.private_keys_) {
    // Where the number is yet to be found, the largest must do: found impossible now, not after
    // the charge.
    const PartitionLimits limits{
        job.groups_max_.value_or(std::uint64_t{1} << kGroupBoundsMax),
        release.options ? release.options->min_privacy_units_per_group.value_or(1) : 1};
    DISCREET_TRY(job.selection_,
                 PartitionSelection::make({job.for_keys_, job.keys_delta_}, limits));
  }
  if (job.sums_.empty() && job.tests_.empty()) return job;

  const bool bounded = std::all_of(job.sums_.sums.begin(), job.sums_.sums.end(),
                                   [](const Sum& sum) { return sum.bounded; });
  if (!job.tests_.empty() && (!bounded || !job.clamped_.empty()))
    return Error{ErrorCode::Refused,
                 "A statistical test stands beside aggregates without bounds per row, and they are "
                 "released in different ways: ask for them in another statement."};
  if (single_row && bounded && job.clamped_.empty()) {
    job.enforce_single_row_ = !release.bounds.one_row_per_unit || !release.totals_sql;
    if (job.sums_.empty()) return job;
    DISCREET_TRY(job.direct_, DirectSums::make(release, job.sums_, job.for_sums_));
    return job;
  }
  std::vector<std::size_t> together;
  for (std::size_t i = 0; i < job.sums_.sums.size(); ++i) {
    if (job.sums_.sums[i].bounded)
      together.push_back(i);
    else
      job.blocks_.push_back({i});
  }
  if (!together.empty()) {
    job.blocks_.push_back(together);
    job.find_centred_columns(together);
  }
  job.totals_do_ = !job.private_keys_ && !release.options && job.clamped_.empty() &&
                   job.sums_.sums.size() == 1 && job.sums_delta_.value() == 0 &&
                   is_of_one_sign(release, job.sums_.sums.front());
  const Epsilon each = job.for_sums_.share(job.blocks_.size());
  for (const auto& block : job.blocks_) {  // found impossible now, not after the charge
    std::vector<Sum> sums;
    for (const std::size_t sum : block) sums.push_back(job.sums_.sums[sum]);
    if (sums.front().bounded && !job.centred_.empty()) {
      DISCREET_TRY([[maybe_unused]] const auto made,
                   CentredSums::make(each, sums, job.centred_, job.clip_options(sums)));
    } else {
      DISCREET_TRY([[maybe_unused]] const auto made,
                   ClippedSums::make(each, sums, job.clip_options(sums)));
    }
  }
  return job;
}

ClipOptions ReleaseJob::clip_options(const std::vector<Sum>& block) const {
  ClipOptions options;
  // Somebody in one group adds one to each count of people, however many rows they have.
  if (groups_max_ == 1 &&
      std::all_of(block.begin(), block.end(), [](const Sum& sum) { return sum.counts_units(); }))
    options.size_max = block.size();
  options.rows_max = rows_max_;
  options.delta = sums_delta_;
  return options;
}

// Sums and averages that count their rows may be around any centre; a sum that a variance or a
// covariance reads too stays around the middle, which their squares and products are around.
void ReleaseJob::find_centred_columns(const std::vector<std::size_t>& block) {
  const auto place = [&](std::size_t sum) {
    return static_cast<std::size_t>(std::find(block.begin(), block.end(), sum) - block.begin());
  };
  for (const SumUse& use : sums_.uses) {
    const auto& kind = release_->aggregates[use.aggregate].kind;
    const auto* sum = std::get_if<sql::SumRelease>(&kind);
    const auto* average = std::get_if<sql::AvgRelease>(&kind);
    if ((sum == nullptr && average == nullptr) || use.raw || !sums_.sums[*use.linear].bounded)
      continue;
    const bool fixed = std::any_of(sums_.uses.begin(), sums_.uses.end(), [&](const SumUse& other) {
      return (other.square || other.product) &&
             (other.linear == use.linear || other.linear_y == use.linear);
    });
    if (fixed ||
        std::find(centred_sums_.begin(), centred_sums_.end(), *use.linear) != centred_sums_.end())
      continue;
    const std::size_t count = sums_.sums[use.count].terms.front().feature;
    const std::size_t total = sum != nullptr ? sum->sum : average->sum;
    const sql::Value& value = release_->values[*release_->features[total].value];
    centred_.push_back(
        {place(*use.linear), place(use.count), count, use.x.middle, value.lower, value.upper});
    centred_sums_.push_back(*use.linear);
  }
}

// What is known of a unit's groups and rows without looking at any. In GoogleSQL's form a unit
// counts in one group unless the statement says otherwise.
void ReleaseJob::limit_groups() {
  const auto lower = [](std::optional<std::uint64_t>& limit, std::optional<std::uint64_t> other) {
    if (other) limit = std::min(limit.value_or(UINT64_MAX), *other);
  };
  rows_max_ = release_->bounds.rows_max;
  if (release_->bounds.one_row_per_unit || release_->keys.empty()) groups_max_ = 1;
  lower(groups_max_, release_->bounds.groups_max);
  if (!release_->options) return;
  if (release_->options->max_rows_contributed) {
    lower(rows_max_, release_->options->max_rows_contributed);
    lower(groups_max_, release_->options->max_rows_contributed);
    return;
  }
  if (!release_->options->max_groups_contributed && groups_max_.value_or(2) > 1)
    notices_.push_back(
        fmt::format("each of {} counts in one group, chosen at random, unless the statement says "
                    "max_groups_contributed",
                    release_->people));
  lower(groups_max_, release_->options->max_groups_contributed.value_or(1));
}

Result<void> ReleaseJob::check_public(Engine& engine) const {
  return tables_ ? tables_->check_public_counts(engine) : Result<void>{};
}

LossEvent ReleaseJob::loss() const {
  if (tables_) return tables_->loss();
  // What keys and Gaussian sums leave, rounded up: the parts were cut from it rounded down.
  Epsilon others = budget_.epsilon;
  loss::Composed parts;
  const auto add = [&](Epsilon epsilon, Delta delta) {
    others = Epsilon::make(std::max(0.0, sub_up(others.value(), epsilon.value()))).value();
    parts.parts.push_back(loss::Approximate{epsilon, delta});
  };
  if (private_keys_) add(for_keys_, keys_delta_);
  if (sums_delta_.value() > 0 && !direct_ && !blocks_.empty())
    add(for_sums_.share(blocks_.size()), sums_delta_);
  if (parts.parts.empty()) return loss::Pure{budget_.epsilon};
  parts.parts.push_back(loss::Pure{others});
  return parts;
}

Result<ReleasedTable> ReleaseJob::run(Engine& engine, RandomSource& random) const {
  DISCREET_TRY(Groups groups, Groups::make(*release_, engine));
  if (tables_) return tables_->run(groups, engine, random);
  NoiseAhead ahead(random);
  DISCREET_TRY_VOID(prepare_noise(groups, ahead));
  return direct_ || !tests_.empty() ? run_direct(groups, engine, random)
                                    : run_clipped(groups, engine, random);
}

Result<void> ReleaseJob::prepare_noise(const Groups& groups, NoiseAhead& ahead) const {
  if (!ahead.has_pool() || private_keys_ || !groups.is_public()) return {};
  if (direct_) direct_->prepare_noise(groups.size(), ahead);
  for (const ClampedAggregate& clamped : clamped_) clamped.prepare_noise(groups.size(), ahead);
  if (centred_.empty())
    for (const auto& block : blocks_) {
      std::vector<Sum> sums;
      for (const std::size_t sum : block) sums.push_back(sums_.sums[sum]);
      const ClipOptions options = clip_options(sums);
      if (!options.size_max) continue;
      DISCREET_TRY(const auto clipped,
                   ClippedSums::make(for_sums_.share(blocks_.size()), sums, options));
      clipped.prepare_noise(groups.size(), ahead);
    }
  return {};
}

// What the engine would count, where it knows the number of a table's rows.
Result<std::optional<TotalsTable>> ReleaseJob::known_totals(Engine& engine) const {
  if (!release_->counted_table) return std::optional<TotalsTable>();
  DISCREET_TRY(const auto rows, engine.row_count(*release_->counted_table));
  if (!rows) return std::optional<TotalsTable>();
  const std::size_t features = release_->features.size();
  TotalsTable totals(1, features);
  for (std::size_t f = 0; f < features; ++f) totals.add(0, f, *rows);
  totals.add_units(0, *rows);
  return std::optional(std::move(totals));
}

// Private groups are selected as they come: the engine gives each once, and those that may not be
// named are never held. (A group that came twice would be two, of disjoint units: still private.)
Result<TotalsTable> ReleaseJob::engine_totals(Groups& groups, Engine& engine,
                                              RandomSource& random) const {
  DISCREET_TRY(auto known, known_totals(engine));
  if (known) return *std::move(known);
  const std::size_t keys = release_->keys.size(), features = release_->features.size();
  // An engine does not add up what is not asked for.
  TotalsRead read = direct_ && tests_.empty() ? direct_->reads() : TotalsRead::all(features);
  read.units = read.units || private_keys_;
  std::vector<std::string> names;
  std::vector<std::size_t> read_features;
  for (const sql::Key& key : release_->keys) names.push_back(key.column);
  for (std::size_t f = 0; f < features; ++f)
    if (read.features[f]) {
      names.push_back(release_->features[f].column);
      read_features.push_back(f);
    }
  if (read.units) names.emplace_back("units");
  DISCREET_TRY(EngineRows rows, totals_rows(*release_, names, engine));
  const auto columns = rows.columns();
  DISCREET_CHECK(columns.size() == names.size(), "totals are keys, features, units");
  TotalsTable totals(groups.size(), features);
  std::vector<Cell> tuple(keys);
  for (;;) {
    DISCREET_TRY(const auto chunk, rows.next());
    if (!chunk) return totals;
    for (std::size_t row = 0; row < chunk->size(); ++row) {
      const Int128 units = read.units ? chunk->int128(names.size() - 1, row) : 0;
      if (private_keys_ && !is_selected(units, random)) continue;
      for (std::size_t key = 0; key < keys; ++key)
        tuple[key] = read_cell(*chunk, columns[key].type, key, row);
      const auto group = groups.find(tuple);
      if (!group) continue;
      totals.grow(groups.size());
      for (std::size_t f = 0; f < read_features.size(); ++f)
        if (!chunk->is_null(keys + f, row))
          totals.add(*group, read_features[f], chunk->int128(keys + f, row));
      totals.add_units(*group, units);
    }
  }
}

bool ReleaseJob::is_selected(Int128 units, RandomSource& random) const {
  return selection_->keep(static_cast<std::uint64_t>(std::max<Int128>(0, units)), random);
}

// The policy's word for one row per unit is enforced: a unit whose contribution could not come from
// a single row is left out as a whole, which is a function of that unit's rows alone.
Result<TotalsTable> ReleaseJob::single_row_totals(Groups& groups, Engine& engine,
                                                  RandomSource& random) const {
  DISCREET_TRY(const Contributions contributions,
               Contributions::load(*release_, groups, engine, random));
  const std::size_t features = release_->features.size();
  const auto from_one_row = [&](const WholesView& values) {
    for (std::size_t f = 0; f < features; ++f) {
      const auto kind = release_->features[f].kind;
      const bool counts = kind == sql::Feature::Kind::Rows || kind == sql::Feature::Kind::Count ||
                          kind == sql::Feature::Kind::Distinct;
      if (counts && (values[f] < 0 || values[f] > 1)) return false;
    }
    for (const auto& aggregate : release_->aggregates)
      if (const auto* histogram = std::get_if<sql::HistogramRelease>(&aggregate.kind)) {
        Int128 bins = 0;
        for (const std::size_t bin : histogram->bins) bins += values[bin];
        if (bins > 1) return false;
      } else if (const auto* test = std::get_if<sql::TestRelease>(&aggregate.kind)) {
        if (!TestJob::from_one_row(*test, values)) return false;
      }
    return true;
  };
  TotalsTable totals(groups.size(), features);
  for (std::size_t unit = 0; unit < contributions.units(); ++unit) {
    const std::size_t row = contributions.begin(unit);
    if (contributions.end(unit) - row != 1 || !from_one_row(contributions.values(row))) continue;
    const std::uint32_t group = contributions.group(row);
    for (std::size_t f = 0; f < features; ++f) totals.add(group, f, contributions.values(row)[f]);
    totals.add_units(group, 1);
  }
  return totals;
}

Result<ReleasedTable> ReleaseJob::run_direct(Groups& groups, Engine& engine,
                                             RandomSource& random) const {
  DISCREET_TRY(const TotalsTable totals, enforce_single_row_
                                             ? single_row_totals(groups, engine, random)
                                             : engine_totals(groups, engine, random));
  ReleasedTable out;
  out.notices = notices_;
  out.aggregates.resize(release_->aggregates.size());
  std::vector<bool> kept(groups.size(), true);
  std::vector<std::uint32_t> order;
  for (std::size_t group = 0; group < groups.size(); ++group) {
    if (private_keys_ && enforce_single_row_)
      kept[group] = is_selected(totals[group].units, random);
    if (kept[group]) order.push_back(static_cast<std::uint32_t>(group));
  }
  if (private_keys_) groups.sort_by_keys(order);
  for (const std::uint32_t group : order) {
    out.keys.emplace_back(groups.keys(group).begin(), groups.keys(group).end());
    if (direct_) direct_->release(totals[group], random, out.aggregates);
    for (const TestJob& test : tests_) {
      out.aggregates[test.aggregate()].values.emplace_back(test.release(totals[group], random));
      out.aggregates[test.aggregate()].error95.emplace_back(std::nullopt);
    }
  }
  DISCREET_TRY_VOID(
      release_streams(groups, private_keys_ ? &kept : nullptr, order, engine, random, out));
  return out;
}

Result<ReleasedTable> ReleaseJob::run_clipped(Groups& groups, Engine& engine,
                                              RandomSource& random) const {
  const bool sample = release_->options && release_->options->max_rows_contributed;
  const auto limit =
      private_keys_ || release_->options || !clamped_.empty() ? groups_max_ : std::nullopt;
  DISCREET_TRY(Contributions contributions,
               sample
                   ? Contributions::load_sample(*release_, *release_->options->max_rows_contributed,
                                                groups, engine, random)
                   : Contributions::load(*release_, groups, engine, random, limit, totals_do_));
  ReleasedTable out;
  out.notices = notices_;
  out.aggregates.resize(release_->aggregates.size());
  std::vector<bool> kept(groups.size(), true);

  std::optional<std::uint64_t> groups_max = groups_max_;
  if (private_keys_ && !groups_max) {
    std::vector<std::uint64_t> bounds;
    for (int i = 0; i <= kGroupBoundsMax; ++i) bounds.push_back(std::uint64_t{1} << i);
    DISCREET_TRY(const auto search, BoundSearch::balanced(for_groups_, for_keys_, 1));
    groups_max = bounds[search.release(contributions.units_above(bounds), random)];
    out.notices.push_back(fmt::format("each of {} counts in at most {} groups (found privately)",
                                      release_->people, *groups_max));
  }
  if (groups_max && (private_keys_ || release_->options || !clamped_.empty()))
    contributions.keep_groups(*groups_max, random);
  if (private_keys_) {
    const PartitionLimits limits{
        *groups_max,
        release_->options ? release_->options->min_privacy_units_per_group.value_or(1) : 1};
    DISCREET_TRY(const auto selection, PartitionSelection::make({for_keys_, keys_delta_}, limits));
    const auto units = contributions.units_per_group(groups.size());
    for (std::size_t group = 0; group < units.size(); ++group)
      kept[group] = selection.keep(units[group], random);
    contributions.keep_only(kept);
  }
  std::vector<std::uint32_t> order;
  for (std::size_t group = 0; group < groups.size(); ++group)
    if (kept[group]) order.push_back(static_cast<std::uint32_t>(group));
  if (private_keys_) groups.sort_by_keys(order);
  for (const std::uint32_t group : order)
    out.keys.emplace_back(groups.keys(group).begin(), groups.keys(group).end());

  if (!sums_.empty() || !clamped_.empty()) {
    if (private_keys_) {
      // Cells of dropped groups hold nothing and are not named: noise is drawn for kept ones only.
      std::vector<std::uint32_t> position(groups.size());
      for (std::size_t i = 0; i < order.size(); ++i)
        position[order[i]] = static_cast<std::uint32_t>(i);
      contributions.renumber(position);
    }
    if (!sums_.empty())
      DISCREET_TRY_VOID(release_clipped(contributions, order.size(), random, out));
    for (const ClampedAggregate& clamped : clamped_)
      out.aggregates[clamped.aggregate()] = clamped.release(contributions, order.size(), random);
  }
  DISCREET_TRY_VOID(
      release_streams(groups, private_keys_ ? &kept : nullptr, order, engine, random, out));
  return out;
}

Result<void> ReleaseJob::release_clipped(const Contributions& contributions,
                                         std::size_t group_count, RandomSource& random,
                                         ReleasedTable& out) const {
  std::vector<std::vector<Int128>> cells(sums_.sums.size());
  std::vector<double> sd(sums_.sums.size());
  std::vector<bool> gaussian(sums_.sums.size());
  std::vector<SumUse> uses = sums_.uses;
  const Epsilon share = for_sums_.share(blocks_.size());
  for (const auto& block : blocks_) {
    std::vector<Sum> sums;
    for (const std::size_t sum : block) sums.push_back(sums_.sums[sum]);
    const bool bounded = sums.front().bounded;
    NoisySums noisy;
    if (bounded && !centred_.empty()) {
      DISCREET_TRY(const auto mechanism,
                   CentredSums::make(share, sums, centred_, clip_options(sums)));
      CentredRelease released = mechanism.release(contributions, group_count, random);
      noisy = std::move(released.sums);
      for (SumUse& use : uses)
        for (std::size_t i = 0; i < centred_.size(); ++i)
          if (use.linear == centred_sums_[i]) {
            const CentredColumn& column = centred_[i];
            use.x.middle = released.centres[i];
            use.x.below = static_cast<double>(use.x.middle) - static_cast<double>(column.lower);
            use.x.above = static_cast<double>(column.upper) - static_cast<double>(use.x.middle);
          }
    } else {
      DISCREET_TRY(const auto clipped, ClippedSums::make(share, sums, clip_options(sums)));
      noisy = clipped.release(contributions, group_count, random);
    }
    for (std::size_t i = 0; i < block.size(); ++i) {
      cells[block[i]] = std::move(noisy.cells[i]);
      sd[block[i]] = noisy.noise_sd[i];
      gaussian[block[i]] = noisy.gaussian;
    }
    if (bounded && !clip_options(sums).size_max)
      out.notices.push_back(fmt::format(
          "a unit's contribution is limited to {:.3g} rows of largest size (found privately); what "
          "that cuts off is not in the error{}",
          noisy.bound, noisy.gaussian ? "; Gaussian noise, since most have many cells" : ""));
  }
  const double floor = std::max(1.0, 4 / share.value());
  for (std::size_t group = 0; group < group_count; ++group) {
    NoisyGroup noisy{std::vector<double>(cells.size()), sd, false};
    for (std::size_t sum = 0; sum < cells.size(); ++sum)
      noisy.value[sum] = static_cast<double>(cells[sum][group]);
    for (const SumUse& use : uses) {
      const auto& aggregate = release_->aggregates[use.aggregate];
      noisy.gaussian = gaussian[use.raw ? *use.linear : use.bins.empty() ? use.count : use.bins[0]];
      ReleasedColumn& column = out.aggregates[use.aggregate];
      if (const auto* histogram = std::get_if<sql::HistogramRelease>(&aggregate.kind)) {
        column.is_list = true;
        column.lists.push_back(estimate_bins(*histogram, use, noisy));
        column.error95.emplace_back(bins_error95(*histogram, use, noisy));
        continue;
      }
      const Estimated e = estimate(aggregate, use, noisy, floor);
      column.values.emplace_back(e.value);
      column.error95.emplace_back(e.error95);
    }
  }
  return {};
}

Result<void> ReleaseJob::release_streams(Groups& groups, const std::vector<bool>* kept,
                                         const std::vector<std::uint32_t>& order, Engine& engine,
                                         RandomSource& random, ReleasedTable& out) const {
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    DISCREET_TRY(ReleasedColumn all, streams_[i].release(groups, kept, engine, random));
    ReleasedColumn& column = out.aggregates[stream_aggregates_[i]];
    column.is_list = all.is_list;
    for (const std::uint32_t group : order) {
      if (all.is_list)
        column.lists.push_back(all.lists[group]);
      else
        column.values.push_back(all.values[group]);
      column.error95.push_back(all.error95[group]);
    }
  }
  return {};
}

}  // namespace discreet
