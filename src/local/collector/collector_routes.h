// What the collector's addresses do, whoever listens: `discreet local serve` and `discreet serve`.
// Addresses: http_front.h.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace discreet::local {

class Collector;

struct HttpQuestion {
  std::string_view method, path;
  std::vector<std::pair<std::string, std::string>> parameters;  ///< percent-decoded
  std::string_view body;
};

struct HttpAnswer {
  int status = 200;
  std::string type, body;
};

/// Whether the path is one of the collector's: its collections, and the files of the demo page.
bool is_collector_path(std::string_view path);

/// For a POST of reports this returns after they are on disk.
HttpAnswer answer_collector(Collector& collector, const HttpQuestion& asked);

}  // namespace discreet::local
