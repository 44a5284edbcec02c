// A small neural network on binned columns, by DP-SGD: hidden units beside a linear part that
// begins as half of naive Bayes. Without hidden units it is logistic regression by DP-SGD.
//
// Guarantee: class tables, Poisson-sampled steps of plan_sgd(), one comparison (majority.h):
// (epsilon, delta)-DP, rows
//            private. A row's gradient is the outer product of its one-hot bins with what flows
//            back to the linear outputs and hidden units, so its norm is known without forming it
//            ("ghost norm": Goodfellow 2015; Li, Tramer, Liang and Hashimoto 2022), and clipped.
// Proof:     docs/proofs/learning_releases.md
#pragma once

#include <cstdint>
#include <vector>

#include "learn/additive.h"
#include "learn/dp_sgd.h"

namespace discreet::learn {

struct NetworkModel {
  AdditiveModel linear;
  std::uint32_t hidden = 0;
  std::vector<std::vector<double>> inputs;  ///< of column c at [bin * hidden + unit]
  std::vector<double> outputs_of_hidden;    ///< [unit * outputs + output]

  std::uint32_t outputs() const { return linear.outputs(); }
  void score(const CodedRows& rows, std::size_t row, std::span<double> scores) const;
};

struct NetworkSettings {
  std::uint32_t hidden = 16;
  double table_share = 0.3;
  double check_share = 0;   ///< for the comparison with the most common class; 0: by the budget
  double rate = 0;          ///< of sampling; 0: by the budget
  std::uint64_t steps = 0;  ///< 0: by the budget
  double clip = 0.6;        ///< times the root of the number of columns
  double start = 0.5;
  double curvature = 0.4;
  double damping = 2;
  double bins = 1.5;
  double rows_min = 13;  ///< times root(columns) / mu: with fewer rows it gives up
  std::size_t threads = 1;
  bool leave_out_clipping = false;  ///< a broken twin for tests; never set by a trainer
};

struct TrainedNetwork {
  NetworkModel model;
  TrainingNotes notes;
  SgdPlan plan;
};

Result<TrainedNetwork> train_network(const CodedRows& rows, const Coding& coding, ApproxDp target,
                                     RandomSource& random, const NetworkSettings& settings = {});

}  // namespace discreet::learn
