#include "engines/tcp_proxy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>

#include "base/check.h"

namespace discreet::testing {
namespace {

sockaddr_in local(int port) {
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  where.sin_port = htons(static_cast<std::uint16_t>(port));
  return where;
}

}  // namespace

TcpProxy::TcpProxy(int port) : target_(port) {
  listener_ = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in where = local(0);
  socklen_t size = sizeof(where);
  DISCREET_CHECK(bind(listener_, reinterpret_cast<sockaddr*>(&where), size) == 0 &&
                     listen(listener_, 16) == 0 &&
                     getsockname(listener_, reinterpret_cast<sockaddr*>(&where), &size) == 0,
                 "the proxy finds no port");
  port_ = ntohs(where.sin_port);
  threads_.emplace_back([this] {
    while (!stopping_) {
      const int client = accept(listener_, nullptr, nullptr);
      if (client < 0) return;
      const std::scoped_lock lock(mutex_);
      ++connections_;
      threads_.emplace_back([this, client] { serve(client); });
    }
  });
}

TcpProxy::~TcpProxy() {
  stopping_ = true;
  shutdown(listener_, SHUT_RDWR);
  close(listener_);
  threads_.front().join();
  {
    const std::scoped_lock lock(mutex_);
    for (const int one : sockets_) shutdown(one, SHUT_RDWR);
  }
  for (std::size_t i = 1; i < threads_.size(); ++i) threads_[i].join();
  for (const int one : sockets_) close(one);
}

void TcpProxy::serve(int client) {
  const int server = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in where = local(target_);
  {
    const std::scoped_lock lock(mutex_);
    sockets_.push_back(client);
    sockets_.push_back(server);
  }
  if (connect(server, reinterpret_cast<sockaddr*>(&where), sizeof(where)) != 0) {
    shutdown(client, SHUT_RDWR);
    return;
  }
  std::thread back([&] { pass(server, client, true); });
  pass(client, server, false);
  back.join();
}

void TcpProxy::pass(int from, int to, bool from_server) {
  char bytes[1400];
  while (true) {
    const ssize_t got = recv(from, bytes, sizeof(bytes), 0);
    if (got <= 0) break;
    if (delay_ms_ > 0) std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms_));
    if (from_server && bytes_left_ >= 0) {
      bytes_left_ -= got;
      if (bytes_left_ < 0) {
        bytes_left_ = -1;  // once
        break;
      }
    }
    if (send(to, bytes, static_cast<std::size_t>(got), MSG_NOSIGNAL) != got) break;
  }
  shutdown(from, SHUT_RDWR);
  shutdown(to, SHUT_RDWR);
}

}  // namespace discreet::testing
