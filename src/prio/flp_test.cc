#include "prio/flp.h"

#include <gtest/gtest.h>

#include "support/seeded_random.h"

namespace discreet::prio {
namespace {

template <class F>
F uniform(RandomSource& random) {
  const Wide value = (Wide{random.bits64()} << 64 | random.bits64()) % F::kModulus;
  return F(static_cast<typename F::Integer>(value));
}
template <class F>
std::vector<F> uniform(std::size_t n, RandomSource& random) {
  std::vector<F> out(n);
  for (F& element : out) element = uniform<F>(random);
  return out;
}

template <class F>
class PolynomialTest : public testing::Test {
 protected:
  static F evaluate(const std::vector<F>& coefficients, typename F::Factor x) {
    F value;
    for (std::size_t i = coefficients.size(); i-- > 0;) value = value * x + coefficients[i];
    return value;
  }
};
using Fields = testing::Types<Field64, Field128>;
TYPED_TEST_SUITE(PolynomialTest, Fields);

TYPED_TEST(PolynomialTest, TheCosetTransformEvaluatesBetweenTheRoots) {
  using F = TypeParam;
  SeededRandom random(20261120);
  for (std::size_t n = 2; n <= 128; n *= 2) {
    const auto coefficients = uniform<F>(n, random);
    const auto roots = roots_of_unity<F>(n), finer = roots_of_unity<F>(2 * n);
    std::vector<F> values(n);
    for (std::size_t k = 0; k < n; ++k) values[k] = this->evaluate(coefficients, roots[k]);
    CosetTransform<F>(n).apply(values);
    for (std::size_t k = 0; k < n; ++k)
      ASSERT_EQ(values[k], this->evaluate(coefficients, finer[2 * k + 1])) << n << " " << k;
  }
}

TYPED_TEST(PolynomialTest, LagrangeWeightsEvaluateAnywhere) {
  using F = TypeParam;
  SeededRandom random(20261121);
  for (std::size_t n = 2; n <= 64; n *= 2) {
    const auto coefficients = uniform<F>(n, random);
    const auto roots = roots_of_unity<F>(n);
    const auto t = uniform<F>(random).factor();
    const auto weights =
        lagrange_weights<F>(t, roots, inverse<F>(F(static_cast<typename F::Integer>(n)).factor()));
    F value;
    for (std::size_t k = 0; k < n; ++k)
      value += this->evaluate(coefficients, roots[k]) * weights[k];
    ASSERT_EQ(value, this->evaluate(coefficients, t));
  }
}

Shape shape(CircuitKind kind, std::uint64_t length, std::uint64_t max, std::uint64_t chunk = 0) {
  return shape_of({kind, length, max, chunk}).value();
}

// mozilla/libprio once accepted such points, which show a wire of the circuit (its pull request
// 60).
TEST(FlpTest, AQueryAtARootOfUnityIsRefused) {
  SeededRandom random(20261122);
  const Shape histogram = shape(CircuitKind::Histogram, 20, 1);
  const Flp<Field128> flp(histogram);
  const auto measurement = uniform<Field128>(histogram.measurement, random);
  const auto proof = uniform<Field128>(histogram.proof(), random);
  const auto joint = uniform<Field128>(histogram.joint, random);
  auto query = uniform<Field128>(histogram.query_randomness(), random);
  std::vector<Field128> verifier(histogram.verifier());
  EXPECT_TRUE(flp.query(measurement, proof, query, joint, 2, verifier));
  for (const auto& root : roots_of_unity<Field128>(histogram.points)) {
    query.back() = root.element();
    EXPECT_FALSE(flp.query(measurement, proof, query, joint, 2, verifier));
  }
  // Roots of the gadget polynomial between those of the wires are harmless.
  query.back() = root_of_unity<Field128>(2 * histogram.points).element();
  EXPECT_TRUE(flp.query(measurement, proof, query, joint, 2, verifier));
}

/// Runs one proof over a vector that need not be valid, in three shares.
template <class F>
bool accepts(const Shape& circuit, const std::vector<F>& measurement, RandomSource& random) {
  const Flp<F> flp(circuit);
  const auto joint = uniform<F>(circuit.joint, random);
  std::vector<F> proof(circuit.proof());
  flp.prove(measurement, uniform<F>(circuit.arity, random), joint, proof);
  const auto query = uniform<F>(circuit.query_randomness(), random);
  constexpr unsigned kShares = 3;
  std::vector<F> sum(circuit.verifier()), verifier(circuit.verifier());
  std::vector<F> last = measurement, last_proof = proof;
  for (unsigned share = 0; share < kShares; ++share) {
    auto part = uniform<F>(measurement.size(), random),
         proof_part = uniform<F>(proof.size(), random);
    if (share + 1 == kShares) {
      part = last;
      proof_part = last_proof;
    }
    for (std::size_t i = 0; i < part.size(); ++i) last[i] -= part[i];
    for (std::size_t i = 0; i < proof_part.size(); ++i) last_proof[i] -= proof_part[i];
    EXPECT_TRUE(flp.query(part, proof_part, query, joint, kShares, verifier));
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += verifier[i];
  }
  return flp.decide(sum);
}

template <class F>
void expect_exactly_the_valid_ones(const Shape& circuit, const Measurement& measurement) {
  SeededRandom random(20261123);
  const auto digits = encode(circuit, measurement).value();
  std::vector<F> valid;
  for (const std::uint8_t digit : digits) valid.emplace_back(digit);
  ASSERT_EQ(valid.size(), circuit.measurement);
  EXPECT_TRUE(accepts<F>(circuit, valid, random));
  for (std::size_t i = 0; i < valid.size(); ++i)
    for (const F& wrong : {F(3), F() - F(1), uniform<F>(random)}) {
      std::vector<F> changed = valid;
      changed[i] = wrong;
      EXPECT_FALSE(accepts<F>(circuit, changed, random))
          << name(circuit.circuit.kind) << " at " << i;
    }
}

TEST(FlpTest, EveryCircuitAcceptsValidAndRefusesOutOfRangeEntries) {
  expect_exactly_the_valid_ones<Field64>(shape(CircuitKind::Count, 1, 1), {1});
  expect_exactly_the_valid_ones<Field64>(shape(CircuitKind::Sum, 1, 1000), {777});
  expect_exactly_the_valid_ones<Field128>(shape(CircuitKind::SumVec, 5, 10), {0, 3, 10, 7, 1});
  expect_exactly_the_valid_ones<Field128>(shape(CircuitKind::SumVec, 7, 1, 3),
                                          {0, 1, 1, 0, 1, 0, 0});
  expect_exactly_the_valid_ones<Field64>(shape(CircuitKind::SumVecMultiproof, 3, 5), {5, 0, 4});
  expect_exactly_the_valid_ones<Field128>(shape(CircuitKind::Histogram, 11, 1), {4});
  expect_exactly_the_valid_ones<Field128>(shape(CircuitKind::MultihotCountVec, 6, 2),
                                          {0, 1, 0, 1, 0, 0});
  expect_exactly_the_valid_ones<Field128>(shape(CircuitKind::L1BoundSum, 4, 9), {1, 0, 5, 3});
}

TEST(FlpTest, EntriesThatAreBitsButBreakTheRuleAreRefused) {
  SeededRandom random(20261124);
  const Shape histogram = shape(CircuitKind::Histogram, 5, 1);
  const Field128 zero, one(1);
  EXPECT_FALSE(accepts<Field128>(histogram, {one, zero, one, zero, zero}, random));  // two buckets
  EXPECT_FALSE(accepts<Field128>(histogram, {zero, zero, zero, zero, zero}, random));  // none
  const Shape multihot = shape(CircuitKind::MultihotCountVec, 4, 2);
  ASSERT_EQ(multihot.bits, 2U);
  EXPECT_FALSE(accepts<Field128>(multihot, {one, one, one, zero, one, one}, random));    // weight 3
  EXPECT_FALSE(accepts<Field128>(multihot, {one, one, zero, zero, one, zero}, random));  // claims 1
  const Shape l1 = shape(CircuitKind::L1BoundSum, 2, 3);
  EXPECT_FALSE(accepts<Field128>(l1, {one, one, one, one, one, one}, random));  // 3 + 3, claims 3
}

}  // namespace
}  // namespace discreet::prio
