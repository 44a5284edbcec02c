#include "cli/verb.h"

namespace discreet::cli {
void add_noise(CLI::App& app, Action& chosen) {
  CLI::App* verb = add_verb(app, "noise", "Release a number",
                            "  discreet noise laplace --epsilon 0.1 --sensitivity 1 --value 1000");
  verb->callback([&chosen] { chosen = [] { return static_cast<int>(kOk); }; });
}
}  // namespace discreet::cli
