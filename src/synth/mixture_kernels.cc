// Compiled once per instruction set by Highway, which includes this file again for each.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "synth/mixture_kernels.cc"
// clang-format off: the order matters
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <hwy/contrib/math/math-inl.h>
// clang-format on

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/check.h"
#include "synth/mixture_kernels_internal.h"

HWY_BEFORE_NAMESPACE();
namespace discreet::synth::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Tag = hn::CappedTag<float, kLanes>;
constexpr std::size_t kRows = 32;  // left rows handled at a time
constexpr std::size_t kTileRows =
    HWY_MAX_BYTES >= 64 ? 4 : 2;  // of registers in the forward product
constexpr std::size_t kTileColumns = 4;

std::size_t padded(std::size_t n) {
  return (n + 3) / 4 * 4;
}

// out[row] = product over the factors of the value that `first + row` stands for.
void outer_products(std::span<const FactorView> factors, std::size_t first, std::size_t count,
                    std::size_t lanes, float* HWY_RESTRICT out) {
  const Tag tag;
  const std::size_t step = hn::Lanes(tag);
  for (std::size_t row = 0; row < count; ++row) {
    float* HWY_RESTRICT to = out + row * lanes;
    std::size_t rest = first + row;
    if (factors.empty()) std::fill_n(to, lanes, 1.0f);
    for (std::size_t f = factors.size(); f-- > 0;) {
      const float* HWY_RESTRICT p = factors[f].p + rest % factors[f].size * lanes;
      rest /= factors[f].size;
      if (f + 1 == factors.size()) {
        std::memcpy(to, p, lanes * sizeof(float));
      } else {
        for (std::size_t i = 0; i < lanes; i += step)
          hn::Store(hn::Mul(hn::Load(tag, to + i), hn::Load(tag, p + i)), tag, to + i);
      }
    }
  }
  const std::size_t full = padded(count);
  if (full > count) std::memset(out + count * lanes, 0, (full - count) * lanes * sizeof(float));
}

// Hands the gradient of each outer product on to its factors.
void distribute(std::span<const FactorView> factors, std::size_t first, std::size_t count,
                std::size_t lanes, const float* HWY_RESTRICT gradient) {
  const Tag tag;
  const std::size_t step = hn::Lanes(tag);
  constexpr std::size_t kFactorsMax = 32;
  std::size_t value[kFactorsMax];
  for (std::size_t row = 0; row < count; ++row) {
    const float* HWY_RESTRICT from = gradient + row * lanes;
    std::size_t rest = first + row;
    for (std::size_t f = factors.size(); f-- > 0;) {
      value[f] = rest % factors[f].size;
      rest /= factors[f].size;
    }
    if (factors.size() == 2) {
      const float* a = factors[0].p + value[0] * lanes;
      const float* b = factors[1].p + value[1] * lanes;
      float* ga = factors[0].gradient + value[0] * lanes;
      float* gb = factors[1].gradient + value[1] * lanes;
      for (std::size_t i = 0; i < lanes; i += step) {
        const auto g = hn::Load(tag, from + i);
        hn::Store(hn::MulAdd(g, hn::Load(tag, b + i), hn::Load(tag, ga + i)), tag, ga + i);
        hn::Store(hn::MulAdd(g, hn::Load(tag, a + i), hn::Load(tag, gb + i)), tag, gb + i);
      }
      continue;
    }
    for (std::size_t f = 0; f < factors.size(); ++f) {
      float* to = factors[f].gradient + value[f] * lanes;
      for (std::size_t i = 0; i < lanes; i += step) {
        auto g = hn::Load(tag, from + i);
        for (std::size_t o = 0; o < factors.size(); ++o)
          if (o != f) g = hn::Mul(g, hn::Load(tag, factors[o].p + value[o] * lanes + i));
        hn::Store(hn::Add(g, hn::Load(tag, to + i)), tag, to + i);
      }
    }
  }
}

