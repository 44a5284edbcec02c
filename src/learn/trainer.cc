#include "learn/trainer.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "learn/ftrl.h"
#include "learn/objective.h"
#include "learn/selection.h"
#include "random/uniform.h"

namespace discreet::learn {
namespace {

constexpr std::uint32_t kClassesMax = 256;

struct Name {
  const char* name;
  Method method;
};
// The first name of a method is the one it is given in models.
constexpr std::array kNames = {Name{"logistic", Method::Logistic},
                               Name{"classifier", Method::Logistic},
                               Name{"additive", Method::Logistic},
                               Name{"naive-bayes", Method::NaiveBayes},
                               Name{"naive_bayes", Method::NaiveBayes},
                               Name{"bayes", Method::NaiveBayes},
                               Name{"nb", Method::NaiveBayes},
                               Name{"trees", Method::Trees},
                               Name{"tree", Method::Trees},
                               Name{"boosted", Method::Trees},
                               Name{"forest", Method::Trees},
                               Name{"gbdt", Method::Trees},
                               Name{"network", Method::Network},
                               Name{"mlp", Method::Network},
                               Name{"neural", Method::Network},
                               Name{"logistic-sgd", Method::LogisticSgd},
                               Name{"sgd", Method::LogisticSgd},
                               Name{"logistic-ftrl", Method::LogisticFtrl},
                               Name{"ftrl", Method::LogisticFtrl},
                               Name{"logistic-objective", Method::LogisticObjective},
                               Name{"objective", Method::LogisticObjective},
                               Name{"auto", Method::Auto},
                               Name{"rules", Method::Rules},
                               Name{"pac", Method::Rules},
                               Name{"linear", Method::Linear},
                               Name{"regression", Method::Linear},
                               Name{"kmeans", Method::KMeans},
                               Name{"k-means", Method::KMeans},
                               Name{"pca", Method::Components}};

bool classifies(Method method) {
  return method != Method::Linear && method != Method::KMeans && method != Method::Components;
}

// Every release is Gaussian, so that the whole is mu-Gaussian-DP; the others have a price in
// epsilon and delta only.
bool gaussian(Method method) {
  switch (method) {
    case Method::Network:
    case Method::LogisticSgd:
    case Method::LogisticObjective:
    case Method::Auto:
    case Method::Rules:
      return false;
    default:
      return true;
  }
}

// The candidates of Auto, public: the forms that win on different kinds of tables.
constexpr std::array kCandidates = {"logistic", "bold logistic", "fine logistic", "naive-bayes",
                                    "trees"};

struct Run {
  std::variant<AdditiveModel, TreesModel> model;
  TrainingNotes notes;
};

Result<Run> run_candidate(std::size_t candidate, const CodedRows& rows, const Coding& coding,
                          GaussianBudget& budget, RandomSource& random) {
  constexpr double kCheck = 0.05;  // the score decides, so it gets more than a guard needs
  LogisticSettings logistic{.check_share = kCheck};
  if (candidate == 1) logistic.clip = 0.9;
  if (candidate == 2) logistic.bins = 3;
  if (candidate == 3) {
    DISCREET_TRY(auto trained,
                 train_naive_bayes(rows, coding, budget, random, {.check_share = kCheck}));
    return Run{std::move(trained.model), std::move(trained.notes)};
  }
  if (candidate == 4) {
    DISCREET_TRY(auto trained, train_trees(rows, coding, budget, random, {.check_share = kCheck}));
    return Run{std::move(trained.model), std::move(trained.notes)};
  }
  DISCREET_TRY(auto trained, train_logistic(rows, coding, budget, random, logistic));
  return Run{std::move(trained.model), std::move(trained.notes)};
}

// Best of a random number of runs with settings drawn at random (selection.h).
Result<void> fit_best(const FitRequest& request, const CodedRows& rows, Model& model,
                      RandomSource& random) {
  DISCREET_TRY(const auto stopping, RandomStopping::make(request.budget, request.mean_runs));
  const std::uint64_t runs = stopping.draw_runs(random);
  std::optional<Run> best;
  std::size_t chosen = 0;
  for (std::uint64_t i = 0; i < runs; ++i) {
    const auto candidate = static_cast<std::size_t>(uniform_below(kCandidates.size(), random));
    DISCREET_TRY(auto budget, GaussianBudget::of_mu(stopping.run_mu(), request.budget));
    DISCREET_TRY(auto run, run_candidate(candidate, rows, model.coding, budget, random));
    if (best && best->notes.gain >= run.notes.gain) continue;
    best = std::move(run);
    chosen = candidate;
  }
  model.rows_estimate = best->notes.rows;
  model.majority = best->notes.majority;
  model.notes = std::move(best->notes.notes);
  model.notes.push_back(fmt::format(
      "{}: the best of a random number of runs, {:g} expected; each spent mu {:.4g}, and choosing "
      "the rest",
      kCandidates[chosen], request.mean_runs, stopping.run_mu()));
  if (auto* additive = std::get_if<AdditiveModel>(&best->model))
    model.fitted = std::move(*additive);
  else
    model.fitted = std::move(std::get<TreesModel>(best->model));
  return {};
}

Result<Model> fit_rules(const FitRequest& request, Coding coding, const synth::RawTable& raw,
                        RandomSource& random) {
  DISCREET_TRY(const CodedRows rows, code_rows(coding, raw, WithTarget::Yes));
  DISCREET_TRY(auto rules, enumerate_rules(request.rules, coding));
  DISCREET_TRY(const ChosenRule chosen, choose_rule(rows, rules, request.budget.epsilon, random));
  RulesModel& rule = rules[chosen.index];
  std::vector<std::string> notes = {
      rule.text(coding),
      fmt::format("one of {} rules; with 95 % confidence the best of them gets at most {:.0f} rows "
                  "more right",
                  chosen.class_size, chosen.error_bound_95)};
  return Model{
      name_of(request.method), std::move(coding), std::move(rule), request.budget, 0, false,
      std::move(notes)};
}

}  // namespace

Result<Method> parse_method(const std::string& name) {
  for (const Name& known : kNames)
    if (name == known.name) return known.method;
  std::string names;
  for (const Name& known : kNames)
    if (known.name == std::string(name_of(known.method)))
      names += (names.empty() ? "" : ", ") + std::string(known.name);
  return invalid_parameter(fmt::format("there is no model \"{}\"; there are {}", name, names));
}

const char* name_of(Method method) {
  for (const Name& known : kNames)
    if (known.method == method) return known.name;
  return "";
}

Result<Coding> check(const FitRequest& request) {
  const bool wants_target = classifies(request.method) || request.method == Method::Linear;
  if (wants_target && request.target.empty())
    return invalid_parameter(
        fmt::format("{} needs --target, the column to predict", name_of(request.method)));
  DISCREET_TRY(Coding coding,
               Coding::make(request.specs, wants_target ? request.target : "",
                            classifies(request.method) ? request.at_least : std::nullopt));
  if (classifies(request.method) && coding.classes() > kClassesMax)
    return Error{ErrorCode::Refused,
                 fmt::format("the target has {} classes; at most {} can be told apart. Ask whether "
                             "it reaches a number (--at-least), or use linear",
                             coding.classes(), kClassesMax)};
  if (request.fast && request.method != Method::Logistic && request.method != Method::Trees)
    return invalid_parameter(
        fmt::format("{} has no fast form; logistic and trees have", name_of(request.method)));
  if (request.method == Method::LogisticObjective && coding.classes() != 2)
    return Error{
        ErrorCode::Refused,
        "objective perturbation is for targets of two classes; use logistic, or --at-least"};
  if (request.method == Method::Linear && !coding.target()->numeric())
    return Error{ErrorCode::Refused, "the target of a regression must be numbers"};
  if (request.method == Method::Rules) {
    if (!(request.budget.epsilon.value() > 0))
      return invalid_parameter("epsilon must be positive to learn anything");
    DISCREET_TRY_VOID(enumerate_rules(request.rules, coding));
  } else {
    DISCREET_TRY_VOID(GaussianBudget::make(request.budget));
  }
  return coding;
}

Result<Forecast> forecast(const FitRequest& request, const std::vector<double>& rows) {
  DISCREET_TRY(const Coding coding, check(request));
  Forecast forecast;
  if (request.method != Method::Rules) {
    DISCREET_TRY(const GaussianBudget budget, GaussianBudget::make(request.budget));
    forecast.mu = budget.mu();
  }
  forecast.price = fmt::format(
      "epsilon {:g}, delta {:g} for one row more or less{}, whatever the rows are; predictions "
      "cost "
      "nothing",
      request.budget.epsilon.value(), request.budget.delta.value(),
      gaussian(request.method) ? fmt::format(" ({:.4g}-Gaussian-DP)", forecast.mu) : "");
  const auto d = static_cast<double>(coding.features().size());
  for (const double n : rows) {
    const double signal = n * forecast.mu;
    double loss = 0;
    switch (request.method) {
      case Method::Logistic:
      case Method::Trees:
      case Method::Network:
      case Method::LogisticSgd:
      case Method::LogisticFtrl:
      case Method::LogisticObjective:
      case Method::Auto:
      case Method::NaiveBayes:
        forecast.measure = "accuracy";
        loss = 5 / (signal / std::sqrt(d) + 25);
        break;
      case Method::Rules: {
        // A theorem for once: what the choice loses against the best rule, with 95 %.
        DISCREET_TRY(const auto rules, enumerate_rules(request.rules, coding));
        forecast.measure = "accuracy against the best rule of the class";
        loss = (std::log(static_cast<double>(rules.size())) + std::log(20)) /
               (request.budget.epsilon.value() * n);
        break;
      }
      case Method::Linear:
        forecast.measure = "R2";
        loss = 0.7 * d / signal;
        break;
      case Method::KMeans:
        forecast.measure = "relative inertia";
        loss = static_cast<double>(request.clusters) * d / signal;
        break;
      case Method::Components:
        forecast.measure = "explained share of variance";
        loss = 0.2 * d / signal;
        break;
    }
    forecast.at.push_back({n, std::fmin(loss, 1)});
  }
  return forecast;
}

Result<Model> fit(const FitRequest& request, const synth::RawTable& raw, RandomSource& random) {
  DISCREET_TRY(Coding coding, check(request));
  if (request.method == Method::Rules) return fit_rules(request, std::move(coding), raw, random);
  DISCREET_TRY(GaussianBudget budget, GaussianBudget::make(request.budget));
  Model model{
      name_of(request.method), std::move(coding), LinearModel{}, request.budget, 0, false, {}};
  const auto keep_notes = [&](TrainingNotes& notes) {
    model.rows_estimate = notes.rows;
    model.majority = notes.majority;
    model.notes = std::move(notes.notes);
  };
  if (classifies(request.method)) {
    DISCREET_TRY(const CodedRows rows, code_rows(model.coding, raw, WithTarget::Yes));
    if (request.method == Method::Auto) {
      DISCREET_TRY_VOID(fit_best(request, rows, model, random));
    } else if (request.method == Method::Network || request.method == Method::LogisticSgd) {
      NetworkSettings settings;
      settings.hidden = request.method == Method::Network ? request.hidden : 0;
      settings.threads = request.threads;
      DISCREET_TRY(auto trained,
                   train_network(rows, model.coding, request.budget, random, settings));
      keep_notes(trained.notes);
      if (settings.hidden == 0)
        model.fitted = std::move(trained.model.linear);
      else
        model.fitted = std::move(trained.model);
    } else if (request.method == Method::Trees) {
      DISCREET_TRY(auto trained,
                   train_trees(rows, model.coding, budget, random,
                               request.fast ? TreesSettings::fast() : TreesSettings{}));
      keep_notes(trained.notes);
      model.fitted = std::move(trained.model);
    } else {
      DISCREET_TRY(auto trained, request.method == Method::Logistic
                                     ? train_logistic(rows, model.coding, budget, random,
                                                      {.steps_max = request.fast ? 4u : 64u})
                                 : request.method == Method::LogisticFtrl
                                     ? train_ftrl(rows, model.coding, budget, random)
                                 : request.method == Method::LogisticObjective
                                     ? train_objective(rows, model.coding, request.budget, random)
                                     : train_naive_bayes(rows, model.coding, budget, random));
      keep_notes(trained.notes);
      model.fitted = std::move(trained.model);
    }
    return model;
  }
  DISCREET_TRY(const NumericRows rows, number_rows(model.coding, raw, WithTarget::Yes));
  if (request.method == Method::Linear) {
    DISCREET_TRY(auto trained, train_linear(rows, budget, random));
    model.rows_estimate = trained.rows;
    model.notes.push_back(
        fmt::format("about {:.0f} rows; rows clipped at {:.3g} from their mean, "
                    "in units of half the declared ranges; ridge {:.3g}",
                    trained.rows, trained.radius, trained.ridge));
    model.fitted = std::move(trained.model);
  } else if (request.method == Method::KMeans) {
    DISCREET_TRY(auto trained, train_clusters(rows, request.clusters, budget, random));
    model.rows_estimate = trained.rows;
    for (std::size_t k = 0; k < trained.sizes.size(); ++k)
      model.notes.push_back(fmt::format("cluster {}: about {:.0f} rows", k, trained.sizes[k]));
    model.fitted = std::move(trained.model);
  } else {
    DISCREET_TRY(auto trained, train_components(rows, request.components, budget, random));
    model.rows_estimate = trained.rows;
    model.notes.push_back(fmt::format("about {:.0f} rows; rows clipped at {:.3g} from their mean",
                                      trained.rows, trained.radius));
    model.fitted = std::move(trained.model);
  }
  return model;
}

}  // namespace discreet::learn
