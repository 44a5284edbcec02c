// What `discreet serve` can be told.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace discreet::server {

struct Settings {
  std::string host = "127.0.0.1";
  std::uint16_t pg_port = 5433;                        ///< 0: any
  std::uint16_t http_port = 8433;                      ///< 0: any
  std::filesystem::path tls_certificate{}, tls_key{};  ///< PEM; empty: no TLS
  bool require_tls = false;
  std::filesystem::path reports{};  ///< where randomised reports are collected; empty: nowhere
  std::filesystem::path console{};  ///< the console's built files; empty: none are served
  std::filesystem::path docs{};     ///< the documentation's built files, under /docs

  /// Users with the owner's role: they see every account and may grant.
  std::vector<std::string> owners = {"owner"};

  /// Charged answers leave at quantum, 2 quantum, 4 quantum, ... after the question came.
  std::chrono::milliseconds quantum{50};
  std::chrono::milliseconds statement_timeout{60'000};
  std::chrono::milliseconds login_timeout{10'000};
  std::chrono::milliseconds message_timeout{30'000};  ///< from a message's first byte to its last
  std::chrono::milliseconds shutdown_grace{10'000};

  std::size_t connections_max = 400;  ///< of each protocol
  std::size_t connections_per_user_max = 300;
  std::size_t waiting_max = 2'000;  ///< questions in line
  std::size_t message_bytes_max = std::size_t{1} << 20;
  std::size_t workers = 16;             ///< most of their time they wait for the disk
  std::size_t quick_workers = 2;        ///< for what waits for nothing
  double requests_per_second = 20'000;  ///< of one user, over a burst of one second
  std::chrono::seconds token_lifetime{12 * 3600};
};

}  // namespace discreet::server
