#include "curator/tables_job.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>

#include <fmt/format.h>

#include "curator/contributions.h"
#include "curator/row_bound.h"
#include "curator/totals_rows.h"
#include "mechanisms/bound_search.h"
#include "privacy/zcdp_conversion.h"

namespace discreet {
namespace {

Error refused(std::string message) {
  return {ErrorCode::Refused, std::move(message)};
}

constexpr double kSearchShare = 0.1;  // of epsilon, where rows of a unit are not bounded

double half_width(double variance) {
  return tables::interval_half_width(variance, 0.95);
}

}  // namespace

Result<TablesJob> TablesJob::make(const sql::Release& release, ApproxDp budget) {
  TablesJob job;
  job.release_ = &release;
  if (budget.delta.value() == 0)
    return refused(
        "CUBE, ROLLUP and GROUPING SETS are answered with Gaussian noise, which needs a delta. Set "
        "one (for example delta = 1e-7), or ask for one GROUP BY at a time.");
  if (release.options && release.options->min_privacy_units_per_group.value_or(1) > 1)
    return refused(
        "min_privacy_units_per_group leaves groups out, and grouping sets that add up need all of "
        "them: leave it out.");
  DISCREET_TRY_VOID(job.find_factors());
  DISCREET_TRY_VOID(job.find_rows_max());
  DISCREET_TRY_VOID(job.find_measures());
  if (job.rows_max_ == 0) {
    DISCREET_TRY(job.search_, Epsilon::make(mul_down(kSearchShare, budget.epsilon.value())));
    DISCREET_TRY(budget.epsilon,
                 Epsilon::make(sub_down(budget.epsilon.value(), job.search_.value())));
    // Limits of the search are found now, before anything is charged.
    DISCREET_TRY_VOID(BoundSearch::balanced(job.search_, budget.epsilon, 1));
  }
  job.budget_ = budget;
  DISCREET_TRY_VOID(job.share(std::max<std::uint64_t>(1, job.rows_max_)));
  if (job.layout_) DISCREET_TRY_VOID(job.make_plans(*job.layout_));
  if (job.layout_ && release.options && release.options->public_total)
    job.layout_->known =
        tables::Invariant{{}, {static_cast<std::int64_t>(*release.options->public_total)}};
  return job;
}

LossEvent TablesJob::loss() const {
  if (rows_max_ > 0) return loss::Zcdp{rho_};
  return loss::Composed{{loss::Pure{search_}, loss::Zcdp{rho_}}};
}

// Plans depend on the bound by the size of their noise only, so they are made anew with it.
Result<ReleasedTable> TablesJob::find_and_run(Groups& groups, Engine& engine,
                                              RandomSource& random) const {
  TablesJob bounded = *this;
  DISCREET_TRY(bounded.rows_max_,
               find_row_bound(*release_, search_, budget_.epsilon, engine, random));
  DISCREET_TRY_VOID(bounded.share(bounded.rows_max_));
  if (bounded.layout_) {
    bounded.layout_->plans.clear();
    DISCREET_TRY_VOID(bounded.make_plans(*bounded.layout_));
  }
  DISCREET_TRY(ReleasedTable table, bounded.run(groups, engine, random));
  table.notices.push_back(fmt::format(
      "a unit counts with at most {} rows (found privately); max_rows_per_unit in the policy or "
      "max_rows_contributed saves that tenth of epsilon",
      bounded.rows_max_));
  return table;
}

// Axes: each listed or ranged key by itself, the keys of each public table together.
Result<void> TablesJob::find_factors() {
  layout_.emplace();
  std::uint64_t cells = 1;
  const auto& keys = release_->keys;
  for (std::size_t k = 0; k < keys.size(); ++k) {
    std::uint64_t size = 0;
    if (const auto* listed = std::get_if<sql::ListedKey>(&keys[k].domain))
      size = listed->values.size();
    if (const auto* range = std::get_if<sql::RangeKey>(&keys[k].domain))
      size =
          static_cast<std::uint64_t>(range->upper) - static_cast<std::uint64_t>(range->lower) + 1;
    if (const auto* from = std::get_if<sql::PublicSetKey>(&keys[k].domain)) {
      layout_.reset();
      const auto same = std::find_if(factors_.begin(), factors_.end(), [&](const auto& factor) {
        const auto* other = std::get_if<sql::PublicSetKey>(&keys[factor.front()].domain);
        return other != nullptr && other->set == from->set;
      });
      if (same != factors_.end())
        same->push_back(k);
      else
        factors_.push_back({k});
      continue;
    }
    if (size == 0)
      return refused(fmt::format(
          "CUBE, ROLLUP and GROUPING SETS need keys whose values are public, and {} is not one. "
          "Ask "
          "the data owner for values = [...] or a range on the column, join a public table that "
          "lists them, or ask for one GROUP BY at a time.",
          k + 1));
    if (size > tables::Axis::kSizeMax || cells * size > tables::kFullTableMax)
      return refused(fmt::format(
          "The keys of this question span more than {} cells; group by fewer or coarser columns.",
          tables::kFullTableMax));
    cells *= size;
    factors_.push_back({k});
    if (!layout_) continue;
    DISCREET_TRY(tables::Axis axis,
                 tables::Axis::cells(keys[k].text, static_cast<std::uint32_t>(size)));
    layout_->axes.push_back(std::move(axis));
  }
  // A level of a hierarchy is named by the first few of its keys.
  for (const auto& set : *release_->grouping_sets)
    for (const auto& factor : factors_) {
      bool missing = false;
      for (const std::size_t key : factor) {
        const bool kept = std::binary_search(set.begin(), set.end(), key);
        if (kept && missing)
          return refused(
              fmt::format("Key {} is rolled up before key {}, but both come from one public table. "
                          "Name them from the "
                          "coarsest to the finest: GROUP BY ROLLUP (state, county, tract).",
                          factor.front() + 1, key + 1));
        missing = missing || !kept;
      }
    }
  return {};
}

Result<void> TablesJob::find_rows_max() {
  std::optional<std::uint64_t> rows = release_->bounds.rows_max;
  if (release_->bounds.one_row_per_unit) rows = 1;
  if (release_->options && release_->options->max_rows_contributed)
    rows = std::min(rows.value_or(UINT64_MAX), *release_->options->max_rows_contributed);
  rows_max_ = rows.value_or(0);
  return {};
}

std::size_t TablesJob::measure(std::size_t feature, std::size_t count, bool centred) {
  Measure made{feature, centred ? count : feature, 0, 1, 1, true};
  if (const auto value = release_->features[feature].value;
      value && release_->features[feature].kind == sql::Feature::Kind::Sum) {
    const sql::Value& v = release_->values[*value];
    if (centred) made.centre = v.lower + (v.upper - v.lower) / 2;
    made.limit = std::max<std::int64_t>({1, made.centre - v.lower, v.upper - made.centre});
    made.unit = v.grid.unit();
    made.not_negative = !centred && v.lower >= 0;
  }
  for (std::size_t i = 0; i < measures_.size(); ++i)
    if (measures_[i].feature == made.feature && measures_[i].count == made.count) return i;
  measures_.push_back(std::move(made));
  return measures_.size() - 1;
}

Result<void> TablesJob::find_measures() {
  for (const sql::AggregateRelease& aggregate : release_->aggregates) {
    const auto check_bounds = [&](std::size_t sum) -> Result<void> {
      const sql::Value& value = release_->values[*release_->features[sum].value];
      if (aggregate.asked && !aggregate.asked->per_row)
        return refused(fmt::format(
            "{}: bounds per group do not bound what a person adds to the coarser grouping sets. "
            "Write contribution_bounds_per_row => (low, high).",
            aggregate.text));
      if (value.origin == sql::BoundsOrigin::Technical)
        return refused(fmt::format(
            "{}: in grouping sets the value needs bounds. Ask the data owner for `range = [low, "
            "high]` on the column, or write contribution_bounds_per_row => (low, high).",
            aggregate.text));
      constexpr std::int64_t kLimitMax = std::int64_t{1} << 40;
      if (value.lower < -kLimitMax || value.upper > kLimitMax)
        return refused(
            fmt::format("{}: the value's range is too wide for exact sums.", aggregate.text));
      return {};
    };
    if (const auto* count = std::get_if<sql::CountRelease>(&aggregate.kind);
        count != nullptr && release_->features[count->rows].kind != sql::Feature::Kind::Distinct) {
      columns_.push_back({measure(count->rows, count->rows, false), std::nullopt});
    } else if (const auto* sum = std::get_if<sql::SumRelease>(&aggregate.kind)) {
      DISCREET_TRY_VOID(check_bounds(sum->sum));
      columns_.push_back({measure(sum->sum, sum->sum, false), std::nullopt});
    } else if (const auto* average = std::get_if<sql::AvgRelease>(&aggregate.kind)) {
      DISCREET_TRY_VOID(check_bounds(average->sum));
      const std::size_t rows = measure(average->count, average->count, false);
      columns_.push_back({measure(average->sum, average->count, true), rows});
    } else {
      return refused(
          fmt::format("{} cannot be answered over grouping sets: only count(*), count(x), sum(x) "
                      "and avg(x) add "
                      "up. Ask for it with one GROUP BY at a time.",
                      aggregate.text));
    }
  }
  if (measures_.empty())
    return refused(
        "Grouping sets with public keys and no aggregate release nothing; add count(*).");
  return {};
}

tables::Marginal TablesJob::marginal(std::size_t set, std::span<const tables::Axis> axes) const {
  const auto& keys = (*release_->grouping_sets)[set];
  tables::Marginal made;
  double answers = 1;
  bool levels = false;
  for (std::size_t a = 0; a < factors_.size(); ++a) {
    const auto kept = static_cast<std::size_t>(std::count_if(
        factors_[a].begin(), factors_[a].end(),
        [&](std::size_t key) { return std::binary_search(keys.begin(), keys.end(), key); }));
    if (kept == 0) continue;
    const bool whole = kept == factors_[a].size();
    const auto level = static_cast<std::uint32_t>(kept - 1);
    made.attributes.push_back(static_cast<std::uint32_t>(a));
    made.questions.push_back(whole ? tables::Questions::Cells : tables::Questions::Level);
    made.levels.push_back(whole ? 0 : level);
    levels = levels || !whole;
    answers *= axes[a].count(made.questions.back(), made.levels.back());
  }
  if (!levels) {
    made.questions.clear();
    made.levels.clear();
  }
  made.weight = 1 / answers;
  return made;
}

// A unit's rows move the cells of a measure by at most rows * limit altogether, so its plan gets
// its share of rho over the square of that.
Result<void> TablesJob::share(std::uint64_t rows_max) {
  DISCREET_TRY(rho_, zcdp_meeting(budget_));
  Rho sum = Rho::zero();
  for (Measure& measure : measures_) {
    const double most = mul_up(count_up(rows_max), static_cast<double>(measure.limit));
    const double part = div_down(rho_.value(), static_cast<double>(measures_.size()));
    DISCREET_TRY(measure.rho, Rho::make(div_down(part, mul_up(most, most))));
    DISCREET_TRY(const Rho paid, Rho::make(mul_up(measure.rho.value(), mul_up(most, most))));
    sum = sum + paid;
  }
  // Rounding may leave the sum a hair above; what is drawn is scaled down until it is not.
  while (sum > rho_) {
    sum = Rho::zero();
    for (Measure& measure : measures_) {
      const double most = mul_up(count_up(rows_max), static_cast<double>(measure.limit));
      DISCREET_TRY(measure.rho, Rho::make(measure.rho.value() * (1 - 1e-13)));
      DISCREET_TRY(const Rho paid, Rho::make(mul_up(measure.rho.value(), mul_up(most, most))));
      sum = sum + paid;
    }
  }
  return {};
}

// Keys with a range of values, each value a cell.
bool TablesJob::is_ordered(std::size_t factor) const {
  return factors_[factor].size() == 1 &&
         std::holds_alternative<sql::RangeKey>(release_->keys[factors_[factor].front()].domain);
}

// What the noise is shaped for: the cells, or runs of values of ordered keys.
tables::Marginal TablesJob::planned(std::size_t set, std::span<const tables::Axis> axes) const {
  tables::Marginal made = marginal(set, axes);
  const auto asked = release_->options ? release_->options->questions : std::nullopt;
  if (!asked || *asked == sql::OrderedQuestions::Cells) return made;
  if (made.questions.empty()) {
    made.questions.assign(made.attributes.size(), tables::Questions::Cells);
    made.levels.assign(made.attributes.size(), 0);
  }
  double answers = 1;
  for (std::size_t i = 0; i < made.attributes.size(); ++i) {
    if (is_ordered(made.attributes[i]))
      made.questions[i] = *asked == sql::OrderedQuestions::Ranges ? tables::Questions::Ranges
                                                                  : tables::Questions::Prefixes;
    answers *= axes[made.attributes[i]].count(made.questions[i], made.levels[i]);
  }
  made.weight = 1 / answers;
  return made;
}

Result<void> TablesJob::make_plans(Layout& layout) const {
  const auto plan_on = [&](const std::vector<tables::Axis>& axes, Rho rho) -> Result<tables::Plan> {
    std::vector<tables::Marginal> marginals;
    for (std::size_t set = 0; set < release_->grouping_sets->size(); ++set)
      if (const auto one = planned(set, axes);
          std::find(marginals.begin(), marginals.end(), one) == marginals.end())
        marginals.push_back(one);
    return tables::Plan::make(axes, std::move(marginals), rho);
  };
  // Runs of values are answered by single contrasts or by the levels of a tree, whichever has the
  // smaller error for one unit of rho; that decides it for all measures.
  if (release_->options && release_->options->questions) {
    std::vector<tables::Axis> trees;
    for (std::size_t a = 0; a < layout.axes.size(); ++a) {
      if (!is_ordered(a)) {
        trees.push_back(layout.axes[a]);
        continue;
      }
      DISCREET_TRY(tables::Axis tree,
                   tables::Axis::ranges(layout.axes[a].name(), layout.axes[a].size()));
      trees.push_back(std::move(tree));
    }
    DISCREET_TRY(const tables::Plan flat, plan_on(layout.axes, measures_.front().rho));
    DISCREET_TRY(const tables::Plan deep, plan_on(trees, measures_.front().rho));
    if (deep.objective() < flat.objective()) layout.axes = std::move(trees);
  }
  for (const Measure& measure : measures_) {
    DISCREET_TRY(tables::Plan plan, plan_on(layout.axes, measure.rho));
    DISCREET_CHECK(plan.rho() <= measure.rho, "a plan costs no more than its share");
    layout.plans.push_back(std::make_shared<const tables::Plan>(std::move(plan)));
  }
  return {};
}

// Axes from the groups themselves: public tables have been read.
Result<TablesJob::Layout> TablesJob::layout_of(const Groups& groups) const {
  Layout layout;
  std::vector<std::map<std::vector<Cell>, std::uint32_t>> places(factors_.size());
  const auto part = [&](std::size_t group, std::size_t a) {
    std::vector<Cell> tuple;
    for (const std::size_t key : factors_[a]) tuple.push_back(groups.keys(group)[key]);
    return tuple;
  };
  for (std::size_t group = 0; group < groups.size(); ++group)
    for (std::size_t a = 0; a < factors_.size(); ++a) places[a].emplace(part(group, a), 0);
  std::uint64_t cells = 1;
  for (std::size_t a = 0; a < factors_.size(); ++a) {
    // In order of the tuples, so that what shares its first keys stands together.
    std::uint32_t next = 0;
    std::vector<std::vector<std::uint32_t>> levels(factors_[a].size() - 1);
    const std::vector<Cell>* before = nullptr;
    for (auto& [tuple, place] : places[a]) {
      for (std::size_t l = 0; l < levels.size(); ++l)
        if (before == nullptr ||
            !std::equal(tuple.begin(), tuple.begin() + static_cast<std::ptrdiff_t>(l) + 1,
                        before->begin()))
          levels[l].push_back(next);
      place = next++;
      before = &tuple;
    }
    const std::string& name = release_->keys[factors_[a].front()].text;
    if (next == 0) return refused("The public table that lists the keys has no rows.");
    cells *= next;
    if (next > tables::Axis::kSizeMax || cells > tables::kFullTableMax)
      return refused(fmt::format(
          "The keys of this question span more than {} cells; group by fewer or coarser columns.",
          tables::kFullTableMax));
    DISCREET_TRY(tables::Axis axis, levels.empty()
                                        ? tables::Axis::cells(name, next)
                                        : tables::Axis::hierarchy(name, next, std::move(levels)));
    layout.axes.push_back(std::move(axis));
  }
  DISCREET_CHECK(cells == groups.size(), "a group for every cell");
  layout.group_of.resize(cells);
  for (std::size_t group = 0; group < groups.size(); ++group) {
    std::size_t cell = 0;
    for (std::size_t a = 0; a < factors_.size(); ++a)
      cell = cell * layout.axes[a].size() + places[a].at(part(group, a));
    layout.group_of[cell] = group;
  }
  DISCREET_TRY_VOID(make_plans(layout));
  return layout;
}

// By feature and cell, exactly.
Result<std::vector<std::vector<std::int64_t>>> TablesJob::totals(const Layout& layout,
                                                                 Groups& groups, Engine& engine,
                                                                 RandomSource& random) const {
  const std::size_t size = groups.size();
  std::vector<std::vector<std::int64_t>> sums(release_->features.size(),
                                              std::vector<std::int64_t>(size, 0));
  // Modulo 2^64, as the coefficients are.
  const auto add = [&](std::size_t feature, std::size_t group, Int128 value) {
    auto& sum = sums[feature][group];
    sum = static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) +
                                    static_cast<std::uint64_t>(value));
  };
  const auto in_cells = [&] {
    if (layout.group_of.empty()) return std::move(sums);
    std::vector<std::vector<std::int64_t>> cells(sums.size(), std::vector<std::int64_t>(size));
    for (std::size_t f = 0; f < sums.size(); ++f)
      for (std::size_t cell = 0; cell < size; ++cell)
        cells[f][cell] = sums[f][layout.group_of[cell]];
    return cells;
  };
  if (!release_->bounds.one_row_per_unit || !release_->totals_sql || rows_max_ != 1) {
    DISCREET_TRY(const Contributions kept,
                 Contributions::load_sample(*release_, rows_max_, groups, engine, random));
    for (std::size_t unit = 0; unit < kept.units(); ++unit)
      for (std::size_t row = kept.begin(unit); row < kept.end(unit); ++row)
        for (std::size_t f = 0; f < sums.size(); ++f) add(f, kept.group(row), kept.values(row)[f]);
    return in_cells();
  }
  std::vector<std::string> names;
  for (const sql::Key& key : release_->keys) names.push_back(key.column);
  for (const sql::Feature& feature : release_->features) names.push_back(feature.column);
  DISCREET_TRY(EngineRows rows, totals_rows(*release_, names, engine));
  const auto columns = rows.columns();
  const std::size_t keys = release_->keys.size();
  DISCREET_CHECK(columns.size() == names.size(), "totals are keys and features");
  std::vector<Cell> tuple(keys);
  for (;;) {
    DISCREET_TRY(const auto chunk, rows.next());
    if (!chunk) return in_cells();
    for (std::size_t row = 0; row < chunk->size(); ++row) {
      for (std::size_t key = 0; key < keys; ++key)
        tuple[key] = read_cell(*chunk, columns[key].type, key, row);
      const auto group = groups.find(tuple);
      if (!group) continue;
      for (std::size_t f = 0; f < sums.size(); ++f)
        if (!chunk->is_null(keys + f, row)) add(f, *group, chunk->int128(keys + f, row));
    }
  }
}

