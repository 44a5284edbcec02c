// Columns as bits, 64 rows to a word: one row of bits for every value. The cells of a small
// marginal are counted by ANDs of such rows, hundreds of table rows in one instruction.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "synth/domain.h"
#include "synth/workers.h"

namespace discreet::synth {

class BitColumns {
 public:
  /// Marginals of more cells are counted faster row by row.
  static constexpr std::uint64_t kCellsMax = 100;

  /// Whether a marginal is counted faster this way.
  static bool suits(const Domain& domain, std::span<const std::uint32_t> clique);

  /// The columns that `cliques` name.
  BitColumns(const CodedTable& table, std::span<const Clique> cliques, Workers& workers);

  /// As count_marginal; of columns that were named.
  std::vector<std::int64_t> count(std::span<const std::uint32_t> clique) const;

 private:
  const Domain& domain_;
  std::size_t words_;                             // of a row of bits
  std::vector<std::vector<std::uint64_t>> bits_;  // of column c: value v begins at v * words_
};

}  // namespace discreet::synth
