// The shape of a command: one file per verb, thin. A verb declares its options on the CLI11 app and
// leaves the work to do in `chosen`; main() runs it and turns failures into exit codes.
#pragma once

#include <functional>
#include <string>

#include <CLI/CLI.hpp>

#include "base/result.h"

namespace discreet::cli {

/// Exit codes: 0 answered, 1 refused or a check failed, 2 wrong usage.
enum Exit : int { kOk = 0, kFailed = 1, kUsage = 2 };

using Action = std::function<int()>;

/// Says on stderr what went wrong and what to do; returns the exit code that fits.
int fail(const Error& error);

/// Help that ends with a worked example.
CLI::App* add_verb(CLI::App& app, const std::string& name, const std::string& summary,
                   const std::string& example);

// One line per verb, each defined in the file of its name.
void add_anonymize(CLI::App& app, Action& chosen);
void add_attack(CLI::App& app, Action& chosen);
void add_audit(CLI::App& app, Action& chosen);
void add_budget(CLI::App& app, Action& chosen);
void add_lecture(CLI::App& app, Action& chosen);
void add_ledger(CLI::App& app, Action& chosen);
void add_choose(CLI::App& app, Action& chosen);
void add_account(CLI::App& app, Action& chosen);
void add_noise(CLI::App& app, Action& chosen);
void add_explain(CLI::App& app, Action& chosen);
void add_holdout(CLI::App& app, Action& chosen);
void add_learn(CLI::App& app, Action& chosen);
void add_prio(CLI::App& app, Action& chosen);
void add_policy(CLI::App& app, Action& chosen);
void add_query(CLI::App& app, Action& chosen);
void add_serve(CLI::App& app, Action& chosen);
void add_synth(CLI::App& app, Action& chosen);
void add_local(CLI::App& app, Action& chosen);
void add_town(CLI::App& app, Action& chosen);
void add_user(CLI::App& app, Action& chosen);

}  // namespace discreet::cli
