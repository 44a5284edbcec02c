// Mechanisms that choose: from scores, or by a threshold.
#include "bindings/glue.h"
#include "mechanisms/exponential.h"
#include "mechanisms/noisy_max.h"
#include "mechanisms/permute_and_flip.h"
#include "mechanisms/query_grid.h"
#include "mechanisms/sparse_vector.h"
#include "mechanisms/top_k.h"

namespace discreet::python {
namespace {

QualityScore score_of(double sensitivity, bool monotone) {
  return {value(LInfSensitivity::make(sensitivity)), monotone};
}

template <class T, class Mechanism>
auto choose(const Mechanism& mechanism, const Input<T>& scores) {
  const Unlocked unlocked;
  return value(mechanism.release(span_of(scores), noise()));
}

/// Constructor, choice by whole and by real scores, loss and error: alike for all three.
template <class Mechanism>
void bind_choice(nb::module_& m, const char* name) {
  nb::class_<Mechanism>(m, name)
      .def(
          "__init__",
          [](Mechanism* self, double epsilon, double sensitivity, bool monotone) {
            new (self) Mechanism(
                value(Mechanism::make(epsilon_of(epsilon), score_of(sensitivity, monotone))));
          },
          "epsilon"_a, "sensitivity"_a, "monotone"_a)
      .def_static(
          "for_error",
          [](double error, double confidence, std::uint64_t candidates, double sensitivity,
             bool monotone) {
            return value(Mechanism::for_error(error, confidence, candidates,
                                              score_of(sensitivity, monotone)));
          },
          "error"_a, "confidence"_a, "candidates"_a, "sensitivity"_a, "monotone"_a)
      .def("choose", choose<std::int64_t, Mechanism>, nb::arg("scores").noconvert())
      .def("choose", choose<double, Mechanism>, nb::arg("scores").noconvert())
      .def("loss", &Mechanism::loss)
      .def(
          "error_bound",
          [](const Mechanism& self, double confidence, std::uint64_t candidates) {
            return self.error_bound(confidence, candidates);
          },
          "confidence"_a, "candidates"_a)
      .def("epsilon", [](const Mechanism& self) { return self.epsilon().value(); });
}

void bind_noisy_max(nb::module_& m) {
  nb::class_<NoisyMax>(m, "NoisyMax")
      .def(
          "__init__",
          [](NoisyMax* self, double epsilon, double sensitivity, bool monotone, bool laplace) {
            new (self) NoisyMax(
                value(NoisyMax::make(epsilon_of(epsilon), score_of(sensitivity, monotone),
                                     laplace ? MaxNoise::DiscreteLaplace : MaxNoise::Geometric)));
          },
          "epsilon"_a, "sensitivity"_a, "monotone"_a, "laplace"_a)
      .def("choose", choose<std::int64_t, NoisyMax>, nb::arg("scores").noconvert())
      .def(
          "choose_with_gap",
          [](const NoisyMax& self, const Input<std::int64_t>& scores) {
            const Unlocked unlocked;
            const auto choice = value(self.release_with_gap(span_of(scores), noise()));
            return std::pair(choice.index, choice.gap);
          },
          nb::arg("scores").noconvert())
      .def(
          "choose_with_value",
          [](const NoisyMax& self, const Input<std::int64_t>& scores,
             const DiscreteLaplace& measurement) {
            const Unlocked unlocked;
            const auto choice =
                value(self.release_with_value(span_of(scores), measurement, noise()));
            return std::pair(choice.index, choice.value);
          },
          nb::arg("scores").noconvert(), "measurement"_a)
      .def("loss", &NoisyMax::loss)
      .def("loss_with_value", &NoisyMax::loss_with_value, "measurement"_a)
      .def("error_bound", &NoisyMax::error_bound, "confidence"_a, "candidates"_a)
      .def("epsilon", [](const NoisyMax& self) { return self.epsilon().value(); });
}

void bind_top_k(nb::module_& m) {
  nb::class_<TopK>(m, "TopK")
      .def(
          "__init__",
          [](TopK* self, double epsilon, std::uint64_t k, double sensitivity, bool monotone) {
            new (self)
                TopK(value(TopK::within(epsilon_of(epsilon), k, score_of(sensitivity, monotone))));
          },
          "epsilon"_a, "k"_a, "sensitivity"_a, "monotone"_a)
      .def("choose", choose<std::int64_t, TopK>, nb::arg("scores").noconvert())
      .def("choose", choose<double, TopK>, nb::arg("scores").noconvert())
      .def("loss", &TopK::loss)
      .def("error_bound", &TopK::error_bound, "confidence"_a, "candidates"_a)
      .def("epsilon_each", [](const TopK& self) { return self.epsilon_each().value(); });
}

void bind_sparse_vector(nb::module_& m) {
  nb::class_<SparseVector::Run>(m, "SparseVectorRun")
      .def(
          "above",
          [](SparseVector::Run& self, std::int64_t exact) {
            return value(self.above(exact, noise()));
          },
          "exact"_a)
      .def(
          "value_above",
          [](SparseVector::Run& self, std::int64_t exact) {
            return value(self.value_above(exact, noise()));
          },
          "exact"_a)
      .def("answers_left", &SparseVector::Run::answers_left);
  nb::class_<SparseVector>(m, "SparseVector")
      .def(
          "__init__",
          [](SparseVector* self, double epsilon, double sensitivity, std::uint64_t answers_max,
             bool monotone, double value_share) {
            new (self) SparseVector(
                value(SparseVector::make({.epsilon = epsilon_of(epsilon),
                                          .sensitivity = value(LInfSensitivity::make(sensitivity)),
                                          .answers_max = answers_max,
                                          .monotone = monotone,
                                          .value_share = value_share})));
          },
          "epsilon"_a, "sensitivity"_a, "answers_max"_a, "monotone"_a, "value_share"_a)
      .def(
          "start",
          [](const SparseVector& self, std::int64_t threshold) {
            return self.start(threshold, noise());
          },
          "threshold"_a)
      .def("loss", &SparseVector::loss)
      .def("error_bound", &SparseVector::error_bound, "confidence"_a, "questions"_a)
      .def("value_error_bound", &SparseVector::value_error_bound, "confidence"_a);
  nb::class_<QueryGrid>(m, "QueryGrid")
      .def("__init__",
           [](QueryGrid* self, double step) { new (self) QueryGrid(value(QueryGrid::make(step))); })
      .def("steps", &QueryGrid::steps)
      .def("value", &QueryGrid::value)
      .def("sensitivity", [](const QueryGrid& self, double of_value) {
        return value(self.sensitivity(value(LInfSensitivity::make(of_value)))).value();
      });
}

}  // namespace

void bind_choices(nb::module_& m) {
  bind_choice<ExponentialMechanism>(m, "ExponentialMechanism");
  bind_choice<PermuteAndFlip>(m, "PermuteAndFlip");
  bind_noisy_max(m);
  bind_top_k(m);
  bind_sparse_vector(m);
}

}  // namespace discreet::python
