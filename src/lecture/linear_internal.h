// Linear queries on made-up people: each person has a secret bit, each query is a random half of
// the people, the answer is the share of people who are in that half and have the bit.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "lecture/people.h"

namespace discreet::lecture {

class LinearWorkload {
 public:
  LinearWorkload(std::uint64_t people, std::uint64_t queries, std::uint64_t seed)
      : people_(people), words_((people + 63) / 64), dice_(seed), secret_(row()) {
    for (std::uint64_t q = 0; q < queries; ++q) subsets_.push_back(row());
  }
  std::int64_t exact(std::size_t query) const {
    std::int64_t sum = 0;
    for (std::size_t w = 0; w < words_; ++w) sum += std::popcount(secret_[w] & subsets_[query][w]);
    return sum;
  }
  bool secret(std::uint64_t person) const { return secret_[person / 64] >> (person % 64) & 1; }
  const std::vector<std::uint64_t>& subset(std::size_t query) const { return subsets_[query]; }
  std::uint64_t people() const { return people_; }
  std::size_t words() const { return words_; }

 private:
  std::vector<std::uint64_t> row() {
    std::vector<std::uint64_t> made(words_);
    for (auto& word : made) word = dice_.bits();
    if (people_ % 64 != 0) made.back() &= (std::uint64_t{1} << people_ % 64) - 1;
    return made;
  }
  std::uint64_t people_;
  std::size_t words_;
  MadeUp dice_;
  std::vector<std::uint64_t> secret_;
  std::vector<std::vector<std::uint64_t>> subsets_;
};

}  // namespace discreet::lecture
