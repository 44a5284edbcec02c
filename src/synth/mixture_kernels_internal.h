// The arithmetic of a mixture of product distributions, with components in vector lanes.
//
// A component i draws every attribute independently from its own distribution P_a[.][i]; the
// mixture's marginal over attributes a, b, c is scale * sum_i P_a[x][i] P_b[y][i] P_c[z][i]. The
// attributes of a marginal are split into a left and a right part whose outer products meet in a
// blocked matrix product, so a cell costs one multiply-add per component, forward, and two back.
// Post-processing of released counts only; the order of operations is fixed, so results do not
// depend on threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace discreet::synth {

inline constexpr std::size_t kLanes = 16;  ///< component counts are padded to multiples of this

/// Cache-line aligned floats.
class FloatBuffer {
 public:
  FloatBuffer() = default;
  explicit FloatBuffer(std::size_t size) { resize(size); }
  void resize(std::size_t size);  ///< zeros
  float* data() { return data_.get(); }
  const float* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  void zero();

 private:
  struct Free {
    void operator()(float* p) const;
  };
  std::unique_ptr<float, Free> data_;
  std::size_t size_ = 0;
};

/// One attribute of a mixture: `size` rows of `lanes` floats each.
struct FactorView {
  const float* p;
  float* gradient;  ///< overwritten; absent when only the marginal is wanted
  std::uint32_t size;
};

struct MarginalTask {
  std::span<const FactorView> left, right;  ///< row-major: left attributes first
  std::size_t lanes;                        ///< padded components; padding holds zeros
  float scale;                              ///< counts per component
  const float* target = nullptr;            ///< measured counts; absent: no gradient
  float weight = 0;                         ///< of the squared distance
  float* marginal = nullptr;                ///< receives the mixture's counts, if wanted
};

/// Scratch memory of one thread of work; grows as needed.
struct MarginalScratch {
  FloatBuffer left, left_gradient, right, right_gradient, residual;
};

/// Fills the gradients of sum weight/2 (marginal - target)^2 with respect to P, and the marginal.
void mixture_marginal(const MarginalTask& task, MarginalScratch& scratch);

/// The sum over lanes of the product of these rows.
float cell_value(std::span<const float* const> rows, std::size_t lanes);
/// gradient += factor times the product of these rows; none of them: factor itself.
void cell_push(std::span<const float* const> rows, float factor, std::size_t lanes,
               float* gradient);

/// One attribute's parameters, all `size` x `lanes`.
struct AdamState {
  float *logits, *p, *log_p, *first, *second, *gradient;
  std::uint32_t size;
  std::size_t lanes, components;
};

struct AdamStep {
  float rate, beta1, beta2, correction1, correction2;
};

/// Softmax over the attribute's values, per component, into p and log_p. Padding lanes get zeros.
void softmax(const AdamState& state);
/// The mean of p over components, one per value.
void component_mean(const AdamState& state, float* mean);
/// gradient[v][i] += shift[v] + penalty log_p[v][i], through the softmax, one step of Adam.
void adam_step(const AdamState& state, const float* shift, float penalty, const AdamStep& step,
               float* lane_scratch);

}  // namespace discreet::synth
