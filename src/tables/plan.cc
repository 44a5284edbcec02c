#include "tables/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/rounding.h"

namespace discreet::tables {
namespace {

constexpr double kSigma2Max = 0x1p98;
constexpr double kTriesMax = 2e6;     // loads computed to find the cell that pays most
constexpr double kEntryMax = 0x1p28;  // tables of up to 2^34 records then keep clear of 2^62

void append(std::string& key, std::uint32_t attribute, std::uint32_t part) {
  for (int byte = 0; byte < 3; ++byte) key.push_back(static_cast<char>(attribute >> (8 * byte)));
  key.push_back(static_cast<char>(part));
}

std::string key_of(std::span<const std::uint32_t> attributes,
                   std::span<const std::uint32_t> parts) {
  std::string key;
  for (std::size_t i = 0; i < attributes.size(); ++i) append(key, attributes[i], parts[i]);
  return key;
}

Questions questions_of(const Marginal& marginal, std::size_t i) {
  return marginal.questions.empty() ? Questions::Cells : marginal.questions[i];
}

std::uint32_t level_of(const Marginal& marginal, std::size_t i) {
  return marginal.levels.empty() ? 0 : marginal.levels[i];
}

}  // namespace

// Calls visit(parts) for every choice of a part (0 included) of each attribute.
template <class Visit>
void Plan::each_space(const Attributes& attributes, const Visit& visit) const {
  std::vector<std::uint32_t> parts(attributes.size(), 0);
  for (;;) {
    visit(parts);
    std::size_t i = 0;
    while (i < parts.size() && ++parts[i] == axes_[attributes[i]].parts()) parts[i++] = 0;
    if (i == parts.size()) return;
  }
}

Result<Plan> Plan::make(std::vector<Axis> axes, std::vector<Marginal> marginals, Rho rho) {
  if (!(rho.value() > 0) || !std::isfinite(rho.value()))
    return invalid_parameter("rho must be positive and finite to release tables");
  Plan plan(std::move(axes), std::move(marginals));
  DISCREET_TRY_VOID(plan.check());
  DISCREET_TRY_VOID(plan.gather());
  DISCREET_TRY_VOID(plan.calibrate(rho));
  return plan;
}

Result<void> Plan::check() const {
  if (marginals_.empty()) return invalid_parameter("there is no table to release");
  for (const Marginal& marginal : marginals_) {
    const Attributes& a = marginal.attributes;
    for (std::size_t i = 0; i < a.size(); ++i)
      if (a[i] >= axes_.size() || (i > 0 && a[i] <= a[i - 1]))
        return invalid_parameter(
            "a table's attributes are positions in ascending order, without repeats");
    if (!(marginal.weight > 0) || !std::isfinite(marginal.weight))
      return invalid_parameter("the weight of a table must be positive and finite");
    if ((!marginal.questions.empty() && marginal.questions.size() != a.size()) ||
        (!marginal.levels.empty() && marginal.levels.size() != a.size()))
      return invalid_parameter("a table says what is asked of each of its attributes, or of none");
    for (std::size_t i = 0; i < a.size(); ++i)
      if (questions_of(marginal, i) == Questions::Level &&
          level_of(marginal, i) >= axes_[a[i]].levels().size())
        return invalid_parameter(
            fmt::format("attribute '{}' has no such level", axes_[a[i]].name()));
    if (cells(a) > kCellsMax)
      return invalid_parameter(
          fmt::format("a table of more than {} cells is too large; use fewer "
                      "attributes or coarser values",
                      kCellsMax));
  }
  return {};
}

Result<void> Plan::gather() {
  for (const Marginal& marginal : marginals_) {
    bool too_many = false;
    each_space(marginal.attributes, [&](std::span<const std::uint32_t> parts) {
      double weight = marginal.weight;
      Space space;
      for (std::size_t i = 0; i < parts.size(); ++i) {
        const Axis& axis = axes_[marginal.attributes[i]];
        weight *= axis.weight(questions_of(marginal, i), parts[i], level_of(marginal, i));
        if (parts[i] == 0) continue;
        const auto [first, last] = axis.slice(parts[i]);
        space.attributes.push_back(marginal.attributes[i]);
        space.parts.push_back(parts[i]);
        space.load *= axis.mean_load(parts[i]);
        space.coefficients *= last - first;
      }
      if (!(weight > 0) || space.coefficients == 0 || too_many) return;
      const auto [at, fresh] = index_.emplace(key_of(space.attributes, space.parts),
                                              static_cast<std::uint32_t>(spaces_.size()));
      if (fresh) spaces_.push_back(std::move(space));
      spaces_[at->second].weight += weight;
      too_many = spaces_.size() > kSpacesMax;
    });
    if (too_many) return invalid_parameter("too many tables to plan at once; ask for fewer");
  }
  return {};
}

// Noise up to a common factor: the closed form, with the mean or the greatest load as p_B.
void Plan::shape(bool by_mean) {
  for (Space& space : spaces_) {
    double load = 1;
    for (std::size_t i = 0; i < space.attributes.size(); ++i) {
      const Axis& axis = axes_[space.attributes[i]];
      double greatest = 0;
      for (const auto& profile : axis.profiles())
        greatest = std::max(greatest, profile[space.parts[i]]);
      load *= by_mean ? axis.mean_load(space.parts[i]) : greatest;
    }
    space.sigma2 = std::sqrt(load / space.weight);
  }
}

// What the most expensive cell pays, rounded up: the sum over spaces of its load / (2 sigma2).
double Plan::worst_cost() const {
  // Only attributes with more than one profile need to be tried.
  std::vector<std::vector<std::vector<double>>> profiles(axes_.size());
  std::vector<std::size_t> uneven;
  for (std::size_t a = 0; a < axes_.size(); ++a)
    if (axes_[a].profiles().size() > 1) uneven.push_back(a);
  const double tries = std::fmax(1, kTriesMax / static_cast<double>(spaces_.size()));
  const auto each =
      uneven.empty() ? 1.0 : std::pow(tries, 1.0 / static_cast<double>(uneven.size()));
  for (std::size_t a = 0; a < axes_.size(); ++a)
    profiles[a] = axes_[a].profiles_at_most(static_cast<std::size_t>(std::fmax(1, each)));
  std::vector<std::size_t> chosen(axes_.size(), 0);
  double worst = 0;
  for (;;) {
    double cost = 0;
    for (const Space& space : spaces_) {
      double load = 1;
      for (std::size_t i = 0; i < space.attributes.size(); ++i) {
        const std::uint32_t a = space.attributes[i];
        load = mul_up(load, profiles[a][chosen[a]][space.parts[i]]);
      }
      cost = add_up(cost, div_up(load, mul_down(2, space.sigma2)));
    }
    worst = std::fmax(worst, cost);
    std::size_t i = 0;
    while (i < uneven.size() && ++chosen[uneven[i]] == profiles[uneven[i]].size())
      chosen[uneven[i++]] = 0;
    if (i == uneven.size()) return worst;
  }
}

Result<void> Plan::calibrate(Rho rho) {
  const auto scale = [&](double factor) {
    for (Space& space : spaces_) space.sigma2 *= factor;
  };
  const auto attempt = [&](bool by_mean) {
    shape(by_mean);
    scale(worst_cost() / rho.value());
    return objective();
  };
  if (attempt(false) < attempt(true)) attempt(false);
  double cost = worst_cost();
  // Rounding may have cost a few units in the last place.
  for (double factor = 1 + 1e-14; cost > rho.value(); factor = 1 + 2 * (factor - 1)) {
    if (!std::isfinite(cost)) return invalid_parameter("the tables' weights are too far apart");
    scale(factor);
    cost = worst_cost();
  }
  rho_ = Rho::make(cost).value();
  return check_fits();
}

Result<void> Plan::check_fits() const {
  for (const Space& space : spaces_) {
    if (!(space.sigma2 > 0) || !std::isfinite(space.sigma2))
      return invalid_parameter("the tables' weights are too far apart");
    double norm2 = space.sigma2, entry = 1;
    for (std::size_t i = 0; i < space.attributes.size(); ++i) {
      const Axis& axis = axes_[space.attributes[i]];
      double worst_norm2 = 1, worst_entry = 1;
      const auto [first, last] = axis.slice(space.parts[i]);
      for (const auto& c : axis.contrasts().subspan(first, last - first)) {
        worst_norm2 = std::max(worst_norm2, static_cast<double>(c.norm2));
        worst_entry = std::max(worst_entry, static_cast<double>(std::max(c.left, c.right)));
      }
      norm2 *= worst_norm2;
      entry *= worst_entry;
    }
    if (norm2 > kSigma2Max || entry > kEntryMax)
      return invalid_parameter(
          "a table's attributes have too many values for 64-bit integers; group values or use "
          "sizes "
          "that are powers of two");
  }
  return {};
}

const Space* Plan::find(std::span<const std::uint32_t> attributes,
                        std::span<const std::uint32_t> parts) const {
  const auto at = index_.find(key_of(attributes, parts));
  return at == index_.end() ? nullptr : &spaces_[at->second];
}

std::uint64_t Plan::cells(const Attributes& attributes) const {
  std::uint64_t product = 1;
  for (const std::uint32_t a : attributes) {
    if (product > (std::uint64_t{1} << 46)) return std::uint64_t{1} << 62;
    product *= axes_[a].size();
  }
  return product;
}

double Plan::answers(const Marginal& marginal) const {
  double product = 1;
  for (std::size_t i = 0; i < marginal.attributes.size(); ++i)
    product *=
        axes_[marginal.attributes[i]].count(questions_of(marginal, i), level_of(marginal, i));
  return product;
}

double Plan::variance(const Marginal& marginal) const {
  double sum = 0;
  each_space(marginal.attributes, [&](std::span<const std::uint32_t> parts) {
    double weight = 1;
    Attributes attributes, used;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const Axis& axis = axes_[marginal.attributes[i]];
      weight *= axis.weight(questions_of(marginal, i), parts[i], level_of(marginal, i));
      if (parts[i] == 0) continue;
      attributes.push_back(marginal.attributes[i]);
      used.push_back(parts[i]);
    }
    if (const Space* space = find(attributes, used)) sum += weight * space->sigma2;
  });
  return sum / answers(marginal);
}