// out[r][c] = left[r] . right[c], for padded row and column counts.
void forward(const float* HWY_RESTRICT left, std::size_t rows, const float* HWY_RESTRICT right,
             std::size_t columns, std::size_t lanes, float* HWY_RESTRICT out) {
  const Tag tag;
  const std::size_t step = hn::Lanes(tag);
  using V = hn::Vec<Tag>;
  for (std::size_t r = 0; r < rows; r += kTileRows) {
    for (std::size_t c = 0; c < columns; c += kTileColumns) {
      V sum[kTileRows][kTileColumns];
      for (auto& row : sum)
        for (V& x : row) x = hn::Zero(tag);
      for (std::size_t i = 0; i < lanes; i += step) {
        V b[kTileColumns];
        for (std::size_t y = 0; y < kTileColumns; ++y)
          b[y] = hn::Load(tag, right + (c + y) * lanes + i);
        for (std::size_t x = 0; x < kTileRows; ++x) {
          const V a = hn::Load(tag, left + (r + x) * lanes + i);
          for (std::size_t y = 0; y < kTileColumns; ++y) sum[x][y] = hn::MulAdd(a, b[y], sum[x][y]);
        }
      }
      for (std::size_t x = 0; x < kTileRows; ++x)
        for (std::size_t y = 0; y < kTileColumns; ++y)
          out[(r + x) * columns + c + y] = hn::GetLane(hn::SumOfLanes(tag, sum[x][y]));
    }
  }
}

// to[x] (+)= sum over y of g(x, y) from[y], where g(x, y) = g[x * gx + y * gy].
template <bool kAdd>
void back(const float* HWY_RESTRICT g, std::size_t gx, std::size_t gy,
          const float* HWY_RESTRICT from, std::size_t inner, std::size_t outer, std::size_t lanes,
          float* HWY_RESTRICT to) {
  const Tag tag;
  const std::size_t step = hn::Lanes(tag);
  using V = hn::Vec<Tag>;
  for (std::size_t x = 0; x < outer; x += 4) {
    std::size_t i = 0;
    for (; i + 2 * step <= lanes; i += 2 * step) {
      V sum[4][2];
      for (std::size_t a = 0; a < 4; ++a)
        for (std::size_t b = 0; b < 2; ++b)
          sum[a][b] = kAdd ? hn::Load(tag, to + (x + a) * lanes + i + b * step) : hn::Zero(tag);
      for (std::size_t y = 0; y < inner; ++y) {
        const V u = hn::Load(tag, from + y * lanes + i);
        const V v = hn::Load(tag, from + y * lanes + i + step);
        for (std::size_t a = 0; a < 4; ++a) {
          const V w = hn::Set(tag, g[(x + a) * gx + y * gy]);
          sum[a][0] = hn::MulAdd(w, u, sum[a][0]);
          sum[a][1] = hn::MulAdd(w, v, sum[a][1]);
        }
      }
      for (std::size_t a = 0; a < 4; ++a)
        for (std::size_t b = 0; b < 2; ++b)
          hn::Store(sum[a][b], tag, to + (x + a) * lanes + i + b * step);
    }
    for (; i < lanes; i += step) {
      V sum[4];
      for (std::size_t a = 0; a < 4; ++a)
        sum[a] = kAdd ? hn::Load(tag, to + (x + a) * lanes + i) : hn::Zero(tag);
      for (std::size_t y = 0; y < inner; ++y) {
        const V u = hn::Load(tag, from + y * lanes + i);
        for (std::size_t a = 0; a < 4; ++a)
          sum[a] = hn::MulAdd(hn::Set(tag, g[(x + a) * gx + y * gy]), u, sum[a]);
      }
      for (std::size_t a = 0; a < 4; ++a) hn::Store(sum[a], tag, to + (x + a) * lanes + i);
    }
  }
}

void marginal(const MarginalTask& task, MarginalScratch& scratch) {
  const std::size_t lanes = task.lanes;
  std::size_t left_size = 1, right_size = 1;
  for (const FactorView& factor : task.left) left_size *= factor.size;
  for (const FactorView& factor : task.right) right_size *= factor.size;
  const std::size_t columns = padded(right_size);
  const auto reserve = [](FloatBuffer& buffer, std::size_t size) {
    if (buffer.size() < size) buffer.resize(size);
  };
  reserve(scratch.left, kRows * lanes);
  reserve(scratch.left_gradient, kRows * lanes);
  reserve(scratch.right, columns * lanes);
  reserve(scratch.residual, kRows * columns);
  outer_products(task.right, 0, right_size, lanes, scratch.right.data());
  const bool wants_gradient = task.target != nullptr;
  if (wants_gradient) {
    reserve(scratch.right_gradient, columns * lanes);
    std::memset(scratch.right_gradient.data(), 0, columns * lanes * sizeof(float));
    for (const auto factors : {task.left, task.right})
      for (const FactorView& factor : factors)
        std::memset(factor.gradient, 0, factor.size * lanes * sizeof(float));
  }
  float* residual = scratch.residual.data();
  for (std::size_t first = 0; first < left_size; first += kRows) {
    const std::size_t count = std::min(kRows, left_size - first);
    const std::size_t rows = padded(count);
    outer_products(task.left, first, count, lanes, scratch.left.data());
    forward(scratch.left.data(), rows, scratch.right.data(), columns, lanes, residual);
    for (std::size_t r = 0; r < count; ++r) {
      float* row = residual + r * columns;
      const std::size_t cell = (first + r) * right_size;
      for (std::size_t c = 0; c < right_size; ++c) row[c] *= task.scale;
      if (task.marginal != nullptr)
        std::memcpy(task.marginal + cell, row, right_size * sizeof(float));
      if (!wants_gradient) continue;
      const float factor = task.weight * task.scale;
      for (std::size_t c = 0; c < right_size; ++c)
        row[c] = (row[c] - task.target[cell + c]) * factor;
      for (std::size_t c = right_size; c < columns; ++c) row[c] = 0;
    }
    if (!wants_gradient) continue;
    std::memset(residual + count * columns, 0, (rows - count) * columns * sizeof(float));
    back<false>(residual, columns, 1, scratch.right.data(), right_size, rows, lanes,
                scratch.left_gradient.data());
    back<true>(residual, 1, columns, scratch.left.data(), count, columns, lanes,
               scratch.right_gradient.data());
    distribute(task.left, first, count, lanes, scratch.left_gradient.data());
  }
  if (wants_gradient) distribute(task.right, 0, right_size, lanes, scratch.right_gradient.data());
}

