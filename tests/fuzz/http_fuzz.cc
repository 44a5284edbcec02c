// Any bytes as an HTTP client, in two pieces: the reader must give a request, ask for more or fail,
// and no target may name a file outside the console's folder.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "server/http/request.h"
#include "server/http/routes.h"

using namespace discreet::server::http;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t half = size / 2;
  RequestReader reader(2048, 2048);
  std::string pending;
  for (const std::string& piece : {bytes.substr(0, half), bytes.substr(half)}) {
    pending += piece;
    for (;;) {
      const std::size_t used = reader.feed(pending);
      if (used > pending.size()) std::abort();
      pending.erase(0, used);
      auto request = reader.take();
      if (!request) break;
      if (request->path.empty() || request->path[0] != '/') std::abort();
      if (request->body.size() > 2048) std::abort();
      if (request->path.find("..") != std::string::npos && static_file("/etc", request->path) &&
          request->path.find("/../") != std::string::npos)
        std::abort();
      static_cast<void>(name_in_login(*request));
    }
  }
  return 0;
}
