// The relaxed data set of RAP: rows of probabilities, moved by Adam towards measured answers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "synth/dice.h"
#include "synth/mixture.h"
#include "synth/rap.h"

namespace discreet::synth {

/// One measured cell: the count of rows with these values.
struct MeasuredCell {
  Clique attributes;
  std::vector<std::uint16_t> values;
  double count = 0;
  double sigma = 1;
};

class RelaxedRows {
 public:
  /// Rows start near `chances` (per attribute and value), with a random tilt.
  RelaxedRows(const Domain& domain, double rows, std::uint32_t relaxed_rows, Relaxation relaxation,
              const std::vector<std::vector<double>>& chances, Dice& dice);

  /// `steps` of Adam on sum (answer - count)^2 / (2 sigma^2). Adam starts afresh.
  void project(std::span<const MeasuredCell> cells, std::uint32_t steps, double rate,
               Workers& workers);

  Mixture mixture() const { return Mixture::from(domain_, rows_, relaxed_rows_, p_); }

 private:
  void refresh(std::size_t attribute);

  Domain domain_;
  double rows_;
  std::uint32_t relaxed_rows_;
  std::size_t lanes_;
  Relaxation relaxation_;
  std::vector<FloatBuffer> parameters_, p_, log_p_, first_, second_, gradient_;
};

}  // namespace discreet::synth
