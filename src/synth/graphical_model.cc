#include "synth/graphical_model.h"

#include <algorithm>
#include <cmath>

namespace discreet::synth {

std::vector<std::uint32_t> projection(const Domain& domain, std::span<const std::uint32_t> from,
                                      std::span<const std::uint32_t> to) {
  // Strides of `to`'s attributes, zero for the others; then one pass of counting up.
  std::vector<std::uint32_t> size, stride;
  for (const std::uint32_t a : from) {
    size.push_back(domain[a].size);
    std::uint32_t step = 0;
    const auto at = std::find(to.begin(), to.end(), a);
    if (at != to.end()) {
      step = 1;
      for (auto next = at + 1; next != to.end(); ++next) step *= domain[*next].size;
    }
    stride.push_back(step);
  }
  std::vector<std::uint32_t> map(domain.cells(from));
  std::vector<std::uint32_t> digit(from.size(), 0);
  std::uint32_t cell = 0;
  for (std::uint32_t& entry : map) {
    entry = cell;
    for (std::size_t i = from.size(); i-- > 0;) {
      cell += stride[i];
      if (++digit[i] < size[i]) break;
      cell -= stride[i] * size[i];
      digit[i] = 0;
    }
  }
  return map;
}

GraphicalModel::GraphicalModel(const Domain& domain, double rows, JunctionTree tree)
    : domain_(domain), rows_(rows), tree_(std::move(tree)), nodes_(tree_.nodes.size()) {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const TreeNode& shape = tree_.nodes[i];
    Node& node = nodes_[i];
    node.cells = domain_.cells(shape.attributes);
    node.log_potential.assign(node.cells, 0);
    node.belief.assign(node.cells, 0);
    node.separator_cells = domain_.cells(shape.separator);
    if (shape.parent >= 0) {
      node.separator = projection(domain_, shape.attributes, shape.separator);
      node.in_parent = projection(
          domain_, tree_.nodes[static_cast<std::size_t>(shape.parent)].attributes, shape.separator);
    }
  }
  infer();
}

GraphicalModel GraphicalModel::on(JunctionTree tree) const {
  GraphicalModel moved(domain_, rows_, std::move(tree));
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Clique& clique = tree_.nodes[i].attributes;
    const int host = moved.tree_.node_of(clique);
    if (host < 0) continue;  // a node that was split again: its part is learnt anew
    Node& to = moved.nodes_[static_cast<std::size_t>(host)];
    const auto map =
        projection(domain_, moved.tree_.nodes[static_cast<std::size_t>(host)].attributes, clique);
    for (std::size_t cell = 0; cell < map.size(); ++cell)
      to.log_potential[cell] += nodes_[i].log_potential[map[cell]];
  }
  moved.infer();
  return moved;
}

void GraphicalModel::infer() {
  for (Node& node : nodes_) {
    const double top = *std::max_element(node.log_potential.begin(), node.log_potential.end());
    for (std::size_t cell = 0; cell < node.cells; ++cell)
      node.belief[cell] = std::exp(node.log_potential[cell] - top);
  }
  // Up: children hand their sums over the separator to the parent.
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    const int parent = tree_.nodes[i].parent;
    if (parent < 0) continue;
    Node& node = nodes_[i];
    node.up.assign(node.separator_cells, 0);
    for (std::size_t cell = 0; cell < node.cells; ++cell)
      node.up[node.separator[cell]] += node.belief[cell];
    const double top = std::max(*std::max_element(node.up.begin(), node.up.end()), 1e-300);
    for (double& x : node.up) x /= top;  // only proportions matter
    Node& to = nodes_[static_cast<std::size_t>(parent)];
    for (std::size_t cell = 0; cell < to.cells; ++cell)
      to.belief[cell] *= node.up[node.in_parent[cell]];
  }
  // Down: each node takes over its parent's distribution of the separator.
  std::vector<double> down;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    Node& node = nodes_[i];
    const int parent = tree_.nodes[i].parent;
    if (parent >= 0) {
      const Node& from = nodes_[static_cast<std::size_t>(parent)];
      down.assign(node.separator_cells, 0);
      for (std::size_t cell = 0; cell < from.cells; ++cell)
        down[node.in_parent[cell]] += from.belief[cell];
      for (std::size_t s = 0; s < down.size(); ++s)
        down[s] = node.up[s] > 0 ? down[s] / node.up[s] : 0;
      for (std::size_t cell = 0; cell < node.cells; ++cell)
        node.belief[cell] *= down[node.separator[cell]];
    }
    double sum = 0;
    for (const double x : node.belief) sum += x;
    const double scale = sum > 0 ? rows_ / sum : 0;
    for (double& x : node.belief) x *= scale;
  }
}

