// What every verb that works under a policy shares: the option, loading, and what must be said.
#pragma once

#include <optional>
#include <string>

#include "catalog/policy.h"
#include "cli/verb.h"

namespace discreet::cli {

inline constexpr char kPolicyFile[] = "discreet.toml";

/// --policy, discreet.toml in this folder if it is not given.
void add_policy_option(CLI::App* verb, std::string& path);

/// Loads it and says its warnings on stderr.
Result<catalog::Policy> load_policy(const std::string& path);

/// "0.25", "unlimited".
std::string shown(const std::optional<Epsilon>& epsilon);
std::string shown(const std::optional<Delta>& delta);

}  // namespace discreet::cli
