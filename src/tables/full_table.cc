#include "tables/full_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tables/tensor_internal.h"

namespace discreet::tables {
namespace {

// For each value of an axis, the node of a level that it belongs to.
std::vector<std::uint32_t> nodes_of(const Axis& axis, std::uint32_t level) {
  std::vector<std::uint32_t> nodes(axis.size());
  std::iota(nodes.begin(), nodes.end(), 0u);
  if (level == Invariant::kLeaves) return nodes;
  const auto& starts = axis.levels()[level];
  for (std::uint32_t& node : nodes)
    node = static_cast<std::uint32_t>(std::upper_bound(starts.begin(), starts.end(), node) -
                                      starts.begin() - 1);
  return nodes;
}

// For each cell of the whole table, its place in a marginal.
std::vector<std::uint32_t> places(std::span<const Axis> axes, const Attributes& attributes) {
  return parts_of(axes, Invariant{attributes, {}, {}});
}

Result<std::uint64_t> check_size(const Plan& plan, const std::optional<Invariant>& invariant) {
  Attributes all(plan.axes().size());
  std::iota(all.begin(), all.end(), 0u);
  const std::uint64_t cells = plan.cells(all);
  if (cells > kFullTableMax)
    return invalid_parameter(
        fmt::format("the whole table has more than {} cells; fit records instead", kFullTableMax));
  if (!invariant) return cells;
  const Attributes& a = invariant->attributes;
  const bool fits = std::is_sorted(a.begin(), a.end(), std::less_equal<>()) &&
                    (a.empty() || a.back() < plan.axes().size()) &&
                    (invariant->levels.empty() || invariant->levels.size() == a.size());
  std::uint64_t counts = 1;
  for (std::size_t i = 0; fits && i < a.size(); ++i) {
    const Axis& axis = plan.axes()[a[i]];
    const std::uint32_t level = invariant->level(i);
    if (level != Invariant::kLeaves && level >= axis.levels().size()) counts = 0;
    if (counts > 0)
      counts *= level == Invariant::kLeaves ? axis.size() : axis.levels()[level].size();
  }
  if (!fits || counts == 0 || invariant->counts.size() != counts ||
      std::any_of(invariant->counts.begin(), invariant->counts.end(), [](auto c) { return c < 0; }))
    return invalid_parameter(
        "an invariant gives a count of zero or more for every cell of its marginal");
  return cells;
}

// All coefficients of the whole table in the orthonormal basis, and their precision.
struct Coefficients {
  std::vector<double> value, precision;
};

class Basis {
 public:
  explicit Basis(std::span<const Axis> axes) : axes_(axes) {
    for (const Axis& axis : axes) sizes_.push_back(axis.size());
  }
  void analyse(std::span<double> box) const {
    for (std::size_t i = 0; i < axes_.size(); ++i)
      along_axis<double>(box, sizes_, i, [&](std::span<double> line, std::span<double> scratch) {
        axes_[i].analyse_unit(line, scratch);
      });
  }
  void synthesise(std::span<double> box) const {
    for (std::size_t i = 0; i < axes_.size(); ++i)
      along_axis<double>(box, sizes_, i, [&](std::span<double> line, std::span<double> scratch) {
        axes_[i].synthesise_unit(line, scratch);
      });
  }

