// One attribute of a table as an orthogonal basis of whole numbers.
//
// The values 0 .. size - 1 are the leaves of a binary tree. A node whose left side has a leaves and
// whose right side has b is a contrast: +b/g on the left, -a/g on the right, g = gcd(a, b). With
// the row of ones the size - 1 contrasts are an orthogonal basis (an unbalanced Haar basis). All
// entries are integers, so coefficients of integer counts are integers and take integer noise.
//
// Contrasts are gathered in parts that share one noise level; part 0 is the row of ones:
//   cells      one part: any orthonormal basis would do, the contrasts are measured alike
//   ranges     a part for each depth: coarse contrasts matter more to ranges and prefixes
//   hierarchy  a part for each declared level (state > county > tract > block)
// A balanced tree has few distinct norms, so few samplers serve many coefficients.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace discreet::tables {

/// What is asked of one attribute within a marginal.
enum class Questions {
  Total,     ///< summed over all values: the attribute is not in the marginal
  Cells,     ///< every value
  Prefixes,  ///< 0 .. t for every t
  Ranges,    ///< s .. t for every s <= t
  Level,     ///< every node of one declared level of a hierarchy
};

/// Immutable once made.
class Axis {
 public:
  struct Contrast {
    std::uint32_t begin, middle, end;
    std::int64_t left, right;  ///< entries: +left on [begin, middle), -right on [middle, end)
    std::uint64_t norm2;       ///< sum of squares of the row
    std::uint32_t part;
  };

  static constexpr std::uint32_t kSizeMax = 65'536;

  /// InvalidParameter: no values, or more than kSizeMax.
  static Result<Axis> cells(std::string name, std::uint32_t size);
  static Result<Axis> ranges(std::string name, std::uint32_t size);
  /// `levels` from the coarsest to the finest but one: for each, the leaf at which each of its
  /// nodes begins, ascending from 0; a finer level begins wherever a coarser one does. The finest
  /// level is the values themselves. InvalidParameter: anything else.
  static Result<Axis> hierarchy(std::string name, std::uint32_t size,
                                std::vector<std::vector<std::uint32_t>> levels);

  const std::string& name() const { return name_; }
  std::uint32_t size() const { return size_; }
  /// Parts 1 .. parts() - 1 are contrasts.
  std::uint32_t parts() const { return parts_; }
  /// Coefficient k + 1 is contrast k. Sorted by part.
  std::span<const Contrast> contrasts() const { return contrasts_; }
  /// Contrasts of a part are [first, last) of contrasts().
  struct Slice {
    std::uint32_t first, last;
  };
  Slice slice(std::uint32_t part) const { return slices_[part]; }

  /// How much one record moves the orthonormal coefficients of a part, squared and summed: on
  /// average over the values. 1 for part 0, which is measured as the plain total.
  double mean_load(std::uint32_t part) const;
  /// The loads of all parts for a value, rounded up; a profile for each kind of value. Values of
  /// one side of an uneven split move a part more than the other, and other parts less.
  std::span<const std::vector<double>> profiles() const { return profiles_; }
  /// At most `count` profiles such that each value's is below one of them in every part.
  std::vector<std::vector<double>> profiles_at_most(std::size_t count) const;
  /// Sum over the questions of the squared length of their projection on a part; for part 0 in
  /// units of the plain total. `level` is for Questions::Level only.
  double weight(Questions questions, std::uint32_t part, std::uint32_t level = 0) const;
  /// How many questions there are.
  double count(Questions questions, std::uint32_t level = 0) const;
  /// The squared length of the projection of one range of values [begin, end) on a part.
  double projection(std::uint32_t begin, std::uint32_t end, std::uint32_t part) const;
  std::span<const std::vector<std::uint32_t>> levels() const { return levels_; }

  /// Counts to coefficients in place, modulo 2^64 (wrapping is linear, so neighbours stay as near
  /// as they were). `scratch` has room for 2 * size() + 1.
  void analyse(std::span<std::uint64_t> values, std::span<std::uint64_t> scratch) const;
  /// Coefficients, already divided by the rows' squared lengths (the total by size()), to values.
  void synthesise(std::span<double> values, std::span<double> scratch) const;
  /// To coefficients of the orthonormal basis; synthesise_unit is its inverse and adjoint.
  void analyse_unit(std::span<double> values, std::span<double> scratch) const;
  void synthesise_unit(std::span<double> values, std::span<double> scratch) const;

 private:
  Axis(std::string name, std::uint32_t size) : name_(std::move(name)), size_(size) {}
  void split(std::uint32_t begin, std::uint32_t end, std::uint32_t depth, bool by_depth);
  void split_children(std::span<const std::uint32_t> starts, std::uint32_t part);
  void add(std::uint32_t begin, std::uint32_t middle, std::uint32_t end, std::uint32_t part);
  void finish();
  double projected(const Contrast& contrast, std::uint32_t begin, std::uint32_t end) const;

  std::string name_;
  std::uint32_t size_;
  std::uint32_t parts_ = 1;
  std::vector<Contrast> contrasts_;
  std::vector<Slice> slices_;
  std::vector<std::vector<double>> profiles_;
  std::vector<double> unit_left_, unit_right_;  // entries over the row's length
  std::vector<std::vector<std::uint32_t>> levels_;
};

}  // namespace discreet::tables
