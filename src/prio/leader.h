// The leader: takes reports from clients, checks them together with the helper, adds up its shares,
// and answers the collector.
//
// Guarantee: an upload is acknowledged once it is on disk. A job's reports are fixed on disk before
// the
//            helper sees them, and counted in the transaction that closes it; after a crash of
//            either server at any instruction the job is sent again unchanged, the helper gives its
//            recorded answer, and both sums are those of a run without a crash.
#pragma once

#include "prio/helper.h"

namespace discreet::prio {

/// Not thread-safe.
class Leader {
 public:
  static Result<std::unique_ptr<Leader>> open(Task task, TaskSecrets secrets,
                                              const std::filesystem::path& folder,
                                              const Clock& clock, RandomSource& random,
                                              HelperLink& helper);

  /// An encoded list of reports in, an encoded list of those refused out.
  Result<Bytes> upload(ByteSpan reports);
  /// One job with the helper. False: nothing waits.
  Result<bool> step();
  /// Checks what waits, closes the batch, and asks the helper for its share. Refused: too few
  /// reports.
  Result<Bytes> collect(ByteSpan request);

  const Task& task() const { return task_; }
  const TaskSecrets& secrets() const { return secrets_; }
  Result<Store::Totals> totals() { return store_->totals(); }
  void set_job_size(std::size_t reports) { job_size_ = reports; }

 private:
  Leader(Task task, TaskSecrets secrets, const Clock& clock, RandomSource& random,
         HelperLink& helper)
      : task_(std::move(task)),
        secrets_(std::move(secrets)),
        clock_(clock),
        random_(random),
        helper_(helper) {}

  Task task_;
  TaskSecrets secrets_;
  const Clock& clock_;
  RandomSource& random_;
  HelperLink& helper_;
  std::size_t job_size_ = 500;
  std::string configuration_;
  Bytes context_;
  std::unique_ptr<const Prio3> prio_;
  std::optional<Store> store_;
  std::optional<BatchRelease> release_;
};

}  // namespace discreet::prio
