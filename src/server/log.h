// One JSON object a line for the operator. Fields are names, numbers and codes: no statement text,
// no row value, no secret ever reaches this.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace discreet::server {

using LogValue = std::variant<std::string, double, std::int64_t, bool>;
using LogFields = std::initializer_list<std::pair<std::string_view, LogValue>>;

/// Thread-safe: a line is one write.
class Log {
 public:
  /// `path` empty: stderr.
  explicit Log(const std::string& path = {});
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  void info(std::string_view event, LogFields fields = {}) { write("info", event, fields); }
  void warn(std::string_view event, LogFields fields = {}) { write("warn", event, fields); }

 private:
  void write(std::string_view level, std::string_view event, LogFields fields);
  int descriptor_;
};

}  // namespace discreet::server