 private:
  std::span<const Axis> axes_;
  std::vector<std::uint32_t> sizes_;
};

// Visits every coefficient of the whole table with its attributes and parts.
template <class Visit>
void each_place(std::span<const Axis> axes, const Visit& visit) {
  std::vector<std::uint32_t> row(axes.size(), 0);
  Attributes attributes;
  std::vector<std::uint32_t> parts, contrasts;
  for (std::size_t place = 0;; ++place) {
    attributes.clear();
    parts.clear();
    contrasts.clear();
    double others = 1;
    for (std::uint32_t a = 0; a < axes.size(); ++a) {
      if (row[a] == 0) {
        others *= axes[a].size();
        continue;
      }
      attributes.push_back(a);
      parts.push_back(axes[a].contrasts()[row[a] - 1].part);
      contrasts.push_back(row[a] - 1);
    }
    visit(place, attributes, parts, contrasts, others);
    std::size_t i = axes.size();
    while (i > 0 && ++row[i - 1] == axes[i - 1].size()) row[--i] = 0;
    if (i == 0) return;
  }
}

Coefficients coefficients_of(const Released& released, std::uint64_t cells) {
  const Plan& plan = released.plan();
  Coefficients all{std::vector<double>(cells, 0.0), std::vector<double>(cells, 0.0)};
  each_place(plan.axes(), [&](std::size_t place, const Attributes& attributes,
                              const std::vector<std::uint32_t>& parts,
                              const std::vector<std::uint32_t>& contrasts, double others) {
    const Space* space = plan.find(attributes, parts);
    if (!space) return;
    std::size_t at = 0;
    double norm2 = 1;
    for (std::size_t i = 0; i < attributes.size(); ++i) {
      const Axis& axis = plan.axes()[attributes[i]];
      const auto [first, last] = axis.slice(parts[i]);
      at = at * (last - first) + (contrasts[i] - first);
      norm2 *= static_cast<double>(axis.contrasts()[contrasts[i]].norm2);
    }
    // The plain sum over the other attributes is sqrt(others) orthonormal coefficients.
    all.value[place] = static_cast<double>(released.coefficients(plan.index(*space))[at]) /
                       std::sqrt(norm2 * others);
    all.precision[place] = others / space->sigma2;
  });
  return all;
}

// The invariant's own coefficients, known exactly.
std::vector<bool> fix(const Plan& plan, const Basis& basis, const Invariant& invariant,
                      Coefficients& all) {
  // Spread evenly over the cells it does not tell apart: that has the same coefficients.
  const auto at = parts_of(plan.axes(), invariant);
  std::vector<double> cells(invariant.counts.size(), 0.0), spread(at.size());
  for (const std::uint32_t part : at) ++cells[part];
  for (std::size_t i = 0; i < at.size(); ++i)
    spread[i] = static_cast<double>(invariant.counts[at[i]]) / cells[at[i]];
  basis.analyse(spread);
  std::vector<bool> fixed(at.size(), false);
  each_place(plan.axes(), [&](std::size_t place, const Attributes& attributes, const auto&,
                              const auto& contrasts, double) {
    // A contrast is told where its halves are made of the invariant's nodes.
    for (std::size_t i = 0; i < attributes.size(); ++i) {
      const auto found =
          std::lower_bound(invariant.attributes.begin(), invariant.attributes.end(), attributes[i]);
      if (found == invariant.attributes.end() || *found != attributes[i]) return;
      const std::uint32_t level =
          invariant.level(static_cast<std::size_t>(found - invariant.attributes.begin()));
      if (level == Invariant::kLeaves) continue;
      const Axis& axis = plan.axes()[attributes[i]];
      const auto& starts = axis.levels()[level];
      if (!std::binary_search(starts.begin(), starts.end(), axis.contrasts()[contrasts[i]].middle))
        return;
    }
    fixed[place] = true;
    all.value[place] = spread[place];
  });
  return fixed;
}

}  // namespace

bool Invariant::tells(const Attributes& asked, std::span<const std::uint32_t> asked_levels) const {
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const auto found = std::lower_bound(attributes.begin(), attributes.end(), asked[i]);
    if (found == attributes.end() || *found != asked[i]) return false;
    const std::uint32_t finest = level(static_cast<std::size_t>(found - attributes.begin()));
    if (finest < (asked_levels.empty() ? kLeaves : asked_levels[i])) return false;
  }
  return true;
}

