// Rows of machine words in partitions, as one thread appends them; past a memory limit they go to a
// file that has no name.
//
// Guarantee: a row that was begun is read back as it was left, from memory or from the file.
// Assumes:   one thread appends to a store; reading comes after.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace discreet {

/// Readable by nobody but this process, gone with it: it is unlinked before anything is written.
class SpillFile {
 public:
  /// In $TMPDIR or /tmp. Nothing: no file can be made there.
  static std::unique_ptr<SpillFile> open();
  ~SpillFile();
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  /// Where the words begin, or nothing: the disk is full. From any thread.
  std::optional<std::uint64_t> append(std::span<const std::uint64_t> words);
  bool read(std::uint64_t offset, std::span<std::uint64_t> words) const;

 private:
  explicit SpillFile(int file) : file_(file) {}
  int file_;
  std::atomic<std::uint64_t> end_ = 0;
};

class RowStore {
 public:
  RowStore(std::size_t partitions, std::size_t words_per_row)
      : row_words_(words_per_row), partitions_(partitions) {}

  /// A new row of zeros, which may be written to until spill().
  std::uint64_t* add(std::size_t partition) {
    Partition& to = partitions_[partition];
    if (to.blocks.empty() || to.blocks.back().used + row_words_ > to.blocks.back().capacity)
      add_block(to);
    Block& block = to.blocks.back();
    std::uint64_t* row = block.words + block.used;
    block.used += static_cast<std::uint32_t>(row_words_);
    for (std::size_t i = 0; i < row_words_; ++i) row[i] = 0;
    ++to.rows;
    return row;
  }
  /// The last row but `back` of a partition, or nullptr: it is in another block, or there is none.
  std::uint64_t* last(std::size_t partition, std::size_t back) {
    Partition& of = partitions_[partition];
    if (of.blocks.empty() || of.blocks.back().used < (back + 1) * row_words_) return nullptr;
    return of.blocks.back().words + of.blocks.back().used - (back + 1) * row_words_;
  }

  std::size_t rows(std::size_t partition) const { return partitions_[partition].rows; }
  std::uint64_t bytes() const { return bytes_; }
  /// Moves all rows to the file and gives the memory back. False: the file is full.
  bool spill(SpillFile& file);

  /// Shows the rows of a partition, block after block; `buffer` keeps those that were spilled
  /// alive. False: the file could not be read.
  bool read(std::size_t partition, const SpillFile* file, std::vector<std::uint64_t>& buffer,
            const std::function<void(std::span<const std::uint64_t>)>& block) const;

 private:
  struct Block {
    std::uint64_t* words;
    std::uint32_t used, capacity;
  };
  struct Spilled {
    std::uint64_t offset;
    std::uint64_t words;
  };
  struct Partition {
    std::vector<Block> blocks{};
    std::vector<Spilled> spilled{};
    std::size_t rows = 0;
  };
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  void add_block(Partition& to);

  std::size_t row_words_;
  std::vector<Partition> partitions_;
  std::vector<std::unique_ptr<void, Free>> slabs_;
  std::uint64_t* free_ = nullptr;
  std::size_t free_words_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace discreet
