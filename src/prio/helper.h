// The helper: checks its shares of reports that the leader sends, adds them up, and hands its share
// of the total to the collector, sealed.
//
// Guarantee: a job is done once; asked again with the same number and content, the recorded answer
// is
//            given. Every report counts at most once, in whichever job came first. Privacy does not
//            rest on the leader: minimum batch size, one collection a report and noise are enforced
//            here too.
#pragma once

#include <memory>
#include <optional>

#include "prio/ping_pong.h"
#include "prio/release.h"

namespace discreet::prio {

/// What a leader asks of a helper, over a network or in one process.
class HelperLink {
 public:
  virtual ~HelperLink() = default;
  /// The answer to an aggregation job. Unavailable: try again with the same bytes.
  virtual Result<Bytes> aggregation_job(const JobId& job, ByteSpan request) = 0;
  virtual Result<Bytes> aggregate_share(ByteSpan request) = 0;
};

/// Not thread-safe.
class Helper final : public HelperLink {
 public:
  /// State and ledger lie in `folder`, which must exist.
  static Result<std::unique_ptr<Helper>> open(Task task, TaskSecrets secrets,
                                              const std::filesystem::path& folder,
                                              const Clock& clock, RandomSource& random);

  Result<Bytes> aggregation_job(const JobId& job, ByteSpan request) override;
  Result<Bytes> aggregate_share(ByteSpan request) override;

  const Task& task() const { return task_; }
  const TaskSecrets& secrets() const { return secrets_; }
  Result<Store::Totals> totals() { return store_->totals(); }

 private:
  Helper(Task task, TaskSecrets secrets, RandomSource& random)
      : task_(std::move(task)), secrets_(std::move(secrets)), random_(random) {}
  /// An error of the report, or its share and the answer.
  Result<HelperFinish> check(const VerifyInit& init, ReportError& error) const;

  Task task_;
  TaskSecrets secrets_;
  RandomSource& random_;
  std::string configuration_;
  Bytes context_;
  std::unique_ptr<const Prio3> prio_;
  std::optional<Store> store_;
  std::optional<BatchRelease> release_;
};

/// The plaintext of a sealed input share: private extensions, of which none is known, and the
/// payload.
Bytes encode_input_share(ByteSpan payload);
Result<Bytes> open_input_share(const Task& task, const std::string& configuration,
                               const TaskSecrets& secrets, std::uint8_t key_id,
                               const ReportMetadata& metadata, ByteSpan public_share,
                               const HpkeCiphertext& ciphertext, ReportError& error);

}  // namespace discreet::prio
