// `discreet audit`: tries to refute claims of privacy, ours and other people's.
#include <chrono>
#include <cstdio>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "audit/external.h"
#include "audit/power.h"
#include "audit/subject.h"
#include "base/suggest.h"
#include "cli/audit_statement.h"
#include "cli/verb.h"
#include "local/audits/oracle_audits.h"
#include "random/secure_random.h"

namespace discreet::cli {
namespace {

struct AuditArguments {
  std::vector<std::string> names;
  bool all = false, planted = false, power = false, list = false, json = false;
  std::string exec, sql, unit, policy = "discreet.toml";
  double claimed = 1, delta = 0, scale = 1;
  std::uint64_t trials = 0;  // 0: as many as suit the subject
};

void print_json(const std::string& name, const AuditReport& report, double seconds, bool planted) {
  nlohmann::ordered_json out = {{"name", name},
                                {"claimed", report.claimed},
                                {"delta", report.delta},
                                {"lower_bound", report.lower_bound},
                                {"verdict", report.refuted ? "refuted" : "pass"},
                                {"event", report.event},
                                {"seconds", seconds}};
  if (report.concentrated) out["definition"] = "zcdp";
  if (planted) out["planted"] = true;
  std::puts(out.dump().c_str());
}

void print_line(const std::string& name, const AuditReport& report, double seconds) {
  fmt::print("{:<8} {:<36} claims {:<7.4g} at least {:<7.4g} {:.1f} s  {}{}\n",
             report.refuted ? "REFUTED" : "pass", name, report.claimed, report.lower_bound, seconds,
             report.concentrated ? "rho: " : "", report.event);
  std::fflush(stdout);
}

std::vector<AuditSubject> correct_subjects() {
  auto all = audited_mechanisms();
  const auto oracles = local::audited_oracles();
  all.insert(all.end(), oracles.begin(), oracles.end());
  return all;
}

std::vector<AuditSubject> planted_subjects() {
  auto all = planted_mechanisms();
  const auto oracles = local::planted_oracles();
  all.insert(all.end(), oracles.begin(), oracles.end());
  return all;
}

AuditReport examine(const AuditSubject& subject, const AuditArguments& arguments, bool planted,
                    RandomSource& random) {
  const auto start = std::chrono::steady_clock::now();
  const AuditReport report = audit(subject, random, arguments.scale);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (arguments.json)
    print_json(subject.name, report, seconds, planted);
  else
    print_line(subject.name, report, seconds);
  return report;
}

int audit_all(const AuditArguments& arguments, RandomSource& random) {
  const auto subjects = correct_subjects();
  std::size_t refuted = 0;
  for (const AuditSubject& subject : subjects)
    refuted += examine(subject, arguments, false, random).refuted;
  fmt::print(stderr, "{} of {} mechanisms keep their claim under audit; {} refuted.\n",
             subjects.size() - refuted, subjects.size(), refuted);
  return refuted == 0 ? kOk : kFailed;
}

int audit_planted(const AuditArguments& arguments, RandomSource& random) {
  const auto subjects = planted_subjects();
  std::size_t caught = 0;
  for (const AuditSubject& subject : subjects) {
    const bool refuted = examine(subject, arguments, true, random).refuted;
    if (!refuted) fmt::print(stderr, "missed: {}: {}\n", subject.name, subject.about);
    caught += refuted;
  }
  fmt::print(stderr, "{} of {} planted mechanisms caught.\n", caught, subjects.size());
  return caught == subjects.size() ? kOk : kFailed;
}

int audit_named(const AuditArguments& arguments, RandomSource& random) {
  const auto correct = correct_subjects(), broken = planted_subjects();
  bool refuted = false;
  for (const std::string& name : arguments.names) {
    const AuditSubject* found = nullptr;
    std::vector<std::string> known;
    for (const auto* subjects : {&correct, &broken})
      for (const AuditSubject& subject : *subjects) {
        known.push_back(subject.name);
        if (subject.name == name) found = &subject;
      }
    if (found == nullptr)
      return fail(
          invalid_parameter(fmt::format("There is nothing to audit called '{}'{}. `discreet "
                                        "audit --list` names all.",
                                        name, did_you_mean(name, known))));
    const bool planted = found >= broken.data() && found < broken.data() + broken.size();
    refuted |= examine(*found, arguments, planted, random).refuted;
  }
  return refuted ? kFailed : kOk;
}

// Both rates: of breaches that are seen, and of the innocent who are accused (the first row).
int audit_power_table(const AuditArguments& arguments, RandomSource& random) {
  constexpr double kTruths[] = {1, 1.05, 1.1, 1.25, 1.5, 2};
  constexpr std::uint64_t kTrials[] = {2'000, 20'000, 200'000};
  constexpr std::uint64_t kAudits = 20;
  const auto points = audit_power(kTruths, kTrials, kAudits, random);
  if (!arguments.json)
    fmt::print(
        "claims epsilon 1; refuted of {} audits, by runs on each side\n{:<22} "
        "{:>9}{:>9}{:>9}{:>9}\n",
        kAudits, "", "really", kTrials[0], kTrials[1], kTrials[2]);
  bool wrong = false;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const PowerPoint& point = points[i];
    wrong |= point.truth <= point.claimed && point.refuted > 0;
    if (arguments.json)
      std::puts(nlohmann::ordered_json({{"subject", point.subject},
                                        {"claimed", point.claimed},
                                        {"truth", point.truth},
                                        {"trials", point.trials},
                                        {"audits", point.audits},
                                        {"refuted", point.refuted}})
                    .dump()
                    .c_str());
    else
      fmt::print("{}{:>9}{}",
                 i % 3 == 0 ? fmt::format("{:<22} {:>9g}", point.subject, point.truth) : "",
                 point.refuted, i % 3 == 2 ? "\n" : "");
  }
  return wrong ? kFailed : kOk;
}

// A program or a statement: not of our catalogue, so the claim is given with it.
int audit_given(const AuditArguments& arguments) {
  const auto epsilon = Epsilon::make(arguments.claimed);
  if (!epsilon) return fail(epsilon.error());
  const auto delta = Delta::make(arguments.delta);
  if (!delta) return fail(delta.error());
  const ApproxDp claim{*epsilon, *delta};
  const auto runs = [&](std::uint64_t usual) {
    return arguments.trials > 0 ? arguments.trials : usual;
  };
  const auto start = std::chrono::steady_clock::now();
  const auto audited = [&]() -> Result<AuditReport> {
    if (!arguments.exec.empty()) return audit_program(arguments.exec, claim, runs(100'000));
    SecureRandom random;
    return audit_statement({arguments.policy, arguments.sql, claim, arguments.unit, runs(2000)},
                           random);
  };
  const auto report = audited();
  if (!report) return fail(report.error());
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const bool is_statement = arguments.exec.empty();
  if (arguments.json)
    print_json(is_statement ? arguments.sql : arguments.exec, *report, seconds, false);
  else
    print_line(is_statement ? "statement" : "program", *report, seconds);
  return report->refuted ? kFailed : kOk;
}

int list_subjects() {
  for (const AuditSubject& subject : correct_subjects())
    fmt::print("{:<36} {}\n", subject.name, subject.about);
  for (const AuditSubject& subject : planted_subjects())
    fmt::print("{:<36} planted: {}\n", subject.name, subject.about);
  return kOk;
}

int run(const AuditArguments& arguments) {
  const int asked = static_cast<int>(arguments.all) + static_cast<int>(arguments.planted) +
                    static_cast<int>(arguments.power) + static_cast<int>(arguments.list) +
                    static_cast<int>(!arguments.exec.empty()) +
                    static_cast<int>(!arguments.sql.empty()) +
                    static_cast<int>(!arguments.names.empty());
  if (asked != 1)
    return fail(invalid_parameter(
        "say what to audit: a mechanism's name, --all, --planted, --power, --list, --sql "
        "'SELECT ...' or --exec 'COMMAND'."));
  if (arguments.list) return list_subjects();
  if (!arguments.exec.empty() || !arguments.sql.empty()) return audit_given(arguments);
  SecureRandom random;
  if (arguments.all) return audit_all(arguments, random);
  if (arguments.planted) return audit_planted(arguments, random);
  if (arguments.power) return audit_power_table(arguments, random);
  return audit_named(arguments, random);
}

}  // namespace

void add_audit(CLI::App& app, Action& chosen) {
  auto arguments = std::make_shared<AuditArguments>();
  CLI::App* verb = add_verb(
      app, "audit", "Try to refute a claim of privacy by running it on neighbouring data",
      "  discreet audit laplace\n"
      "  discreet audit --planted        every planted bug must be caught\n"
      "  discreet audit --sql 'select count(*) from visits' --policy town/discreet.toml\n"
      "  discreet audit --exec 'python3 count.py --world {side} --runs {count}' --claimed 1");
  verb->add_option("name", arguments->names, "mechanisms, as --list names them");
  verb->add_flag("--all", arguments->all, "every mechanism; exit 1 if one is refuted");
  verb->add_flag("--planted", arguments->planted,
                 "every planted bug; exit 0 only if all are caught");
  verb->add_flag("--power", arguments->power,
                 "how often breaches of different sizes are seen, and the innocent accused");
  verb->add_flag("--list", arguments->list, "what there is to audit");
  verb->add_option("--exec", arguments->exec,
                   "a program: {side} becomes 0 and 1, {count} the runs; prints one output a line");
  verb->add_option("--sql", arguments->sql,
                   "a statement: its release on the policy's data with and without one person");
  verb->add_option("--policy", arguments->policy, "of --sql")->capture_default_str();
  verb->add_option("--unit", arguments->unit, "of --sql: whom to take out (who has most rows)");
  verb->add_option("--claimed,--epsilon", arguments->claimed, "epsilon that is claimed")
      ->capture_default_str();
  verb->add_option("--delta", arguments->delta, "delta that is claimed")->capture_default_str();
  verb->add_option("--trials", arguments->trials, "runs of a program or statement on each side")
      ->check(CLI::Range(std::uint64_t{100}, std::uint64_t{100'000'000}));
  verb->add_option("--scale", arguments->scale,
                   "times as many runs as usual: sees smaller breaches")
      ->check(CLI::Range(0.01, 1000.0))
      ->capture_default_str();
  verb->add_flag("--json", arguments->json, "one object a subject");
  verb->callback([arguments, &chosen] { chosen = [arguments] { return run(*arguments); }; });
}

}  // namespace discreet::cli
