// Statistics of rows: quantiles, extremes, means and variances, pairs of columns, histograms.
//
// Real values become whole numbers of steps row by row, by a function of the row alone, so one row
// more or less stays one row more or less; from then on everything is the integers of mechanisms/.
#include <algorithm>
#include <cmath>

#include "bindings/glue.h"
#include "mechanisms/bivariate.h"
#include "mechanisms/extreme.h"
#include "mechanisms/knorm.h"
#include "mechanisms/moments.h"
#include "mechanisms/quantiles.h"
#include "mechanisms/tree.h"

namespace discreet::python {
namespace {

/// The nearest step, moved into the range; what is not a number counts as zero.
std::int64_t step_of(double row, double inverse, IntegerRange range) {
  const double steps = std::floor(row * inverse + 0.5);
  if (std::isnan(steps)) return range.clamp(0);
  if (steps <= static_cast<double>(range.lower)) return range.lower;
  if (steps >= static_cast<double>(range.upper)) return range.upper;
  return static_cast<std::int64_t>(steps);
}

void check_step(double step, IntegerRange range) {
  if (!(std::isfinite(step) && step > 0))
    throw Failure(invalid_parameter("step must be positive and finite"));
  value(check_range(range));
}

void steps_of(const Input<double>& rows, double step, std::int64_t lower, std::int64_t upper,
              const Output<std::int64_t>& out) {
  if (rows.size() != out.size())
    throw Failure(invalid_parameter("out must have as many entries as the values"));
  const IntegerRange range{lower, upper};
  check_step(step, range);
  const Unlocked unlocked;
  const double inverse = 1 / step;
  for (std::size_t i = 0; i < rows.size(); ++i)
    out.data()[i] = step_of(rows.data()[i], inverse, range);
}

/// Ascending, and within the range. Where the range is not much larger than the rows are many, by
/// counting: mechanisms that sort then find it done.
void sort_steps(std::span<std::int64_t> steps, IntegerRange range) {
  if (range.size() > 4 * steps.size() + 1024) return std::sort(steps.begin(), steps.end());
  std::vector<std::uint32_t> counts(range.size());
  for (const std::int64_t step : steps) ++counts[static_cast<std::size_t>(step - range.lower)];
  std::size_t at = 0;
  for (std::size_t i = 0; i < counts.size(); ++i)
    for (std::uint32_t n = counts[i]; n > 0; --n)
      steps[at++] = range.lower + static_cast<std::int64_t>(i);
}

void sorted_steps(const Input<double>& rows, double step, std::int64_t lower, std::int64_t upper,
                  const Output<std::int64_t>& out) {
  steps_of(rows, step, lower, upper, out);
  const Unlocked unlocked;
  sort_steps(span_of(out), {lower, upper});
}

/// Which of the bins [edges[i], edges[i + 1]) a row is in; the last one is closed. Rows outside,
/// and what is not a number, are left out.
void tally(const Input<double>& rows, const Input<double>& edges,
           const Output<std::int64_t>& counts) {
  const auto ends = span_of(edges);
  if (ends.size() < 2 || counts.size() != ends.size() - 1)
    throw Failure(invalid_parameter("a histogram of n bins has n + 1 edges"));
  for (std::size_t i = 0; i + 1 < ends.size(); ++i)
    if (!(ends[i] < ends[i + 1]) || !std::isfinite(ends[i]) || !std::isfinite(ends[i + 1]))
      throw Failure(invalid_parameter("edges must be finite and rise strictly"));
  const Unlocked unlocked;
  std::int64_t* const out = counts.data();
  std::fill_n(out, counts.size(), 0);
  const double low = ends.front(), high = ends.back();
  const double bins = static_cast<double>(counts.size());
  const double per_unit = bins / (high - low);
  for (const double row : span_of(rows)) {
    if (!(row >= low && row <= high)) continue;
    // A guess as if the edges were even, then the right bin by comparison.
    auto bin = static_cast<std::size_t>(std::min((row - low) * per_unit, bins - 1));
    while (bin > 0 && row < ends[bin]) --bin;
    while (bin + 1 < counts.size() && row >= ends[bin + 1]) ++bin;
    ++out[bin];
  }
}

void tally_whole(const Input<std::int64_t>& rows, std::int64_t first,
                 const Output<std::int64_t>& counts) {
  const Unlocked unlocked;
  std::fill_n(counts.data(), counts.size(), 0);
  for (const std::int64_t row : span_of(rows)) {
    const std::uint64_t place = static_cast<std::uint64_t>(row) - static_cast<std::uint64_t>(first);
    if (row >= first && place < counts.size()) ++counts.data()[place];
  }
}

void bind_quantiles(nb::module_& m) {
  nb::class_<Quantile>(m, "Quantile")
      .def("__init__",
           [](Quantile* self, double epsilon, double q, std::int64_t lower, std::int64_t upper) {
             new (self) Quantile(value(Quantile::make(epsilon_of(epsilon), q, {lower, upper})));
           })
      .def(
          "release",
          [](const Quantile& self, const Input<std::int64_t>& rows) {
            const Unlocked unlocked;
            return self.release(span_of(rows), noise());
          },
          nb::arg("rows").noconvert())
      .def("loss", &Quantile::loss)
      .def("rank_error_bound", &Quantile::rank_error_bound, "confidence"_a);
  nb::class_<Quantiles>(m, "Quantiles")
      .def("__init__",
           [](Quantiles* self, double epsilon, std::vector<double> quantiles, std::int64_t lower,
              std::int64_t upper) {
             new (self) Quantiles(
                 value(Quantiles::make(epsilon_of(epsilon), std::move(quantiles), {lower, upper})));
           })
      .def(
          "release",
          [](const Quantiles& self, const Input<std::int64_t>& rows) {
            const Unlocked unlocked;
            return self.release(span_of(rows), noise());
          },
          nb::arg("rows").noconvert())
      .def("loss", &Quantiles::loss)
      .def("rank_error_bound", &Quantiles::rank_error_bound, "confidence"_a);
  nb::class_<Extreme>(m, "Extreme")
      .def("__init__",
           [](Extreme* self, double epsilon, bool maximum, std::int64_t lower, std::int64_t upper,
              double caution) {
             new (self) Extreme(value(Extreme::make(
                 epsilon_of(epsilon), maximum ? ExtremeSide::Maximum : ExtremeSide::Minimum,
                 {lower, upper}, caution)));
           })
      .def(
          "release",
          [](const Extreme& self, const Input<std::int64_t>& rows) {
            const Unlocked unlocked;
            return self.release(span_of(rows), noise());
          },
          nb::arg("rows").noconvert())
      .def("loss", &Extreme::loss)
      .def("rows_beyond_bound", &Extreme::rows_beyond_bound, "confidence"_a);
}

struct Sums {
  Int128 plain = 0, squares = 0;
};

/// Clamped rows are below 2^40, so 2^20 of them fit 64 bits; their squares are summed in 128.
Sums sums_of(std::span<const std::int64_t> rows, IntegerRange range, bool with_squares) {
  Sums sums;
  constexpr std::size_t kBlock = std::size_t{1} << 20;
  for (std::size_t at = 0; at < rows.size(); at += kBlock) {
    const auto block = rows.subspan(at, std::min(kBlock, rows.size() - at));
    std::int64_t plain = 0;
    for (const std::int64_t row : block) plain += range.clamp(row);
    sums.plain += plain;
    if (with_squares)
      for (const std::int64_t row : block) {
        const Int128 clamped = range.clamp(row);
        sums.squares += clamped * clamped;
      }
  }
  return sums;
}

/// The same of real rows, in one pass: steps are whole numbers in doubles, and a block of them adds
/// up exactly. Adding and taking away 1.5 times 2^52 rounds to the nearest one.
Sums sums_of_real(std::span<const double> rows, double inverse, IntegerRange range) {
  constexpr double kRound = 0x1.8p52;
  constexpr std::size_t kBlock = 1024;  // of numbers up to 2^40: exact below 2^53
  const auto low = static_cast<double>(range.lower), high = static_cast<double>(range.upper);
  Sums sums;
  for (std::size_t at = 0; at < rows.size(); at += kBlock) {
    const auto block = rows.subspan(at, std::min(kBlock, rows.size() - at));
    double even = 0, odd = 0;
    for (std::size_t i = 0; i < block.size(); ++i) {
      const double row =
          block[i] == block[i] ? block[i] * inverse : 0;  // what is no number is zero
      const double inside = row < low ? low : row > high ? high : row;
      (i % 2 == 0 ? even : odd) += (inside + kRound) - kRound;
    }
    sums.plain += static_cast<Int128>(even) + static_cast<Int128>(odd);
  }
  return sums;
}

std::vector<Int128> features_of(const KNorm& mechanism, std::span<const std::int64_t> rows) {
  const MomentColumn& column = mechanism.columns()[0];
  constexpr std::int64_t kBoundMax = std::int64_t{1} << 40;
  if (mechanism.exact_grid() && column.range.lower >= -kBoundMax &&
      column.range.upper <= kBoundMax) {
    const Sums sums = sums_of(rows, column.range, column.with_variance);
    return value(
        mechanism.from_sums(rows.size(), std::span(&sums.plain, 1), std::span(&sums.squares, 1)));
  }
  std::vector<Int128> features(mechanism.features());
  for (const std::int64_t row : rows) {
    const std::int64_t clamped = column.range.clamp(row);
    mechanism.add_row(std::span(&clamped, 1), features);
  }
  return features;
}

using Pair = std::pair<double, double>;  // an estimate and its standard error
Pair pair_of(const Estimate& e) {
  return {e.value, e.standard_error};
}

/// Count, sum, mean (and variance, deviation) from exact features.
std::vector<Pair> release_moments(const KNorm& mechanism, const std::vector<Int128>& features,
                                  bool sample) {
  const auto noisy = mechanism.release(features, noise());
  const MomentEstimates estimates(mechanism, noisy);
  std::vector<Pair> out{pair_of(estimates.count()), pair_of(estimates.sum(0)),
                        pair_of(estimates.mean(0))};
  if (mechanism.columns()[0].with_variance) {
    const Divisor by = sample ? Divisor::Sample : Divisor::Population;
    out.push_back(pair_of(estimates.variance(0, by)));
    out.push_back(pair_of(estimates.deviation(0, by)));
  }
  return out;
}

/// Where sums alone are enough: no variance, an exact grid, bounds of at most 2^40 steps.
bool takes_real_sums(const KNorm& mechanism) {
  constexpr std::int64_t kBoundMax = std::int64_t{1} << 40;
  const MomentColumn& column = mechanism.columns()[0];
  return mechanism.exact_grid() && !column.with_variance && column.range.lower >= -kBoundMax &&
         column.range.upper <= kBoundMax;
}

void bind_moments(nb::module_& m) {
  nb::class_<KNorm>(m, "Moments")
      .def("__init__",
           [](KNorm* self, double epsilon, std::int64_t lower, std::int64_t upper, bool variance) {
             new (self)
                 KNorm(value(KNorm::make(epsilon_of(epsilon), {{{lower, upper}, variance}})));
           })
      .def(
          "release",
          [](const KNorm& self, const Input<std::int64_t>& rows, bool sample) {
            const Unlocked unlocked;
            return release_moments(self, features_of(self, span_of(rows)), sample);
          },
          nb::arg("rows").noconvert(), "sample"_a,
          "count, sum, mean (and variance, deviation), each with its standard error")
      .def("takes_real_sums", takes_real_sums)
      .def(
          "release_real",
          [](const KNorm& self, const Input<double>& rows, double step) {
            const IntegerRange range = self.columns()[0].range;
            check_step(step, range);
            if (!takes_real_sums(self))
              throw Failure(invalid_parameter("rows of steps are needed"));
            const Unlocked unlocked;
            const Sums sums = sums_of_real(span_of(rows), 1 / step, range);
            const auto features = value(self.from_sums(rows.size(), std::span(&sums.plain, 1),
                                                       std::span(&sums.squares, 1)));
            return release_moments(self, features, true);
          },
          nb::arg("rows").noconvert(), "step"_a)
      .def("planned_mean_error",
           [](const KNorm& self, double rows, double mean) {
             return planned_mean_error(self, 0, rows, mean);
           })
      .def("loss", &KNorm::loss);
  nb::class_<Bivariate>(m, "Bivariate")
      .def("__init__",
           [](Bivariate* self, double epsilon, std::int64_t lower1, std::int64_t upper1,
              std::int64_t lower2, std::int64_t upper2, bool correlation) {
             new (self) Bivariate(value(Bivariate::make(
                 epsilon_of(epsilon), {lower1, upper1}, {lower2, upper2},
                 correlation ? BivariateDegree::Correlation : BivariateDegree::Covariance)));
           })
      .def(
          "release",
          [](const Bivariate& self, const Input<std::int64_t>& first,
             const Input<std::int64_t>& second, bool correlation) {
            if (first.size() != second.size())
              throw Failure(invalid_parameter("both columns must have as many rows"));
            const Unlocked unlocked;
            std::vector<std::int64_t> cells(self.cells());
            for (std::size_t i = 0; i < first.size(); ++i)
              self.add_row(first.data()[i], second.data()[i], cells);
            const BivariateRelease release = self.release(cells, noise());
            return std::vector<Pair>{pair_of(release.count()),
                                     correlation ? pair_of(release.correlation())
                                                 : pair_of(release.covariance(Divisor::Sample))};
          },
          nb::arg("first").noconvert(), nb::arg("second").noconvert(), "correlation"_a)
      .def("loss", &Bivariate::loss);
}

void bind_tree(nb::module_& m) {
  nb::class_<TreeRelease>(m, "TreeRelease")
      .def("range",
           [](const TreeRelease& self, std::uint64_t first, std::uint64_t last) {
             const RangeAnswer answer = self.range({first, last});
             return std::pair(answer.value, answer.variance);
           })
      .def("total", &TreeRelease::total)
      .def("leaves",
           [](const TreeRelease& self) {
             return std::vector<double>(self.leaves().begin(), self.leaves().end());
           })
      .def("cumulative", &TreeRelease::monotone_cdf)
      .def("quantile", &TreeRelease::quantile);
  nb::class_<Tree>(m, "Tree")
      .def_static("laplace",
                  [](double epsilon, std::uint64_t leaves, std::uint64_t branching) {
                    return value(Tree::laplace(epsilon_of(epsilon), leaves, branching));
                  })
      .def_static("gaussian",
                  [](double rho, std::uint64_t leaves, std::uint64_t branching) {
                    return value(Tree::gaussian(value(Rho::make(rho)), leaves, branching));
                  })
      .def(
          "release",
          [](const Tree& self, const Input<std::int64_t>& counts) {
            if (counts.size() != self.leaves())
              throw Failure(invalid_parameter("there must be one count for each leaf"));
            const Unlocked unlocked;
            return self.release(span_of(counts), noise());
          },
          nb::arg("counts").noconvert())
      .def("loss", &Tree::loss)
      .def("range_error_bound", [](const Tree& self, std::uint64_t first, std::uint64_t last,
                                   double confidence) {
        if (first > last || last >= self.leaves())
          throw Failure(invalid_parameter("a range lies within the leaves, first before last"));
        return self.range_error_bound({first, last}, confidence);
      });
}

}  // namespace

void bind_rows(nb::module_& m) {
  m.def("steps_of", steps_of, nb::arg("rows").noconvert(), "step"_a, "lower"_a, "upper"_a,
        nb::arg("out").noconvert());
  m.def("sorted_steps", sorted_steps, nb::arg("rows").noconvert(), "step"_a, "lower"_a, "upper"_a,
        nb::arg("out").noconvert());
  m.def("tally", tally, nb::arg("rows").noconvert(), nb::arg("edges").noconvert(),
        nb::arg("counts").noconvert());
  m.def("tally_whole", tally_whole, nb::arg("rows").noconvert(), "first"_a,
        nb::arg("counts").noconvert());
  bind_quantiles(m);
  bind_moments(m);
  bind_tree(m);
}

}  // namespace discreet::python
