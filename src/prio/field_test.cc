#include <gtest/gtest.h>

#include "base/rational.h"
#include "prio/field128.h"
#include "support/seeded_random.h"

namespace discreet::prio {
namespace {

BigInt big(Wide value) {
  return (BigInt(static_cast<std::uint64_t>(value >> 64)) << 64) +
         static_cast<std::uint64_t>(value);
}

template <class F>
class FieldTest : public testing::Test {
 protected:
  /// Uniform numbers, and the ones at which carries and corrections happen.
  std::vector<F> samples() {
    SeededRandom random(20261115);
    const Wide p = F::kModulus;
    std::vector<F> out;
    for (const Wide value :
         {Wide{0}, Wide{1}, Wide{2}, p - 1, p - 2, p / 2, p / 2 + 1, p >> 32, p - (p >> 32)})
      out.emplace_back(static_cast<typename F::Integer>(value));
    for (const std::uint64_t word : {0xffffffffULL, 0x100000000ULL, 0xffffffff00000000ULL})
      out.emplace_back(word);
    // High words that add up to 2^64 - 1, so that a carry from the low ones runs through them.
    const Wide ones = ~std::uint64_t{0};
    for (const Wide value :
         {(ones >> 1) << 64 | ones, (Wide{1} << 127) | ones, (ones - 27) << 64, Wide{27} << 64 | 1})
      out.emplace_back(static_cast<typename F::Integer>(value % p));
    while (out.size() < 150) {
      const Wide value = (Wide{random.bits64()} << 64 | random.bits64()) % p;
      out.emplace_back(static_cast<typename F::Integer>(value));
    }
    return out;
  }
};

using Fields = testing::Types<Field64, Field128>;
TYPED_TEST_SUITE(FieldTest, Fields);

TYPED_TEST(FieldTest, ArithmeticAgreesWithBigIntegers) {
  using F = TypeParam;
  const BigInt p = big(F::kModulus);
  const auto samples = this->samples();
  for (const F& a : samples)
    for (const F& b : samples) {
      const BigInt x = big(a.integer()), y = big(b.integer());
      ASSERT_EQ(big((a + b).integer()), (x + y) % p);
      ASSERT_EQ(big((a - b).integer()), (x - y + p) % p);
      ASSERT_EQ(big((a * b.factor()).integer()), x * y % p);
      ASSERT_EQ(big((a.factor() * b.factor()).element().integer()), x * y % p);
      ASSERT_EQ(big((a.factor() + b.factor()).element().integer()), (x + y) % p);
      ASSERT_EQ(big((a.factor() - b.factor()).element().integer()), (x - y + p) % p);
    }
}

TYPED_TEST(FieldTest, SumsOfProductsAgreeWithBigIntegers) {
  using F = TypeParam;
  const BigInt p = big(F::kModulus);
  const auto samples = this->samples();
  typename F::Sum with_factors, of_elements;
  BigInt expected = 0;
  for (int round = 0; round < 5; ++round)
    for (const F& a : samples)
      for (const F& b : samples) {
        with_factors.add(a, b.factor());
        of_elements.add(a, b);
        expected += big(a.integer()) * big(b.integer());
      }
  EXPECT_EQ(big(with_factors.value().integer()), expected % p);
  EXPECT_EQ(big(of_elements.value_of_elements().integer()), expected % p);
}

TYPED_TEST(FieldTest, SharesInWordsAddUpLikeElements) {
  using F = TypeParam;
  const auto samples = this->samples();
  for (const F& a : samples)
    for (const F& b : samples) {
      std::vector<std::uint64_t> x(2 * F::kWords), y(2 * F::kWords);
      a.to_words(&x[0]);
      b.to_words(&x[F::kWords]);
      b.to_words(&y[0]);
      b.to_words(&y[F::kWords]);
      F::add_words(x.data(), y.data(), 2);
      ASSERT_EQ(F::from_words(&x[0]), a + b);
      ASSERT_EQ(F::from_words(&x[F::kWords]), b + b);
    }
}

// Every pair of samples (0, 1, p - 1, words of ones, carries) in every place of a vector and in its
// rest, in every form the processor has.
TYPED_TEST(FieldTest, EveryFormOfAddingSharesGivesTheSameSums) {
  using F = TypeParam;
  const auto samples = this->samples();
  std::vector<F> left, right;
  for (const F& a : samples)
    for (const F& b : samples) {
      left.push_back(a);
      right.push_back(b);
    }
  const auto words = [](const std::vector<F>& elements) {
    std::vector<std::uint64_t> out(elements.size() * F::kWords);
    for (std::size_t i = 0; i < elements.size(); ++i) elements[i].to_words(&out[i * F::kWords]);
    return out;
  };
  for (int form = 0; form <= static_cast<int>(sum_form()); ++form)
    for (std::size_t skip = 0; skip < 8; ++skip) {
      std::vector<std::uint64_t> x = words(left);
      const std::vector<std::uint64_t> y = words(right);
      const std::size_t count = left.size() - skip, at = skip * F::kWords;
      if constexpr (F::kWords == 1)
        add_elements64(&x[at], &y[at], count, static_cast<SumForm>(form));
      else
        add_elements128(&x[at], &y[at], count, static_cast<SumForm>(form));
      for (std::size_t i = skip; i < left.size(); ++i)
        ASSERT_EQ(F::from_words(&x[i * F::kWords]), left[i] + right[i]) << form << " " << i;
    }
}

TYPED_TEST(FieldTest, TheLargestTermsDoNotOverflowASum) {
  using F = TypeParam;
  const BigInt p = big(F::kModulus);
  const F most(F::kModulus - 1);
  typename F::Sum sum;
  for (int i = 0; i < 100'000; ++i) sum.add(most, most);
  EXPECT_EQ(big(sum.value_of_elements().integer()), (p - 1) * (p - 1) * 100'000 % p);
}

TYPED_TEST(FieldTest, RootsOfUnityHaveExactlyTheirOrder) {
  using F = TypeParam;
  for (std::size_t n = 2; n <= 1024; n *= 2) {
    const auto root = root_of_unity<F>(n);
    EXPECT_EQ(power<F>(root, n), F(1).factor());
    EXPECT_EQ(power<F>(root, n / 2).element(), F() - F(1));
  }
  EXPECT_EQ(power<F>(F::root_generator(), Wide{1} << (F::kRootBits - 1)).element(), F() - F(1));
}

TYPED_TEST(FieldTest, AnInverseTimesItsNumberIsOne) {
  using F = TypeParam;
  for (const F& a : this->samples()) {
    if (a == F()) continue;
    EXPECT_EQ((inverse<F>(a.factor()) * a.factor()).element(), F(1));
  }
}

TYPED_TEST(FieldTest, NumbersThatAreNotReducedAreNotRead) {
  using F = TypeParam;
  const auto modulus = F::kModulus;
  for (const typename F::Integer value : {modulus, modulus + 1, ~typename F::Integer{0}}) {
    std::uint8_t bytes[F::kBytes];
    std::memcpy(bytes, &value, sizeof bytes);
    F out;
    EXPECT_FALSE(F::load(bytes, out));
  }
  const typename F::Integer value = modulus - 1;
  std::uint8_t bytes[F::kBytes];
  std::memcpy(bytes, &value, sizeof bytes);
  F out;
  EXPECT_TRUE(F::load(bytes, out));
  EXPECT_EQ(out.integer(), value);
}

}  // namespace
}  // namespace discreet::prio