std::vector<std::uint32_t> parts_of(std::span<const Axis> axes, const Invariant& invariant) {
  std::vector<std::uint32_t> at(1, 0);
  std::size_t next = 0;
  for (std::uint32_t a = 0; a < axes.size(); ++a) {
    const bool kept = next < invariant.attributes.size() && invariant.attributes[next] == a;
    std::vector<std::uint32_t> nodes(axes[a].size(), 0);
    if (kept) nodes = nodes_of(axes[a], invariant.level(next++));
    std::vector<std::uint32_t> finer;
    finer.reserve(at.size() * axes[a].size());
    for (const std::uint32_t place : at)
      for (const std::uint32_t node : nodes) finer.push_back(place * (nodes.back() + 1) + node);
    at = std::move(finer);
  }
  return at;
}

Result<std::vector<double>> nonnegative_table(const Released& released,
                                              const std::optional<Invariant>& invariant,
                                              const FullTableSettings& settings) {
  const Plan& plan = released.plan();
  DISCREET_TRY(const std::uint64_t cells, check_size(plan, invariant));
  const Basis basis(plan.axes());
  Coefficients all = coefficients_of(released, cells);
  std::vector<bool> fixed(cells, false);
  if (invariant) fixed = fix(plan, basis, *invariant, all);

  // The step is between the precisions that matter: the greatest and the least that is measured.
  double least = HUGE_VAL, greatest = 0;
  for (std::size_t i = 0; i < cells; ++i) {
    if (fixed[i] || all.precision[i] == 0) continue;
    least = std::min(least, all.precision[i]);
    greatest = std::max(greatest, all.precision[i]);
  }
  if (greatest == 0) least = greatest = 1;
  const double step = std::sqrt(least * greatest);
  const double tolerance = settings.tolerance / std::sqrt(least);
  std::vector<double> x(cells), bounded(cells), dual(cells, 0.0), target(cells);
  x = all.value;
  basis.synthesise(x);
  for (std::size_t i = 0; i < cells; ++i) bounded[i] = std::max(0.0, x[i]);
  constexpr double kOver = 1.6;  // over-relaxation, as usual between 1.5 and 1.8
  for (std::uint32_t round = 0; round < settings.rounds; ++round) {
    for (std::size_t i = 0; i < cells; ++i) target[i] = bounded[i] - dual[i];
    basis.analyse(target);
    for (std::size_t i = 0; i < cells; ++i)
      x[i] = fixed[i]
                 ? all.value[i]
                 : (all.precision[i] * all.value[i] + step * target[i]) / (all.precision[i] + step);
    basis.synthesise(x);
    double moved = 0;
    for (std::size_t i = 0; i < cells; ++i) {
      const double relaxed = kOver * x[i] + (1 - kOver) * bounded[i];
      const double next = std::max(0.0, relaxed + dual[i]);
      dual[i] += relaxed - next;
      moved = std::max({moved, std::fabs(next - bounded[i]), std::fabs(next - x[i])});
      bounded[i] = next;
    }
    if (moved < tolerance) break;
  }
  return bounded;
}

template <class Number>
std::vector<Number> marginal_of(std::span<const Axis> axes, std::span<const Number> table,
                                const Attributes& attributes) {
  std::size_t size = 1;
  for (const std::uint32_t a : attributes) size *= axes[a].size();
  std::vector<Number> sums(size, Number{0});
  const auto at = places(axes, attributes);
  for (std::size_t i = 0; i < table.size(); ++i) sums[at[i]] += table[i];
  return sums;
}

template std::vector<double> marginal_of(std::span<const Axis>, std::span<const double>,
                                         const Attributes&);
template std::vector<std::int64_t> marginal_of(std::span<const Axis>, std::span<const std::int64_t>,
                                               const Attributes&);

