#include <algorithm>
#include <cmath>

#include "synth/relaxed_rows_internal.h"

namespace discreet::synth {
namespace {

constexpr float kBeta1 = 0.9f, kBeta2 = 0.999f;

// The Euclidean projection of one row's values onto the simplex (Michelot 1986): values below the
// threshold leave until the rest, lowered evenly, add up to one.
void project_to_simplex(std::vector<float>& x) {
  std::vector<float> active = x;
  float threshold = 0;
  for (std::size_t before = active.size() + 1; active.size() < before;) {
    before = active.size();
    double sum = 0;
    for (const float value : active) sum += static_cast<double>(value);
    threshold = static_cast<float>((sum - 1) / static_cast<double>(active.size()));
    std::erase_if(active, [&](float value) { return value <= threshold; });
    if (active.empty()) break;
  }
  for (float& value : x) value = std::max(0.0f, value - threshold);
}

}  // namespace

RelaxedRows::RelaxedRows(const Domain& domain, double rows, std::uint32_t relaxed_rows,
                         Relaxation relaxation, const std::vector<std::vector<double>>& chances,
                         Dice& dice)
    : domain_(domain),
      rows_(rows),
      relaxed_rows_(relaxed_rows),
      lanes_((relaxed_rows + kLanes - 1) / kLanes * kLanes),
      relaxation_(relaxation) {
  for (std::size_t a = 0; a < domain_.size(); ++a) {
    for (auto* list : {&parameters_, &p_, &log_p_, &first_, &second_, &gradient_})
      list->emplace_back(domain_[a].size * lanes_);
    for (std::size_t v = 0; v < domain_[a].size; ++v)
      for (std::size_t i = 0; i < relaxed_rows_; ++i)
        parameters_[a].data()[v * lanes_ + i] =
            static_cast<float>(relaxation == Relaxation::Softmax
                                   ? std::log(std::max(chances[a][v], 1e-6)) + dice.normal()
                                   : chances[a][v] + 0.5 * (dice.unit() - 0.5));
    refresh(a);
  }
}

void RelaxedRows::refresh(std::size_t a) {
  if (relaxation_ == Relaxation::Softmax) {
    softmax({.logits = parameters_[a].data(),
             .p = p_[a].data(),
             .log_p = log_p_[a].data(),
             .first = first_[a].data(),
             .second = second_[a].data(),
             .gradient = gradient_[a].data(),
             .size = domain_[a].size,
             .lanes = lanes_,
             .components = relaxed_rows_});
    return;
  }
  std::vector<float> row(domain_[a].size);
  for (std::size_t i = 0; i < relaxed_rows_; ++i) {
    for (std::size_t v = 0; v < row.size(); ++v) row[v] = parameters_[a].data()[v * lanes_ + i];
    project_to_simplex(row);
    for (std::size_t v = 0; v < row.size(); ++v) p_[a].data()[v * lanes_ + i] = row[v];
  }
}

void RelaxedRows::project(std::span<const MeasuredCell> cells, std::uint32_t steps, double rate,
                          Workers& workers) {
  for (auto* list : {&first_, &second_})
    for (FloatBuffer& buffer : *list) buffer.zero();
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> uses(domain_.size());
  for (std::uint32_t q = 0; q < cells.size(); ++q)
    for (std::uint32_t i = 0; i < cells[q].attributes.size(); ++i)
      uses[cells[q].attributes[i]].emplace_back(q, i);
  std::vector<float> push(cells.size());
  const float scale = static_cast<float>(rows_ / relaxed_rows_);
  const auto rows_of = [&](const MeasuredCell& cell, std::size_t without) {
    std::vector<const float*> rows;
    for (std::size_t i = 0; i < cell.attributes.size(); ++i)
      if (i != without) rows.push_back(p_[cell.attributes[i]].data() + cell.values[i] * lanes_);
    return rows;
  };
  constexpr std::size_t kBlock = 64;
  for (std::uint32_t step = 1; step <= steps; ++step) {
    workers.run((cells.size() + kBlock - 1) / kBlock, [&](std::size_t block) {
      for (std::size_t q = block * kBlock; q < std::min(cells.size(), (block + 1) * kBlock); ++q) {
        const auto rows = rows_of(cells[q], cells[q].attributes.size());
        const double answer = static_cast<double>(scale * cell_value(rows, lanes_));
        push[q] = static_cast<float>((answer - cells[q].count) / (cells[q].sigma * cells[q].sigma) *
                                     static_cast<double>(scale));
      }
    });
    const double done = static_cast<double>(step) / steps;
    const AdamStep adam{.rate = static_cast<float>(rate * (done < 0.5 ? 1 : 2 - 1.96 * done)),
                        .beta1 = kBeta1,
                        .beta2 = kBeta2,
                        .correction1 = static_cast<float>(1 / (1 - std::pow(kBeta1, step))),
                        .correction2 = static_cast<float>(1 / (1 - std::pow(kBeta2, step)))};
    workers.run(domain_.size(), [&](std::size_t a) {
      if (uses[a].empty()) return;
      FloatBuffer& gradient = gradient_[a];
      gradient.zero();
      for (const auto& [q, i] : uses[a]) {
        const auto others = rows_of(cells[q], i);
        cell_push(others, push[q], lanes_, gradient.data() + cells[q].values[i] * lanes_);
      }
      if (relaxation_ == Relaxation::Softmax) {
        const std::vector<float> shift(domain_[a].size, 0.0f);
        FloatBuffer scratch(lanes_);
        adam_step({.logits = parameters_[a].data(),
                   .p = p_[a].data(),
                   .log_p = log_p_[a].data(),
                   .first = first_[a].data(),
                   .second = second_[a].data(),
                   .gradient = gradient.data(),
                   .size = domain_[a].size,
                   .lanes = lanes_,
                   .components = relaxed_rows_},
                  shift.data(), 0, adam, scratch.data());
      } else {
        float* m = first_[a].data();
        float* u = second_[a].data();
        float* x = parameters_[a].data();
        const float* g = gradient.data();
        for (std::size_t j = 0; j < gradient.size(); ++j) {
          m[j] = kBeta1 * m[j] + (1 - kBeta1) * g[j];
          u[j] = kBeta2 * u[j] + (1 - kBeta2) * g[j] * g[j];
          x[j] -=
              adam.rate * adam.correction1 * m[j] / (std::sqrt(u[j] * adam.correction2) + 1e-8f);
        }
      }
      refresh(a);
      // The projected point is where the next step starts, not only where it is measured.
      if (relaxation_ == Relaxation::Sparsemax)
        std::copy_n(p_[a].data(), p_[a].size(), parameters_[a].data());
    });
  }
}

}  // namespace discreet::synth
