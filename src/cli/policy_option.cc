#include "cli/policy_option.h"

#include <fmt/format.h>

#include <cstdio>

namespace discreet::cli {

void add_policy_option(CLI::App* verb, std::string& path) {
  path = kPolicyFile;
  verb->add_option("--policy", path, "The policy file")->capture_default_str();
}

Result<catalog::Policy> load_policy(const std::string& path) {
  auto policy = catalog::Policy::load(path);
  if (policy)
    for (const std::string& warning : policy->warnings())
      std::fprintf(stderr, "discreet: warning: %s\n", warning.c_str());
  return policy;
}

std::string shown(const std::optional<Epsilon>& epsilon) {
  return epsilon ? fmt::format("{:.4g}", epsilon->value()) : "unlimited";
}
std::string shown(const std::optional<Delta>& delta) {
  return delta ? fmt::format("{:.4g}", delta->value()) : "unlimited";
}

}  // namespace discreet::cli
