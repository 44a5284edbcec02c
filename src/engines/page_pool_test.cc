#include "engines/page_pool.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

#include "engines/raw_vector.h"
#include "engines/spare_memory.h"

namespace discreet {
namespace {

TEST(PagePoolTest, APieceThatWasGivenBackIsTakenAgain) {
  constexpr std::size_t kBytes = 3 * PagePool::kPageBytes;
  void* first = PagePool::take(kBytes);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % PagePool::kPageBytes, 0U);
  std::memset(first, 7, kBytes);
  PagePool::give(first, kBytes);
  void* again = PagePool::take(kBytes - 1);
  EXPECT_EQ(again, first);
  void* other = PagePool::take(kBytes);
  EXPECT_NE(other, again) << "a piece has one holder";
  PagePool::give(other, kBytes);
  PagePool::give(again, kBytes - 1);
}

// What is more goes back to the system, which hands it out empty.
TEST(PagePoolTest, MoreThanTheLimitIsNotKept) {
  constexpr std::size_t kBytes = std::size_t{3} << 30, kSomewhere = kBytes / 2;
  for (int time = 0; time < 2; ++time) {
    auto* memory = static_cast<char*>(PagePool::take(kBytes));
    EXPECT_EQ(memory[kSomewhere], 0);
    memory[kSomewhere] = 1;
    PagePool::give(memory, kBytes);
  }
}

TEST(PagePoolTest, LargeVectorsLiveInPages) {
  EXPECT_FALSE(RawAllocator<char>::in_pages(PagePool::kPageBytes - 1));
  EXPECT_TRUE(RawAllocator<char>::in_pages(PagePool::kPageBytes));
  RawVector<std::int64_t> numbers(PagePool::kPageBytes, 5);
  numbers.resize(2 * PagePool::kPageBytes);
  EXPECT_EQ(numbers[PagePool::kPageBytes - 1], 5);
}

TEST(SpareMemoryTest, IsAPartOfTheMachinesAndNoMoreThanAsked) {
  EXPECT_EQ(spare_memory(1), 1U);
  EXPECT_GT(spare_memory(UINT64_MAX), std::uint64_t{1} << 20);
  EXPECT_LT(spare_memory(UINT64_MAX), UINT64_MAX / 8);
}

}  // namespace
}  // namespace discreet
