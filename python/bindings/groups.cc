// Which groups may be named, who is in a sample, and estimators run on blocks of rows.
#include <nanobind/stl/function.h>

#include "bindings/glue.h"
#include "mechanisms/combinators.h"
#include "mechanisms/nonnegative.h"
#include "mechanisms/partition_threshold.h"
#include "mechanisms/sample_and_aggregate.h"
#include "mechanisms/subsample.h"

namespace discreet::python {
namespace {

PartitionLimits limits_of(std::uint64_t partitions, std::uint64_t units_min) {
  return {.partitions_per_unit_max = partitions, .units_min = units_min};
}

std::uint64_t units_of(std::int64_t units) {
  return units < 0 ? 0 : static_cast<std::uint64_t>(units);
}

/// Noisy counts of the keys that may be shown; the others keep a zero in `kept`.
template <class Mechanism>
void release_keys(const Mechanism& self, const Input<std::int64_t>& units,
                  const Output<std::int64_t>& counts, const Output<std::uint8_t>& kept) {
  check_sizes(units, counts);
  if (kept.size() != units.size())
    throw Failure(invalid_parameter("kept must have as many entries as the keys"));
  const Unlocked unlocked;
  for (std::size_t i = 0; i < units.size(); ++i) {
    const auto released = self.release(units_of(units.data()[i]), noise());
    kept.data()[i] = released.has_value() ? 1 : 0;
    counts.data()[i] = released.value_or(0);
  }
}

void bind_partitions(nb::module_& m) {
  nb::class_<PartitionSelection>(m, "PartitionSelection")
      .def("__init__",
           [](PartitionSelection* self, double epsilon, double delta, std::uint64_t partitions,
              std::uint64_t units_min) {
             new (self) PartitionSelection(value(PartitionSelection::make(
                 target_of(epsilon, delta), limits_of(partitions, units_min))));
           })
      .def(
          "keep",
          [](const PartitionSelection& self, const Input<std::int64_t>& units,
             const Output<std::uint8_t>& kept) {
            if (kept.size() != units.size())
              throw Failure(invalid_parameter("kept must have as many entries as the keys"));
            const Unlocked unlocked;
            for (std::size_t i = 0; i < units.size(); ++i)
              kept.data()[i] = self.keep(units_of(units.data()[i]), noise()) ? 1 : 0;
          },
          nb::arg("units").noconvert(), nb::arg("kept").noconvert())
      .def("keep_probability", &PartitionSelection::keep_probability, "units"_a)
      .def("loss", &PartitionSelection::loss);
  nb::class_<NoisyPartitionSelection>(m, "NoisyPartitionSelection")
      .def("__init__",
           [](NoisyPartitionSelection* self, double epsilon, double delta, std::uint64_t partitions,
              std::uint64_t units_min) {
             new (self) NoisyPartitionSelection(value(NoisyPartitionSelection::make(
                 target_of(epsilon, delta), limits_of(partitions, units_min))));
           })
      .def("release", release_keys<NoisyPartitionSelection>, nb::arg("units").noconvert(),
           nb::arg("counts").noconvert(), nb::arg("kept").noconvert())
      .def("keep_probability", &NoisyPartitionSelection::keep_probability, "units"_a)
      .def("error_bound", &NoisyPartitionSelection::error_bound, "confidence"_a)
      .def("loss", &NoisyPartitionSelection::loss);
}

void bind_samples(nb::module_& m) {
  nb::class_<PoissonSample>(m, "PoissonSample")
      .def("__init__",
           [](PoissonSample* self, double probability) {
             new (self) PoissonSample(value(PoissonSample::make(probability)));
           })
      .def("draw",
           [](const PoissonSample& self, std::size_t units) {
             const Unlocked unlocked;
             return self.draw(units, noise());
           })
      .def("loss", &PoissonSample::loss);
  nb::class_<FixedSample>(m, "FixedSample")
      .def("__init__",
           [](FixedSample* self, std::uint64_t sample, std::uint64_t population) {
             new (self) FixedSample(value(FixedSample::make(sample, population)));
           })
      .def("draw",
           [](const FixedSample& self) {
             const Unlocked unlocked;
             return self.draw(noise());
           })
      .def("loss", &FixedSample::loss);
  nb::class_<SampleAndAggregate>(m, "SampleAndAggregate")
      .def("__init__",
           [](SampleAndAggregate* self, double epsilon, std::uint64_t blocks, std::int64_t lower,
              std::int64_t upper, bool median) {
             new (self) SampleAndAggregate(value(
                 SampleAndAggregate::make(epsilon_of(epsilon), blocks, {lower, upper},
                                          median ? BlockAggregate::Median : BlockAggregate::Mean)));
           })
      .def("release",
           [](const SampleAndAggregate& self, std::size_t rows,
              const std::function<std::int64_t(std::vector<std::size_t>)>& estimator) {
             return self.release(
                 rows,
                 [&](std::span<const std::size_t> places) {
                   return estimator(std::vector<std::size_t>(places.begin(), places.end()));
                 },
                 noise());
           })
      .def("error_bound", &SampleAndAggregate::error_bound, "confidence"_a)
      .def("loss", &SampleAndAggregate::loss);
}

}  // namespace

void bind_groups(nb::module_& m) {
  bind_partitions(m);
  bind_samples(m);
  m.def(
      "nonnegative",
      [](const std::vector<double>& noisy, const std::vector<double>& variances,
         std::optional<double> total) {
        return value(total ? nonnegative_with_total(noisy, *total, variances)
                           : nonnegative_same_total(noisy, variances));
      },
      "noisy"_a, "variances"_a, "total"_a.none());
  m.def(
      "whole", [](const std::vector<double>& cells) { return value(whole_same_total(cells)); },
      "cells"_a);
}

}  // namespace discreet::python
