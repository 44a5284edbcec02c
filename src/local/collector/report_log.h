// An append-only file of randomised reports, safe against crashes.
//
// Guarantee: when append() returns success the batch is on disk: it is read back after a crash at
// any
//            instruction, and a batch that was not acknowledged is either wholly there or wholly
//            absent. Only randomised reports are ever written.
// Format:    docs/formats/local.md
// Thread safety: one thread at a time; one process per file (locked).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "local/oracle.h"

namespace discreet::local {

/// Names a batch, so that sending it again does not count it twice; all zero when it has no name.
using BatchId = std::array<std::uint8_t, 16>;

class ReportLog {
 public:
  using Replay = std::function<void(const BatchId& id, Bytes records)>;

  /// Makes the file with this header line, or reads it and hands every batch to `replay`.
  /// Refused: the file has another header, is no log, or is open elsewhere.
  static Result<std::unique_ptr<ReportLog>> open(const std::string& path, const std::string& header,
                                                 const Replay& replay);
  /// The header line of a log that exists.
  static Result<std::string> header_of(const std::string& path);
  /// Every batch that is wholly on disk now, while a collector may be writing; returns the header.
  static Result<std::string> scan(const std::string& path, const Replay& replay);
  ~ReportLog();
  ReportLog(const ReportLog&) = delete;
  ReportLog& operator=(const ReportLog&) = delete;

  /// Unavailable: the disk failed. The log then refuses every later batch, because what is on disk
  /// is no longer known; opening it again finds out.
  Result<void> append(const BatchId& id, Bytes records);

 private:
  ReportLog(int file, std::string path) : file_(file), path_(std::move(path)) {}
  Result<void> read(const std::string& header, const Replay& replay);

  int file_;
  std::string path_;
  bool failed_ = false;
};

}  // namespace discreet::local
