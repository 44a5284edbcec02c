// What a server remembers: reports seen, jobs done, and the running sum of every time bucket.
//
// Guarantee: a report enters the sum of its bucket in the same durable transaction that marks it
// seen, so
//            it is counted at most once whatever crashes; a bucket that was collected takes no
//            more.
// Assumes:   the disk keeps what it acknowledged to fsync (SQLite, WAL, synchronous=FULL).
// Format:    docs/formats/prio.md
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "prio/messages.h"
#include "prio/prio3.h"

namespace discreet::prio {

struct Bucket {
  std::uint64_t count = 0;
  Checksum checksum{};  ///< XOR of SHA-256 of the report IDs
  FieldVector sum;
};

/// One report's part in a bucket.
struct CountedReport {
  ReportMetadata metadata;
  FieldVector out_share;
};

/// A report that waits at the leader.
struct WaitingJob {
  JobId id{};
  std::vector<UploadedReport> reports;
};

/// Not thread-safe: the server that owns it serves one request after another.
class Store {
 public:
  /// InvalidInput: the file belongs to another task or another role.
  static Result<Store> open(const std::filesystem::path& file, const Prio3& prio,
                            const TaskId& task, Role role);
  Store(Store&&) noexcept;
  ~Store();

  // The leader's.
  /// Keeps the reports, durably; those that were seen before or came too late are returned.
  Result<std::vector<RefusedReport>> put_reports(const std::vector<UploadedReport>& reports);
  /// A job that was begun and not finished, or a new one of at most `reports_max` waiting reports.
  Result<std::optional<WaitingJob>> next_job(std::size_t reports_max, RandomSource& random);
  /// Lets the reports of a job that the helper will not take as it is wait for another one.
  Result<void> forget_job(const JobId& job);
  /// Counts these, forgets the shares of all, and closes the job: one transaction.
  Result<void> finish_job(const JobId& job, const std::vector<CountedReport>& counted,
                          const std::vector<RefusedReport>& refused);

  // The helper's.
  /// The answer on record to a job, if there is one. InvalidInput: the job was another one then.
  Result<std::optional<Bytes>> job_answer(const JobId& job, const Checksum& request);
  Result<bool> was_seen(const ReportId& id);
  /// Counts, marks all as seen and records the answer: one transaction.
  Result<void> answer_job(const JobId& job, const Checksum& request,
                          const std::vector<CountedReport>& counted,
                          const std::vector<RefusedReport>& refused, ByteSpan answer);

  // Both.
  Result<bool> is_collected(std::uint64_t time);
  Result<Bucket> batch(const Interval& interval);
  /// From now on nothing enters this interval. Refused: it overlaps one that was collected
  /// differently.
  Result<void> close_batch(const Interval& interval);

  struct Totals {
    std::uint64_t waiting = 0, counted = 0, refused = 0;
  };
  Result<Totals> totals();

 private:
  struct Impl;
  explicit Store(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

Checksum checksum_of(ByteSpan bytes);

}  // namespace discreet::prio
