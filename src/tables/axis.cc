#include "tables/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/rounding.h"

namespace discreet::tables {
namespace {

Result<void> check_size(const std::string& name, std::uint32_t size) {
  if (size == 0) return invalid_parameter(fmt::format("attribute '{}' has no values", name));
  if (size > Axis::kSizeMax)
    return invalid_parameter(fmt::format("attribute '{}' has {} values, more than {}; group them",
                                         name, size, Axis::kSizeMax));
  return {};
}

}  // namespace

Result<Axis> Axis::cells(std::string name, std::uint32_t size) {
  DISCREET_TRY_VOID(check_size(name, size));
  Axis axis(std::move(name), size);
  axis.split(0, size, 1, false);
  axis.finish();
  return axis;
}

Result<Axis> Axis::ranges(std::string name, std::uint32_t size) {
  DISCREET_TRY_VOID(check_size(name, size));
  Axis axis(std::move(name), size);
  axis.split(0, size, 1, true);
  axis.finish();
  return axis;
}

Result<Axis> Axis::hierarchy(std::string name, std::uint32_t size,
                             std::vector<std::vector<std::uint32_t>> levels) {
  DISCREET_TRY_VOID(check_size(name, size));
  Axis axis(std::move(name), size);
  std::vector<std::uint32_t> leaves(size);
  std::iota(leaves.begin(), leaves.end(), 0u);
  std::vector<std::uint32_t> parents{0};
  levels.push_back(std::move(leaves));
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const auto& starts = levels[l];
    if (starts.empty() || starts.front() != 0 || starts.back() >= size ||
        std::adjacent_find(starts.begin(), starts.end(), std::greater_equal<>()) != starts.end() ||
        !std::includes(starts.begin(), starts.end(), parents.begin(), parents.end()))
      return invalid_parameter(fmt::format(
          "level {} of '{}' must begin at 0, ascend, and begin wherever the level above does",
          l + 1, axis.name_));
    for (std::size_t p = 0; p < parents.size(); ++p) {
      const std::uint32_t end = p + 1 < parents.size() ? parents[p + 1] : size;
      const auto first = std::lower_bound(starts.begin(), starts.end(), parents[p]);
      const auto last = std::lower_bound(starts.begin(), starts.end(), end);
      std::vector<std::uint32_t> edges(first, last);
      edges.push_back(end);
      axis.split_children(edges, static_cast<std::uint32_t>(l + 1));
    }
    parents = starts;
  }
  axis.parts_ = static_cast<std::uint32_t>(levels.size() + 1);
  axis.levels_ = std::move(levels);
  axis.finish();
  return axis;
}

void Axis::add(std::uint32_t begin, std::uint32_t middle, std::uint32_t end, std::uint32_t part) {
  const std::int64_t a = middle - begin, b = end - middle, g = std::gcd(a, b);
  const auto norm2 = static_cast<std::uint64_t>((a / g) * (b / g) * (a + b));
  contrasts_.push_back({begin, middle, end, b / g, a / g, norm2, part});
  parts_ = std::max(parts_, part + 1);
}

void Axis::split(std::uint32_t begin, std::uint32_t end, std::uint32_t depth, bool by_depth) {
  if (end - begin < 2) return;
  const std::uint32_t middle = begin + (end - begin + 1) / 2;
  add(begin, middle, end, by_depth ? depth : 1);
  split(begin, middle, depth + 1, by_depth);
  split(middle, end, depth + 1, by_depth);
}

// `edges` are where the children begin, and where the last one ends.
void Axis::split_children(std::span<const std::uint32_t> edges, std::uint32_t part) {
  const std::size_t children = edges.size() - 1;
  if (children < 2) return;
  const std::size_t half = (children + 1) / 2;
  add(edges.front(), edges[half], edges.back(), part);
  split_children(edges.first(half + 1), part);
  split_children(edges.subspan(half), part);
}

