// Relaxed Adaptive Projection (Aydore et al. 2021), the lecture's method: queries are cells of
// marginals, the data set is relaxed to n' rows of probabilities, and in each of T rounds the K
// queries with the largest error are chosen with noise, measured with Gaussian noise, and the
// relaxed rows are moved by Adam until their answers fit everything measured so far. T = 1 is the
// form that is not adaptive: everything is measured, nothing is chosen.
//
// Guarantee: (epsilon, delta)-DP when one row is added or removed; fresh noise in every round, and
//            what was measured is not measured again.
// Proof:     docs/proofs/synth_selection.md
// Note:      a US patent (11,487,765) describes this method; see docs/synthetic.md.
#pragma once

#include "privacy/parameters.h"
#include "synth/fit.h"

namespace discreet::synth {

enum class Relaxation {
  Softmax,    ///< parameters are logits
  Sparsemax,  ///< parameters are projected to the simplex after each step
};

struct RapSettings {
  /// 0: chosen by rap_plan, which looks at the budget only.
  std::uint32_t rounds = 0;
  std::uint32_t queries_per_round = 0;
  Relaxation relaxation = Relaxation::Softmax;
  std::uint32_t relaxed_rows = 1000;
  std::uint32_t steps = 250;   ///< of Adam, per round
  double one_way_share = 0.1;  ///< of the budget, for one-way marginals and the number of rows
  std::uint64_t proposals = 5'000'000;
  /// The published Algorithm 2 to the letter, for comparison: the number of rows is public and
  /// neighbours replace one row; no one-way marginals; rho from epsilon = rho + 2 sqrt(rho
  /// ln(1/delta)); T = 1 gives each of the m cells rho/m, T > 1 gives each choice and each
  /// measurement rho/(2TK).
  bool as_printed = false;
};

/// The rho of the printed conversion: epsilon = rho + 2 sqrt(rho ln(1/delta)), rounded down a
/// little.
double printed_rho(ApproxDp target);

/// Rounds and queries per round for a budget. Measuring a whole marginal costs no more than
/// measuring one of its cells, so the rule is one round of everything; `adaptive` asks for more.
struct RapPlan {
  std::uint32_t rounds, queries_per_round;
};
RapPlan rap_plan(double rho, bool adaptive);

Result<Twin> fit_rap(const CodedTable& table, const Workload& workload, ApproxDp target,
                     const RapSettings& settings, const FitContext& context);

}  // namespace discreet::synth
