// The last step of a server: its share of a batch's sum, noised, paid for and sealed to the
// collector.
//
// Guarantee: noise is drawn once a batch; asked again, the same bytes come out. The charge is on
// disk
//            before the noise is drawn. A batch below the minimum, or whose total could overflow,
//            is refused before anything is charged.
// Assumes:   the batch is closed (store.h): nothing enters it any more.
#pragma once

#include <filesystem>
#include <memory>

#include "base/clock.h"
#include "prio/store.h"
#include "prio/task.h"

namespace discreet::ledger {
class Ledger;
}

namespace discreet::prio {

class ShareNoise;

class BatchRelease {
 public:
  /// Opens the server's ledger when the task has noise. The task and secrets must outlive this.
  static Result<BatchRelease> make(const Task& task, const TaskSecrets& secrets, const Prio3& prio,
                                   const std::filesystem::path& ledger_file, const Clock& clock);

  BatchRelease(BatchRelease&&) noexcept;
  ~BatchRelease();

  /// Refused: too few reports, or too many for the field. Checked before the batch is closed.
  Result<void> check(const Bucket& bucket) const;
  /// BudgetExhausted: the server's ledger cannot pay.
  Result<HpkeCiphertext> release(const Interval& batch, const Bucket& bucket, RandomSource& random);

 private:
  BatchRelease(const Task& task, const TaskSecrets& secrets, const Prio3& prio);
  Result<Bytes> noisy_share(const Interval& batch, const Bucket& bucket, RandomSource& random);

  const Task* task_;
  const TaskSecrets* secrets_;
  const Prio3* prio_;
  std::string configuration_;
  std::unique_ptr<const ShareNoise> noise_;  // none: the task adds no noise and charges nothing
  std::unique_ptr<ledger::Ledger> ledger_;
};

}  // namespace discreet::prio
