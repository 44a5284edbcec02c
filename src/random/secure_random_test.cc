#include "random/secure_random.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cmath>
#include <iostream>
#include <set>
#include <vector>

namespace discreet {
namespace {

using Words = std::array<std::uint64_t, 64>;

// What a child process draws from a generator it inherited.
Words draw_in_child(SecureRandom& random) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    Words words{};
    for (auto& word : words) word = random.bits64();
    const bool written = write(ends[1], words.data(), sizeof(words)) == sizeof(words);
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  Words words{};
  EXPECT_EQ(read(ends[0], words.data(), sizeof(words)), static_cast<ssize_t>(sizeof(words)));
  close(ends[0]);
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  return words;
}

TEST(SecureRandomTest, ParentAndChildrenNeverShareAStream) {
  SecureRandom random;
  (void)random.bits64();  // the buffer now holds words that a careless child would repeat
  const Words first = draw_in_child(random), second = draw_in_child(random);
  Words own{};
  random.fill(own);
  std::set<std::uint64_t> all;
  for (const auto& words : {first, second, own}) all.insert(words.begin(), words.end());
  EXPECT_EQ(all.size(), 3 * own.size());
}

TEST(SecureRandomTest, GeneratorsDoNotRepeatEachOther) {
  SecureRandom a, b;
  std::set<std::uint64_t> all;
  for (int i = 0; i < 100; ++i) {
    all.insert(a.bits64());
    all.insert(b.bits64());
  }
  EXPECT_EQ(all.size(), 200u);
}

// Past the reseeding at 64 MiB. The share of ones in 9 million words is within six standard errors
// of a half, and no word of a sample repeats (a collision among 10,000 words has chance 3e-12).
TEST(SecureRandomTest, StreamsAreEvenAndGoOnPastReseeding) {
  SecureRandom random;
  std::vector<std::uint64_t> words(std::size_t{9} << 17);
  std::uint64_t ones = 0, total = 0;
  std::set<std::uint64_t> sample;
  for (int chunk = 0; chunk < 8; ++chunk) {
    random.fill(words);
    for (const auto word : words) ones += static_cast<std::uint64_t>(std::popcount(word));
    total += words.size();
    for (std::size_t i = 0; i < 1250; ++i) sample.insert(words[i * 700]);
  }
  const auto bits = static_cast<double>(total) * 64;
  const double z = (static_cast<double>(ones) - bits / 2) / std::sqrt(bits / 4);
  std::cout << "ones: z = " << z << " over " << total * 8 / (1 << 20) << " MiB\n";
  EXPECT_LT(std::fabs(z), 6);
  EXPECT_EQ(sample.size(), 10'000u);
}

TEST(SecureRandomTest, FillHandsOutWordsOfEveryLength) {
  SecureRandom random;
  for (const std::size_t size : {0UL, 1UL, 2042UL, 2048UL, 5000UL}) {
    std::vector<std::uint64_t> words(size);
    random.fill(words);
    std::size_t zeros = 0;
    for (const auto word : words) zeros += word == 0;
    EXPECT_EQ(zeros, 0u);  // a word left unfilled; by chance 3e-16
  }
}

}  // namespace
}  // namespace discreet
