// `discreet noise MECHANISM`: one number in, releases out, each with its error bar and its cost.
#include <cstdio>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "accounting/loss_event_json.h"
#include "base/parse_number.h"
#include "cli/verb.h"
#include "mechanisms/bounded_output.h"
#include "mechanisms/discrete_gaussian.h"
#include "mechanisms/discrete_laplace.h"
#include "mechanisms/grid_gaussian.h"
#include "mechanisms/grid_laplace.h"
#include "mechanisms/randomized_response.h"
#include "mechanisms/staircase.h"
#include "random/secure_random.h"

namespace discreet::cli {
namespace {

constexpr double kConfidence = 0.95;

// Options as typed: CLI11 would take "nan" and "1e400" for numbers.
struct Options {
  std::string epsilon, delta = "0", rho, error, sensitivity = "1", value, grid, lower, upper, truth,
                       keep, count = "1", values = "2";
  std::string bounded = "clamped";
  bool json = false;
};

// A prepared release: draws a value, knows its error and cost.
struct Prepared {
  std::function<std::string(RandomSource&)> draw;
  double error95;
  LossEvent loss;
  ApproxDp cost;
};

Result<std::optional<double>> optional_number(const std::string& text, const char* what) {
  if (text.empty()) return std::optional<double>{};
  DISCREET_TRY(const double value, parse_number(text, what));
  return std::optional<double>(value);
}

Result<Epsilon> epsilon_of(const Options& o) {
  if (o.epsilon.empty())
    return invalid_parameter("give --epsilon (or --error, the error you can live with)");
  DISCREET_TRY(const double value, parse_number(o.epsilon, "epsilon"));
  DISCREET_TRY(const Epsilon epsilon, Epsilon::make(value));
  if (value == 0)
    return invalid_parameter("epsilon must be positive: at zero nothing can be released");
  return epsilon;
}

template <class S>
Result<S> sensitivity_of(const Options& o) {
  DISCREET_TRY(const double value, parse_number(o.sensitivity, "sensitivity"));
  return S::make(value);
}

template <class Mechanism, class Value>
Prepared prepare(Mechanism mechanism, Value value, ApproxDp cost) {
  return {[=](RandomSource& random) { return fmt::format("{}", mechanism.release(value, random)); },
          mechanism.error_bound(kConfidence), mechanism.loss(), cost};
}

ApproxDp pure(Epsilon epsilon) {
  return {epsilon, Delta::zero()};
}

Result<Prepared> laplace(const Options& o) {
  DISCREET_TRY(const auto sensitivity, sensitivity_of<L1Sensitivity>(o));
  DISCREET_TRY(const auto error, optional_number(o.error, "error"));
  const bool whole = o.grid.empty() && o.value.find_first_of(".eE") == std::string::npos;
  if (whole) {
    DISCREET_TRY(const auto value, parse_integer(o.value, "value"));
    if (error) {
      DISCREET_TRY(const auto mechanism,
                   DiscreteLaplace::for_error(*error, kConfidence, sensitivity));
      return prepare(mechanism, value, pure(mechanism.epsilon()));
    }
    DISCREET_TRY(const auto epsilon, epsilon_of(o));
    DISCREET_TRY(const auto mechanism, DiscreteLaplace::make(epsilon, sensitivity));
    return prepare(mechanism, value, pure(epsilon));
  }
  DISCREET_TRY(const double value, parse_number(o.value, "value"));
  DISCREET_TRY(const auto epsilon, epsilon_of(o));
  if (o.grid.empty()) {
    DISCREET_TRY(const auto mechanism, GridLaplace::make(epsilon, sensitivity));
    return prepare(mechanism, value, pure(epsilon));
  }
  DISCREET_TRY(const Rational step, parse_exact_number(o.grid, "grid"));
  DISCREET_TRY(const Grid grid, Grid::make(step));
  DISCREET_TRY(const auto mechanism, GridLaplace::make(epsilon, sensitivity, grid));
  return prepare(mechanism, value, pure(epsilon));
}

Result<Prepared> gaussian(const Options& o) {
  DISCREET_TRY(const auto sensitivity, sensitivity_of<L2Sensitivity>(o));
  DISCREET_TRY(const auto rho, optional_number(o.rho, "rho"));
  DISCREET_TRY(const double delta_value, parse_number(o.delta, "delta"));
  DISCREET_TRY(const Delta delta, Delta::make(delta_value));
  const bool whole = o.grid.empty() && o.value.find_first_of(".eE") == std::string::npos;
  std::optional<ApproxDp> target;
  std::optional<Rho> wanted;
  if (rho) {
    DISCREET_TRY(wanted, Rho::make(*rho));
  } else {
    DISCREET_TRY(const auto epsilon, epsilon_of(o));
    if (delta.value() == 0)
      return invalid_parameter("Gaussian noise needs --delta above 0 (for example 1e-6), or --rho");
    target = ApproxDp{epsilon, delta};
  }
  const ApproxDp cost = target.value_or(ApproxDp{Epsilon::zero(), Delta::zero()});
  if (whole) {
    DISCREET_TRY(const auto value, parse_integer(o.value, "value"));
    DISCREET_TRY(const auto mechanism, target ? DiscreteGaussian::make(*target, sensitivity)
                                              : DiscreteGaussian::make(*wanted, sensitivity));
    return prepare(mechanism, value, cost);
  }
  DISCREET_TRY(const double value, parse_number(o.value, "value"));
  if (o.grid.empty())
    return invalid_parameter(
        "a Gaussian release of a fraction needs --grid, the step that values are rounded to (for "
        "example 0.01)");
  DISCREET_TRY(const Rational step, parse_exact_number(o.grid, "grid"));
  DISCREET_TRY(const Grid grid, Grid::make(step));
  DISCREET_TRY(const auto mechanism, target ? GridGaussian::make(*target, sensitivity, grid)
                                            : GridGaussian::make(*wanted, sensitivity, grid));
  return prepare(mechanism, value, cost);
}

Result<Prepared> staircase(const Options& o) {
  DISCREET_TRY(const auto sensitivity, sensitivity_of<L1Sensitivity>(o));
  DISCREET_TRY(const auto epsilon, epsilon_of(o));
  DISCREET_TRY(const auto value, parse_integer(o.value, "value"));
  DISCREET_TRY(const auto mechanism, Staircase::make(epsilon, sensitivity));
  return prepare(mechanism, value, pure(epsilon));
}

Result<Prepared> bounded_laplace(const Options& o) {
  DISCREET_TRY(const auto sensitivity, sensitivity_of<L1Sensitivity>(o));
  DISCREET_TRY(const auto epsilon, epsilon_of(o));
  DISCREET_TRY(const auto value, parse_integer(o.value, "value"));
  DISCREET_TRY(const auto lower, parse_integer(o.lower, "lower"));
  DISCREET_TRY(const auto upper, parse_integer(o.upper, "upper"));
  const auto how = o.bounded == "truncated" ? BoundedForm::Truncated
                   : o.bounded == "folded"  ? BoundedForm::Folded
                                            : BoundedForm::Clamped;
  DISCREET_TRY(const auto mechanism,
               BoundedLaplace::make(epsilon, sensitivity, {lower, upper}, how));
  return prepare(mechanism, value, pure(epsilon));
}

Result<Prepared> randomized_response(const Options& o, std::uint64_t reports) {
  DISCREET_TRY(const auto values, parse_integer(o.values, "values"));
  if (values < 2)
    return invalid_parameter("randomized response needs at least two possible answers");
  DISCREET_TRY(const auto truth, optional_number(o.truth, "truth"));
  DISCREET_TRY(const auto keep, optional_number(o.keep, "keep"));
  const auto k = static_cast<std::uint64_t>(values);
  const auto make = [&]() -> Result<RandomizedResponse> {
    if (truth) return RandomizedResponse::with_truth(*truth, k);
    if (keep) return RandomizedResponse::with_keep(*keep, k);
    DISCREET_TRY(const auto epsilon, epsilon_of(o));
    return RandomizedResponse::make(epsilon, k);
  };
  DISCREET_TRY(const auto mechanism, make());
  DISCREET_TRY(const auto value, parse_integer(o.value, "value"));
  if (value < 0 || value >= values)
    return invalid_parameter(fmt::format("value must be one of the answers 0 to {}", values - 1));
  const auto answer = static_cast<std::uint64_t>(value);
  return Prepared{
      [=](RandomSource& random) { return fmt::format("{}", mechanism.release(answer, random)); },
      mechanism.error_bound(kConfidence, reports), mechanism.loss(), pure(mechanism.epsilon())};
}

int release(const Result<Prepared>& prepared, const Options& o, const char* error_of) {
  if (!prepared) return fail(prepared.error());
  const auto count = parse_integer(o.count, "count");
  if (!count) return fail(count.error());
  if (*count < 1 || *count > 100'000'000)
    return fail(invalid_parameter("count must be between 1 and 100,000,000"));
  SecureRandom random;
  // Every release costs again: the line on stderr says what all of them cost together.
  for (std::int64_t i = 0; i < *count; ++i) {
    const std::string value = prepared->draw(random);
    if (!o.json) {
      std::printf("%s\n", value.c_str());
      continue;
    }
    nlohmann::ordered_json out;
    out["value"] = nlohmann::ordered_json::parse(value);
    out["error95"] = prepared->error95;
    out["loss"] = to_json(prepared->loss);
    std::printf("%s\n", out.dump().c_str());
  }
  std::fprintf(stderr, "%s at 95 %%: +-%g", error_of, prepared->error95);
  if (prepared->cost.epsilon.value() > 0) {
    const auto total = static_cast<std::uint64_t>(*count) * prepared->cost.epsilon;
    std::fprintf(stderr, "; cost: epsilon %g", total.value());
    if (prepared->cost.delta.value() > 0)
      std::fprintf(stderr, ", delta %g",
                   static_cast<double>(*count) * prepared->cost.delta.value());
  } else {
    std::fprintf(stderr, "; cost: %s", to_json(prepared->loss).dump().c_str());
  }
  std::fprintf(stderr, *count == 1 ? "\n" : " for %lld releases\n", static_cast<long long>(*count));
  return kOk;
}

CLI::App* add_mechanism(CLI::App* verb, const std::string& name, const std::string& summary,
                        const std::string& example, const std::shared_ptr<Options>& o) {
  CLI::App* mechanism = add_verb(*verb, name, summary, example);
  mechanism->add_option("--epsilon", o->epsilon, "Privacy loss of one release")->type_name("E");
  mechanism->add_option("--value", o->value, "The exact answer")->required()->type_name("X");
  mechanism->add_option("--count", o->count, "How many releases; each costs again")
      ->type_name("N")
      ->capture_default_str();
  mechanism->add_flag("--json", o->json, "One JSON object a release: value, error95, loss");
  return mechanism;
}

}  // namespace

void add_noise(CLI::App& app, Action& chosen) {
  CLI::App* verb =
      add_verb(app, "noise", "Release a number with exact noise, its error bar and its cost",
               "  discreet noise laplace --epsilon 0.1 --sensitivity 1 --value 1000");
  verb->require_subcommand(1);
  auto o = std::make_shared<Options>();
  const auto with_sensitivity = [&](CLI::App* mechanism, const char* norm) {
    mechanism
        ->add_option("--sensitivity", o->sensitivity,
                     std::string("How far one person can move the answer, ") + norm)
        ->type_name("S")
        ->capture_default_str();
  };

  CLI::App* m =
      add_mechanism(verb, "laplace", "Discrete Laplace: a whole number, or a fraction on a grid",
                    "  discreet noise laplace --epsilon 0.1 --sensitivity 1 --value 1000\n"
                    "  discreet noise laplace --error 10 --value 1000          (the least epsilon "
                    "for +-10 at 95 %)\n"
                    "  discreet noise laplace --epsilon 1 --value 36.6 --grid 0.01",
                    o);
  with_sensitivity(m, "L1");
  m->add_option("--error", o->error, "Instead of --epsilon: the error wanted at 95 %")
      ->type_name("X");
  m->add_option("--grid", o->grid, "Release multiples of this step")->type_name("STEP");
  m->callback([&chosen, o] { chosen = [o] { return release(laplace(*o), *o, "error"); }; });

  m = add_mechanism(
      verb, "gaussian", "Discrete Gaussian: (epsilon, delta) or zCDP",
      "  discreet noise gaussian --epsilon 0.5 --delta 1e-6 --sensitivity 1 --value 1000\n"
      "  discreet noise gaussian --rho 0.1 --value 1000",
      o);
  with_sensitivity(m, "L2");
  m->add_option("--delta", o->delta, "Probability that the bound fails")->type_name("D");
  m->add_option("--rho", o->rho, "Instead of --epsilon and --delta: zCDP")->type_name("RHO");
  m->add_option("--grid", o->grid, "Release multiples of this step")->type_name("STEP");
  m->callback([&chosen, o] { chosen = [o] { return release(gaussian(*o), *o, "error"); }; });

  m = add_mechanism(verb, "staircase", "Staircase: the least error for one number at large epsilon",
                    "  discreet noise staircase --epsilon 4 --sensitivity 100 --value 1000", o);
  with_sensitivity(m, "L1");
  m->callback([&chosen, o] { chosen = [o] { return release(staircase(*o), *o, "error"); }; });

  m = add_mechanism(
      verb, "bounded-laplace", "Discrete Laplace whose releases stay within a range",
      "  discreet noise bounded-laplace --epsilon 1 --value 3 --lower 0 --upper 10 --how truncated",
      o);
  with_sensitivity(m, "L1");
  m->add_option("--lower", o->lower, "Least release")->required()->type_name("X");
  m->add_option("--upper", o->upper, "Largest release")->required()->type_name("X");
  m->add_option("--how", o->bounded, "clamped, folded or truncated")
      ->check(CLI::IsMember({"clamped", "folded", "truncated"}))
      ->capture_default_str();
  m->callback([&chosen, o] { chosen = [o] { return release(bounded_laplace(*o), *o, "error"); }; });

  m = add_mechanism(verb, "randomized-response",
                    "Answer truthfully with some chance, else at random",
                    "  discreet noise randomized-response --epsilon 1 --value 1\n"
                    "  discreet noise randomized-response --truth 0.75 --value 1    (tell the "
                    "truth with chance 0.75)\n"
                    "  discreet noise randomized-response --keep 0.5 --value 1      (keep with "
                    "chance 0.5, else a fair coin)",
                    o);
  m->add_option("--values", o->values, "Number of possible answers, 0 to K-1")
      ->type_name("K")
      ->capture_default_str();
  m->add_option("--truth", o->truth, "Instead of --epsilon: chance of the true answer")
      ->type_name("P");
  m->add_option("--keep", o->keep, "Instead of --epsilon: chance to keep, else uniform")
      ->type_name("Q");
  m->callback([&chosen, o] {
    chosen = [o] {
      const auto count = parse_integer(o->count, "count");
      const std::uint64_t reports = count && *count > 0 ? static_cast<std::uint64_t>(*count) : 1;
      return release(randomized_response(*o, reports), *o,
                     "error of a count estimated from these reports");
    };
  });
}

}  // namespace discreet::cli
