// The fully linear proof of Boneh, Boyle, Corrigan-Gibbs, Gilboa and Ishai (CRYPTO 2019,
// Theorem 4.3): a client proves that a shared vector satisfies a circuit; each server checks its
// own share.
//
// Guarantee: sharing the measurement and the proof additively and adding up what query() returns
// for
//            every share, decide() accepts an honest proof always, and accepts a vector that
//            violates the circuit with chance at most about (2 P + joint) / p for random t, which
//            is below 2^-100 over Field128. What query() returns tells nothing else about the
//            measurement.
// Assumes:   the query randomness is unknown to the prover; t is not one of the P roots.
// Proof:     draft-irtf-cfrg-vdaf-20 section 9 and the paper above.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "prio/circuit.h"
#include "prio/ntt.h"

namespace discreet::prio {

template <class F>
class Flp {
 public:
  explicit Flp(const Shape& shape);

  /// `proof` has shape.proof() entries.
  void prove(std::span<const F> measurement, std::span<const F> prove_randomness,
             std::span<const F> joint, std::span<F> proof) const;

  /// One share's verifier, shape.verifier() entries. False: t is a root of unity, the verifier
  /// would show a wire; refuse the report.
  [[nodiscard]] bool query(std::span<const F> measurement, std::span<const F> proof,
                           std::span<const F> query_randomness, std::span<const F> joint,
                           unsigned shares, std::span<F> verifier) const;

  /// Whether the sum of all shares' verifiers is that of a valid measurement.
  [[nodiscard]] bool decide(std::span<const F> verifier) const;

  /// What is added up over clients: the numbers behind the digits.
  std::vector<F> truncate(std::span<const F> measurement) const;

 private:
  using Factor = typename F::Factor;

  F decode_number(std::span<const F> digits) const;
  F gadget(std::span<const F> inputs) const;
  /// Outputs of the circuit, given the gadget's output for every call.
  void outputs(std::span<const F> measurement, std::span<const F> gadget_outputs,
               Factor shares_inverse, std::span<F> out) const;
  void prove_chunked(std::span<const F> measurement, std::span<const F> seeds,
                     std::span<const F> joint, std::span<F> values) const;
  void prove_simple(std::span<const F> measurement, std::span<const F> seeds,
                    std::span<F> values) const;
  void query_chunked(std::span<const F> measurement, std::span<const F> seeds,
                     std::span<const F> joint, std::span<const Factor> weights,
                     Factor shares_inverse, std::span<F> wires) const;
  std::vector<F> all_gadget_values(std::span<const F> sent) const;

  Shape shape_;
  CosetTransform<F> coset_;
  std::vector<Factor> wire_roots_, gadget_roots_;
  Factor one_over_wires_, one_over_gadget_;
  std::vector<Factor> digit_weights_;
  std::vector<Factor> shares_inverses_;  // of 1, 2, ..., 255
};

extern template class Flp<Field64>;
extern template class Flp<Field128>;

}  // namespace discreet::prio
