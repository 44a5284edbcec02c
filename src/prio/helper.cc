#include "prio/helper.h"

#include <map>
#include <set>

#include "prio/codec.h"

namespace discreet::prio {

Bytes encode_input_share(ByteSpan payload) {
  Writer out;
  out.opaque16({}).opaque32(payload);
  return out.take();
}

Result<Bytes> open_input_share(const Task& task, const std::string& configuration,
                               const TaskSecrets& secrets, std::uint8_t key_id,
                               const ReportMetadata& metadata, ByteSpan public_share,
                               const HpkeCiphertext& ciphertext, ReportError& error) {
  error = ReportError::HpkeUnknownConfig;
  if (ciphertext.config != key_id) return invalid_input("sealed to a key nobody here holds");
  error = ReportError::HpkeDecryptError;
  DISCREET_TRY(const Bytes plain,
               hpke_open(secrets.key, input_share_info(secrets.role),
                         input_share_aad(task.id, as_bytes(configuration), metadata, public_share),
                         ciphertext.sealed));
  error = ReportError::InvalidMessage;
  Reader in(plain);
  const bool extended = !in.opaque16().empty();
  Bytes payload = in.bytes32();
  if (extended || !in.end()) return invalid_input("not an input share");
  return payload;
}

Result<std::unique_ptr<Helper>> Helper::open(Task task, TaskSecrets secrets,
                                             const std::filesystem::path& folder,
                                             const Clock& clock, RandomSource& random) {
  if (secrets.role != Role::Helper) return invalid_parameter("these are not the helper's secrets");
  std::unique_ptr<Helper> helper(new Helper(std::move(task), std::move(secrets), random));
  helper->configuration_ = helper->task_.to_json();
  helper->context_ = vdaf_context(helper->task_.id);
  DISCREET_TRY(helper->prio_, Prio3::make(helper->task_.circuit, 2));
  DISCREET_TRY(Store store, Store::open(folder / "helper.sqlite", *helper->prio_, helper->task_.id,
                                        Role::Helper));
  helper->store_.emplace(std::move(store));
  DISCREET_TRY(BatchRelease release,
               BatchRelease::make(helper->task_, helper->secrets_, *helper->prio_,
                                  folder / "helper-ledger.sqlite", clock));
  helper->release_.emplace(std::move(release));
  return helper;
}

Result<HelperFinish> Helper::check(const VerifyInit& init, ReportError& error) const {
  DISCREET_TRY(const Bytes share,
               open_input_share(task_, configuration_, secrets_, task_.helper_key.id, init.metadata,
                                init.public_share, init.helper, error));
  error = ReportError::VdafVerifyError;
  return ping_pong_helper_init(*prio_,
                               {.verify_key = secrets_.verify_key,
                                .context = context_,
                                .server = 1,
                                .nonce = init.metadata.id,
                                .public_share = init.public_share,
                                .input_share = share},
                               init.payload);
}

Result<Bytes> Helper::aggregation_job(const JobId& job, ByteSpan request) {
  const Checksum digest = checksum_of(request);
  DISCREET_TRY(std::optional<Bytes> recorded, store_->job_answer(job, digest));
  if (recorded) return *std::move(recorded);
  DISCREET_TRY(const std::vector<VerifyInit> inits, decode_inits(request));
  std::vector<VerifyResponse> responses;
  std::vector<CountedReport> counted;
  std::vector<RefusedReport> refused;
  std::set<ReportId> in_job;
  std::map<std::uint64_t, bool> late;
  for (const VerifyInit& init : inits) {
    const ReportMetadata& metadata = init.metadata;
    if (!late.contains(metadata.time)) {
      DISCREET_TRY(late[metadata.time], store_->is_collected(metadata.time));
    }
    DISCREET_TRY(const bool seen, store_->was_seen(metadata.id));
    VerifyResponse& response = responses.emplace_back();
    response.id = metadata.id;
    if (seen || !in_job.insert(metadata.id).second) {
      response.error = ReportError::ReportReplayed;
      continue;
    }
    if (late[metadata.time] || metadata.time % task_.time_precision != 0) {
      response.error =
          late[metadata.time] ? ReportError::BatchCollected : ReportError::InvalidMessage;
    } else if (auto finish = check(init, response.error)) {
      response.error = ReportError::None;
      response.payload = std::move(finish->message);
      counted.push_back({metadata, std::move(finish->out_share)});
      continue;
    }
    refused.push_back({metadata.id, response.error});
  }
  Bytes answer = encode(responses);
  DISCREET_TRY_VOID(store_->answer_job(job, digest, counted, refused, answer));
  return answer;
}

Result<Bytes> Helper::aggregate_share(ByteSpan bytes) {
  DISCREET_TRY(const AggregateShareRequest request, decode_aggregate_share_request(bytes));
  DISCREET_TRY_VOID(task_.check_batch(request.batch));
  DISCREET_TRY(const Bucket bucket, store_->batch(request.batch));
  if (bucket.count != request.report_count || bucket.checksum != request.checksum)
    return Error{ErrorCode::Refused,
                 "leader and helper counted different reports; nothing is released"};
  DISCREET_TRY_VOID(release_->check(bucket));
  DISCREET_TRY_VOID(store_->close_batch(request.batch));
  DISCREET_TRY(const HpkeCiphertext share, release_->release(request.batch, bucket, random_));
  return encode(share);
}

}  // namespace discreet::prio
