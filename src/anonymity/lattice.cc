#include "anonymity/lattice.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "anonymity/metrics.h"

namespace discreet::anonymity {
namespace {

Range extent(const Column& column) {
  const auto [least, most] = std::minmax_element(column.codes.begin(), column.codes.end());
  return {*least, *most};
}

std::int64_t floor_to(std::int64_t code, std::int64_t width) {
  const std::int64_t down = code / width * width;
  return code < 0 && down != code ? down - width : down;
}

Range widen(const Column& column, const Range& whole, std::int64_t code, std::int64_t width) {
  if (width == 1) return {code, code};
  if (width > whole.upper - whole.lower) return whole;
  if (!column.labels.empty()) return whole;
  const std::int64_t lower = floor_to(code, width);
  return {lower, lower + width - 1};
}

bool dominates(const std::vector<std::size_t>& above, const std::vector<std::size_t>& below) {
  for (std::size_t i = 0; i < above.size(); ++i)
    if (above[i] < below[i]) return false;
  return true;
}

class Lattice {
 public:
  Lattice(const Table& table, const std::vector<Hierarchy>& hierarchies,
          const Requirements& requirements, double suppressed_max)
      : table_(table),
        hierarchies_(hierarchies),
        requirements_(requirements),
        suppressed_max_(suppressed_max * static_cast<double>(table.rows())) {
    for (const Column& column : table.quasi) whole_.push_back(extent(column));
  }

  Release at(const std::vector<std::size_t>& levels) const {
    std::map<std::vector<std::int64_t>, std::size_t> places;
    std::vector<Class> classes;
    std::vector<std::int64_t> key(levels.size());
    for (std::size_t row = 0; row < table_.rows(); ++row) {
      std::vector<Range> ranges;
      for (std::size_t c = 0; c < levels.size(); ++c) {
        ranges.push_back(widen(table_.quasi[c], whole_[c], table_.quasi[c].codes[row],
                               hierarchies_[c].widths[levels[c]]));
        key[c] = ranges.back().lower;
      }
      const auto [place, fresh] = places.emplace(key, classes.size());
      if (fresh) classes.push_back({{}, std::move(ranges)});
      classes[place->second].rows.push_back(row);
    }
    Release release;
    for (Class& found : classes) {
      if (meets(table_, found.rows, requirements_))
        release.classes.push_back(std::move(found));
      else
        release.suppressed.insert(release.suppressed.end(), found.rows.begin(), found.rows.end());
    }
    return release;
  }

  bool enough(const Release& release) const {
    return static_cast<double>(release.suppressed.size()) <= suppressed_max_ &&
           !release.classes.empty();
  }

 private:
  const Table& table_;
  const std::vector<Hierarchy>& hierarchies_;
  const Requirements& requirements_;
  double suppressed_max_;
  std::vector<Range> whole_;
};

// All combinations of levels whose sum is `height`.
void nodes_of(std::size_t height, const std::vector<Hierarchy>& hierarchies,
              std::vector<std::size_t>& levels, std::size_t column,
              std::vector<std::vector<std::size_t>>& out) {
  if (column == hierarchies.size()) {
    if (height == 0) out.push_back(levels);
    return;
  }
  for (std::size_t level = 0; level < hierarchies[column].widths.size() && level <= height;
       ++level) {
    levels[column] = level;
    nodes_of(height - level, hierarchies, levels, column + 1, out);
  }
}

}  // namespace

Hierarchy default_hierarchy(const Column& column) {
  const Range whole = extent(column);
  const std::int64_t span = whole.upper - whole.lower + 1;
  Hierarchy hierarchy{{1}};
  if (column.labels.empty()) {
    std::vector<std::int64_t> steps;
    if (column.is_date)
      steps = {28, 364, 1820, 3640, 7280};  // weeks, so that coarser intervals nest
    else
      steps = {5, 10, 50, 100, 1000, 10'000, 100'000, 1'000'000};
    for (const std::int64_t step : steps)
      if (step < span) hierarchy.widths.push_back(step);
  }
  if (span > 1) hierarchy.widths.push_back(span + 1);
  return hierarchy;
}

Result<LatticeResult> generalise(const Table& table, const std::vector<Hierarchy>& hierarchies,
                                 const Requirements& requirements, double suppressed_max) {
  if (table.rows() == 0) return invalid_input("The table has no rows.");
  if (hierarchies.size() != table.quasi.size())
    return invalid_parameter("Every quasi-identifier needs a hierarchy.");
  const Lattice lattice(table, hierarchies, requirements, suppressed_max);
  std::size_t top = 0;
  for (const Hierarchy& hierarchy : hierarchies) top += hierarchy.widths.size() - 1;

  // From the coarsest down: a combination finer than one that fails fails too.
  LatticeResult best;
  double least_loss = 2;
  std::vector<std::vector<std::size_t>> failing;
  std::size_t looked_at = 0;
  for (std::size_t height = top + 1; height-- > 0;) {
    std::vector<std::vector<std::size_t>> nodes;
    std::vector<std::size_t> levels(hierarchies.size());
    nodes_of(height, hierarchies, levels, 0, nodes);
    for (const auto& node : nodes) {
      if (std::any_of(failing.begin(), failing.end(),
                      [&](const auto& above) { return dominates(above, node); }))
        continue;
      ++looked_at;
      Release release = lattice.at(node);
      if (!lattice.enough(release)) {
        failing.push_back(node);
        continue;
      }
      const double loss = measure(table, release).information_loss;
      if (loss < least_loss) {
        least_loss = loss;
        best.release = std::move(release);
        best.levels = node;
      }
    }
  }
  if (best.release.classes.empty())
    return Error{ErrorCode::Refused,
                 "Not even the coarsest table meets the requirements. Ask for a smaller k or l, a "
                 "larger t, or let more rows be suppressed."};
  best.nodes = looked_at;
  return best;
}

}  // namespace discreet::anonymity
