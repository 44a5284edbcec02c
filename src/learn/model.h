// A trained model: how columns are coded, what was learned, and what it cost. Everything in it is
// public; predicting from it costs nothing more.
//
// The file's format is docs/formats/model.md. Reading one checks every index and number, so that a
// file from elsewhere cannot make prediction go astray.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "learn/boosted_trees.h"
#include "learn/coding.h"
#include "learn/kmeans.h"
#include "learn/network.h"
#include "learn/pac.h"
#include "learn/regression.h"

namespace discreet::learn {

struct Model {
  std::string method;
  Coding coding;
  std::variant<AdditiveModel, TreesModel, NetworkModel, RulesModel, LinearModel, ComponentsModel,
               ClustersModel>
      fitted;
  ApproxDp paid;
  double rows_estimate = 0;
  bool majority = false;
  std::vector<std::string> notes;
};

/// One row's answer: a class, number or cluster as text; for classes the chance of the second of
/// two (or of the class given, for more); for clusters the distance; for components their
/// coordinates.
struct Prediction {
  std::string value;
  std::vector<double> scores;
};

/// NotFound: a column the model needs is not in the table. The target need not be there.
Result<std::vector<Prediction>> predict(const Model& model, const synth::RawTable& raw);

std::string to_json(const Model& model);
/// InvalidInput: not a model, or one whose parts do not fit together.
Result<Model> model_from_json(const std::string& text);

}  // namespace discreet::learn
