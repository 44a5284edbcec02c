// `discreet learn`: models trained with privacy, and what they predict.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/parse_number.h"
#include "cli/synth_io.h"
#include "cli/synth_policy.h"
#include "cli/verb.h"
#include "learn/evaluate.h"
#include "learn/onnx.h"
#include "learn/trainer.h"
#include "random/secure_random.h"

namespace discreet::cli {
namespace {

using nlohmann::ordered_json;

constexpr double kDefaultDelta = 1e-6, kDefaultDeltaOfPolicy = 1e-9;

struct FitArguments {
  std::string method, data, target, domain, epsilon, delta, out, at_least, columns, policy, as,
      rules = "conjunctions";
  std::size_t clusters = 5, components = 2, threads = 1;
  std::uint32_t hidden = 16;
  bool fast = false;
  double rows = 0, runs = 5;
  bool dry_run = false, json = false;
};

// Rules are chosen with pure privacy; everything else needs a delta, a small one where a ledger
// pays.
Result<ApproxDp> parse_budget(const FitArguments& arguments, learn::Method method) {
  DISCREET_TRY(const double epsilon, parse_number(arguments.epsilon, "--epsilon"));
  double delta = arguments.policy.empty() ? kDefaultDelta : kDefaultDeltaOfPolicy;
  if (!arguments.delta.empty()) {
    DISCREET_TRY(delta, parse_number(arguments.delta, "--delta"));
  }
  if (!(epsilon > 0)) return invalid_parameter("--epsilon must be positive");
  if (!(delta > 0 && delta < 1)) return invalid_parameter("--delta must lie between 0 and 1");
  DISCREET_TRY(const Epsilon e, Epsilon::make(epsilon));
  DISCREET_TRY(const Delta d, Delta::make(method == learn::Method::Rules ? 0 : delta));
  return ApproxDp{e, d};
}

// The columns to use: those named, or all; the target stays.
Result<std::vector<synth::ColumnSpec>> choose_columns(std::vector<synth::ColumnSpec> specs,
                                                      const FitArguments& arguments) {
  if (arguments.columns.empty()) return specs;
  std::vector<std::string> wanted;
  for (std::size_t from = 0; from <= arguments.columns.size();) {
    const std::size_t to = std::min(arguments.columns.find(',', from), arguments.columns.size());
    wanted.push_back(arguments.columns.substr(from, to - from));
    from = to + 1;
  }
  for (const auto& name : wanted)
    if (std::none_of(specs.begin(), specs.end(), [&](const auto& s) { return s.name == name; }))
      return Error{ErrorCode::NotFound, fmt::format("the domain has no column \"{}\"", name)};
  std::erase_if(specs, [&](const auto& spec) {
    return spec.name != arguments.target &&
           std::find(wanted.begin(), wanted.end(), spec.name) == wanted.end();
  });
  return specs;
}

Result<learn::FitRequest> make_request(const FitArguments& arguments,
                                       std::vector<synth::ColumnSpec> specs) {
  DISCREET_TRY(const learn::Method method, learn::parse_method(arguments.method));
  DISCREET_TRY(const ApproxDp budget, parse_budget(arguments, method));
  DISCREET_TRY(specs, choose_columns(std::move(specs), arguments));
  learn::FitRequest request{.method = method,
                            .specs = std::move(specs),
                            .target = arguments.target,
                            .at_least = std::nullopt,
                            .budget = budget,
                            .clusters = arguments.clusters,
                            .components = arguments.components};
  request.hidden = arguments.hidden;
  request.fast = arguments.fast;
  request.threads = arguments.threads;
  request.mean_runs = arguments.runs;
  DISCREET_TRY(request.rules, learn::parse_rule_class(arguments.rules));
  if (!arguments.at_least.empty()) {
    DISCREET_TRY(request.at_least, parse_number(arguments.at_least, "--at-least"));
  }
  return request;
}

// Before training: the price, and about what privacy takes away.
Result<void> say_forecast(const learn::FitRequest& request, double rows, std::FILE* out) {
  const std::vector<double> sizes =
      rows > 0 ? std::vector<double>{rows} : std::vector<double>{1e3, 1e4, 1e5, 1e6};
  DISCREET_TRY(const learn::Forecast forecast, learn::forecast(request, sizes));
  fmt::print(out, "price: {}\nexpected loss of {}:", forecast.price, forecast.measure);
  for (const auto& at : forecast.at)
    fmt::print(out, "{} about {:.2g} at {:g} rows", &at == forecast.at.data() ? "" : ",", at.loss,
               at.rows);
  fmt::print(out, "\n");
  return {};
}

ordered_json forecast_json(const learn::FitRequest& request, const learn::Forecast& forecast) {
  ordered_json at = ordered_json::array();
  for (const auto& entry : forecast.at) at.push_back({{"rows", entry.rows}, {"loss", entry.loss}});
  return {{"method", learn::name_of(request.method)},
          {"epsilon", request.budget.epsilon.value()},
          {"delta", request.budget.delta.value()},
          {"mu", forecast.mu},
          {"measure", forecast.measure},
          {"expected_loss", at}};
}

Result<std::vector<synth::ColumnSpec>> read_domain(const FitArguments& arguments) {
  if (arguments.domain.empty())
    return invalid_parameter(
        "say what the columns may hold: --domain FILE with {\"column\": number of values, ...}, or "
        "--policy. Finding it in the rows would give people away");
  DISCREET_TRY(const std::string text, read_text_file(arguments.domain));
  return synth::parse_specs(text);
}

struct Trained {
  std::string json;
  bool repeated = false;
  std::string left;
  std::vector<std::string> notes;
  double cpu_seconds = 0;  // of training alone, without reading and writing
};

Result<Trained> fit_file(const FitArguments& arguments) {
  DISCREET_TRY(auto specs, read_domain(arguments));
  DISCREET_TRY(const learn::FitRequest request, make_request(arguments, std::move(specs)));
  DISCREET_TRY_VOID(say_forecast(request, arguments.rows, stderr));
  DISCREET_TRY(const auto raw, read_raw_table(arguments.data));
  SecureRandom random;
  const std::clock_t before = std::clock();
  DISCREET_TRY(const learn::Model model, learn::fit(request, raw, random));
  const double taken = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
  return Trained{learn::to_json(model), false, "", model.notes, taken};
}

// Texts that only the rows know cannot be learned from; they are left out, with a note.
std::vector<synth::ColumnSpec> usable(const std::vector<synth::ColumnSpec>& specs,
                                      std::vector<std::string>& notes) {
  std::vector<synth::ColumnSpec> kept;
  for (const auto& spec : specs) {
    if (std::holds_alternative<synth::KeyColumn>(spec.kind))
      notes.push_back(
          fmt::format("column {} is left out: the policy names no values for it", spec.name));
    else
      kept.push_back(spec);
  }
  return kept;
}

std::string job_text(const FitArguments& arguments) {
  return fmt::format(
      "{} target={} at_least={} columns={} clusters={} components={} rules={} hidden={} runs={}{}",
      arguments.method, arguments.target, arguments.at_least, arguments.columns, arguments.clusters,
      arguments.components, arguments.rules, arguments.hidden, arguments.runs,
      arguments.fast ? " fast" : "");
}

// The model travels through the ledger as a table of one cell.
Result<Trained> fit_under_policy(const FitArguments& arguments) {
  DISCREET_TRY(const learn::Method method, learn::parse_method(arguments.method));
  DISCREET_TRY(const ApproxDp budget, parse_budget(arguments, method));
  const auto check = [&](const std::vector<synth::ColumnSpec>& specs) -> Result<void> {
    std::vector<std::string> notes;
    DISCREET_TRY(const auto request, make_request(arguments, usable(specs, notes)));
    return say_forecast(request, arguments.rows, stderr);
  };
  const auto make = [&](const synth::RawTable& raw,
                        const std::vector<synth::ColumnSpec>& specs) -> Result<PolicyTwin> {
    PolicyTwin made;
    DISCREET_TRY(const auto request, make_request(arguments, usable(specs, made.notes)));
    SecureRandom random;
    DISCREET_TRY(const learn::Model model, learn::fit(request, raw, random));
    made.notes.insert(made.notes.end(), model.notes.begin(), model.notes.end());
    synth::RawColumnBuilder cell("model");
    cell.add(learn::to_json(model));
    synth::RawTable table;
    table.columns.push_back(cell.take());
    made.tables.push_back(std::move(table));
    return made;
  };
  DISCREET_TRY(const PolicyTwin made,
               twin_under_policy({arguments.policy, arguments.data, arguments.as, budget,
                                  job_text(arguments), "learn"},
                                 check, make));
  const auto& texts = made.tables.front().columns.front().texts;
  DISCREET_CHECK(texts.size() == 1, "a recorded model is one text");
  return Trained{texts.front(), made.repeated, made.left, made.notes, 0};
}

Result<void> dry_run(const FitArguments& arguments) {
  DISCREET_TRY(auto specs, read_domain(arguments));
  DISCREET_TRY(const learn::FitRequest request, make_request(arguments, std::move(specs)));
  if (!arguments.json) return say_forecast(request, arguments.rows, stdout);
  const std::vector<double> sizes = arguments.rows > 0 ? std::vector<double>{arguments.rows}
                                                       : std::vector<double>{1e3, 1e4, 1e5, 1e6};
  DISCREET_TRY(const learn::Forecast forecast, learn::forecast(request, sizes));
  fmt::print("{}\n", forecast_json(request, forecast).dump());
  return {};
}

int run_fit(const FitArguments& arguments) {
  const auto start = std::chrono::steady_clock::now();
  if (arguments.dry_run) {
    const auto said = dry_run(arguments);
    return said ? kOk : fail(said.error());
  }
  if (arguments.out.empty())
    return fail(invalid_parameter("--out FILE says where the model goes (or --dry-run)"));
  const auto trained = arguments.policy.empty() ? fit_file(arguments) : fit_under_policy(arguments);
  if (!trained) return fail(trained.error());
  if (const auto written = write_text_file(arguments.out, trained->json); !written)
    return fail(written.error());
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  for (const std::string& note : trained->notes) fmt::print(stderr, "{}\n", note);
  fmt::print(stderr, "wrote {}{}, in {:.2f} s\n", arguments.out,
             trained->repeated ? " (paid before: nothing)" : "", taken.count());
  if (!trained->left.empty()) fmt::print(stderr, "{}\n", trained->left);
  if (arguments.json) {
    ordered_json json = {{"out", arguments.out},
                         {"repeated", trained->repeated},
                         {"notes", trained->notes},
                         {"seconds", taken.count()}};
    if (arguments.policy.empty()) json["training_cpu_seconds"] = trained->cpu_seconds;
    fmt::print("{}\n", json.dump());
  }
  return kOk;
}

struct PredictArguments {
  std::string model, data, epsilon;
  bool json = false, header = false;
};

Result<learn::Model> load_model(const std::string& path) {
  DISCREET_TRY(const std::string text, read_text_file(path));
  return learn::model_from_json(text);
}

Result<std::vector<learn::Prediction>> predictions_of(const PredictArguments& arguments) {
  DISCREET_TRY(const learn::Model model, load_model(arguments.model));
  DISCREET_TRY(const auto raw, read_raw_table(arguments.data));
  return learn::predict(model, raw);
}

int run_predict(const PredictArguments& arguments) {
  const auto predictions = predictions_of(arguments);
  if (!predictions) return fail(predictions.error());
  std::string out;
  if (arguments.header && !arguments.json) out += "prediction,score\n";
  for (const auto& prediction : *predictions) {
    if (arguments.json) {
      out += ordered_json{{"prediction", prediction.value}, {"scores", prediction.scores}}.dump();
    } else {
      out += prediction.value;
      for (const double score : prediction.scores) out += fmt::format(",{:.6g}", score);
    }
    out += '\n';
  }
  std::fwrite(out.data(), 1, out.size(), stdout);
  return kOk;
}

Result<learn::Evaluation> evaluation_of(const PredictArguments& arguments) {
  DISCREET_TRY(const learn::Model model, load_model(arguments.model));
  DISCREET_TRY(const auto raw, read_raw_table(arguments.data));
  if (arguments.epsilon.empty()) return learn::evaluate(model, raw);
  DISCREET_TRY(const double value, parse_number(arguments.epsilon, "--epsilon"));
  DISCREET_TRY(const Epsilon epsilon, Epsilon::make(value));
  SecureRandom random;
  return learn::evaluate_privately(model, raw, epsilon, random);
}

int run_score(const PredictArguments& arguments) {
  const auto evaluation = evaluation_of(arguments);
  if (!evaluation) return fail(evaluation.error());
  if (!evaluation->is_private)
    std::fputs("note: scores read labels without noise; they are NOT private (see --epsilon)\n",
               stderr);
  if (arguments.json) {
    ordered_json json = {{"private", evaluation->is_private}};
    for (const auto& [name, value] : evaluation->values) json[name] = value;
    fmt::print("{}\n", json.dump());
    return kOk;
  }
  for (const auto& [name, value] : evaluation->values) fmt::print("{:<20} {:.5f}\n", name, value);
  return kOk;
}

struct ExportArguments {
  std::string model, out;
};

int run_export(const ExportArguments& arguments) {
  const auto model = load_model(arguments.model);
  if (!model) return fail(model.error());
  if (const auto written = write_text_file(arguments.out, learn::to_onnx(*model)); !written)
    return fail(written.error());
  fmt::print(stderr, "wrote {}\n", arguments.out);
  return kOk;
}

void add_export(CLI::App* parent, Action& chosen) {
  CLI::App* verb = add_verb(*parent, "export", "A model as ONNX, for other programs",
                            "  discreet learn export model.json --out model.onnx");
  auto a = std::make_shared<ExportArguments>();
  verb->add_option("model", a->model, "A model from fit")->required();
  verb->add_option("--out", a->out, "The ONNX file")->type_name("FILE")->required();
  verb->callback([&chosen, a] { chosen = [a] { return run_export(*a); }; });
}

void add_fit(CLI::App* parent, Action& chosen) {
  CLI::App* verb = add_verb(*parent, "fit", "Train a model with privacy",
                            "  discreet learn fit logistic adult.csv --target 'income>50K' "
                            "--domain adult-domain.json --epsilon 1 --out model.json");
  auto a = std::make_shared<FitArguments>();
  verb->add_option("model", a->method,
                   "logistic (the best classifier), naive-bayes, trees, network, "
                   "logistic-sgd, logistic-ftrl, logistic-objective, auto (chooses privately), "
                   "rules (a PAC learner), "
                   "linear, kmeans, pca")
      ->required();
  verb->add_option("data", a->data, "The table: a CSV or Parquet file, or a policy's table")
      ->required();
  verb->add_option("--target", a->target, "The column to predict");
  verb->add_option("--at-least", a->at_least, "Predict whether the target reaches this number");
  verb->add_option("--columns", a->columns, "Learn from these columns only: a,b,c");
  verb->add_option("--domain", a->domain, "What the columns may hold, as JSON")->type_name("FILE");
  verb->add_option("--epsilon", a->epsilon, "Privacy loss of the whole model")->required();
  verb->add_option("--delta", a->delta,
                   "Chance that the loss is larger (default 1e-6, 1e-9 with a policy)");
  verb->add_option("--out", a->out, "The model, as JSON")->type_name("FILE");
  verb->add_option("--clusters", a->clusters, "Of kmeans")->capture_default_str();
  verb->add_option("--components", a->components, "Of pca")->capture_default_str();
  verb->add_option("--hidden", a->hidden, "Hidden units of a network")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  verb->add_flag("--fast", a->fast,
                 "Of logistic and trees: quicker training, a little less accuracy");
  verb->add_option("--runs", a->runs, "Expected number of runs of auto; their choice is paid for")
      ->capture_default_str();
  verb->add_option("--threads", a->threads, "Of a network; the model does not depend on it")
      ->capture_default_str();
  verb->add_option("--rules", a->rules, "thresholds, stumps, conjunctions or lists")
      ->capture_default_str();
  verb->add_option("--rows", a->rows, "About how many rows, for the forecast only; no secret");
  verb->add_flag("--dry-run", a->dry_run, "Say the price and the expected loss, train nothing");
  verb->add_option("--policy", a->policy, "Take a policy's table, and charge its ledger")
      ->type_name("FILE");
  verb->add_option("--as", a->as, "Who pays, under a policy");
  verb->add_flag("--json", a->json, "One JSON object about the training on stdout");
  verb->callback([&chosen, a] { chosen = [a] { return run_fit(*a); }; });
}

}  // namespace

void add_learn(CLI::App& app, Action& chosen) {
  CLI::App* verb = add_verb(app, "learn", "Models trained with privacy",
                            "  discreet learn fit logistic adult.csv --target 'income>50K' "
                            "--domain adult-domain.json --epsilon 1 --out model.json\n"
                            "  discreet learn predict model.json new.csv");
  verb->require_subcommand(1);
  add_fit(verb, chosen);
  add_export(verb, chosen);

  CLI::App* predict =
      add_verb(*verb, "predict", "One prediction a line, with its score where there is one",
               "  discreet learn predict model.json new.csv");
  auto p = std::make_shared<PredictArguments>();
  predict->add_option("model", p->model, "A model from fit")->required();
  predict->add_option("data", p->data, "A CSV or Parquet file with the model's columns")
      ->required();
  predict->add_flag("--header", p->header, "Begin with a line of names");
  predict->add_flag("--json", p->json, "One JSON object a line");
  predict->callback([&chosen, p] { chosen = [p] { return run_predict(*p); }; });

  CLI::App* score = add_verb(*verb, "score", "How good a model is on labelled rows",
                             "  discreet learn score model.json labelled.csv\n"
                             "  discreet learn score model.json private.csv --epsilon 0.1");
  auto s = std::make_shared<PredictArguments>();
  score->add_option("model", s->model, "A model from fit")->required();
  score->add_option("data", s->data, "Rows with the target")->required();
  score->add_option("--epsilon", s->epsilon,
                    "Score with noise: the answer is private for the rows scored on");
  score->add_flag("--json", s->json, "One JSON object");
  score->callback([&chosen, s] { chosen = [s] { return run_score(*s); }; });
}

}  // namespace discreet::cli
