// Rows of a unit and small numbers, each as one word of 64 bits.
//
// A row that Spark adds up per person costs it several times what it costs to send the row, if that
// is one number. So where a statement's first column is a unit and the others are small whole
// numbers or booleans, they are put together there and taken apart here.
// Guarantee: put() gives back the columns of the rows, exactly. A unit that does not fit its bits
//            makes the word NULL.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engines/engine.h"

namespace discreet::spark {

/// The largest size that a plan with its costs names ("sizeInBytes=518.3 MiB"); infinite where it
/// names none.
double largest_size(std::string_view plan);

class RowWord {
 public:
  static constexpr std::size_t kRowsMax = 2048;  ///< of put()

  /// Nothing: there are other columns.
  static std::optional<RowWord> make(const std::vector<RemoteColumn>& columns);

  /// The word in Spark's SQL, over these columns.
  std::string sql() const;

  /// The rows of some words, in memory that the next call uses again.
  const EngineChunk& put(std::span<const std::int64_t> words);

 private:
  struct Part {
    std::string name;
    int bits;             // of a number that is not negative, 0 for NULL
    std::int64_t lowest;  // stands for 1
    bool is_flag;
    std::vector<std::int64_t> wholes;
    std::vector<std::uint8_t> flags;
    std::vector<std::uint64_t> validity;
  };
  RowWord() = default;

  std::string unit_;
  std::vector<Part> parts_;  // the first one's bits lie highest
  int bits_ = 0;             // of all of them
  std::vector<std::int64_t> units_;
  std::unique_ptr<EngineChunk> chunk_;
};

}  // namespace discreet::spark