// The whole table in grid units: not negative where no value is, whole numbers, from which every
// grouping set is summed.
Result<std::vector<double>> TablesJob::base_table(const Measure& measure, const Layout& layout,
                                                  std::shared_ptr<const tables::Plan> plan,
                                                  std::vector<std::int64_t> exact,
                                                  RandomSource& random) const {
  const auto counter =
      [&](const tables::Attributes& attributes) -> Result<std::vector<std::int64_t>> {
    return tables::marginal_of<std::int64_t>(layout.axes, exact, attributes);
  };
  DISCREET_TRY(const tables::Released released, tables::release(plan, counter, random));
  std::vector<double> table;
  double offset = 0;
  const std::optional<tables::Invariant> known = counts_rows(measure) ? layout.known : std::nullopt;
  if (measure.not_negative) {
    DISCREET_TRY(table, tables::nonnegative_table(released, known));
  } else {
    // Rounding shares out what is not negative: a constant is added before and taken off after.
    tables::Attributes all;
    for (std::uint32_t a = 0; a < layout.axes.size(); ++a) all.push_back(a);
    table = released.marginal(all);
    offset = std::ceil(std::fmax(0, -*std::min_element(table.begin(), table.end())));
    for (double& cell : table) cell += offset;
  }
  DISCREET_TRY(const auto whole, tables::round_table(*plan, table, known));
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = static_cast<double>(whole[i]) - offset;
  return table;
}