void Axis::finish() {
  std::stable_sort(contrasts_.begin(), contrasts_.end(),
                   [](const Contrast& x, const Contrast& y) { return x.part < y.part; });
  slices_.assign(parts_, {0, 0});
  for (std::uint32_t k = 0; k < contrasts_.size(); ++k) {
    Slice& slice = slices_[contrasts_[k].part];
    if (slice.last == 0) slice.first = k;
    slice.last = k + 1;
  }
  if (parts_ == 2) {
    // Diagonal of the projection off the constants: the same for every value.
    profiles_.push_back({1, div_up(size_ - 1.0, size_)});
  } else {
    std::vector<std::vector<double>> loads(size_, std::vector<double>(parts_, 0));
    for (auto& load : loads) load[0] = 1;
    for (const Contrast& c : contrasts_) {
      const auto share = [&](std::int64_t entry) {
        return div_up(count_up(static_cast<std::uint64_t>(entry * entry)), count_down(c.norm2));
      };
      const double left = share(c.left), right = share(c.right);
      for (std::uint32_t j = c.begin; j < c.end; ++j)
        loads[j][c.part] = add_up(loads[j][c.part], j < c.middle ? left : right);
    }
    std::sort(loads.begin(), loads.end());
    loads.erase(std::unique(loads.begin(), loads.end()), loads.end());
    profiles_ = std::move(loads);
  }
  for (const Contrast& c : contrasts_) {
    const double length = std::sqrt(static_cast<double>(c.norm2));
    unit_left_.push_back(static_cast<double>(c.left) / length);
    unit_right_.push_back(static_cast<double>(c.right) / length);
  }
}

double Axis::mean_load(std::uint32_t part) const {
  if (part == 0) return 1;
  return static_cast<double>(slices_[part].last - slices_[part].first) / size_;
}

std::vector<std::vector<double>> Axis::profiles_at_most(std::size_t count) const {
  DISCREET_CHECK(count > 0, "at least one profile");
  if (profiles_.size() <= count) return profiles_;
  // Neighbours in the sorted list are merged to their upper envelope.
  std::vector<std::vector<double>> merged(count, std::vector<double>(parts_, 0));
  for (std::size_t i = 0; i < profiles_.size(); ++i) {
    auto& into = merged[i * count / profiles_.size()];
    for (std::uint32_t part = 0; part < parts_; ++part)
      into[part] = std::max(into[part], profiles_[i][part]);
  }
  return merged;
}

// The orthonormal coefficient of the indicator of [begin, end).
double Axis::projected(const Contrast& c, std::uint32_t begin, std::uint32_t end) const {
  const auto overlap = [&](std::uint32_t from, std::uint32_t to) {
    const std::uint32_t low = std::max(begin, from), high = std::min(end, to);
    return high > low ? static_cast<double>(high - low) : 0.0;
  };
  const double value = static_cast<double>(c.left) * overlap(c.begin, c.middle) -
                       static_cast<double>(c.right) * overlap(c.middle, c.end);
  return value / std::sqrt(static_cast<double>(c.norm2));
}

double Axis::projection(std::uint32_t begin, std::uint32_t end, std::uint32_t part) const {
  DISCREET_CHECK(begin <= end && end <= size_ && part < parts_, "a range within the attribute");
  if (part == 0) {
    const double mean = static_cast<double>(end - begin) / size_;
    return mean * mean;
  }
  double sum = 0;
  for (std::uint32_t k = slices_[part].first; k < slices_[part].last; ++k) {
    const double value = projected(contrasts_[k], begin, end);
    sum += value * value;
  }
  return sum;
}

double Axis::count(Questions questions, std::uint32_t level) const {
  switch (questions) {
    case Questions::Total:
      return 1;
    case Questions::Cells:
    case Questions::Prefixes:
      return size_;
    case Questions::Ranges:
      return 0.5 * size_ * (size_ + 1.0);
    case Questions::Level:
      return static_cast<double>(levels_.at(level).size());
  }
  return 0;
}

