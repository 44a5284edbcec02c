// Polynomials given by their values at the roots of unity of order n, a power of two.
//
// Guarantee: exact; the steps depend on n only.
#pragma once

#include <span>
#include <vector>

#include "prio/field128.h"

namespace discreet::prio {

/// Values at w^k for k < n, where w has order n, to values at v w^k, where v has order 2 n. An
/// inverse transform by decimation in frequency leaves coefficients in bit-reversed order, in which
/// the twist by v^i / n is applied and a transform by decimation in time begins: nothing is ever
/// reordered.
template <class F>
class CosetTransform {
 public:
  using Factor = typename F::Factor;

  explicit CosetTransform(std::size_t n) : forward_(n), inverse_(n), twist_(n) {
    const Factor root = root_of_unity<F>(n), back = discreet::prio::inverse<F>(root);
    const Factor half = root_of_unity<F>(2 * n);
    const Factor scale =
        discreet::prio::inverse<F>(F(static_cast<typename F::Integer>(n)).factor());
    // Roots of stage size m lie at [m / 2, m): w_m^0, w_m^1, ...
    for (std::size_t m = 2; m <= n; m *= 2) {
      const Factor step = power<F>(root, n / m), step_back = power<F>(back, n / m);
      Factor at = F(1).factor(), at_back = at;
      for (std::size_t i = 0; i < m / 2; ++i, at = at * step, at_back = at_back * step_back) {
        forward_[m / 2 + i] = at;
        inverse_[m / 2 + i] = at_back;
      }
    }
    for (std::size_t i = 0; i < n; ++i) twist_[reversed(i, n)] = power<F>(half, i) * scale;
  }

  /// In place; `values` has n entries.
  void apply(std::span<F> values) const {
    const std::size_t n = values.size();
    F* const v = values.data();
    for (std::size_t m = n; m > 2; m /= 2)
      for (std::size_t block = 0; block < n; block += m)
        for (std::size_t i = 0; i < m / 2; ++i) {
          F& a = v[block + i];
          F& b = v[block + i + m / 2];
          const F difference = a - b;
          a += b;
          b = difference * inverse_[m / 2 + i];
        }
    // The last stage of one and the first of the other have the root 1 only.
    for (std::size_t block = 0; block < n; block += 2) {
      const F a = (v[block] + v[block + 1]) * twist_[block];
      const F b = (v[block] - v[block + 1]) * twist_[block + 1];
      v[block] = a + b;
      v[block + 1] = a - b;
    }
    for (std::size_t m = 4; m <= n; m *= 2)
      for (std::size_t block = 0; block < n; block += m)
        for (std::size_t i = 0; i < m / 2; ++i) {
          F& a = v[block + i];
          F& b = v[block + i + m / 2];
          const F turned = b * forward_[m / 2 + i];
          b = a - turned;
          a += turned;
        }
  }

 private:
  static std::size_t reversed(std::size_t i, std::size_t n) {
    std::size_t out = 0;
    for (std::size_t bit = 1; bit < n; bit *= 2, i /= 2) out = 2 * out + i % 2;
    return out;
  }

  std::vector<Factor> forward_, inverse_, twist_;
};

/// w^0, w^1, ..., w^(n-1).
template <class F>
std::vector<typename F::Factor> roots_of_unity(std::size_t n) {
  std::vector<typename F::Factor> roots(n, F(1).factor());
  const auto root = root_of_unity<F>(n);
  for (std::size_t k = 1; k < n; ++k) roots[k] = roots[k - 1] * root;
  return roots;
}

/// What the values at all roots of unity weigh in the value at t, in linear time and without a
/// division: L_k(t) = w^k / n times the product of t - w^i over i != k, because the derivative of
/// x^n - 1 at w^k is n w^-k.
template <class F>
std::vector<typename F::Factor> lagrange_weights(typename F::Factor t,
                                                 std::span<const typename F::Factor> roots,
                                                 typename F::Factor one_over_n) {
  using Factor = typename F::Factor;
  const std::size_t n = roots.size();
  std::vector<Factor> weights(n);
  Factor before = one_over_n;
  for (std::size_t k = 0; k < n; ++k) {
    weights[k] = before;
    before = before * (t - roots[k]);
  }
  Factor after = F(1).factor();
  for (std::size_t k = n; k-- > 0;) {
    weights[k] = weights[k] * (after * roots[k]);
    after = after * (t - roots[k]);
  }
  return weights;
}

}  // namespace discreet::prio
