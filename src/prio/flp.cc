#include "prio/flp.h"

#include "base/check.h"

namespace discreet::prio {
namespace {

constexpr unsigned kSharesMax = 255;

template <class F>
typename F::Factor factor_of(std::uint64_t value) {
  return F(static_cast<typename F::Integer>(value)).factor();
}

template <class F>
std::vector<typename F::Factor> factors(std::span<const F> elements) {
  std::vector<typename F::Factor> out;
  out.reserve(elements.size());
  for (const F& element : elements) out.push_back(element.factor());
  return out;
}

}  // namespace

template <class F>
Flp<F>::Flp(const Shape& shape)
    : shape_(shape),
      coset_(shape.points),
      wire_roots_(roots_of_unity<F>(shape.points)),
      gadget_roots_(roots_of_unity<F>(shape.gadget_points)),
      one_over_wires_(inverse<F>(factor_of<F>(shape.points))),
      one_over_gadget_(inverse<F>(factor_of<F>(shape.gadget_points))) {
  for (std::size_t bit = 0; bit + 1 < shape.bits; ++bit)
    digit_weights_.push_back(factor_of<F>(std::uint64_t{1} << bit));
  digit_weights_.push_back(factor_of<F>(shape.last_weight));
  shares_inverses_.push_back(factor_of<F>(1));
  for (unsigned shares = 1; shares <= kSharesMax; ++shares)
    shares_inverses_.push_back(inverse<F>(factor_of<F>(shares)));
}

template <class F>
F Flp<F>::decode_number(std::span<const F> digits) const {
  typename F::Sum sum;
  for (std::size_t i = 0; i < digits.size(); ++i) sum.add(digits[i], digit_weights_[i]);
  return sum.value();
}

template <class F>
std::vector<F> Flp<F>::truncate(std::span<const F> measurement) const {
  const std::size_t bits = shape_.bits;
  switch (shape_.circuit.kind) {
    case CircuitKind::Sum:
      return {decode_number(measurement)};
    case CircuitKind::SumVec:
    case CircuitKind::SumVecMultiproof:
    case CircuitKind::L1BoundSum: {
      if (bits == 1 && shape_.last_weight == 1)
        return std::vector<F>(measurement.begin(), measurement.begin() + shape_.output);
      std::vector<F> out(shape_.output);
      for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = decode_number(measurement.subspan(i * bits, bits));
      return out;
    }
    default:
      return std::vector<F>(measurement.begin(), measurement.begin() + shape_.output);
  }
}

template <class F>
F Flp<F>::gadget(std::span<const F> inputs) const {
  if (shape_.arity > 1) {  // a sum of products
    typename F::Sum sum;
    for (std::size_t i = 0; i + 1 < inputs.size(); i += 2) sum.add(inputs[i], inputs[i + 1]);
    return sum.value_of_elements();
  }
  // x (x - 1), and for the test circuit x (x - 1) (x - 2)
  const F x = inputs[0];
  const F range = x * x.factor() - x;
  if (shape_.degree == 2) return range;
  return range * x.factor() - range - range;
}

template <class F>
void Flp<F>::outputs(std::span<const F> measurement, std::span<const F> gadget_outputs,
                     Factor shares_inverse, std::span<F> out) const {
  const std::size_t length = shape_.circuit.length, bits = shape_.bits;
  F total;
  for (const F& value : gadget_outputs) total += value;
  switch (shape_.circuit.kind) {
    case CircuitKind::Count:
      out[0] = total - measurement[0];
      return;
    case CircuitKind::Sum:
      std::copy(gadget_outputs.begin(), gadget_outputs.end(), out.begin());
      return;
    case CircuitKind::SumVec:
    case CircuitKind::SumVecMultiproof:
    case CircuitKind::HigherDegree:
      out[0] = total;
      return;
    case CircuitKind::Histogram: {
      F sum;
      for (const F& bucket : measurement) sum += bucket;
      out[0] = total;
      out[1] = sum - shares_inverse.element();
      return;
    }
    case CircuitKind::MultihotCountVec: {
      F weight;
      for (const F& option : measurement.first(length)) weight += option;
      out[0] = total;
      out[1] = weight - decode_number(measurement.subspan(length));
      return;
    }
    case CircuitKind::L1BoundSum: {
      F norm;
      for (std::size_t i = 0; i < length; ++i)
        norm += decode_number(measurement.subspan(i * bits, bits));
      out[0] = total;
      out[1] = norm - decode_number(measurement.subspan(length * bits));
      return;
    }
  }
}

// Wires 2 j and 2 j + 1 carry r^(j+1) x and x - 1 for the j-th entry x of a chunk, one call after
// another; the gadget polynomial is the sum over j of their products.
template <class F>
void Flp<F>::prove_chunked(std::span<const F> measurement, std::span<const F> seeds,
                           std::span<const F> joint, std::span<F> values) const {
  const std::size_t points = shape_.points, chunk = shape_.arity / 2, calls = shape_.calls;
  const std::vector<Factor> r = factors<F>(joint);
  std::vector<Factor> powers = r;
  std::vector<F> weighted(points), shifted(points);
  std::vector<typename F::Sum> at_roots(points), between(points);
  const F one(1);
  for (std::size_t j = 0; j < chunk; ++j) {
    weighted.assign(points, F());
    shifted.assign(points, F());
    weighted[0] = seeds[2 * j];
    shifted[0] = seeds[2 * j + 1];
    for (std::size_t k = 0; k < calls; ++k) {
      const std::size_t index = k * chunk + j;
      const F x = index < measurement.size() ? measurement[index] : F();
      weighted[k + 1] = x * powers[k];
      shifted[k + 1] = x - one;
      powers[k] = powers[k] * r[k];
    }
    for (std::size_t k = 0; k <= calls; ++k) at_roots[k].add(weighted[k], shifted[k]);
    coset_.apply(weighted);
    coset_.apply(shifted);
    for (std::size_t k = 0; k < points; ++k) between[k].add(weighted[k], shifted[k]);
  }
  for (std::size_t k = 0; k < points; ++k) {
    values[2 * k] = at_roots[k].value_of_elements();
    if (2 * k + 1 < values.size()) values[2 * k + 1] = between[k].value_of_elements();
  }
}

// A gadget of degree d on the wires' polynomials; for d = 2 by the coset transform, else by
// evaluating coefficients (only the test circuit, at four points).
template <class F>
void Flp<F>::prove_simple(std::span<const F> measurement, std::span<const F> seeds,
                          std::span<F> values) const {
  const std::size_t points = shape_.points;
  std::vector<std::vector<F>> wires(shape_.arity, std::vector<F>(points));
  for (std::size_t wire = 0; wire < wires.size(); ++wire) {
    wires[wire][0] = seeds[wire];
    for (std::size_t k = 0; k < shape_.calls; ++k) wires[wire][k + 1] = measurement[k];
  }
  std::vector<F> inputs(shape_.arity);
  const auto evaluate = [&](std::size_t k) {
    for (std::size_t wire = 0; wire < wires.size(); ++wire) inputs[wire] = wires[wire][k];
    return gadget(inputs);
  };
  if (shape_.degree == 2) {
    for (std::size_t k = 0; k < points; ++k) values[2 * k] = evaluate(k);
    for (std::vector<F>& wire : wires) coset_.apply(wire);
    for (std::size_t k = 0; 2 * k + 1 < values.size(); ++k) values[2 * k + 1] = evaluate(k);
    return;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto weights = lagrange_weights<F>(gadget_roots_[i], wire_roots_, one_over_wires_);
    for (std::size_t wire = 0; wire < wires.size(); ++wire) {
      typename F::Sum at;
      for (std::size_t k = 0; k < points; ++k) at.add(wires[wire][k], weights[k]);
      inputs[wire] = at.value();
    }
    values[i] = gadget(inputs);
  }
}

template <class F>
void Flp<F>::prove(std::span<const F> measurement, std::span<const F> prove_randomness,
                   std::span<const F> joint, std::span<F> proof) const {
  DISCREET_CHECK(measurement.size() == shape_.measurement && proof.size() == shape_.proof(),
                 "lengths fit the circuit");
  const auto seeds = prove_randomness.first(shape_.arity);
  std::copy(seeds.begin(), seeds.end(), proof.begin());
  const auto values = proof.subspan(shape_.arity);
  if (shape_.is_chunked())
    prove_chunked(measurement, seeds, joint, values);
  else
    prove_simple(measurement, seeds, values);
}

// A polynomial of degree below `sent.size()` is determined by its first values; the others follow.
// One missing value, the usual case: the highest coefficient, the sum of v_i w^i over n, is zero.
template <class F>
std::vector<F> Flp<F>::all_gadget_values(std::span<const F> sent) const {
  const std::size_t n = shape_.gadget_points;
  std::vector<F> values(sent.begin(), sent.end());
  if (values.size() + 1 == n) {
    typename F::Sum sum;
    for (std::size_t i = 0; i < values.size(); ++i) sum.add(values[i], gadget_roots_[i]);
    values.push_back(F() - sum.value() * gadget_roots_[1]);  // w^-(n-1) = w
  }
  DISCREET_CHECK(values.size() == n, "a gadget whose polynomial lacks more than one value");
  return values;
}

template <class F>
void Flp<F>::query_chunked(std::span<const F> measurement, std::span<const F> seeds,
                           std::span<const F> joint, std::span<const Factor> weights,
                           Factor shares_inverse, std::span<F> wires) const {
  const std::size_t chunk = shape_.arity / 2, calls = shape_.calls;
  const std::vector<Factor> r = factors<F>(joint);
  // The weight of x in the first wire, weights[k + 1] r^(j+1), grows by r from one j to the next.
  std::vector<Factor> powers(calls);
  Factor all = Factor();
  for (std::size_t k = 0; k < calls; ++k) {
    powers[k] = weights[k + 1] * r[k];
    all = all + weights[k + 1];
  }
  const F shift = (all * shares_inverse).element();
  for (std::size_t j = 0; j < chunk; ++j) {
    typename F::Sum weighted, shifted;
    weighted.add(seeds[2 * j], weights[0]);
    shifted.add(seeds[2 * j + 1], weights[0]);
    for (std::size_t k = 0; k < calls; ++k) {
      const std::size_t index = k * chunk + j;
      if (index < measurement.size()) {
        weighted.add(measurement[index], powers[k]);
        shifted.add(measurement[index], weights[k + 1]);
      }
      powers[k] = powers[k] * r[k];
    }
    wires[2 * j] = weighted.value();
    wires[2 * j + 1] = shifted.value() - shift;
  }
}

template <class F>
bool Flp<F>::query(std::span<const F> measurement, std::span<const F> proof,
                   std::span<const F> query_randomness, std::span<const F> joint, unsigned shares,
                   std::span<F> verifier) const {
  DISCREET_CHECK(measurement.size() == shape_.measurement && proof.size() == shape_.proof() &&
                     verifier.size() == shape_.verifier() && shares <= kSharesMax,
                 "lengths fit the circuit");
  const Factor t = query_randomness[shape_.query_randomness() - 1].factor();
  if (power<F>(t, shape_.points) == F(1).factor()) return false;

  const auto seeds = proof.first(shape_.arity);
  const std::vector<F> values = all_gadget_values(proof.subspan(shape_.arity));
  const std::size_t step = shape_.gadget_points / shape_.points;
  std::vector<F> gadget_outputs(shape_.calls), out(shape_.results);
  for (std::size_t k = 0; k < shape_.calls; ++k) gadget_outputs[k] = values[(k + 1) * step];
  const Factor shares_inverse = shares_inverses_[shares];
  outputs(measurement, gadget_outputs, shares_inverse, out);
  verifier[0] = out[0];
  if (shape_.results > 1) {
    typename F::Sum reduced;
    for (std::size_t i = 0; i < out.size(); ++i) reduced.add(out[i], query_randomness[i].factor());
    verifier[0] = reduced.value();
  }

  const std::vector<Factor> weights = lagrange_weights<F>(t, wire_roots_, one_over_wires_);
  const auto wires = verifier.subspan(1, shape_.arity);
  if (shape_.is_chunked()) {
    query_chunked(measurement, seeds, joint, weights, shares_inverse, wires);
  } else {
    for (std::size_t wire = 0; wire < wires.size(); ++wire) {
      typename F::Sum at;
      at.add(seeds[wire], weights[0]);
      for (std::size_t k = 0; k < shape_.calls; ++k) at.add(measurement[k], weights[k + 1]);
      wires[wire] = at.value();
    }
  }
  const std::vector<Factor> gadget_weights =
      lagrange_weights<F>(t, gadget_roots_, one_over_gadget_);
  typename F::Sum at;
  for (std::size_t i = 0; i < values.size(); ++i) at.add(values[i], gadget_weights[i]);
  verifier.back() = at.value();
  return true;
}

template <class F>
bool Flp<F>::decide(std::span<const F> verifier) const {
  return verifier[0] == F() && gadget(verifier.subspan(1, shape_.arity)) == verifier.back();
}

template class Flp<Field64>;
template class Flp<Field128>;

}  // namespace discreet::prio
