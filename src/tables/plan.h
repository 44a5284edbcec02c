// Which noise answers a set of marginals best, and how good each answer will be.
//
// Every subset B of attributes (and, for ranges and hierarchies, every choice of parts of them) is
// measured once, as the coefficients of the table in the product of the attributes' bases that
// belong to no smaller subset. With c_B the weighted squared length of the questions on that space
// and p_B the most a record moves there, the weighted sum of variances is least at
//   sigma_B^2 = (sum over B of sqrt(c_B p_B)) / (2 rho) * sqrt(p_B / c_B),
// where it is (sum of sqrt(c_B p_B))^2 / (2 rho). For marginals this is the optimum over all
// Gaussian mechanisms (Xiao, He, Zhang and Kifer 2023, ResidualPlanner); for ranges it is the best
// noise for each level of a balanced binary tree, which covers trees of any power of two as
// branching. Where cells differ in how much they move a space (uneven trees) the noise is scaled so
// that the cell that moves most pays rho.
//
// Nothing here sees data. Every error is known before anything is paid.
//
// Guarantee: what TableNoise draws for a plan is rho-zCDP for one record more or fewer.
// Proof:     docs/proofs/residual_tables.md
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "privacy/loss_event.h"
#include "tables/axis.h"

namespace discreet::tables {

/// Positions of attributes, ascending, without repeats; empty for the total.
using Attributes = std::vector<std::uint32_t>;

/// A marginal somebody wants, and what is asked of each of its attributes.
struct Marginal {
  Attributes attributes;
  std::vector<Questions> questions = {};   ///< empty: every cell
  std::vector<std::uint32_t> levels = {};  ///< for Questions::Level; may be empty otherwise
  double weight = 1;                       ///< of the variance of each single answer

  friend bool operator==(const Marginal&, const Marginal&) = default;
};

enum class Weighting {
  Marginals,  ///< every marginal counts the same: weight 1 / cells
  Cells,      ///< every cell of every marginal counts the same
};

/// One space of coefficients and its noise.
struct Space {
  Attributes attributes;             ///< B
  std::vector<std::uint32_t> parts;  ///< of each attribute; at least 1
  double weight = 0;                 ///< c_B
  double load = 1;                   ///< p_B, on average over cells
  double sigma2 = 0;                 ///< variance of an orthonormal coefficient
  std::uint64_t coefficients = 1;
};

class Plan {
 public:
  static constexpr std::uint64_t kCellsMax = std::uint64_t{1} << 28;  ///< of one marginal
  static constexpr std::size_t kSpacesMax = 2'000'000;

  /// InvalidParameter: rho not positive; no marginals; positions out of order or range; a weight
  /// that is not positive; more than kCellsMax cells; numbers that would not fit 64 bits.
  static Result<Plan> make(std::vector<Axis> axes, std::vector<Marginal> marginals, Rho rho);

  std::span<const Axis> axes() const { return axes_; }
  std::span<const Marginal> marginals() const { return marginals_; }
  std::span<const Space> spaces() const { return spaces_; }
  /// The space of these parts of these attributes, if it is measured.
  const Space* find(std::span<const std::uint32_t> attributes,
                    std::span<const std::uint32_t> parts) const;
  std::size_t index(const Space& space) const {
    return static_cast<std::size_t>(&space - spaces_.data());
  }

  /// What all of it costs for one record more or fewer, rounded up; at most what was asked for.
  Rho rho() const { return rho_; }
  LossEvent loss() const { return loss::Zcdp{rho_}; }

  std::uint64_t cells(const Attributes& attributes) const;
  /// How many answers the marginal has.
  double answers(const Marginal& marginal) const;
  /// The mean variance of the marginal's answers. For cells every answer has this variance.
  double variance(const Marginal& marginal) const;
  /// The variance of each of the marginal's answers, the last attribute varying fastest. For
  /// questions about cells and levels.
  std::vector<double> variances(const Marginal& marginal) const;
  /// The variance of the count of records whose attributes lie in these ranges [begin, end).
  struct Range {
    std::uint32_t begin, end;
  };
  double variance(const Attributes& attributes, std::span<const Range> box) const;
  /// The weighted sum of variances that the plan minimises.
  double objective() const;
  /// Root mean square over marginals of their standard deviation, and over all answers.
  double error_over_marginals() const;
  double error_over_answers() const;

 private:
  Plan(std::vector<Axis> axes, std::vector<Marginal> marginals)
      : axes_(std::move(axes)), marginals_(std::move(marginals)) {}
  Result<void> check() const;
  Result<void> gather();
  Result<void> calibrate(Rho rho);
  void shape(bool by_mean);
  double worst_cost() const;
  Result<void> check_fits() const;
  template <class Visit>
  void each_space(const Attributes& attributes, const Visit& visit) const;

  std::vector<Axis> axes_;
  std::vector<Marginal> marginals_;
  std::vector<Space> spaces_;
  std::unordered_map<std::string, std::uint32_t> index_;
  Rho rho_ = Rho::zero();
};

/// All marginals of 1 .. `ways` attributes of these axes (the total too when `with_total`).
std::vector<Marginal> all_marginals(std::span<const Axis> axes, std::uint32_t ways,
                                    Weighting weighting, bool with_total = false);

/// An attribute whose basis the planner may choose.
struct Attribute {
  std::string name;
  std::uint32_t size = 0;
};

/// The plan of least weighted error, where each attribute of which prefixes or ranges are asked is
/// measured by single contrasts or by the levels of a tree, whichever is better.
Result<Plan> best_plan(std::span<const Attribute> attributes, std::vector<Marginal> marginals,
                       Rho rho);

}  // namespace discreet::tables
