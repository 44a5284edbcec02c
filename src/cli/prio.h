// The actions of `discreet prio`, one line each, defined in the file of its name.
#pragma once

#include "cli/verb.h"

namespace discreet::cli {

void add_prio_task(CLI::App& prio, Action& chosen);
void add_prio_client(CLI::App& prio, Action& chosen);
void add_prio_collect(CLI::App& prio, Action& chosen);
void add_prio_servers(CLI::App& prio, Action& chosen);
void add_prio_heavy(CLI::App& prio, Action& chosen);

}  // namespace discreet::cli
