#include "cli/verb.h"

#include <cstdio>

namespace discreet::cli {

int fail(const Error& error) {
  std::fprintf(stderr, "discreet: %s\n", error.message.c_str());
  return error.code == ErrorCode::InvalidParameter ? kUsage : kFailed;
}

CLI::App* add_verb(CLI::App& app, const std::string& name, const std::string& summary,
                   const std::string& example) {
  CLI::App* verb = app.add_subcommand(name, summary);
  verb->footer("Example:\n" + example);
  return verb;
}

}  // namespace discreet::cli
