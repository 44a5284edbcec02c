// Leader and helper as services: which address does what, who may ask, and errors as problem
// documents.
//
// Guarantee: requests of the leader to the helper, and of the collector to the leader, need the
// task's
//            token; anyone may upload (a report proves itself) and read public keys.
#pragma once

#include <mutex>

#include "prio/http.h"
#include "prio/leader.h"

namespace discreet::prio {

HttpResponse serve_leader(Leader& leader, const HttpRequest& request);
HttpResponse serve_helper(Helper& helper, const HttpRequest& request);

/// The helper at its address.
class RemoteHelper final : public HelperLink {
 public:
  RemoteHelper(const Task& task, const TaskSecrets& secrets, std::string ca_file)
      : task_(task), token_(secrets.helper_token), ca_file_(std::move(ca_file)) {}
  Result<Bytes> aggregation_job(const JobId& job, ByteSpan request) override;
  Result<Bytes> aggregate_share(ByteSpan request) override;

 private:
  Task task_;
  std::string token_, ca_file_;
};

/// Reports to the leader; what was refused comes back. Unavailable: nothing is known to have
/// arrived, and sending the same bytes again is safe.
Result<std::vector<RefusedReport>> upload(const Task& task,
                                          const std::vector<UploadedReport>& reports,
                                          const std::string& ca_file);
Result<Bytes> request_collection(const Task& task, const TaskSecrets& collector,
                                 const Interval& batch, const std::string& ca_file);

}  // namespace discreet::prio