std::vector<double> Plan::variances(const Marginal& marginal) const {
  // By attribute, part and answer: the squared length of the answer's projection.
  std::vector<std::vector<std::vector<double>>> lengths;
  std::size_t answers = 1;
  for (std::size_t i = 0; i < marginal.attributes.size(); ++i) {
    const Axis& axis = axes_[marginal.attributes[i]];
    std::vector<std::uint32_t> starts;
    const bool by_level = questions_of(marginal, i) == Questions::Level;
    DISCREET_CHECK(by_level || questions_of(marginal, i) == Questions::Cells,
                   "variances of cells and levels");
    if (by_level) {
      starts = axis.levels()[level_of(marginal, i)];
    } else {
      starts.resize(axis.size());
      std::iota(starts.begin(), starts.end(), 0u);
    }
    auto& by_part = lengths.emplace_back(axis.parts());
    for (std::uint32_t part = 0; part < axis.parts(); ++part) {
      // Single values of an attribute of one part are all alike.
      const bool alike = !by_level && axis.parts() <= 2;
      for (std::size_t a = 0; a < starts.size(); ++a)
        by_part[part].push_back(
            alike && a > 0
                ? by_part[part].front()
                : axis.projection(starts[a], a + 1 < starts.size() ? starts[a + 1] : axis.size(),
                                  part));
    }
    answers *= starts.size();
  }
  std::vector<double> sums(answers, 0.0);
  each_space(marginal.attributes, [&](std::span<const std::uint32_t> parts) {
    Attributes subset, used;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (parts[i] == 0) continue;
      subset.push_back(marginal.attributes[i]);
      used.push_back(parts[i]);
    }
    const Space* space = find(subset, used);
    if (!space) return;
    for (std::size_t answer = 0; answer < answers; ++answer) {
      double weight = space->sigma2;
      std::size_t rest = answer;
      for (std::size_t i = parts.size(); i-- > 0;) {
        const auto& list = lengths[i][parts[i]];
        weight *= list[rest % list.size()];
        rest /= list.size();
      }
      sums[answer] += weight;
    }
  });
  return sums;
}

