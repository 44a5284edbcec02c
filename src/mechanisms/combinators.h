// What releases cost together: groups, disjoint parts, and functions of what was released.
//
// Group:           a guarantee for one unit, seen by k units at once (Dwork and Roth 2014,
// Theorem 2.2). Parallel:        one release on each of several disjoint parts costs as much as the
// dearest part
//                  (McSherry 2009, Theorem 4), because one unit is in one part only.
// Post-processing: a function of a release costs nothing more (Dwork and Roth 2014,
// Proposition 2.1).
//
// Assumes: parts are made by split_disjoint, or otherwise by a function of each row alone, with all
// rows
//          of a unit in one part; functions of releases see nothing but the release.
// Proof:   docs/proofs/combinators.md
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "privacy/group.h"
#include "privacy/loss_event.h"
#include "privacy/neighbours.h"
#include "random/random_source.h"

namespace discreet {

/// The event as `size` units together see it. InvalidParameter: no units.
Result<LossEvent> group_loss(LossEvent event, std::uint64_t size);

/// What one unit's guarantee must be so that `size` units together have `wanted`: the inverse of
/// group_privacy, rounded down. InvalidParameter: no units, or nothing left after sharing.
Result<ApproxDp> share_for_group(ApproxDp wanted, std::uint64_t size);

/// All of these on the same data, one after another, each chosen freely after the ones before.
LossEvent sequential_loss(std::vector<LossEvent> events);

/// One of these on each of several disjoint parts. Under ReplaceOne a unit may move from one part
/// to another and be missed in one and met in the other, so two parts count. InvalidParameter: no
/// parts.
Result<LossEvent> parallel_loss(std::vector<LossEvent> parts, Neighbours relation);

/// Rows split by a function of the row alone, so that every row is in one part at most: the one
/// whose index `part_of(row)` gives, or none when that is not below `parts`.
template <class Row, class PartOf>
std::vector<std::vector<Row>> split_disjoint(std::span<const Row> rows, std::size_t parts,
                                             const PartOf& part_of) {
  std::vector<std::vector<Row>> split(parts);
  for (const Row& row : rows) {
    const std::size_t part = part_of(row);
    if (part < parts) split[part].push_back(row);
  }
  return split;
}

/// A mechanism followed by a function of its release. The function never sees what went in, and the
/// cost is the mechanism's own.
template <class Mechanism, class Function>
class PostProcessed {
 public:
  PostProcessed(Mechanism mechanism, Function function)
      : mechanism_(std::move(mechanism)), function_(std::move(function)) {}

  template <class Input>
  auto release(const Input& exact, RandomSource& random) const {
    return function_(mechanism_.release(exact, random));
  }

  LossEvent loss() const { return mechanism_.loss(); }
  const Mechanism& mechanism() const { return mechanism_; }

 private:
  Mechanism mechanism_;
  Function function_;
};

}  // namespace discreet
