// Budgets for questions that are chosen on the fly, and meters.
#include <nlohmann/json.hpp>

#include "accounting/filter.h"
#include "accounting/odometer.h"
#include "bindings/accounting.h"
#include "bindings/glue.h"

namespace discreet::python {
namespace {

/// `cost` prices an event in the filter's currency.
template <class Rule, class Cost>
void bind_filter(nb::module_& m, const char* name, const Cost& cost) {
  using F = Filter<Rule>;
  nb::class_<F>(m, name)
      .def(
          "spend",
          [cost](F& self, const LossEvent& event, const std::string& neighbours) {
            value(self.try_spend(cost(self, event, neighbours_of(neighbours))));
          },
          "event"_a, "neighbours"_a)
      .def(
          "fits",
          [cost](const F& self, const LossEvent& event, const std::string& neighbours) {
            return self.would_fit(cost(self, event, neighbours_of(neighbours))).has_value();
          },
          "event"_a, "neighbours"_a)
      .def("save", &F::save)
      .def_static(
          "restore", [](const std::string& text) { return value(F::restore(text)); }, "text"_a);
}

void bind_makers(nb::module_& m) {
  m.def("basic_filter", [](double epsilon, double delta) {
    return BasicFilter(BasicRule::make(target_of(epsilon, delta)));
  });
  m.def("concentrated_filter", [](double epsilon, double delta, double for_events) {
    return ConcentratedFilter(
        value(ConcentratedRule::make(target_of(epsilon, delta), value(Delta::make(for_events)))));
  });
  m.def(
      "renyi_filter",
      [](double epsilon, double delta, double for_events, const LossEvent* typical,
         const std::string& neighbours) {
        const ApproxDp target = target_of(epsilon, delta);
        const Delta aside = value(Delta::make(for_events));
        return RenyiFilter(
            value(typical == nullptr
                      ? RenyiRule::make(target, aside)
                      : RenyiRule::make_for(*typical, neighbours_of(neighbours), target, aside)));
      },
      "epsilon"_a, "delta"_a, "for_events"_a, "typical"_a.none(), "neighbours"_a);
  m.def("gaussian_filter", [](double epsilon, double delta) {
    return GaussianFilter(value(GaussianRule::make(target_of(epsilon, delta))));
  });
}

void bind_odometer(nb::module_& m) {
  nb::class_<RenyiOdometer>(m, "Odometer")
      .def_static("make", [](double delta) { return value(RenyiOdometer::make(delta)); })
      .def("spend",
           [](RenyiOdometer& self, const LossEvent& event, const std::string& neighbours) {
             value(self.spend(value(renyi_cost(event, self.orders(), neighbours_of(neighbours)))));
           })
      .def("epsilon", &RenyiOdometer::epsilon)
      .def("delta", &RenyiOdometer::delta)
      .def("save", &RenyiOdometer::save)
      .def_static("restore",
                  [](const std::string& text) { return value(RenyiOdometer::restore(text)); });
}

}  // namespace

void bind_filters(nb::module_& m) {
  bind_filter<BasicRule>(m, "BasicFilter",
                         [](const BasicFilter&, const LossEvent& event, Neighbours relation) {
                           return value(basic_cost(event, relation));
                         });
  bind_filter<ConcentratedRule>(
      m, "ConcentratedFilter",
      [](const ConcentratedFilter&, const LossEvent& event, Neighbours relation) {
        return value(concentrated_cost(event, relation));
      });
  bind_filter<RenyiRule>(m, "RenyiFilter",
                         [](const RenyiFilter& self, const LossEvent& event, Neighbours relation) {
                           return value(renyi_cost(event, self.rule().orders, relation));
                         });
  bind_filter<GaussianRule>(m, "GaussianFilter",
                            [](const GaussianFilter&, const LossEvent& event, Neighbours relation) {
                              return value(gaussian_cost(event, relation));
                            });
  bind_makers(m);
  bind_odometer(m);
}

}  // namespace discreet::python
