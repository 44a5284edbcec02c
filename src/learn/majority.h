// Does a model do better than always saying the most common class? Asked with noise, so that the
// answer can be published, and acted upon: a model that loses is damped until it says the most
// common class for every row. Its ranking of rows stays.
//
// Guarantee: one release of a GaussianBudget: one row moves the number of rows that only one of the
//            two gets right by at most one; giving up early, one number of rows of one class.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "learn/class_tables.h"

namespace discreet::learn {

struct TrainingNotes {
  double rows = 0;                 ///< estimate
  std::vector<std::string> notes;  ///< for people: settings chosen from noisy counts
  double gain = 0;                 ///< rows it gets right beyond the majority's, noisy
  bool majority = false;           ///< the model does no better than the most common class
};

std::uint32_t most_common_class(const ClassTables& tables);

/// The share of mu^2 that a comparison should have: `least` where rows are many, up to a tenth
/// where a smaller one would be off by more than a few percent of the rows.
double check_share_for(double rows, double mu, double least);

/// The model has to win by more than the noise. `rows_min` is the estimated number of rows below
/// which noise wins whatever the count says.
Result<void> compare_with_majority(std::span<const std::uint32_t> predicted,
                                   std::span<const std::uint16_t> labels, const ClassTables& tables,
                                   double rows_min, double share, GaussianBudget& budget,
                                   RandomSource& random, TrainingNotes& notes);

/// Below `rows_min` noise wins: then, instead of training on, the share goes to the numbers of rows
/// of the classes, so that at least the most common one is known well. Whether it gave up.
Result<bool> give_up_early(std::span<const std::uint16_t> labels, double rows_min, double share,
                           GaussianBudget& budget, RandomSource& random, ClassTables& tables,
                           TrainingNotes& notes);

/// A prior on the most common class's side, and by what to scale the rest so that no row crosses
/// over: reach[y] is how far scores can move in favour of class y against the most common one.
struct Damping {
  std::vector<double> prior;
  double scale = 1;
};
Damping damp(const ClassTables& tables, std::span<const double> reach);

/// The most that weights laid out [position * outputs + output] favour class y, for each y.
std::vector<double> reach_of(std::span<const double> weights, std::uint32_t classes,
                             std::uint32_t majority);

}  // namespace discreet::learn
