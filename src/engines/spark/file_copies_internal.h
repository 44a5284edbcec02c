// Spark's own files as far as they were sent here: sparse copies that have no name.
//
// Guarantee: nobody else can open a copy, and it is gone with the last holder, however that ends.
// Guarantee: a copy holds the end of its file (what Parquet says of the rest) and the columns that
//            has() names. All else reads as zeros, which no column begins with.
// Assumes:   a file that Spark wrote has a name that no other has, and is never changed.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace discreet::spark {

/// The copies of one table's files. For all threads.
class FileCopies {
 public:
  /// Null: there is no room for so many, or this machine cannot make them.
  static std::shared_ptr<FileCopies> make(const std::vector<std::uint64_t>& sizes);
  ~FileCopies();
  FileCopies(const FileCopies&) = delete;
  FileCopies& operator=(const FileCopies&) = delete;

  std::size_t count() const { return files_.size(); }
  std::uint64_t size(std::size_t file) const { return sizes_[file]; }
  /// By which this process opens them.
  std::vector<std::string> paths() const;
  /// False: the disk is full, or that is not within the file.
  bool write(std::size_t file, std::uint64_t at, std::string_view bytes);
  std::uint64_t bytes_written() const;

  bool has(const std::string& column) const;
  void add(const std::vector<std::string>& columns);

 private:
  FileCopies() = default;

  std::vector<int> files_;
  std::vector<std::uint64_t> sizes_;
  mutable std::mutex mutex_;  // of what follows
  std::set<std::string> columns_;
  std::uint64_t written_ = 0;
};

/// The copies of several tables, within limits of disk and of open files. For all threads.
class FileCopiesKept {
 public:
  static constexpr std::size_t kFilesMax = 256;  ///< of all tables
  explicit FileCopiesKept(std::uint64_t bytes_max = bytes_for_this_machine())
      : bytes_max_(bytes_max) {}
  /// 4 GiB; less on a machine of less than 32, since a temporary folder may lie in memory.
  static std::uint64_t bytes_for_this_machine();
  std::uint64_t bytes_max() const { return bytes_max_; }

  struct Found {
    bool is_known = false;
    std::shared_ptr<FileCopies> copies{};  ///< null although known: they are not to be had
  };
  Found find(const std::vector<std::string>& locations);
  /// Those asked for least lately go, where there are too many. Null: do not ask for these again.
  void keep(const std::vector<std::string>& locations, std::shared_ptr<FileCopies> copies);

 private:
  struct Kept {
    std::vector<std::string> locations;
    std::shared_ptr<FileCopies> copies;
  };
  static constexpr std::size_t kTablesMax = 64;

  const std::uint64_t bytes_max_;
  std::mutex mutex_;
  std::vector<Kept> kept_;  // asked for last comes last
};

}  // namespace discreet::spark
