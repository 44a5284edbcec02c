#include "synth/records.h"

#include <algorithm>
#include <cmath>

#include "synth/marginals.h"

namespace discreet::synth {
namespace {

constexpr std::uint64_t kProgressEvery = 1 << 18;

void shuffle(std::span<std::uint16_t> values, Dice& dice) {
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[dice.below(i)]);
}

}  // namespace

CodedTable sample_mixture(const Mixture& model, std::size_t rows, Dice& dice) {
  const Domain& domain = model.domain();
  CodedTable table{domain, {}};
  for (std::size_t a = 0; a < domain.size(); ++a) table.columns.emplace_back(rows);
  const std::uint32_t k = model.components();
  const double offset = dice.unit();
  std::size_t begin = 0;
  for (std::uint32_t component = 0; component < k; ++component) {
    const auto end =
        component + 1 == k
            ? rows
            : std::min(rows, static_cast<std::size_t>(
                                 static_cast<double>(rows) * (component + 1) / k + offset));
    const std::size_t size = end - begin;
    for (std::size_t a = 0; a < domain.size(); ++a) {
      const std::span<std::uint16_t> column(table.columns[a].data() + begin, size);
      // Equidistant points under the cumulative chances, from a random start.
      double position = dice.unit(), cumulated = 0;
      std::size_t filled = 0;
      std::uint16_t likeliest = 0;
      float top = -1;
      for (std::uint32_t v = 0; v < domain[a].size; ++v) {
        const float p = model.chance(a, v, component);
        if (p > top) {
          top = p;
          likeliest = static_cast<std::uint16_t>(v);
        }
        cumulated += static_cast<double>(p) * static_cast<double>(size);
        for (; position < cumulated && filled < size; position += 1)
          column[filled++] = static_cast<std::uint16_t>(v);
      }
      while (filled < size) column[filled++] = likeliest;  // chances that add up to just under one
      shuffle(column, dice);
    }
    begin = end;
  }
  return table;
}

Result<void> local_search(CodedTable& table, std::span<const SearchTarget> targets,
                          std::uint64_t proposals, Dice& dice, const Progress& progress) {
  const std::size_t rows = table.rows(), attributes = table.columns.size();
  if (rows < 2 || targets.empty()) return {};
  // excess[t]: count minus target; all marginals in one array.
  std::vector<float> excess;
  struct Use {
    std::uint32_t target, stride;
  };
  std::vector<std::vector<Use>> uses(attributes);
  std::vector<std::uint32_t> base;
  std::uint64_t total = 0;
  for (const SearchTarget& target : targets) total += target.counts.size();
  DISCREET_CHECK(total < std::uint64_t{1} << 32, "targets too large to search");
  excess.reserve(total);
  for (std::size_t t = 0; t < targets.size(); ++t) {
    base.push_back(static_cast<std::uint32_t>(excess.size()));
    const auto counts = count_marginal(table, targets[t].attributes);
    for (std::size_t i = 0; i < counts.size(); ++i)
      excess.push_back(static_cast<float>(counts[i]) - targets[t].counts[i]);
    std::uint32_t stride = 1;
    for (std::size_t i = targets[t].attributes.size(); i-- > 0;) {
      uses[targets[t].attributes[i]].push_back({static_cast<std::uint32_t>(t), stride});
      stride *= table.domain[targets[t].attributes[i]].size;
    }
  }
  std::vector<std::uint32_t> movable;
  for (std::uint32_t a = 0; a < attributes; ++a)
    if (!uses[a].empty() && table.domain[a].size > 1) movable.push_back(a);
  if (movable.empty()) return {};
  // cell[row * targets + t]: the cell of row in marginal t.
  const std::size_t width = targets.size();
  std::vector<std::uint32_t> cell(rows * width);
  for (std::size_t t = 0; t < width; ++t) {
    for (std::size_t row = 0; row < rows; ++row) {
      std::uint32_t index = 0;
      for (const std::uint32_t a : targets[t].attributes)
        index = index * table.domain[a].size + table.columns[a][row];
      cell[row * width + t] = base[t] + index;
    }
  }
  for (std::uint64_t step = 0; step < proposals; ++step) {
    if (progress && step % kProgressEvery == 0 &&
        !progress(static_cast<double>(step) / static_cast<double>(proposals)))
      return Error{ErrorCode::Refused, "stopped before the twin was finished"};
    const std::uint64_t bits = dice.bits();
    const std::size_t row = (bits >> 32) * rows >> 32;
    const std::size_t other = (bits & 0xffffffffu) * rows >> 32;
    const std::uint32_t a = movable[dice.below(movable.size())];
    auto& column = table.columns[a];
    const int shift = int{column[other]} - int{column[row]};
    if (shift == 0) continue;
    std::uint32_t* cells = cell.data() + row * width;
    // (e_new + 1)^2 - e_new^2 + (e_old - 1)^2 - e_old^2 = 2 (e_new - e_old + 1)
    float change = 0;
    for (const Use use : uses[a]) {
      const std::uint32_t from = cells[use.target];
      const std::uint32_t to =
          from + static_cast<std::uint32_t>(shift * static_cast<int>(use.stride));
      change += excess[to] - excess[from] + 1;
    }
    if (change >= 0) continue;
    for (const Use use : uses[a]) {
      std::uint32_t& at = cells[use.target];
      excess[at] -= 1;
      at += static_cast<std::uint32_t>(shift * static_cast<int>(use.stride));
      excess[at] += 1;
    }
    column[row] = column[other];
  }
  return {};
}

}  // namespace discreet::synth
