// Spark's own files as far as they were sent here: sparse copies that have no name.
//
// Guarantee: nobody else can open a copy, and it is gone with the last holder, however that ends.
// Guarantee: a copy holds the end of its file (what Parquet says of the rest) and the columns that
//            has() names. All else reads as zeros, which no column begins with.
// Assumes:   a file that Spark wrote has a name that no other has, and is never changed.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace discreet::spark {

/// For all threads.
class FileCopy {
 public:
  /// Null: there is no room for it, or this machine cannot make it.
  static std::shared_ptr<FileCopy> make(std::uint64_t size);
  ~FileCopy();
  FileCopy(const FileCopy&) = delete;
  FileCopy& operator=(const FileCopy&) = delete;

  std::uint64_t size() const { return size_; }
  /// No other copy of this process has it, earlier or later.
  std::uint64_t number() const { return number_; }
  /// By which this process opens it.
  std::string path() const;
  /// False: the disk is full, or that is not within the file.
  bool write(std::uint64_t at, std::string_view bytes);
  std::uint64_t bytes_written() const;

  bool has(const std::string& column) const;
  void add(const std::vector<std::string>& columns);

 private:
  FileCopy(int file, std::uint64_t size);

  const int file_;
  const std::uint64_t size_, number_;
  mutable std::mutex mutex_;  // of what follows
  std::set<std::string> columns_;
  std::uint64_t written_ = 0;
};

/// The copies of many files, within limits of disk and of open files. For all threads.
class FileCopies {
 public:
  static constexpr std::size_t kFilesMax = 256;
  explicit FileCopies(std::uint64_t bytes_max = bytes_for_this_machine()) : bytes_max_(bytes_max) {}
  /// 4 GiB; less on a machine of less than 32, since a temporary folder may lie in memory.
  static std::uint64_t bytes_for_this_machine();
  std::uint64_t bytes_max() const { return bytes_max_; }

  /// Null: it is not here.
  std::shared_ptr<FileCopy> find(const std::string& location);
  /// Those asked for least lately go, where there are too many.
  void keep(const std::string& location, std::shared_ptr<FileCopy> copy);

  /// Of all files of a table: whether this is not the first time that they are asked for.
  bool asked_again(const std::vector<std::string>& locations);
  /// They are not to be had: do not ask for these again.
  void refuse(const std::vector<std::string>& locations);
  bool is_refused(const std::vector<std::string>& locations) const;

 private:
  using Lists = std::set<std::vector<std::string>>;
  static void put(const std::vector<std::string>& locations, Lists& lists);
  static constexpr std::size_t kListsMax = 64;

  const std::uint64_t bytes_max_;
  mutable std::mutex mutex_;
  struct Kept {
    std::string location;
    std::shared_ptr<FileCopy> copy;
  };
  std::list<Kept> kept_;  // asked for last comes last
  std::unordered_map<std::string, std::list<Kept>::iterator> places_;
  Lists asked_, refused_;
};

}  // namespace discreet::spark
