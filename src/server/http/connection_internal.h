// One HTTP connection: requests one after another.
#pragma once

#include <memory>
#include <set>

#include "server/http/request.h"
#include "server/io_internal.h"

namespace discreet::server::http {

class Connection;

/// What the connections of a listener share. The I/O thread only.
struct Shared {
  Service& service;
  asio::ssl::context* tls;
  bool stopping = false;
  std::set<Connection*> connections;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Tcp::socket socket, std::shared_ptr<Shared> shared);
  ~Connection();

  awaitable<void> run();
  void shut_down();

 private:
  awaitable<bool> choose_tls(std::string& pending);
  awaitable<std::optional<Request>> next_request(std::string& pending);
  awaitable<Response> respond(const Request& request);

  std::shared_ptr<Shared> shared_;
  Service& service_;
  Stream stream_;
  RequestReader reader_;
  std::shared_ptr<Waiting> waiting_;
  bool busy_ = false;
};

}  // namespace discreet::server::http
