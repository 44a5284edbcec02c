#include "server/log.h"

#include <fcntl.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "ledger/report.h"

namespace discreet::server {

Log::Log(const std::string& path)
    : descriptor_(path.empty()
                      ? STDERR_FILENO
                      : ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {
  if (descriptor_ < 0) descriptor_ = STDERR_FILENO;
}

Log::~Log() {
  if (descriptor_ != STDERR_FILENO) ::close(descriptor_);
}

void Log::write(std::string_view level, std::string_view event, LogFields fields) {
  nlohmann::ordered_json line{
      {"at", ledger::to_iso(SystemClock().now())}, {"level", level}, {"event", event}};
  for (const auto& [name, value] : fields)
    std::visit([&, key = std::string(name)](const auto& v) { line[key] = v; }, value);
  const std::string text =
      line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  // A log that cannot be written must not stop the server.
  [[maybe_unused]] const auto written = ::write(descriptor_, text.data(), text.size());
}

}  // namespace discreet::server
