#include "base/parallel.h"

#include <atomic>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

namespace discreet {
namespace {

TEST(ParallelTest, EveryPieceIsDoneOnce) {
  for (const bool threads : {false, true}) {
    std::vector<std::atomic<int>> done(1000);
    for_each_parallel(done.size(), threads, [&](std::size_t piece, std::size_t worker) {
      EXPECT_LT(worker, worker_count());
      ++done[piece];
    });
    for (const auto& times : done) EXPECT_EQ(times, 1);
  }
}

TEST(ParallelTest, WhatAPieceThrowsIsThrown) {
  for (const bool threads : {false, true}) {
    const auto work = [](std::size_t piece, std::size_t) {
      if (piece == 7) throw std::runtime_error("seven");
    };
    EXPECT_THROW(for_each_parallel(100, threads, work), std::runtime_error);
  }
}

}  // namespace
}  // namespace discreet
