// A self-contained page about a twin: what was promised, what it looks like, and, only where the
// owner compares it with the real table, how far off it is.
//
// Without `real` everything on the page is post-processing of the twin and its noisy counts, so the
// page is as public as the twin. With `real` it holds exact errors and says so in red.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "synth/fit.h"
#include "synth/workload.h"

namespace discreet::synth {

struct ReportInput {
  std::string title{};
  double epsilon = 0, delta = 0;  ///< zero where only a comparison is wanted
  std::string unit = "row";       ///< who is protected
  std::vector<std::string> notes{};
  const CodedTable* twin = nullptr;
  const CodedTable* real = nullptr;                      ///< may be absent
  const std::vector<NoisyMarginal>* one_ways = nullptr;  ///< for intervals; may be absent
  const Workload* workload = nullptr;
  std::optional<std::uint32_t>
      label{};  ///< the column a classifier predicts; the last one if absent
};

std::string report_html(const ReportInput& input, Workers& workers);

/// Cramer's V of every pair of attributes, row-major: 0 for independence, 1 for dependence.
std::vector<double> association(const CodedTable& table, Workers& workers);

/// The share of rows of `test` whose label a naive Bayes classifier trained on `train` gets right.
double naive_bayes_accuracy(const CodedTable& train, const CodedTable& test, std::uint32_t label);

}  // namespace discreet::synth