namespace {

constexpr double kMoveWorkMax = 5e7;

// Shares `units` among the values first .. last - 1 of one axis like `wanted`, top down along its
// tree, of which they are a node.
void share_out(const Axis& axis, std::uint32_t first_value, std::uint32_t last_value,
               std::int64_t units, std::span<const double> wanted, std::span<std::int64_t> shares) {
  std::vector<double> below(axis.size() + 1, 0.0);
  for (std::uint32_t v = 0; v < axis.size(); ++v) below[v + 1] = below[v] + wanted[v];
  std::vector<std::size_t> order(axis.contrasts().size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto contrasts = axis.contrasts();
  std::stable_sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) {
    return contrasts[x].end - contrasts[x].begin > contrasts[y].end - contrasts[y].begin;
  });
  shares[first_value] = units;  // a range's units stand at its first value until it is split
  for (const std::size_t k : order) {
    const auto& c = contrasts[k];
    if (c.begin < first_value || c.end > last_value) continue;
    const std::int64_t here = shares[c.begin];
    const double left = below[c.middle] - below[c.begin], right = below[c.end] - below[c.middle];
    const double part = left + right > 0 ? left / (left + right)
                                         : static_cast<double>(c.middle - c.begin) /
                                               static_cast<double>(c.end - c.begin);
    const auto first =
        std::clamp<std::int64_t>(std::llround(static_cast<double>(here) * part), 0, here);
    shares[c.begin] = first;
    shares[c.middle] = here - first;
  }
}

// Moves units along axes while that brings the marginals nearer to the wanted ones.
class Mover {
 public:
  Mover(const Plan& plan, std::span<const double> wanted, std::span<const std::int64_t> counts,
        const Attributes& kept)
      : axes_(plan.axes()) {
    std::vector<Attributes> sets;
    for (const Marginal& marginal : plan.marginals())
      if (std::find(sets.begin(), sets.end(), marginal.attributes) == sets.end()) {
        sets.push_back(marginal.attributes);
        tables_.push_back(
            {places(axes_, marginal.attributes), {}, 1 / plan.variance(marginal), {}});
        tables_.back().attributes.assign(marginal.attributes.begin(), marginal.attributes.end());
      }
    for (Table& table : tables_) {
      table.excess.assign(plan.cells(table.attributes), 0.0);
      for (std::size_t i = 0; i < counts.size(); ++i)
        table.excess[table.place[i]] += static_cast<double>(counts[i]) - wanted[i];
    }
    for (std::uint32_t a = 0; a < axes_.size(); ++a)
      if (!std::binary_search(kept.begin(), kept.end(), a) && axes_[a].size() > 1)
        movable_.push_back(a);
  }

  // One pass over all cells; returns whether a unit moved.
  bool pass(std::span<std::int64_t> counts) {
    bool any = false;
    for (const std::uint32_t a : movable_) {
      std::size_t stride = 1;
      for (std::size_t b = a + 1; b < axes_.size(); ++b) stride *= axes_[b].size();
      const std::size_t n = axes_[a].size();
      for (std::size_t from = 0; from < counts.size(); ++from) {
        if (counts[from] == 0) continue;
        const std::size_t line = from - from / stride % n * stride;
        std::size_t best = from;
        double gain = -1e-12;
        for (std::size_t v = 0; v < n; ++v) {
          const std::size_t to = line + v * stride;
          const double change = to == from ? 0 : cost(from, to);
          if (change < gain) {
            gain = change;
            best = to;
          }
        }
        if (best == from) continue;
        move(from, best);
        --counts[from];
        ++counts[best];
        any = true;
      }
    }
    return any;
  }

 private:
  struct Table {
    std::vector<std::uint32_t> place;
    std::vector<double> excess;
    double weight;
    Attributes attributes;
  };

  double cost(std::size_t from, std::size_t to) const {
    double sum = 0;
    for (const Table& table : tables_) {
      const std::uint32_t p = table.place[from], q = table.place[to];
      if (p != q) sum += table.weight * (table.excess[q] - table.excess[p] + 1);
    }
    return sum;
  }
  void move(std::size_t from, std::size_t to) {
    for (Table& table : tables_) {
      table.excess[table.place[from]] -= 1;
      table.excess[table.place[to]] += 1;
    }
  }