float cell_value(std::span<const float* const> rows, std::size_t lanes) {
  const Tag tag;
  auto sum = hn::Zero(tag);
  for (std::size_t i = 0; i < lanes; i += hn::Lanes(tag)) {
    auto product = hn::Load(tag, rows[0] + i);
    for (std::size_t f = 1; f < rows.size(); ++f)
      product = hn::Mul(product, hn::Load(tag, rows[f] + i));
    sum = hn::Add(sum, product);
  }
  return hn::GetLane(hn::SumOfLanes(tag, sum));
}

void cell_push(std::span<const float* const> rows, float factor, std::size_t lanes,
               float* HWY_RESTRICT gradient) {
  const Tag tag;
  for (std::size_t i = 0; i < lanes; i += hn::Lanes(tag)) {
    auto product = hn::Set(tag, factor);
    for (const float* row : rows) product = hn::Mul(product, hn::Load(tag, row + i));
    hn::Store(hn::Add(product, hn::Load(tag, gradient + i)), tag, gradient + i);
  }
}

void softmax(const AdamState& state) {
  const Tag tag;
  const std::size_t step = hn::Lanes(tag);
  for (std::size_t i = 0; i < state.lanes; i += step) {
    auto top = hn::Load(tag, state.logits + i);
    for (std::size_t v = 1; v < state.size; ++v)
      top = hn::Max(top, hn::Load(tag, state.logits + v * state.lanes + i));
    auto sum = hn::Zero(tag);
    for (std::size_t v = 0; v < state.size; ++v) {
      const auto z = hn::Sub(hn::Load(tag, state.logits + v * state.lanes + i), top);
      const auto e = hn::Exp(tag, hn::Max(z, hn::Set(tag, -80.0f)));
      hn::Store(z, tag, state.log_p + v * state.lanes + i);
      hn::Store(e, tag, state.p + v * state.lanes + i);
      sum = hn::Add(sum, e);
    }
    const auto log_sum = hn::Log(tag, sum);
    const auto inverse = hn::Div(hn::Set(tag, 1.0f), sum);
    // Padding lanes stand for no component.
    const auto lane = hn::Add(hn::Iota(tag, 0.0f), hn::Set(tag, static_cast<float>(i)));
    const auto used = hn::Lt(lane, hn::Set(tag, static_cast<float>(state.components)));
    for (std::size_t v = 0; v < state.size; ++v) {
      float* p = state.p + v * state.lanes + i;
      float* l = state.log_p + v * state.lanes + i;
      hn::Store(hn::IfThenElseZero(used, hn::Mul(hn::Load(tag, p), inverse)), tag, p);
      hn::Store(hn::IfThenElseZero(used, hn::Sub(hn::Load(tag, l), log_sum)), tag, l);
    }
  }
}

void component_mean(const AdamState& state, float* mean) {
  const Tag tag;
  const std::size_t step = hn::Lanes(tag);
  for (std::size_t v = 0; v < state.size; ++v) {
    auto sum = hn::Zero(tag);
    for (std::size_t i = 0; i < state.lanes; i += step)
      sum = hn::Add(sum, hn::Load(tag, state.p + v * state.lanes + i));
    mean[v] = hn::GetLane(hn::SumOfLanes(tag, sum)) / static_cast<float>(state.components);
  }
}

