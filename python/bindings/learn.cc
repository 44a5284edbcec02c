// Private models of data frames. Built where src/learn is.
//
// Guarantee: as learn::fit(): a model is (epsilon, delta)-DP for one row added or removed; the
//            number of rows stays private. Predicting costs nothing.
#include "bindings/learn.h"

#if __has_include("learn/trainer.h")

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "bindings/arrow.h"
#include "learn/model.h"
#include "learn/trainer.h"
#include "synth/encoding.h"

namespace discreet::python {
namespace {

struct FitOptions {
  std::string method, domain, target;
  std::optional<double> at_least;
  double epsilon, delta;
  std::size_t clusters, components;
  std::uint32_t hidden;
  bool fast;
};

/// The columns that the domain names, in the table's own order.
std::vector<synth::ColumnSpec> specs_in_order(const std::string& domain,
                                              const synth::RawTable& raw) {
  const auto declared = value(synth::parse_specs(domain));
  std::vector<synth::ColumnSpec> specs;
  for (const auto& column : raw.columns)
    for (const auto& spec : declared)
      if (spec.name == column.name) specs.push_back(spec);
  for (const auto& spec : declared)
    if (std::none_of(specs.begin(), specs.end(),
                     [&](const auto& other) { return other.name == spec.name; }))
      throw Failure(
          {ErrorCode::NotFound,
           fmt::format("the table has no column \"{}\", which the domain names", spec.name)});
  return specs;
}

std::unique_ptr<learn::Model> fit(const nb::object& frame, const FitOptions& options) {
  const ImportedTable table = import_table(frame);
  const Unlocked unlocked;
  learn::FitRequest request{.method = value(learn::parse_method(options.method)),
                            .specs = specs_in_order(options.domain, table.raw),
                            .target = options.target,
                            .at_least = options.at_least,
                            .budget = target_of(options.epsilon, options.delta)};
  request.clusters = options.clusters;
  request.components = options.components;
  request.hidden = options.hidden;
  request.fast = options.fast;
  return std::make_unique<learn::Model>(value(learn::fit(request, table.raw, noise())));
}

using Predicted = std::pair<std::vector<std::string>, std::vector<std::vector<double>>>;

Predicted predict(const learn::Model& model, const nb::object& frame) {
  const ImportedTable table = import_table(frame);
  const Unlocked unlocked;
  Predicted out;
  for (auto& one : value(learn::predict(model, table.raw))) {
    out.first.push_back(std::move(one.value));
    out.second.push_back(std::move(one.scores));
  }
  return out;
}

}  // namespace

void bind_learn(nb::module_& m) {
  nb::class_<learn::Model>(m, "LearnedModel")
      .def("predict", predict, "frame"_a)
      .def("json", [](const learn::Model& self) { return learn::to_json(self); })
      .def_static("from_json",
                  [](const std::string& text) { return value(learn::model_from_json(text)); })
      .def("method", [](const learn::Model& self) { return self.method; })
      .def("notes", [](const learn::Model& self) { return self.notes; })
      .def("rows_estimate", [](const learn::Model& self) { return self.rows_estimate; })
      .def("paid", [](const learn::Model& self) {
        return std::pair(self.paid.epsilon.value(), self.paid.delta.value());
      });
  m.def(
      "learn_fit",
      [](const nb::object& frame, std::string method, std::string domain, std::string target,
         std::optional<double> at_least, double epsilon, double delta, std::size_t clusters,
         std::size_t components, std::uint32_t hidden, bool fast) {
        return fit(frame, {std::move(method), std::move(domain), std::move(target), at_least,
                           epsilon, delta, clusters, components, hidden, fast});
      },
      "frame"_a, "method"_a, "domain"_a, "target"_a, "at_least"_a.none(), "epsilon"_a, "delta"_a,
      "clusters"_a, "components"_a, "hidden"_a, "fast"_a);
}

}  // namespace discreet::python

#else

namespace discreet::python {

void bind_learn(nb::module_& /*m*/) {}

}  // namespace discreet::python

#endif