double GraphicalModel::fit(std::span<const ModelMeasurement> measurements, int iterations,
                           double tolerance) {
  struct Part {
    std::size_t node;
    std::vector<std::uint32_t> map;
    std::vector<double> model, residual;
  };
  std::vector<Part> parts;
  for (const ModelMeasurement& measurement : measurements) {
    const int node = tree_.node_of(measurement.attributes);
    DISCREET_CHECK(node >= 0, "a measurement lies outside the model");
    parts.push_back({static_cast<std::size_t>(node),
                     projection(domain_, tree_.nodes[static_cast<std::size_t>(node)].attributes,
                                measurement.attributes),
                     std::vector<double>(measurement.counts.size()),
                     std::vector<double>(measurement.counts.size())});
  }
  const auto loss = [&] {
    double sum = 0;
    for (std::size_t m = 0; m < parts.size(); ++m) {
      Part& part = parts[m];
      std::fill(part.model.begin(), part.model.end(), 0);
      const auto& belief = nodes_[part.node].belief;
      for (std::size_t cell = 0; cell < belief.size(); ++cell)
        part.model[part.map[cell]] += belief[cell];
      const double weight = 1 / (measurements[m].sigma * measurements[m].sigma);
      for (std::size_t c = 0; c < part.model.size(); ++c) {
        part.residual[c] = (part.model[c] - measurements[m].counts[c]) * weight;
        sum += 0.5 * part.residual[c] * (part.model[c] - measurements[m].counts[c]);
      }
    }
    return sum;
  };
  double current = loss();
  double curvature = 0;
  for (const ModelMeasurement& measurement : measurements)
    curvature += 1 / (measurement.sigma * measurement.sigma);
  // One over the largest second derivative with respect to potentials, up to a constant.
  double step = 2 / (rows_ * std::max(curvature, 1e-300));
  std::vector<std::vector<double>> before(nodes_.size());
  int idle = 0;
  for (int iteration = 0; iteration < iterations; ++iteration) {
    std::vector<std::vector<double>> gradient(nodes_.size());
    double descent = 0;
    for (const Part& part : parts) {
      auto& g = gradient[part.node];
      if (g.empty()) g.assign(nodes_[part.node].cells, 0);
      for (std::size_t cell = 0; cell < g.size(); ++cell) g[cell] += part.residual[part.map[cell]];
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i) before[i] = nodes_[i].log_potential;
    std::vector<std::vector<double>> belief_before(nodes_.size());
    for (std::size_t i = 0; i < nodes_.size(); ++i) belief_before[i] = nodes_[i].belief;
    double next = current;
    for (int attempt = 0; attempt < 25; ++attempt) {
      for (std::size_t i = 0; i < nodes_.size(); ++i) {
        if (gradient[i].empty()) continue;
        for (std::size_t cell = 0; cell < gradient[i].size(); ++cell)
          nodes_[i].log_potential[cell] = before[i][cell] - step * gradient[i][cell];
      }
      infer();
      next = loss();
      descent = 0;
      for (std::size_t i = 0; i < nodes_.size(); ++i)
        for (std::size_t cell = 0; cell < gradient[i].size(); ++cell)
          descent += gradient[i][cell] * (belief_before[i][cell] - nodes_[i].belief[cell]);
      if (std::isfinite(next) && current - next >= 0.5 * descent) break;
      step /= 2;
    }
    if (!(next < current)) {
      for (std::size_t i = 0; i < nodes_.size(); ++i) nodes_[i].log_potential = before[i];
      infer();
      return loss();
    }
    idle = current - next < tolerance * current ? idle + 1 : 0;
    current = next;
    if (idle >= 5) break;
    step *= 1.3;
  }
  return current;
}

std::vector<double> GraphicalModel::marginal(std::span<const std::uint32_t> clique) const {
  const int node = tree_.node_of(clique);
  DISCREET_CHECK(node >= 0, "a marginal outside the model's nodes");
  const auto map =
      projection(domain_, tree_.nodes[static_cast<std::size_t>(node)].attributes, clique);
  std::vector<double> counts(domain_.cells(clique), 0);
  const auto& belief = nodes_[static_cast<std::size_t>(node)].belief;
  for (std::size_t cell = 0; cell < belief.size(); ++cell) counts[map[cell]] += belief[cell];
  return counts;
}

CodedTable GraphicalModel::sample(std::size_t rows, Dice& dice) const {
  CodedTable table{domain_, {}};
  for (std::size_t a = 0; a < domain_.size(); ++a) table.columns.emplace_back(rows);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const TreeNode& shape = tree_.nodes[i];
    const Node& node = nodes_[i];
    // Rows by their value of the separator, in random order; cells likewise.
    std::vector<std::vector<std::uint32_t>> rows_of(node.separator_cells);
    for (std::uint32_t row = 0; row < rows; ++row) {
      std::uint32_t s = 0;
      for (const std::uint32_t a : shape.separator) s = s * domain_[a].size + table.columns[a][row];
      rows_of[s].push_back(row);
    }
    std::vector<std::vector<std::uint32_t>> cells_of(node.separator_cells);
    for (std::uint32_t cell = 0; cell < node.cells; ++cell)
      if (node.belief[cell] > 0)
        cells_of[node.separator.empty() ? 0 : node.separator[cell]].push_back(cell);
    for (std::size_t s = 0; s < rows_of.size(); ++s) {
      auto& members = rows_of[s];
      if (members.empty()) continue;
      for (std::size_t j = members.size(); j > 1; --j)
        std::swap(members[j - 1], members[dice.below(j)]);
      double sum = 0;
      for (const std::uint32_t cell : cells_of[s]) sum += node.belief[cell];
      double position = dice.unit(), cumulated = 0;
      std::size_t filled = 0;
      const auto put = [&](std::uint32_t cell) {
        std::uint32_t rest = cell;
        for (std::size_t j = shape.attributes.size(); j-- > 0;) {
          const std::uint32_t a = shape.attributes[j];
          // Attributes of the separator already hold this value.
          table.columns[a][members[filled]] = static_cast<std::uint16_t>(rest % domain_[a].size);
          rest /= domain_[a].size;
        }
        ++filled;
      };
      for (const std::uint32_t cell : cells_of[s]) {
        cumulated += node.belief[cell] / sum * static_cast<double>(members.size());
        for (; position < cumulated && filled < members.size(); position += 1) put(cell);
      }
      while (filled < members.size() && !cells_of[s].empty()) put(cells_of[s].back());
    }
  }
  return table;
}

}  // namespace discreet::synth