void adam_step(const AdamState& state, const float* shift, float penalty, const AdamStep& s,
               float* lane_scratch) {
  const Tag tag;
  const std::size_t step = hn::Lanes(tag);
  const auto lambda = hn::Set(tag, penalty);
  std::fill_n(lane_scratch, state.lanes, 0.0f);
  for (std::size_t v = 0; v < state.size; ++v) {
    const auto add = hn::Set(tag, shift[v]);
    for (std::size_t i = 0; i < state.lanes; i += step) {
      const std::size_t at = v * state.lanes + i;
      const auto g = hn::MulAdd(lambda, hn::Load(tag, state.log_p + at),
                                hn::Add(add, hn::Load(tag, state.gradient + at)));
      hn::Store(g, tag, state.gradient + at);
      hn::Store(hn::MulAdd(g, hn::Load(tag, state.p + at), hn::Load(tag, lane_scratch + i)), tag,
                lane_scratch + i);
    }
  }
  const auto b1 = hn::Set(tag, s.beta1), b2 = hn::Set(tag, s.beta2);
  const auto c1 = hn::Set(tag, 1 - s.beta1), c2 = hn::Set(tag, 1 - s.beta2);
  const auto rate = hn::Set(tag, -s.rate * s.correction1);
  const auto scale2 = hn::Set(tag, s.correction2);
  const auto tiny = hn::Set(tag, 1e-8f);
  for (std::size_t v = 0; v < state.size; ++v) {
    for (std::size_t i = 0; i < state.lanes; i += step) {
      const std::size_t at = v * state.lanes + i;
      const auto g =
          hn::Mul(hn::Load(tag, state.p + at),
                  hn::Sub(hn::Load(tag, state.gradient + at), hn::Load(tag, lane_scratch + i)));
      const auto m = hn::MulAdd(c1, g, hn::Mul(b1, hn::Load(tag, state.first + at)));
      const auto u = hn::MulAdd(hn::Mul(c2, g), g, hn::Mul(b2, hn::Load(tag, state.second + at)));
      hn::Store(m, tag, state.first + at);
      hn::Store(u, tag, state.second + at);
      const auto move = hn::Div(hn::Mul(rate, m), hn::Add(hn::Sqrt(hn::Mul(u, scale2)), tiny));
      hn::Store(hn::Add(hn::Load(tag, state.logits + at), move), tag, state.logits + at);
    }
  }
}

}  // namespace discreet::synth::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace discreet::synth {

HWY_EXPORT(marginal);
HWY_EXPORT(cell_value);
HWY_EXPORT(cell_push);
HWY_EXPORT(softmax);
HWY_EXPORT(component_mean);
HWY_EXPORT(adam_step);

void mixture_marginal(const MarginalTask& task, MarginalScratch& scratch) {
  DISCREET_CHECK(task.lanes % kLanes == 0, "components are padded to whole vectors");
  HWY_DYNAMIC_DISPATCH(marginal)(task, scratch);
}
float cell_value(std::span<const float* const> rows, std::size_t lanes) {
  return HWY_DYNAMIC_DISPATCH(cell_value)(rows, lanes);
}
void cell_push(std::span<const float* const> rows, float factor, std::size_t lanes,
               float* gradient) {
  HWY_DYNAMIC_DISPATCH(cell_push)(rows, factor, lanes, gradient);
}
void softmax(const AdamState& state) {
  HWY_DYNAMIC_DISPATCH(softmax)(state);
}
void component_mean(const AdamState& state, float* mean) {
  HWY_DYNAMIC_DISPATCH(component_mean)(state, mean);
}
void adam_step(const AdamState& state, const float* shift, float penalty, const AdamStep& step,
               float* lane_scratch) {
  HWY_DYNAMIC_DISPATCH(adam_step)(state, shift, penalty, step, lane_scratch);
}

void FloatBuffer::Free::operator()(float* p) const {
  std::free(p);
}

void FloatBuffer::resize(std::size_t size) {
  const std::size_t bytes = (size * sizeof(float) + 63) / 64 * 64;
  auto* raw = static_cast<float*>(std::aligned_alloc(64, std::max<std::size_t>(bytes, 64)));
  if (raw == nullptr) throw std::bad_alloc();
  std::memset(raw, 0, bytes);
  data_.reset(raw);
  size_ = size;
}

void FloatBuffer::zero() {
  if (size_ > 0) std::memset(data_.get(), 0, size_ * sizeof(float));
}

}  // namespace discreet::synth
#endif