// What one grouping set is made of.
struct TablesJob::Sums {
  tables::Marginal marginal;
  std::vector<std::vector<double>> values, variances;  // by measure and answer
  std::vector<std::size_t> cell;                       // by answer: a cell of the whole table in it
};

Result<ReleasedTable> TablesJob::run(Groups& groups, Engine& engine, RandomSource& random) const {
  if (rows_max_ == 0) return find_and_run(groups, engine, random);
  std::optional<Layout> read = layout_;
  if (!read) {
    DISCREET_TRY(read, layout_of(groups));
  }
  DISCREET_TRY(read->known, find_known(*read, groups, engine));
  const Layout& layout = *read;
  std::size_t cells = 1;
  for (const tables::Axis& axis : layout.axes) cells *= axis.size();
  DISCREET_CHECK(groups.is_public() && groups.size() == cells, "a group for every cell");
  DISCREET_TRY(auto features, totals(layout, groups, engine, random));
  std::vector<std::vector<double>> base;
  for (std::size_t m = 0; m < measures_.size(); ++m) {
    const Measure& measure = measures_[m];
    std::vector<std::int64_t> exact = features[measure.feature];
    if (measure.centre != 0)
      for (std::size_t i = 0; i < exact.size(); ++i)
        exact[i] =
            static_cast<std::int64_t>(static_cast<std::uint64_t>(exact[i]) -
                                      static_cast<std::uint64_t>(measure.centre) *
                                          static_cast<std::uint64_t>(features[measure.count][i]));
    DISCREET_TRY(auto table,
                 base_table(measure, layout, layout.plans[m], std::move(exact), random));
    base.push_back(std::move(table));
  }
  ReleasedTable out;
  out.aggregates.resize(columns_.size());
  for (std::size_t set = 0; set < release_->grouping_sets->size(); ++set) {
    Sums sums{marginal(set, layout.axes), {}, {}, {}};
    // The answer each cell of the whole table is part of.
    std::size_t answers = 1;
    std::vector<std::vector<std::uint32_t>> node(layout.axes.size());
    for (std::size_t i = 0; i < sums.marginal.attributes.size(); ++i) {
      const std::uint32_t a = sums.marginal.attributes[i];
      std::uint32_t count = 0;
      const bool by_level = !sums.marginal.questions.empty() &&
                            sums.marginal.questions[i] == tables::Questions::Level;
      for (std::uint32_t v = 0; v < layout.axes[a].size(); ++v) {
        const bool begins = !by_level || [&] {
          const auto& starts = layout.axes[a].levels()[sums.marginal.levels[i]];
          return std::binary_search(starts.begin(), starts.end(), v);
        }();
        count += begins ? 1 : 0;
        node[a].push_back(count - 1);
      }
      answers *= count;
    }
    std::vector<std::size_t> answer_of(base.front().size(), 0);
    for (std::size_t cell = 0; cell < answer_of.size(); ++cell) {
      std::size_t rest = cell, stride = 1, place = 0;
      for (std::size_t a = layout.axes.size(); a-- > 0;) {
        const std::size_t value = rest % layout.axes[a].size();
        rest /= layout.axes[a].size();
        if (node[a].empty()) continue;
        place += stride * node[a][value];
        stride *= node[a].back() + std::size_t{1};
      }
      answer_of[cell] = place;
    }
    sums.cell.assign(answers, SIZE_MAX);
    for (std::size_t cell = 0; cell < answer_of.size(); ++cell)
      sums.cell[answer_of[cell]] = std::min(sums.cell[answer_of[cell]], cell);
    for (std::size_t m = 0; m < measures_.size(); ++m) {
      auto& values = sums.values.emplace_back(answers, 0.0);
      for (std::size_t cell = 0; cell < answer_of.size(); ++cell)
        values[answer_of[cell]] += base[m][cell];
      sums.variances.push_back(layout.plans[m]->variances(sums.marginal));
    }
    append(sums, set, layout, groups, out);
  }
  return out;
}