double Axis::weight(Questions questions, std::uint32_t part, std::uint32_t level) const {
  const double n = size_;
  if (questions == Questions::Total) return part == 0 ? 1 : 0;
  if (questions == Questions::Level) {
    double sum = 0;
    const auto& starts = levels_.at(level);
    for (std::size_t i = 0; i < starts.size(); ++i)
      sum += projection(starts[i], i + 1 < starts.size() ? starts[i + 1] : size_, part);
    return sum;
  }
  if (questions == Questions::Cells)
    return part == 0 ? 1 / n : static_cast<double>(slices_[part].last - slices_[part].first);
  if (part == 0) {
    // Prefixes of lengths 1 .. n; n + 1 - l ranges of length l.
    double sum = 0;
    for (double l = 1; l <= n; ++l)
      sum += (questions == Questions::Prefixes ? 1 : n + 1 - l) * (l / n) * (l / n);
    return sum;
  }
  double sum = 0;
  for (std::uint32_t k = slices_[part].first; k < slices_[part].last; ++k) {
    // f(t): the coefficient of [0, t); zero for t outside (begin, end).
    const Contrast& c = contrasts_[k];
    double first = 0, second = 0;
    for (std::uint32_t t = c.begin + 1; t < c.end; ++t) {
      const double f = t <= c.middle ? static_cast<double>(c.left) * (t - c.begin)
                                     : static_cast<double>(c.right) * (c.end - t);
      first += f;
      second += f * f;
    }
    // Ranges: the sum over pairs of (f(t) - f(s))^2.
    const double norm2 = static_cast<double>(c.norm2);
    sum += (questions == Questions::Prefixes ? second : (n + 1) * second - first * first) / norm2;
  }
  return sum;
}

void Axis::analyse(std::span<std::uint64_t> values, std::span<std::uint64_t> scratch) const {
  scratch[0] = 0;
  for (std::uint32_t j = 0; j < size_; ++j) scratch[j + 1] = scratch[j] + values[j];
  values[0] = scratch[size_];
  for (std::size_t k = 0; k < contrasts_.size(); ++k) {
    const Contrast& c = contrasts_[k];
    values[k + 1] = static_cast<std::uint64_t>(c.left) * (scratch[c.middle] - scratch[c.begin]) -
                    static_cast<std::uint64_t>(c.right) * (scratch[c.end] - scratch[c.middle]);
  }
}

void Axis::synthesise(std::span<double> values, std::span<double> scratch) const {
  // Each contrast adds a step up and a step down: sum the differences once at the end.
  std::fill_n(scratch.begin(), size_ + 1, 0.0);
  scratch[0] = values[0];
  for (std::size_t k = 0; k < contrasts_.size(); ++k) {
    const Contrast& c = contrasts_[k];
    const double left = values[k + 1] * static_cast<double>(c.left);
    const double right = values[k + 1] * static_cast<double>(c.right);
    scratch[c.begin] += left;
    scratch[c.middle] -= left + right;
    scratch[c.end] += right;
  }
  double sum = 0;
  for (std::uint32_t j = 0; j < size_; ++j) values[j] = sum += scratch[j];
}

void Axis::analyse_unit(std::span<double> values, std::span<double> scratch) const {
  scratch[0] = 0;
  for (std::uint32_t j = 0; j < size_; ++j) scratch[j + 1] = scratch[j] + values[j];
  values[0] = scratch[size_] / std::sqrt(static_cast<double>(size_));
  for (std::size_t k = 0; k < contrasts_.size(); ++k) {
    const Contrast& c = contrasts_[k];
    values[k + 1] = unit_left_[k] * (scratch[c.middle] - scratch[c.begin]) -
                    unit_right_[k] * (scratch[c.end] - scratch[c.middle]);
  }
}

void Axis::synthesise_unit(std::span<double> values, std::span<double> scratch) const {
  std::fill_n(scratch.begin(), size_ + 1, 0.0);
  scratch[0] = values[0] / std::sqrt(static_cast<double>(size_));
  for (std::size_t k = 0; k < contrasts_.size(); ++k) {
    const Contrast& c = contrasts_[k];
    const double left = values[k + 1] * unit_left_[k], right = values[k + 1] * unit_right_[k];
    scratch[c.begin] += left;
    scratch[c.middle] -= left + right;
    scratch[c.end] += right;
  }
  double sum = 0;
  for (std::uint32_t j = 0; j < size_; ++j) values[j] = sum += scratch[j];
}

}  // namespace discreet::tables
