#include "prio/field255.h"

#include <gtest/gtest.h>

#include "base/rational.h"
#include "prio/xof.h"
#include "support/seeded_random.h"

namespace discreet::prio {
namespace {

const BigInt kModulus = (BigInt(1) << 255) - 19;

BigInt big(const Field255& element) {
  std::uint64_t words[Field255::kWords];
  element.to_words(words);
  BigInt out = 0;
  for (int i = 3; i >= 0; --i) out = (out << 64) + words[i];
  return out;
}
void write(const BigInt& value, std::uint8_t* bytes) {
  for (int i = 0; i < 32; ++i)
    bytes[i] = static_cast<std::uint8_t>(static_cast<unsigned>((value >> (8 * i)) & 0xff));
}
Field255 element(const BigInt& value) {
  std::uint8_t bytes[Field255::kBytes];
  write(value, bytes);
  Field255 out;
  EXPECT_TRUE(Field255::load(bytes, out)) << value;
  return out;
}

/// Uniform numbers, and the ones at which carries and corrections happen.
std::vector<Field255> samples() {
  SeededRandom random(20261116);
  std::vector<Field255> out;
  for (int i = 0; i < 40; ++i) {
    out.push_back(element(BigInt(i)));
    out.push_back(element(kModulus - 1 - i));
  }
  for (int bit = 1; bit < 255; ++bit) {
    out.push_back(element(BigInt(1) << bit));
    out.push_back(element((BigInt(1) << bit) - 1));
  }
  for (int i = 0; i < 60; ++i) {
    BigInt value = 0;
    for (int word = 0; word < 4; ++word) value = (value << 64) + random.bits64();
    out.push_back(element(value % kModulus));
  }
  return out;
}

TEST(Field255Test, ArithmeticAgreesWithBigIntegers) {
  const auto all = samples();
  for (const Field255& a : all)
    for (const Field255& b : all) {
      const BigInt x = big(a), y = big(b);
      ASSERT_EQ(big(a + b), (x + y) % kModulus);
      ASSERT_EQ(big(a - b), (x - y + kModulus) % kModulus);
      ASSERT_EQ(big(a * b), x * y % kModulus);
    }
}

TEST(Field255Test, OnlyReducedNumbersAreRead) {
  std::uint8_t bytes[Field255::kBytes];
  Field255 out;
  for (int i = 0; i < 30; ++i) {
    write(kModulus + i, bytes);
    EXPECT_FALSE(Field255::load(bytes, out)) << i;
    write(kModulus - 1 - i, bytes);
    EXPECT_TRUE(Field255::load(bytes, out)) << i;
    bytes[31] |= 0x80;
    EXPECT_FALSE(Field255::load(bytes, out)) << i;
  }
}

TEST(Field255Test, BytesAndWordsComeBack) {
  for (const Field255& a : samples()) {
    std::uint8_t bytes[Field255::kBytes];
    a.store(bytes);
    Field255 read;
    ASSERT_TRUE(Field255::load(bytes, read));
    EXPECT_EQ(read, a);
    std::uint64_t words[Field255::kWords];
    a.to_words(words);
    EXPECT_EQ(Field255::from_words(words), a);
  }
}

/// Half of a stream's candidates have the top bit set; it is dropped, not refused.
TEST(Field255Test, AStreamIsReadInSteps) {
  const Bytes seed(32, 7);
  Bytes stream(32 * 20);
  Xof(seed, {}, {}).fill(stream);
  std::vector<Field255> drawn(20);
  Xof(seed, {}, {}).elements<Field255>(drawn);
  int with_top_bit = 0;
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    std::uint8_t* candidate = &stream[32 * i];
    with_top_bit += candidate[31] >> 7;
    candidate[31] &= 0x7f;
    Field255 expected;
    ASSERT_TRUE(Field255::load(candidate, expected));
    EXPECT_EQ(drawn[i], expected);
  }
  EXPECT_GT(with_top_bit, 0);
}

}  // namespace
}  // namespace discreet::prio
