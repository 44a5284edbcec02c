// The verbs that the server's tests need, without the rest of the program: under a sanitizer that
// saves compiling half of it.
#include <cstdio>
#include <exception>

#include "cli/verb.h"

int main(int argc, char** argv) {
  using namespace discreet::cli;
  try {
    CLI::App app("The server's verbs, for its tests.", "discreet");
    app.require_subcommand(1);
    Action chosen;
    add_serve(app, chosen);
    add_query(app, chosen);
    add_ledger(app, chosen);
    add_user(app, chosen);
    CLI11_PARSE(app, argc, argv);
    return chosen ? chosen() : kUsage;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "discreet: %s\n", error.what());
  }
  return kFailed;
}
