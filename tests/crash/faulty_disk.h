// A disk that fails on purpose: an SQLite VFS which counts writes, truncations and syncs, and at
// the n-th one returns an error, runs full, or loses power.
//
// Files are real; beside each one it remembers what has been synced and what has only been written,
// so that after a power cut it can leave behind any state a real disk could: none of the unsynced
// writes, some of them, or torn ones.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace discreet::crash {

class FaultyDisk {
 public:
  enum class Fault {
    None,
    Error,  ///< the n-th operation fails, later ones work
    Full,   ///< every write from the n-th on finds no space
    Power,  ///< from the n-th operation on nothing happens any more
  };
  /// What a power cut leaves of the writes that were not synced.
  enum class Leaves { Nothing, FirstHalf, TornHalf, Scattered, Everything };

  /// Registers the VFS under name(). One disk at a time.
  FaultyDisk();
  ~FaultyDisk();
  FaultyDisk(const FaultyDisk&) = delete;

  static const char* name() { return "discreet-faulty"; }

  void plan(Fault fault, int at_operation);
  bool struck() const { return struck_; }
  int operations() const { return operations_; }

  /// After a power cut: makes the real files what the disk would hold. In every case: a healthy
  /// disk from now on.
  void restart(Leaves leaves);

  // Called by the VFS. Codes are SQLite's.
  int before_write(const std::string& path, std::int64_t offset, const void* data, int size);
  int before_truncate(const std::string& path, std::int64_t size);
  int before_sync(const std::string& path);
  int before_delete(const std::string& path);
  bool dead() const { return fault_ == Fault::Power && struck_; }
  void opened(const std::string& path);
  void synced(const std::string& path);

 private:
  struct Change {
    std::int64_t offset;
    std::string data;
    bool truncates;
  };
  struct Image {
    std::string synced;
    std::vector<Change> unsynced;
  };
  int strike(int error_code);
  static void apply(std::string& bytes, const Change& change);

  Fault fault_ = Fault::None;
  int at_ = 0;
  int operations_ = 0;
  bool struck_ = false;
  std::map<std::string, Image> images_;
};

}  // namespace discreet::crash
