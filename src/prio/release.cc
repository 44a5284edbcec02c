#include "prio/release.h"

#include <fmt/format.h>

#include "ledger/ledger.h"
#include "prio/noise.h"

namespace discreet::prio {
namespace {

constexpr const char* kAccount = "task";

}  // namespace

BatchRelease::BatchRelease(const Task& task, const TaskSecrets& secrets, const Prio3& prio)
    : task_(&task), secrets_(&secrets), prio_(&prio), configuration_(task.to_json()) {}
BatchRelease::BatchRelease(BatchRelease&&) noexcept = default;
BatchRelease::~BatchRelease() = default;

Result<BatchRelease> BatchRelease::make(const Task& task, const TaskSecrets& secrets,
                                        const Prio3& prio, const std::filesystem::path& ledger_file,
                                        const Clock& clock) {
  BatchRelease out(task, secrets, prio);
  if (task.noise.kind == NoiseKind::None) return out;
  DISCREET_TRY(ShareNoise noise, ShareNoise::make(prio.shape(), prio.servers(), task.noise));
  out.noise_ = std::make_unique<const ShareNoise>(std::move(noise));
  DISCREET_TRY(const Epsilon epsilon, Epsilon::make(secrets.budget_epsilon));
  DISCREET_TRY(const Delta delta, Delta::make(secrets.budget_delta));
  ledger::AccountSpec account;
  account.name = kAccount;
  account.amount = {epsilon, delta};
  DISCREET_TRY(ledger::Ledger opened, ledger::Ledger::open(ledger_file, {account}, clock));
  out.ledger_ = std::make_unique<ledger::Ledger>(std::move(opened));
  return out;
}

Result<void> BatchRelease::check(const Bucket& bucket) const {
  if (bucket.count < task_->min_batch_size)
    return Error{ErrorCode::Refused,
                 fmt::format("the batch has fewer reports than the {} it needs; ask again later, "
                             "or for a longer interval",
                             task_->min_batch_size)};
  return noise_ ? noise_->check_fits(bucket.count) : check_sums_fit(prio_->shape(), bucket.count);
}

Result<Bytes> BatchRelease::noisy_share(const Interval& batch, const Bucket& bucket,
                                        RandomSource& random) {
  if (!noise_) return prio_->encode_vector(bucket.sum);
  const std::string question =
      fmt::format("prio task {} batch {}+{}", to_base64url(task_->id), batch.start, batch.duration);
  DISCREET_TRY(const auto recorded, ledger_->find_answer(kAccount, question));
  if (recorded) return from_hex(recorded->answer);
  DISCREET_TRY(ledger::Receipt receipt, ledger_->charge({.account = kAccount,
                                                         .question = question,
                                                         .request = "",
                                                         .purpose = "aggregate share",
                                                         .loss = noise_->loss(),
                                                         .price = noise_->price()}));
  FieldVector share = bucket.sum;
  noise_->add(*prio_, share, random);
  DISCREET_TRY(const std::string answer,
               ledger_->record_release(std::move(receipt), to_hex(prio_->encode_vector(share))));
  return from_hex(answer);
}

Result<HpkeCiphertext> BatchRelease::release(const Interval& batch, const Bucket& bucket,
                                             RandomSource& random) {
  DISCREET_TRY_VOID(check(bucket));
  DISCREET_TRY(const Bytes share, noisy_share(batch, bucket, random));
  DISCREET_TRY(
      Sealed sealed,
      hpke_seal(task_->collector_key.public_key, aggregate_share_info(secrets_->role),
                aggregate_share_aad(task_->id, as_bytes(configuration_), batch, bucket.count),
                share, random));
  return HpkeCiphertext{task_->collector_key.id, std::move(sealed)};
}

}  // namespace discreet::prio
