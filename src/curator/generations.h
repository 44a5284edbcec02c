// What was used lately, by name, and no more than so many: two generations, of which the older is
// forgotten when the younger is full. What is used in time moves to the younger one.
//
// Not for several threads at once.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace discreet {

template <class Kept>
class Generations {
 public:
  /// Between `size` and twice as many are kept.
  explicit Generations(std::size_t size) : size_(size) {}

  std::optional<Kept> find(const std::string& name) {
    if (const auto found = young_.find(name); found != young_.end()) return found->second;
    const auto found = old_.find(name);
    if (found == old_.end()) return std::nullopt;
    Kept kept = found->second;
    put(name, kept);
    return kept;
  }

  void put(const std::string& name, Kept kept) {
    if (young_.size() >= size_) old_ = std::exchange(young_, {});
    young_[name] = std::move(kept);
  }

 private:
  std::size_t size_;
  std::unordered_map<std::string, Kept> young_, old_;
};

}  // namespace discreet
