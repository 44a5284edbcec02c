// Mechanisms that add noise to numbers.
//
// Arrays are worked through in pieces that fit the cache: the noise of a piece is independent of
// the others', so the pieces together are one release.
#include <algorithm>
#include <optional>
#include <thread>

#include "bindings/glue.h"
#include "mechanisms/bounded_output.h"
#include "mechanisms/grid_gaussian.h"
#include "mechanisms/grid_laplace.h"
#include "mechanisms/randomized_response.h"
#include "mechanisms/staircase.h"

namespace discreet::python {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 14;

/// `most` of them at a time: a mechanism made for few coordinates that move adds noise to few.
template <class T, class Mechanism>
void release_pieces(const Mechanism& mechanism, const T* in, std::span<T> out, std::size_t most) {
  for (std::size_t at = 0; at < out.size(); at += most) {
    const auto piece = out.subspan(at, std::min(most, out.size() - at));
    if (in != out.data()) std::copy_n(in + at, piece.size(), piece.data());
    mechanism.release(piece, noise());
  }
}

/// `threads` of them, each with noise of its own thread.
template <class T, class Mechanism>
void release_all(const Mechanism& mechanism, const Input<T>& in, const Output<T>& out,
                 std::size_t threads, std::size_t dimension) {
  check_sizes(in, out);
  if (dimension == 0) throw Failure(invalid_parameter("a release has at least one coordinate"));
  const std::size_t most = std::min(kPiece, dimension);
  const Unlocked unlocked;
  const std::size_t share = (out.size() + threads - 1) / std::max<std::size_t>(threads, 1);
  if (threads <= 1 || share < kPiece) {
    release_pieces(mechanism, in.data(), span_of(out), most);
    return;
  }
  std::vector<std::thread> workers;
  std::vector<std::exception_ptr> failures(threads);
  for (std::size_t t = 0; t * share < out.size(); ++t)
    workers.emplace_back([&, t] {
      try {
        const std::size_t from = t * share;
        release_pieces(mechanism, in.data() + from,
                       span_of(out).subspan(from, std::min(share, out.size() - from)), most);
      } catch (...) {
        failures[t] = std::current_exception();
      }
    });
  for (std::thread& worker : workers) worker.join();
  for (const auto& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

/// For mechanisms that release one number at a time.
template <class Mechanism>
void release_each(const Mechanism& mechanism, const Input<std::int64_t>& in,
                  const Output<std::int64_t>& out) {
  check_sizes(in, out);
  const Unlocked unlocked;
  for (std::size_t i = 0; i < in.size(); ++i)
    out.data()[i] = mechanism.release(in.data()[i], noise());
}

L1Sensitivity l1(double value_given) {
  return value(L1Sensitivity::make(value_given));
}
L2Sensitivity l2(double value_given) {
  return value(L2Sensitivity::make(value_given));
}

Grid grid_of(double step) {
  return value(Grid::make(step));
}

void bind_laplace(nb::module_& m) {
  nb::class_<DiscreteLaplace>(m, "DiscreteLaplace")
      .def(
          "__init__",
          [](DiscreteLaplace* self, double epsilon, double sensitivity) {
            new (self)
                DiscreteLaplace(value(DiscreteLaplace::make(epsilon_of(epsilon), l1(sensitivity))));
          },
          "epsilon"_a, "sensitivity"_a)
      .def_static(
          "for_error",
          [](double error, double confidence, double sensitivity) {
            return value(DiscreteLaplace::for_error(error, confidence, l1(sensitivity)));
          },
          "error"_a, "confidence"_a, "sensitivity"_a)
      .def("release_one", [](const DiscreteLaplace& self,
                             std::int64_t exact) { return self.release(exact, noise()); })
      .def("release", release_all<std::int64_t, DiscreteLaplace>, nb::arg("values").noconvert(),
           nb::arg("out").noconvert(), "threads"_a, "dimension"_a)
      .def("loss", &DiscreteLaplace::loss)
      .def("error_bound", &DiscreteLaplace::error_bound, "confidence"_a)
      .def("error_bound_of_worst", &DiscreteLaplace::error_bound_of_worst, "confidence"_a, "k"_a)
      .def("variance", &DiscreteLaplace::variance)
      .def("scale", &DiscreteLaplace::scale)
      .def("epsilon", [](const DiscreteLaplace& self) { return self.epsilon().value(); });

  nb::class_<GridLaplace>(m, "GridLaplace")
      .def(
          "__init__",
          [](GridLaplace* self, double epsilon, double sensitivity, std::uint64_t dimension,
             std::optional<double> step) {
            const Epsilon e = epsilon_of(epsilon);
            new (self) GridLaplace(
                value(step ? GridLaplace::make(e, l1(sensitivity), grid_of(*step), dimension)
                           : GridLaplace::make(e, l1(sensitivity), dimension)));
          },
          "epsilon"_a, "sensitivity"_a, "dimension"_a, "step"_a.none())
      .def_static(
          "for_error",
          [](double error, double confidence, double sensitivity, double step,
             std::uint64_t dimension) {
            return value(GridLaplace::for_error(error, confidence, l1(sensitivity), grid_of(step),
                                                dimension));
          },
          "error"_a, "confidence"_a, "sensitivity"_a, "step"_a, "dimension"_a)
      .def("release_one",
           [](const GridLaplace& self, double exact) { return self.release(exact, noise()); })
      .def("release", release_all<double, GridLaplace>, nb::arg("values").noconvert(),
           nb::arg("out").noconvert(), "threads"_a, "dimension"_a)
      .def("loss", &GridLaplace::loss)
      .def("error_bound", &GridLaplace::error_bound, "confidence"_a)
      .def("error_bound_of_worst", &GridLaplace::error_bound_of_worst, "confidence"_a, "k"_a)
      .def("step", [](const GridLaplace& self) { return self.grid().step_up(); })
      .def("epsilon", [](const GridLaplace& self) { return self.epsilon().value(); });
}

const char* name_of(DiscreteGaussian::Calibration calibration) {
  switch (calibration) {
    case DiscreteGaussian::Calibration::Zcdp:
      return "zCDP";
    case DiscreteGaussian::Calibration::ExactProfile:
      return "exact profile";
    case DiscreteGaussian::Calibration::AnalyticGaussian:
      return "analytic Gaussian";
  }
  return "";
}

void bind_gaussian(nb::module_& m) {
  nb::class_<DiscreteGaussian>(m, "DiscreteGaussian")
      .def_static(
          "approximate",
          [](double epsilon, double delta, double sensitivity, std::uint64_t dimension) {
            return value(
                DiscreteGaussian::make(target_of(epsilon, delta), l2(sensitivity), dimension));
          },
          "epsilon"_a, "delta"_a, "sensitivity"_a, "dimension"_a)
      .def_static(
          "concentrated",
          [](double rho, double sensitivity, std::uint64_t dimension) {
            return value(DiscreteGaussian::make(value(Rho::make(rho)), l2(sensitivity), dimension));
          },
          "rho"_a, "sensitivity"_a, "dimension"_a)
      .def_static(
          "for_error",
          [](double error, double confidence, double sensitivity) {
            return value(DiscreteGaussian::for_error(error, confidence, l2(sensitivity)));
          },
          "error"_a, "confidence"_a, "sensitivity"_a)
      .def("release_one", [](const DiscreteGaussian& self,
                             std::int64_t exact) { return self.release(exact, noise()); })
      .def("release", release_all<std::int64_t, DiscreteGaussian>, nb::arg("values").noconvert(),
           nb::arg("out").noconvert(), "threads"_a, "dimension"_a)
      .def("loss", &DiscreteGaussian::loss)
      .def("error_bound", &DiscreteGaussian::error_bound, "confidence"_a)
      .def("error_bound_of_worst", &DiscreteGaussian::error_bound_of_worst, "confidence"_a, "k"_a)
      .def("variance", &DiscreteGaussian::variance)
      .def("calibration", [](const DiscreteGaussian& self) { return name_of(self.calibration()); })
      .def("rho", [](const DiscreteGaussian& self) { return self.rho().value(); });

  nb::class_<GridGaussian>(m, "GridGaussian")
      .def_static(
          "approximate",
          [](double epsilon, double delta, double sensitivity, double step,
             std::uint64_t dimension) {
            return value(GridGaussian::make(target_of(epsilon, delta), l2(sensitivity),
                                            grid_of(step), dimension));
          },
          "epsilon"_a, "delta"_a, "sensitivity"_a, "step"_a, "dimension"_a)
      .def_static(
          "concentrated",
          [](double rho, double sensitivity, double step, std::uint64_t dimension) {
            return value(GridGaussian::make(value(Rho::make(rho)), l2(sensitivity), grid_of(step),
                                            dimension));
          },
          "rho"_a, "sensitivity"_a, "step"_a, "dimension"_a)
      .def("release_one",
           [](const GridGaussian& self, double exact) { return self.release(exact, noise()); })
      .def("release", release_all<double, GridGaussian>, nb::arg("values").noconvert(),
           nb::arg("out").noconvert(), "threads"_a, "dimension"_a)
      .def("loss", &GridGaussian::loss)
      .def("error_bound", &GridGaussian::error_bound, "confidence"_a)
      .def("error_bound_of_worst", &GridGaussian::error_bound_of_worst, "confidence"_a, "k"_a)
      .def("sigma", &GridGaussian::sigma)
      .def("step", [](const GridGaussian& self) { return self.grid().step_up(); })
      .def("rho", [](const GridGaussian& self) { return self.rho().value(); });
  m.def(
      "grid_step_for_scale", [](double scale) { return value(Grid::for_scale(scale)).step_up(); },
      "scale"_a, "A power of two, about a millionth of the scale.");
}

void bind_other_noise(nb::module_& m) {
  nb::class_<Staircase>(m, "Staircase")
      .def(
          "__init__",
          [](Staircase* self, double epsilon, double sensitivity) {
            new (self) Staircase(value(Staircase::make(epsilon_of(epsilon), l1(sensitivity))));
          },
          "epsilon"_a, "sensitivity"_a)
      .def("release_one",
           [](const Staircase& self, std::int64_t exact) { return self.release(exact, noise()); })
      .def("release", release_each<Staircase>, nb::arg("values").noconvert(),
           nb::arg("out").noconvert())
      .def("loss", &Staircase::loss)
      .def("error_bound", &Staircase::error_bound, "confidence"_a)
      .def("expected_error", &Staircase::expected_error);

  nb::class_<BoundedLaplace>(m, "BoundedLaplace")
      .def(
          "__init__",
          [](BoundedLaplace* self, double epsilon, double sensitivity, std::int64_t lower,
             std::int64_t upper, const std::string& form) {
            const auto how =
                form == "clamped"  ? BoundedForm::Clamped
                : form == "folded" ? BoundedForm::Folded
                : form == "truncated"
                    ? BoundedForm::Truncated
                    : throw Failure(invalid_parameter("form must be clamped, folded or truncated"));
            new (self) BoundedLaplace(value(
                BoundedLaplace::make(epsilon_of(epsilon), l1(sensitivity), {lower, upper}, how)));
          },
          "epsilon"_a, "sensitivity"_a, "lower"_a, "upper"_a, "form"_a)
      .def("release_one", [](const BoundedLaplace& self,
                             std::int64_t exact) { return self.release(exact, noise()); })
      .def("release", release_each<BoundedLaplace>, nb::arg("values").noconvert(),
           nb::arg("out").noconvert())
      .def("loss", &BoundedLaplace::loss)
      .def("error_bound", &BoundedLaplace::error_bound, "confidence"_a);
}

nb::tuple estimate_tuple(const FrequencyEstimate& e) {
  return nb::make_tuple(e.count, e.standard_error, e.low, e.high);
}

void bind_randomized_response(nb::module_& m) {
  nb::class_<RandomizedResponse>(m, "RandomizedResponse")
      .def_static(
          "with_epsilon",
          [](double epsilon, std::uint64_t values) {
            return value(RandomizedResponse::make(epsilon_of(epsilon), values));
          },
          "epsilon"_a, "values"_a)
      .def_static(
          "with_truth",
          [](double p, std::uint64_t values) {
            return value(RandomizedResponse::with_truth(p, values));
          },
          "p"_a, "values"_a)
      .def_static(
          "with_keep",
          [](double q, std::uint64_t values) {
            return value(RandomizedResponse::with_keep(q, values));
          },
          "q"_a, "values"_a)
      .def(
          "release",
          [](const RandomizedResponse& self, const Input<std::int64_t>& in,
             const Output<std::int64_t>& out) {
            check_sizes(in, out);
            const Unlocked unlocked;
            const auto values = self.values();
            for (std::size_t i = 0; i < in.size(); ++i)
              if (in.data()[i] < 0 || static_cast<std::uint64_t>(in.data()[i]) >= values)
                throw Failure(
                    invalid_parameter("an answer must be a whole number from 0 to values - 1"));
            std::copy_n(in.data(), in.size(), out.data());
            self.release(std::span(reinterpret_cast<std::uint64_t*>(out.data()), out.size()),
                         noise());
          },
          nb::arg("answers").noconvert(), nb::arg("out").noconvert())
      .def(
          "estimate_count",
          [](const RandomizedResponse& self, std::uint64_t observed, std::uint64_t reports,
             double confidence) {
            return estimate_tuple(value(self.estimate_count(observed, reports, confidence)));
          },
          "observed"_a, "reports"_a, "confidence"_a)
      .def("loss", &RandomizedResponse::loss)
      .def("error_bound", &RandomizedResponse::error_bound, "confidence"_a, "reports"_a)
      .def("epsilon", [](const RandomizedResponse& self) { return self.epsilon().value(); })
      .def("values", &RandomizedResponse::values)
      .def("truth_chance", &RandomizedResponse::truth_chance);
}

}  // namespace

void bind_noise(nb::module_& m) {
  bind_laplace(m);
  bind_gaussian(m);
  bind_other_noise(m);
  bind_randomized_response(m);
}

}  // namespace discreet::python
