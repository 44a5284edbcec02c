// What each path does. Contract: docs/http.md, served as /openapi.json.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "server/http/request.h"
#include "server/metrics.h"

namespace discreet {
class Curator;
}
namespace discreet::server {
class Service;
}

namespace discreet::server::http {

struct Routed {
  Response response;
  RequestKind kind = RequestKind::Other;
  std::string user{};
  bool charged = false;           ///< leaves in a time slot
  std::uint64_t noise_ahead = 0;  ///< as Answer's
};

/// {"error": {"code", "message", "hint", "position"}}
Response error_response(int status, const std::string& sqlstate, const std::string& message);
Response error_response(const Error& error);

/// What needs no worker: health, metrics, the OpenAPI document, the console's files.
std::optional<Response> answer_at_once(Service& service, const Request& request);

/// Whether it can be answered without a charge (Service::Line::Quick).
bool may_be_quick(const Request& request);

/// Everything under /v1; on a worker. `quickly`: nothing, if the question has no answer on record.
std::optional<Routed> route(Service& service, Curator& curator, const Request& request,
                            bool quickly);

/// The name somebody tries to log in with; empty if the body is not a login.
std::string name_in_login(const Request& request);

/// The console's file for a path; nothing if there is none. No path leads out of the folder.
std::optional<Response> static_file(const std::string& folder, const std::string& path);

/// The documentation's file for a path below /docs ("", "/" and "/x.html"); nothing if there is
/// none.
std::optional<Response> documentation_file(const std::string& folder, const std::string& path);

const std::string& openapi_document();

}  // namespace discreet::server::http