double Plan::variance(const Attributes& attributes, std::span<const Range> box) const {
  DISCREET_CHECK(box.size() == attributes.size(), "a range for each attribute");
  double sum = 0;
  each_space(attributes, [&](std::span<const std::uint32_t> parts) {
    double weight = 1;
    Attributes subset, used;
    for (std::size_t i = 0; i < parts.size() && weight > 0; ++i) {
      weight *= axes_[attributes[i]].projection(box[i].begin, box[i].end, parts[i]);
      if (parts[i] == 0) continue;
      subset.push_back(attributes[i]);
      used.push_back(parts[i]);
    }
    if (!(weight > 0)) return;
    if (const Space* space = find(subset, used)) sum += weight * space->sigma2;
  });
  return sum;
}

double Plan::objective() const {
  double sum = 0;
  for (const Space& space : spaces_) sum += space.weight * space.sigma2;
  return sum;
}

double Plan::error_over_marginals() const {
  double sum = 0;
  for (const Marginal& marginal : marginals_) sum += variance(marginal);
  return std::sqrt(sum / static_cast<double>(marginals_.size()));
}

double Plan::error_over_answers() const {
  double sum = 0, count = 0;
  for (const Marginal& marginal : marginals_) {
    const double n = answers(marginal);
    sum += n * variance(marginal);
    count += n;
  }
  return std::sqrt(sum / count);
}

