#include "prio/leader.h"

namespace discreet::prio {

Result<std::unique_ptr<Leader>> Leader::open(Task task, TaskSecrets secrets,
                                             const std::filesystem::path& folder,
                                             const Clock& clock, RandomSource& random,
                                             HelperLink& helper) {
  if (secrets.role != Role::Leader) return invalid_parameter("these are not the leader's secrets");
  std::unique_ptr<Leader> leader(
      new Leader(std::move(task), std::move(secrets), clock, random, helper));
  leader->configuration_ = leader->task_.to_json();
  leader->context_ = vdaf_context(leader->task_.id);
  DISCREET_TRY(leader->prio_, Prio3::make(leader->task_.circuit, 2));
  DISCREET_TRY(Store store, Store::open(folder / "leader.sqlite", *leader->prio_, leader->task_.id,
                                        Role::Leader));
  leader->store_.emplace(std::move(store));
  DISCREET_TRY(BatchRelease release,
               BatchRelease::make(leader->task_, leader->secrets_, *leader->prio_,
                                  folder / "leader-ledger.sqlite", clock));
  leader->release_.emplace(std::move(release));
  return leader;
}

Result<Bytes> Leader::upload(ByteSpan bytes) {
  DISCREET_TRY(std::vector<UploadedReport> reports, decode_reports(bytes));
  const auto now = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::seconds>(clock_.now().time_since_epoch()).count());
  std::vector<RefusedReport> refused;
  std::vector<UploadedReport> taken;
  for (UploadedReport& report : reports) {
    ReportError error = ReportError::None;
    if (report.metadata.time % task_.time_precision != 0)
      error = ReportError::InvalidMessage;
    else if (report.metadata.time > now + task_.time_precision)
      error = ReportError::ReportTooEarly;
    else if (report.leader.config != task_.leader_key.id ||
             report.helper.config != task_.helper_key.id)
      error = ReportError::HpkeUnknownConfig;
    if (error == ReportError::None)
      taken.push_back(std::move(report));
    else
      refused.push_back({report.metadata.id, error});
  }
  DISCREET_TRY(const std::vector<RefusedReport> known, store_->put_reports(taken));
  refused.insert(refused.end(), known.begin(), known.end());
  return encode(refused);
}

Result<bool> Leader::step() {
  DISCREET_TRY(const std::optional<WaitingJob> job, store_->next_job(job_size_, random_));
  if (!job) return false;
  // Everything up to the helper's answer is a function of what is on disk, so that a job sent again
  // after a crash has the same bytes.
  std::vector<RefusedReport> refused;
  std::vector<VerifyInit> inits;
  std::vector<VerifyState> states;
  for (const UploadedReport& report : job->reports) {
    ReportError error = ReportError::None;
    const auto share = open_input_share(task_, configuration_, secrets_, task_.leader_key.id,
                                        report.metadata, report.public_share, report.leader, error);
    if (share) {
      auto start = ping_pong_leader_init(*prio_, {.verify_key = secrets_.verify_key,
                                                  .context = context_,
                                                  .server = 0,
                                                  .nonce = report.metadata.id,
                                                  .public_share = report.public_share,
                                                  .input_share = *share});
      error = start ? ReportError::None : ReportError::VdafVerifyError;
      if (start) {
        inits.push_back(
            {report.metadata, report.public_share, report.helper, std::move(start->message)});
        states.push_back(std::move(start->state));
        continue;
      }
    }
    refused.push_back({report.metadata.id, error});
  }

  std::vector<CountedReport> counted;
  if (!inits.empty()) {
    const Result<Bytes> answer = helper_.aggregation_job(job->id, encode(inits));
    if (!answer) {
      // The helper knows this job with other bytes, which were changed on the way, and never takes
      // these. In a new job it counts what it did not see before. Any other error may mean that it
      // did take them: then only the same job, sent again, is safe.
      if (answer.error().code == ErrorCode::InvalidInput) {
        DISCREET_TRY_VOID(store_->forget_job(job->id));
      }
      return answer.error();
    }
    DISCREET_TRY(const std::vector<VerifyResponse> responses, decode_responses(*answer));
    if (responses.size() != inits.size())
      return Error{ErrorCode::Unavailable,
                   "the helper answered another number of reports than it was sent"};
    for (std::size_t i = 0; i < inits.size(); ++i) {
      const VerifyResponse& response = responses[i];
      if (response.id != inits[i].metadata.id)
        return Error{ErrorCode::Unavailable, "the helper answered reports in another order"};
      ReportError error = response.error;
      if (error == ReportError::None) {
        auto out = ping_pong_leader_finish(*prio_, std::move(states[i]), response.payload);
        if (out) {
          counted.push_back({inits[i].metadata, *std::move(out)});
          continue;
        }
        error = ReportError::VdafVerifyError;
      }
      refused.push_back({response.id, error});
    }
  }
  DISCREET_TRY_VOID(store_->finish_job(job->id, counted, refused));
  return true;
}

Result<Bytes> Leader::collect(ByteSpan bytes) {
  DISCREET_TRY(const CollectionRequest request, decode_collection_request(bytes));
  DISCREET_TRY_VOID(task_.check_batch(request.batch));
  for (;;) {
    DISCREET_TRY(const bool more, step());
    if (!more) break;
  }
  DISCREET_TRY(const Bucket bucket, store_->batch(request.batch));
  DISCREET_TRY_VOID(release_->check(bucket));
  DISCREET_TRY_VOID(store_->close_batch(request.batch));
  DISCREET_TRY(const Bytes helper_share, helper_.aggregate_share(encode(AggregateShareRequest{
                                             request.batch, bucket.count, bucket.checksum})));
  CollectionResponse response{request.batch, bucket.count, {}, {}};
  DISCREET_TRY(response.helper, decode_ciphertext(helper_share));
  DISCREET_TRY(response.leader, release_->release(request.batch, bucket, random_));
  return encode(response);
}

}  // namespace discreet::prio