void TablesJob::append(const Sums& sums, std::size_t set, const Layout& layout,
                       const Groups& groups, ReleasedTable& out) const {
  const std::size_t keys = release_->keys.size();
  const auto& kept_keys = (*release_->grouping_sets)[set];
  for (std::size_t answer = 0; answer < sums.cell.size(); ++answer) {
    const std::size_t cell = sums.cell[answer];
    const auto found = groups.keys(layout.group_of.empty() ? cell : layout.group_of[cell]);
    std::vector<Cell> tuple(found.begin(), found.end());
    tuple.resize(2 * keys);
    for (std::size_t key = 0; key < keys; ++key) {
      const bool kept = std::binary_search(kept_keys.begin(), kept_keys.end(), key);
      tuple[keys + key] = std::int64_t{kept ? 0 : 1};
      if (!kept) tuple[key] = Cell{};
    }
    out.keys.push_back(std::move(tuple));
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::size_t m = columns_[i].measure;
      const Measure& measure = measures_[m];
      const bool exact = is_known(measure, sums.marginal, layout);
      const double value = sums.values[m][answer],
                   error = exact ? 0 : half_width(sums.variances[m][answer]);
      ReleasedColumn& column = out.aggregates[i];
      if (!columns_[i].count) {
        column.values.emplace_back(value * measure.unit);
        column.error95.emplace_back(error * measure.unit);
        continue;
      }
      // The mean off the centre; noise of the count matters as far as the mean is off it.
      const std::size_t rows = *columns_[i].count;
      const double n = std::fmax(1, sums.values[rows][answer]);
      const auto limit = static_cast<double>(measure.limit);
      const double mean = std::clamp(value / n, -limit, limit);
      column.values.emplace_back((static_cast<double>(measure.centre) + mean) * measure.unit);
      column.error95.emplace_back(
          std::hypot(error, mean * half_width(sums.variances[rows][answer])) / n * measure.unit);
    }
  }
}

}  // namespace discreet
