#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>

#include "engines/row_store_internal.h"
#include "engines/temporary_files.h"

namespace discreet {
namespace {

// A small question touches little memory, a large one few blocks.
constexpr std::size_t kFirstBlockWords = 128, kBlockWords = 4096;
constexpr std::size_t kFirstSlabWords = 32768, kSlabWords = std::size_t{1} << 18;

}  // namespace

std::unique_ptr<SpillFile> SpillFile::open() {
  const int file = open_unnamed_file();
  return file < 0 ? nullptr : std::unique_ptr<SpillFile>(new SpillFile(file));
}

SpillFile::~SpillFile() {
  ::close(file_);
}

std::optional<std::uint64_t> SpillFile::append(std::span<const std::uint64_t> words) {
  const std::uint64_t begin = end_.fetch_add(words.size_bytes());
  const char* from = reinterpret_cast<const char*>(words.data());
  for (std::size_t done = 0; done < words.size_bytes();) {
    const ssize_t wrote =
        ::pwrite(file_, from + done, words.size_bytes() - done, static_cast<off_t>(begin + done));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return std::nullopt;
    done += static_cast<std::size_t>(wrote);
  }
  return begin;
}

bool SpillFile::read(std::uint64_t offset, std::span<std::uint64_t> words) const {
  char* to = reinterpret_cast<char*>(words.data());
  for (std::size_t done = 0; done < words.size_bytes();) {
    const ssize_t got =
        ::pread(file_, to + done, words.size_bytes() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    done += static_cast<std::size_t>(got);
  }
  return true;
}

void RowStore::add_block(Partition& to) {
  const std::size_t last = to.blocks.empty() ? kFirstBlockWords / 4 : to.blocks.back().capacity;
  const std::size_t words = std::max(row_words_, std::min(kBlockWords, 4 * last));
  if (free_words_ < words) {
    const std::size_t slab = std::max(words, slabs_.empty() ? kFirstSlabWords : kSlabWords);
    void* memory = std::malloc(slab * 8);
    if (memory == nullptr) throw std::bad_alloc();
    slabs_.emplace_back(memory);
    free_ = static_cast<std::uint64_t*>(memory);
    free_words_ = slab;
    bytes_ += slab * 8;
  }
  to.blocks.push_back({free_, 0, static_cast<std::uint32_t>(words)});
  free_ += words;
  free_words_ -= words;
}

bool RowStore::spill(SpillFile& file) {
  for (Partition& partition : partitions_) {
    for (const Block& block : partition.blocks) {
      const auto at = file.append({block.words, block.used});
      if (!at) return false;
      if (!partition.spilled.empty() &&
          partition.spilled.back().offset + 8 * partition.spilled.back().words == *at)
        partition.spilled.back().words += block.used;
      else
        partition.spilled.push_back({*at, block.used});
    }
    partition.blocks.clear();
  }
  slabs_.clear();
  free_words_ = 0;
  bytes_ = 0;
  return true;
}

bool RowStore::read(std::size_t partition, const SpillFile* file,
                    std::vector<std::uint64_t>& buffer,
                    const std::function<void(std::span<const std::uint64_t>)>& block) const {
  const Partition& of = partitions_[partition];
  if (!of.spilled.empty()) {
    std::size_t words = 0;
    for (const Spilled& part : of.spilled) words += part.words;
    buffer.resize(words);
    std::size_t at = 0;
    for (const Spilled& part : of.spilled) {
      if (file == nullptr || !file->read(part.offset, std::span(buffer).subspan(at, part.words)))
        return false;
      at += part.words;
    }
    block(buffer);
  }
  for (const Block& one : of.blocks) block({one.words, one.used});
  return true;
}

}  // namespace discreet