std::vector<Marginal> all_marginals(std::span<const Axis> axes, std::uint32_t ways,
                                    Weighting weighting, bool with_total) {
  std::vector<Marginal> marginals;
  const auto add = [&](const Attributes& attributes) {
    double cells = 1;
    for (const std::uint32_t a : attributes) cells *= axes[a].size();
    marginals.push_back(
        {.attributes = attributes, .weight = weighting == Weighting::Cells ? 1 : 1 / cells});
  };
  if (with_total) add({});
  const auto count = static_cast<std::uint32_t>(axes.size());
  for (std::uint32_t size = 1; size <= std::min(ways, count); ++size) {
    Attributes chosen(size);
    std::iota(chosen.begin(), chosen.end(), 0u);
    for (;;) {
      add(chosen);
      std::uint32_t i = size;
      while (i > 0 && chosen[i - 1] == count - size + i - 1) --i;
      if (i == 0) break;
      ++chosen[i - 1];
      for (std::uint32_t j = i; j < size; ++j) chosen[j] = chosen[j - 1] + 1;
    }
  }
  return marginals;
}

Result<Plan> best_plan(std::span<const Attribute> attributes, std::vector<Marginal> marginals,
                       Rho rho) {
  std::vector<Axis> cells, ranges;
  std::vector<bool> ordered(attributes.size(), false);
  for (const Attribute& attribute : attributes) {
    DISCREET_TRY(Axis plain, Axis::cells(attribute.name, attribute.size));
    DISCREET_TRY(Axis tree, Axis::ranges(attribute.name, attribute.size));
    cells.push_back(std::move(plain));
    ranges.push_back(std::move(tree));
  }
  for (const Marginal& marginal : marginals)
    for (std::size_t i = 0; i < marginal.questions.size(); ++i)
      if (marginal.questions[i] == Questions::Prefixes ||
          marginal.questions[i] == Questions::Ranges)
        if (marginal.attributes.size() == marginal.questions.size() &&
            marginal.attributes[i] < attributes.size())
          ordered[marginal.attributes[i]] = true;
  const auto with = [&](const std::vector<bool>& tree) {
    std::vector<Axis> axes;
    for (std::size_t a = 0; a < attributes.size(); ++a)
      axes.push_back(tree[a] ? ranges[a] : cells[a]);
    return Plan::make(std::move(axes), marginals, rho);
  };
  // One attribute at a time, until no change helps.
  std::vector<bool> tree = ordered;
  DISCREET_TRY(Plan best, with(tree));
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t a = 0; a < attributes.size(); ++a) {
      if (!ordered[a]) continue;
      tree[a] = !tree[a];
      DISCREET_TRY(Plan other, with(tree));
      if (other.objective() < best.objective() * (1 - 1e-12)) {
        best = std::move(other);
        changed = true;
      } else {
        tree[a] = !tree[a];
      }
    }
  }
  return best;
}

}  // namespace discreet::tables
