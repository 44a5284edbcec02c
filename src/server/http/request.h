// HTTP requests from bytes, and responses to bytes. Nothing here knows a socket.
//
// Guarantee: whatever the bytes are, the reader gives a request, asks for more, or fails with the
//            status to answer; it holds no more than the limits allow.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace discreet::server::http {

struct Request {
  std::string method, path;
  std::map<std::string, std::string> query;
  std::string token;  ///< of "Authorization: Bearer"; empty: none
  std::string accept, body;
  bool keep_alive = true;
};

struct ReadFailure {
  int status;  ///< 400, 413, 431
  std::string message;
};

/// One request at a time.
class RequestReader {
 public:
  RequestReader(std::size_t header_bytes_max, std::size_t body_bytes_max);
  ~RequestReader();

  /// Takes bytes; how many were used. After a complete request nothing more is used.
  std::size_t feed(std::string_view bytes);
  bool has_started() const;
  bool wants_continue() const;  ///< the client waits for "100 Continue"
  const std::optional<ReadFailure>& failure() const { return failure_; }
  /// The request, once it is complete; the reader then starts anew.
  std::optional<Request> take();

 private:
  struct State;
  void start();
  std::size_t header_max_, body_max_;
  std::unique_ptr<State> state_;
  std::optional<ReadFailure> failure_;
};

/// "/v1/ledger?limit=5" in its parts, percent signs decoded. False: not a path.
bool split_target(std::string_view target, std::string& path,
                  std::map<std::string, std::string>& query);

struct Response {
  int status = 200;
  std::string type = "application/json";
  std::string body{};
  bool may_cache = false;
  double retry_after_s = 0;
};

std::string to_bytes(const Response& response, bool keep_alive, bool head_only);

}  // namespace discreet::server::http
