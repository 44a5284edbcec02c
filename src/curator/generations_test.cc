#include "curator/generations.h"

#include <gtest/gtest.h>

namespace discreet {
namespace {

TEST(GenerationsTest, WhatIsUsedLivesOnAndTheRestIsForgotten) {
  Generations<int> kept(3);
  kept.put("used", 1);
  kept.put("unused", 2);
  for (int i = 0; i < 20; ++i) {
    kept.put("other " + std::to_string(i), i);
    EXPECT_EQ(kept.find("used"), 1) << i;
  }
  EXPECT_EQ(kept.find("unused"), std::nullopt);
  EXPECT_EQ(kept.find("other 19"), 19);
  kept.put("used", 3);
  EXPECT_EQ(kept.find("used"), 3);
}

TEST(GenerationsTest, NoMoreThanTwoGenerationsAreKept) {
  Generations<int> kept(4);
  for (int i = 0; i < 100; ++i) kept.put(std::to_string(i), i);
  int found = 0;
  for (int i = 0; i < 100; ++i) found += kept.find(std::to_string(i)) ? 1 : 0;
  EXPECT_GE(found, 4);
  EXPECT_LE(found, 8);
}

}  // namespace
}  // namespace discreet
