// `discreet <verb>`: answers on stdout, everything said about them on stderr.
#include <cstdio>
#include <exception>

#include "base/check.h"
#include "cli/verb.h"

namespace discreet::cli {

namespace {

int run(int argc, char** argv) {
  CLI::App app("Discreet answers questions about people without giving any person away.",
               "discreet");
  app.set_version_flag("--version", "discreet " DISCREET_VERSION);
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::simple);

  Action chosen;
  add_choose(app, chosen);
  add_account(app, chosen);
  add_noise(app, chosen);
  add_serve(app, chosen);
  add_query(app, chosen);
  add_explain(app, chosen);
  add_continual(app, chosen);
  add_policy(app, chosen);
  add_budget(app, chosen);
  add_ledger(app, chosen);
  add_user(app, chosen);
  add_synth(app, chosen);
  add_learn(app, chosen);
  add_holdout(app, chosen);
  add_local(app, chosen);
  add_town(app, chosen);
  add_prio(app, chosen);
  add_anonymize(app, chosen);
  add_attack(app, chosen);
  add_audit(app, chosen);
  add_lecture(app, chosen);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? kOk : kUsage;
  }
  return chosen ? chosen() : kUsage;
}

}  // namespace
}  // namespace discreet::cli

int main(int argc, char** argv) {
  try {
    return discreet::cli::run(argc, argv);
  } catch (const discreet::InvariantViolation& bug) {
    std::fprintf(stderr,
                 "discreet: refused to go on: %s\nThis is a bug in discreet; please report it.\n",
                 bug.what());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "discreet: %s\n", error.what());
  }
  return discreet::cli::kFailed;
}
