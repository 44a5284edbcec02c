#include <fmt/format.h>

#include <cmath>

#include "learn/model.h"

namespace discreet::learn {
namespace {

// The class with its chance; for two classes the chance of the second, whichever is said.
Prediction classify(const Coding& coding, std::span<const double> scores) {
  const std::uint32_t chosen = class_of(scores);
  if (scores.size() == 1)
    return {coding.class_text(coding.classes() == 1 ? 0 : chosen),
            {1 / (1 + std::exp(-scores[0]))}};
  double total = 0;
  for (const double s : scores) total += std::exp(s - scores[chosen]);
  return {coding.class_text(chosen), {1 / total}};
}

template <class Classifier>
Result<std::vector<Prediction>> predict_classes(const Model& model, const Classifier& classifier,
                                                const synth::RawTable& raw) {
  DISCREET_TRY(const CodedRows rows, code_rows(model.coding, raw, WithTarget::No));
  std::vector<Prediction> predictions;
  std::vector<double> scores(classifier.outputs());
  for (std::size_t row = 0; row < rows.rows; ++row) {
    classifier.score(rows, row, scores);
    predictions.push_back(classify(model.coding, scores));
  }
  return predictions;
}

Prediction answer(const Model& model, const LinearModel& linear, const NumericRows& rows,
                  std::size_t row) {
  return {fmt::format("{:.6g}", model.coding.target()->unscaled(linear.predict(rows, row))), {}};
}
Prediction answer(const Model&, const ComponentsModel& components, const NumericRows& rows,
                  std::size_t row) {
  auto projected = components.project(rows, row);
  const double first = projected.front();
  projected.erase(projected.begin());
  return {fmt::format("{:.6g}", first), std::move(projected)};
}
Prediction answer(const Model&, const ClustersModel& clusters, const NumericRows& rows,
                  std::size_t row) {
  double squared = 0;
  const std::size_t k = clusters.nearest(rows, row, &squared);
  return {std::to_string(k), {std::sqrt(squared)}};
}

template <class Fitted>
Result<std::vector<Prediction>> predict_numbers(const Model& model, const Fitted& fitted,
                                                const synth::RawTable& raw) {
  DISCREET_TRY(const NumericRows rows, number_rows(model.coding, raw, WithTarget::No));
  std::vector<Prediction> predictions;
  for (std::size_t row = 0; row < rows.rows; ++row)
    predictions.push_back(answer(model, fitted, rows, row));
  return predictions;
}

}  // namespace

Result<std::vector<Prediction>> predict(const Model& model, const synth::RawTable& raw) {
  return std::visit(
      [&](const auto& fitted) -> Result<std::vector<Prediction>> {
        if constexpr (requires { fitted.outputs(); })
          return predict_classes(model, fitted, raw);
        else
          return predict_numbers(model, fitted, raw);
      },
      model.fitted);
}

}  // namespace discreet::learn
