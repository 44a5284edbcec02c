// Every way to train, by name: what it will cost and about how much it will lose, before a row is
// read; then the model.
//
// Guarantee: fit() is (epsilon, delta)-DP for the request's budget under add/remove of one row; the
//            number of rows stays private. check() and expect() see no rows.
// Proof:     docs/proofs/learning_releases.md
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "learn/model.h"

namespace discreet::learn {

enum class Method {
  Logistic,
  NaiveBayes,
  Trees,
  Network,
  LogisticSgd,
  LogisticFtrl,
  LogisticObjective,
  Auto,
  Rules,
  Linear,
  KMeans,
  Components
};

/// InvalidParameter: unknown, with the names that are known.
Result<Method> parse_method(const std::string& name);
const char* name_of(Method method);

struct FitRequest {
  Method method = Method::Logistic;
  std::vector<synth::ColumnSpec> specs;
  std::string target;
  std::optional<double> at_least;
  ApproxDp budget;
  std::size_t clusters = 5, components = 2;
  RuleClass rules = RuleClass::Conjunctions;
  std::uint32_t hidden = 16;
  double mean_runs = 5;  ///< of Auto
  std::size_t threads = 1;
  bool fast = false;  ///< Logistic and Trees: a fraction of the time, a little less accuracy
};

/// Everything that can be refused without looking at rows.
Result<Coding> check(const FitRequest& request);

/// What privacy is expected to take away, by rules measured on ADULT (docs/learning.md): orders of
/// magnitude, not promises.
struct Expectation {
  double rows = 0;
  double loss = 0;  ///< accuracy, R2, relative inertia or explained share
};
/// In words, for the line before training: what is paid, how noise compares, what is lost.
struct Forecast {
  double mu = 0;
  std::string price;
  std::string measure;  ///< what `loss` is measured in
  std::vector<Expectation> at;
};
Result<Forecast> forecast(const FitRequest& request, const std::vector<double>& rows);

Result<Model> fit(const FitRequest& request, const synth::RawTable& raw, RandomSource& random);

}  // namespace discreet::learn
