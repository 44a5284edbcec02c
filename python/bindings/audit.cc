// Audits of claims, and attacks on releases.
#include <map>

#include <fmt/format.h>
#include <nanobind/stl/function.h>

#include "attack/census.h"
#include "attack/linkage.h"
#include "attack/reconstruction.h"
#include "attack/shadow.h"
#include "attack/single_bit.h"
#include "attack/tracing.h"
#include "audit/external.h"
#include "audit/subject.h"
#include "base/suggest.h"
#include "bindings/glue.h"

namespace discreet::python {
namespace {

using Found = std::tuple<double, double, double, std::string, bool>;

Found found_of(const AuditReport& report) {
  return {report.claimed, report.delta, report.lower_bound, report.event, report.refuted};
}

using Outcome = std::tuple<std::string, double, double, double, double, std::uint64_t, double>;
using Attacked = std::tuple<std::string, std::string, std::vector<Outcome>, std::string>;

Attacked attacked_of(const attack::Report& report) {
  std::vector<Outcome> outcomes;
  for (const auto& o : report.outcomes)
    outcomes.emplace_back(o.target, o.success, o.baseline, o.low, o.high, o.attempts, o.bound);
  return {report.name, report.what, std::move(outcomes), attack::picture(report)};
}

struct AttackOptions {
  double epsilon;
  std::size_t people, queries, attempts, k;
  std::uint64_t seed;
};

template <class T>
T or_else(T given, T otherwise) {
  return given == 0 ? otherwise : given;
}

using Run = std::function<Result<attack::Report>(const AttackOptions&)>;

const std::map<std::string, Run>& attacks() {
  const auto single = [](const AttackOptions& o) {
    return attack::SingleOptions{or_else<std::uint64_t>(o.attempts, 2000), o.epsilon, o.seed};
  };
  const auto linked = [](const AttackOptions& o) {
    return attack::LinkageOptions{or_else<std::size_t>(o.people, 20'000), o.seed, o.k, o.epsilon};
  };
  static const std::map<std::string, Run> all = {
      {"reconstruct",
       [](const AttackOptions& o) {
         attack::ReconstructionOptions options;
         options.epsilon = o.epsilon;
         options.people = or_else<std::size_t>(o.people, 500);
         options.queries = or_else<std::size_t>(o.queries, 4 * options.people);
         return attack::reconstruction(options, noise());
       }},
      {"linkage",
       [linked](const AttackOptions& o) -> Result<attack::Report> {
         auto found = attack::linkage(linked(o), noise());
         if (!found) return found.error();
         return found->report;
       }},
      {"intersection",
       [linked](const AttackOptions& o) { return attack::intersection(linked(o), noise()); }},
      {"differencing",
       [single](const AttackOptions& o) { return attack::differencing(single(o), noise()); }},
      {"averaging",
       [single](const AttackOptions& o) { return attack::averaging(single(o), noise()); }},
      {"floating-point",
       [single](const AttackOptions& o) { return attack::floating_point(single(o), noise()); }},
      {"day-by-day",
       [single](const AttackOptions& o) { return attack::day_by_day(single(o), noise()); }},
      {"shadow",
       [](const AttackOptions& o) {
         attack::ShadowOptions options;
         options.people = or_else<std::size_t>(o.people, 400);
         options.attempts = or_else<std::size_t>(o.attempts, 400);
         options.epsilon = o.epsilon;
         options.seed = o.seed;
         return attack::shadow_models(options, noise());
       }},
      {"timing", [single](const AttackOptions& o) { return attack::timing(single(o), noise()); }},
      {"membership",
       [](const AttackOptions& o) {
         attack::TracingOptions options;
         options.people = or_else<std::size_t>(o.people, 50);
         options.attempts = or_else<std::size_t>(o.attempts, 400);
         options.epsilon = o.epsilon;
         return attack::tracing(options, noise());
       }},
      {"census",
       [](const AttackOptions& o) {
         attack::CensusOptions options;
         options.people = or_else<std::size_t>(o.people, 7);
         options.epsilon = o.epsilon;
         options.seed = o.seed;
         return attack::census(options, noise());
       }},
  };
  return all;
}

std::vector<std::string> attack_names() {
  std::vector<std::string> names;
  for (const auto& [name, run] : attacks()) names.push_back(name);
  return names;
}

Attacked run_attack(const std::string& name, const AttackOptions& options) {
  const auto found = attacks().find(name);
  if (found == attacks().end())
    throw Failure(invalid_parameter(
        fmt::format("There is no attack called '{}'{}", name, did_you_mean(name, attack_names()))));
  const Unlocked unlocked;
  return attacked_of(value(found->second(options)));
}

Found audit_named(const std::string& name, double scale) {
  const Unlocked unlocked;
  for (const auto& subjects : {audited_mechanisms(), planted_mechanisms()})
    for (const AuditSubject& subject : subjects)
      if (subject.name == name) return found_of(audit(subject, noise(), scale));
  std::vector<std::string> known;
  for (const auto& subjects : {audited_mechanisms(), planted_mechanisms()})
    for (const AuditSubject& subject : subjects) known.push_back(subject.name);
  throw Failure(invalid_parameter(
      fmt::format("There is nothing to audit called '{}'{}", name, did_you_mean(name, known))));
}

/// How many of the secret bits come back when `answer` gives the counts out.
std::size_t reconstruct_with(
    std::size_t people, std::size_t queries, const std::string& decoder,
    const std::function<std::vector<std::int64_t>(std::vector<std::int64_t>)>& answer) {
  attack::ReconstructionOptions options;
  options.people = people;
  options.queries = queries;
  options.decoder = decoder == "lp"           ? attack::Decoder::LinearProgram
                    : decoder == "exhaustive" ? attack::Decoder::Exhaustive
                                              : attack::Decoder::LeastSquares;
  return value(attack::reconstruct(
      options,
      [&](std::span<std::int64_t> answers, RandomSource&) {
        const auto given = answer(std::vector<std::int64_t>(answers.begin(), answers.end()));
        if (given.size() != answers.size())
          throw Failure(invalid_parameter("the mechanism must give one answer for each count"));
        std::copy(given.begin(), given.end(), answers.begin());
      },
      noise()));
}

}  // namespace

void bind_audit(nb::module_& m) {
  m.def(
      "audit_lines",
      [](const std::vector<std::string>& first, const std::vector<std::string>& second,
         double epsilon, double delta, double confidence) {
        const ApproxDp claim = target_of(epsilon, delta);
        const Unlocked unlocked;
        return found_of(value(audit_lines(first, second, claim, confidence)));
      },
      "first"_a, "second"_a, "epsilon"_a, "delta"_a, "confidence"_a);
  m.def("audit_named", audit_named, "name"_a, "scale"_a);
  m.def("audit_subjects", [] {
    std::vector<std::tuple<std::string, std::string, bool>> out;
    for (const auto& subject : audited_mechanisms())
      out.emplace_back(subject.name, subject.about, false);
    for (const auto& subject : planted_mechanisms())
      out.emplace_back(subject.name, subject.about, true);
    return out;
  });
  m.def("attack_names", attack_names);
  m.def(
      "attack",
      [](const std::string& name, double epsilon, std::size_t people, std::size_t queries,
         std::size_t attempts, std::size_t k, std::uint64_t seed) {
        return run_attack(name, {epsilon, people, queries, attempts, k, seed});
      },
      "name"_a, "epsilon"_a, "people"_a, "queries"_a, "attempts"_a, "k"_a, "seed"_a);
  m.def("reconstruct_with", reconstruct_with, "people"_a, "queries"_a, "decoder"_a, "answer"_a);
}

}  // namespace discreet::python