  std::span<const Axis> axes_;
  std::vector<Table> tables_;
  std::vector<std::uint32_t> movable_;
};

}  // namespace

Result<std::vector<std::int64_t>> round_table(const Plan& plan, std::span<const double> table,
                                              const std::optional<Invariant>& invariant) {
  DISCREET_TRY(const std::uint64_t cells, check_size(plan, invariant));
  if (table.size() != cells) return invalid_parameter("a number for every cell of the whole table");
  const auto axes = plan.axes();
  const Invariant whole =
      invariant ? *invariant
                : Invariant{{}, {std::llround(std::accumulate(table.begin(), table.end(), 0.0))}};
  // The invariant's counts first, already known; nodes of a level are shared among their values,
  // and then one attribute after another comes in.
  Attributes known = whole.attributes;
  std::vector<std::uint32_t> levels;
  for (std::size_t i = 0; i < known.size(); ++i) levels.push_back(whole.level(i));
  std::vector<std::int64_t> counts = whole.counts;
  for (std::uint32_t a = 0; a < axes.size(); ++a) {
    const auto found = std::lower_bound(known.begin(), known.end(), a);
    const auto at = static_cast<std::size_t>(found - known.begin());
    const bool by_level = found != known.end() && *found == a;
    if (by_level && levels[at] == Invariant::kLeaves) continue;
    std::vector<std::uint32_t> starts{0};
    if (by_level) {
      starts.assign(axes[a].levels()[levels[at]].begin(), axes[a].levels()[levels[at]].end());
      levels[at] = Invariant::kLeaves;
    } else {
      known.insert(found, a);
      levels.insert(levels.begin() + static_cast<std::ptrdiff_t>(at), Invariant::kLeaves);
    }
    // What is wanted of the values, at the nodes that the other attributes still stand at.
    const Invariant finer{known, {}, levels};
    const auto part = parts_of(axes, finer);
    std::vector<double> wanted(std::size_t{*std::max_element(part.begin(), part.end())} + 1, 0.0);
    for (std::size_t i = 0; i < part.size(); ++i) wanted[part[i]] += table[i];
    std::size_t stride = 1;
    for (std::size_t i = at + 1; i < known.size(); ++i)
      stride *= levels[i] == Invariant::kLeaves ? axes[known[i]].size()
                                                : axes[known[i]].levels()[levels[i]].size();
    const std::size_t n = axes[a].size(), nodes = starts.size();
    std::vector<std::int64_t> next(wanted.size());
    std::vector<double> line(n);
    std::vector<std::int64_t> shares(n);
    for (std::size_t outer = 0; outer < counts.size() / (nodes * stride); ++outer)
      for (std::size_t inner = 0; inner < stride; ++inner) {
        const std::size_t first = outer * n * stride + inner;
        for (std::size_t v = 0; v < n; ++v) line[v] = wanted[first + v * stride];
        std::fill(shares.begin(), shares.end(), 0);
        for (std::size_t node = 0; node < nodes; ++node)
          share_out(axes[a], starts[node],
                    node + 1 < nodes ? starts[node + 1] : static_cast<std::uint32_t>(n),
                    counts[(outer * nodes + node) * stride + inner], line, shares);
        for (std::size_t v = 0; v < n; ++v) next[first + v * stride] = shares[v];
      }
    counts = std::move(next);
  }
  // A pass looks along every axis from every cell; in large tables a unit more or less in a
  // marginal is small beside the noise, and is left.
  double work = 0;
  for (const Axis& axis : axes)
    work += static_cast<double>(cells) * axis.size() * static_cast<double>(plan.marginals().size());
  if (work > kMoveWorkMax) return counts;
  Mover mover(plan, table, counts, whole.attributes);
  constexpr int kPasses = 8;
  for (int pass = 0; pass < kPasses && mover.pass(counts); ++pass) {
  }
  return counts;
}

}  // namespace discreet::tables
