// Plain requests and answers over HTTP/1.1, with TLS where asked for. The network library stays in
// http.cc.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"

namespace discreet::prio {

struct HttpRequest {
  std::string method = "GET";
  std::string target = "/";
  std::string content_type;
  std::string bearer;  ///< the token of an Authorization header, if there is one
  std::string body;
};

struct HttpResponse {
  unsigned status = 200;
  std::string content_type = "application/octet-stream";
  std::string body;
};

/// PEM files.
struct TlsFiles {
  std::string certificate, key;
};

/// Serves one request a connection, several connections at a time.
class HttpServer {
 public:
  using Handler = std::function<HttpResponse(const HttpRequest&)>;

  /// Port 0 picks a free one. PermissionDenied: an address that others can reach, without TLS.
  static Result<std::unique_ptr<HttpServer>> listen(const std::string& host, std::uint16_t port,
                                                    const std::optional<TlsFiles>& tls);
  virtual ~HttpServer() = default;
  virtual std::uint16_t port() const = 0;
  /// Until `stop` is set. The handler is called from several threads.
  virtual void serve(const Handler& handler, const std::atomic<bool>& stop) = 0;
};

/// `url` is http://host:port or https://host:port; for the latter the server's certificate must be
/// signed by one in `ca_file` (empty: by one the system trusts) and name the host. Unavailable: no
/// answer.
Result<HttpResponse> http_call(const std::string& url, const HttpRequest& request,
                               const std::string& ca_file = {});

}  // namespace discreet::prio
