// The two ends of the protocol: a client makes reports, the collector reads results.
#pragma once

#include <span>
#include <vector>

#include "prio/prio3.h"
#include "prio/task.h"

namespace discreet::prio {

/// Makes sealed reports for one task. Not thread-safe.
class ReportMaker {
 public:
  static Result<ReportMaker> make(Task task, RandomSource& random);
  /// InvalidParameter: not a measurement of the task's circuit.
  Result<UploadedReport> report(std::span<const std::uint64_t> measurement, std::uint64_t time);
  const Task& task() const { return task_; }

 private:
  ReportMaker(Task task, RandomSource& random) : task_(std::move(task)), random_(&random) {}
  Task task_;
  RandomSource* random_;
  std::string configuration_;
  Bytes context_;
  std::unique_ptr<const Prio3> prio_;
};

/// A batch's result, noise included.
struct Collected {
  Interval batch;
  std::uint64_t report_count = 0;
  std::vector<Int128> totals;  ///< negative ones happen: that is the noise
};

/// InvalidInput: sealed to another collector, or shares that do not belong together.
Result<Collected> open_collection(const Task& task, const TaskSecrets& collector,
                                  const Interval& asked, ByteSpan response);

}  // namespace discreet::prio
