#include "learn/evaluate.h"

#include <cmath>

#include "learn/metrics.h"
#include "mechanisms/discrete_laplace.h"

namespace discreet::learn {
namespace {

struct Scored {
  std::vector<std::uint32_t> predicted;
  std::vector<double> scores;
  std::vector<std::uint16_t> labels;
};

template <class Classifier>
Result<Scored> score_rows(const Model& model, const Classifier& classifier,
                          const synth::RawTable& raw) {
  DISCREET_TRY(CodedRows rows, code_rows(model.coding, raw, WithTarget::Yes));
  Scored scored;
  std::vector<double> scores(classifier.outputs());
  for (std::size_t row = 0; row < rows.rows; ++row) {
    classifier.score(rows, row, scores);
    scored.predicted.push_back(class_of(scores));
    scored.scores.push_back(scores.back());
  }
  scored.labels = std::move(rows.labels);
  return scored;
}

Result<Evaluation> evaluate_classes(const Scored& scored, std::uint32_t classes) {
  Evaluation evaluation;
  evaluation.values.emplace_back("accuracy", accuracy(scored.predicted, scored.labels));
  if (classes == 2)
    evaluation.values.emplace_back("auc", area_under_curve(scored.scores, scored.labels));
  return evaluation;
}

Result<Evaluation> evaluate_numbers(const Model& model, const LinearModel& linear,
                                    const synth::RawTable& raw) {
  DISCREET_TRY(const NumericRows rows, number_rows(model.coding, raw, WithTarget::Yes));
  std::vector<double> predicted;
  for (std::size_t row = 0; row < rows.rows; ++row) predicted.push_back(linear.predict(rows, row));
  return Evaluation{false, {{"r2", r_squared(predicted, rows.columns.back())}}};
}

Result<Evaluation> evaluate_numbers(const Model& model, const ClustersModel& clusters,
                                    const synth::RawTable& raw) {
  DISCREET_TRY(const NumericRows rows, number_rows(model.coding, raw, WithTarget::No));
  double inertia = 0;
  for (std::size_t row = 0; row < rows.rows; ++row) {
    double squared = 0;
    clusters.nearest(rows, row, &squared);
    inertia += squared;
  }
  // In ranges scaled to [0, 1], as is customary; ours are twice as wide.
  const double n = std::fmax(1, static_cast<double>(rows.rows));
  return Evaluation{false, {{"inertia_per_row", inertia / n / 4}}};
}

Result<Evaluation> evaluate_numbers(const Model& model, const ComponentsModel& components,
                                    const synth::RawTable& raw) {
  DISCREET_TRY(const NumericRows rows, number_rows(model.coding, raw, WithTarget::No));
  const double n = std::fmax(1, static_cast<double>(rows.rows));
  double total = 0, explained = 0;
  const auto variance = [&](const auto& value) {
    double sum = 0, squares = 0;
    for (std::size_t row = 0; row < rows.rows; ++row) {
      const double x = value(row);
      sum += x;
      squares += x * x;
    }
    return squares / n - sum / n * (sum / n);
  };
  for (const auto& column : rows.columns)
    total += variance([&](std::size_t row) { return column[row]; });
  for (const auto& component : components.components)
    explained += variance([&](std::size_t row) {
      double along = 0;
      for (std::size_t c = 0; c < component.size(); ++c)
        along += component[c] * rows.columns[c][row];
      return along;
    });
  return Evaluation{false, {{"explained", total > 0 ? explained / total : 0}}};
}

}  // namespace

Result<Evaluation> evaluate(const Model& model, const synth::RawTable& raw) {
  return std::visit(
      [&](const auto& fitted) -> Result<Evaluation> {
        if constexpr (requires { fitted.outputs(); }) {
          DISCREET_TRY(const Scored scored, score_rows(model, fitted, raw));
          return evaluate_classes(scored, model.coding.classes());
        } else {
          return evaluate_numbers(model, fitted, raw);
        }
      },
      model.fitted);
}

Result<Evaluation> evaluate_privately(const Model& model, const synth::RawTable& raw,
                                      Epsilon epsilon, RandomSource& random) {
  return std::visit(
      [&](const auto& fitted) -> Result<Evaluation> {
        if constexpr (requires { fitted.outputs(); }) {
          // A row is right or wrong: it moves one of the two counts by one.
          DISCREET_TRY(const auto noise, DiscreteLaplace::make(epsilon, L1Sensitivity{1}));
          DISCREET_TRY(const Scored scored, score_rows(model, fitted, raw));
          std::int64_t counts[2] = {0, 0};
          for (std::size_t row = 0; row < scored.labels.size(); ++row)
            ++counts[scored.predicted[row] == scored.labels[row] ? 1 : 0];
          const double wrong = std::fmax(0, static_cast<double>(noise.release(counts[0], random)));
          const double right = std::fmax(0, static_cast<double>(noise.release(counts[1], random)));
          const double rows = std::fmax(1, right + wrong);
          return Evaluation{
              true,
              {{"accuracy", right / rows},
               {"accuracy_error_95", std::fmin(1, 2 * noise.error_bound(0.975) / rows)},
               {"rows", rows}}};
        } else {
          return Error{ErrorCode::Refused, "only classifiers can be scored privately so far"};
        }
      },
      model.fitted);
}

}  // namespace discreet::learn
