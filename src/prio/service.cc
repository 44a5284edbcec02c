#include "prio/service.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace discreet::prio {
namespace {

std::string media_type(const char* message) {
  return fmt::format("application/ppm-dap;message={}", message);
}

std::string problem_type(const char* type) {
  return fmt::format("urn:ietf:params:ppm:dap:error:{}", type);
}

HttpResponse problem(unsigned status, const char* type, const std::string& detail) {
  const nlohmann::ordered_json body = {
      {"type", problem_type(type)}, {"status", status}, {"detail", detail}};
  return {status, "application/problem+json", body.dump()};
}

HttpResponse from(const Result<Bytes>& result, const char* message) {
  if (result) return {200, media_type(message), as_text(*result)};
  const Error& error = result.error();
  switch (error.code) {
    case ErrorCode::InvalidInput:
    case ErrorCode::InvalidParameter:
      return problem(400, "invalidMessage", error.message);
    case ErrorCode::Refused:
      return problem(400, "invalidBatchSize", error.message);
    case ErrorCode::BudgetExhausted:
      return problem(403, "budgetExhausted", error.message);
    default:
      return problem(503, "unavailable", error.message);
  }
}

HttpResponse not_found() {
  return problem(404, "unrecognizedTask", "there is nothing at this address");
}
HttpResponse forbidden() {
  return problem(403, "unauthorizedRequest", "the token is not this task's");
}

std::string tasks_path(const Task& task) {
  return "/tasks/" + to_base64url(task.id) + "/";
}

bool may(const HttpRequest& request, const std::string& token) {
  return !token.empty() && equal_constant_time(as_bytes(request.bearer), as_bytes(token));
}

Result<Bytes> post(const std::string& url, const std::string& target, const char* message,
                   ByteSpan body, const std::string& token, const std::string& ca_file) {
  DISCREET_TRY(const HttpResponse response, http_call(url,
                                                      {.method = "POST",
                                                       .target = target,
                                                       .content_type = media_type(message),
                                                       .bearer = token,
                                                       .body = as_text(body)},
                                                      ca_file));
  if (response.status == 200) return Bytes(response.body.begin(), response.body.end());
  const auto body_json = nlohmann::json::parse(response.body, nullptr, false);
  const std::string detail =
      body_json.is_object() ? body_json.value("detail", std::string()) : std::string();
  const bool misread = body_json.is_object() &&
                       body_json.value("type", std::string()) == problem_type("invalidMessage");
  return Error{response.status == 503 ? ErrorCode::Unavailable
               : misread              ? ErrorCode::InvalidInput
                                      : ErrorCode::Refused,
               fmt::format("{} refused: {}", url,
                           detail.empty() ? fmt::format("status {}", response.status) : detail)};
}

}  // namespace

HttpResponse serve_leader(Leader& leader, const HttpRequest& request) {
  const std::string base = tasks_path(leader.task());
  if (request.method == "GET" && request.target == "/hpke_config")
    return {200, media_type("hpke-config-list"), as_text(encode(leader.task().leader_key))};
  if (request.method != "POST") return not_found();
  if (request.target == base + "reports")
    return from(leader.upload(as_bytes(request.body)), "upload-errors");
  if (request.target == base + "collection_jobs") {
    if (!may(request, leader.secrets().collector_token)) return forbidden();
    return from(leader.collect(as_bytes(request.body)), "collection-job-resp");
  }
  return not_found();
}

HttpResponse serve_helper(Helper& helper, const HttpRequest& request) {
  const std::string base = tasks_path(helper.task()), jobs = base + "aggregation_jobs/";
  if (request.method == "GET" && request.target == "/hpke_config")
    return {200, media_type("hpke-config-list"), as_text(encode(helper.task().helper_key))};
  if (request.method != "POST" || !request.target.starts_with(base)) return not_found();
  if (!may(request, helper.secrets().helper_token)) return forbidden();
  if (request.target == base + "aggregate_shares")
    return from(helper.aggregate_share(as_bytes(request.body)), "aggregate-share");
  if (!request.target.starts_with(jobs)) return not_found();
  const auto id = from_base64url(request.target.substr(jobs.size()));
  JobId job{};
  if (!id || id->size() != job.size()) return problem(400, "invalidMessage", "not a job's number");
  std::copy(id->begin(), id->end(), job.begin());
  return from(helper.aggregation_job(job, as_bytes(request.body)), "aggregation-job-resp");
}

Result<Bytes> RemoteHelper::aggregation_job(const JobId& job, ByteSpan request) {
  return post(task_.helper_url, tasks_path(task_) + "aggregation_jobs/" + to_base64url(job),
              "aggregation-job-init-req", request, token_, ca_file_);
}
Result<Bytes> RemoteHelper::aggregate_share(ByteSpan request) {
  return post(task_.helper_url, tasks_path(task_) + "aggregate_shares", "aggregate-share-req",
              request, token_, ca_file_);
}

Result<std::vector<RefusedReport>> upload(const Task& task,
                                          const std::vector<UploadedReport>& reports,
                                          const std::string& ca_file) {
  DISCREET_TRY(const Bytes answer, post(task.leader_url, tasks_path(task) + "reports", "upload-req",
                                        encode(reports), "", ca_file));
  return decode_refused(answer);
}

Result<Bytes> request_collection(const Task& task, const TaskSecrets& collector,
                                 const Interval& batch, const std::string& ca_file) {
  return post(task.leader_url, tasks_path(task) + "collection_jobs", "collection-job-req",
              encode(CollectionRequest{batch}), collector.collector_token, ca_file);
}

}  // namespace discreet::prio
