// What releases cost together: events, certified intervals, the other theorems, calibration.
#include <nanobind/operators.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/shared_ptr.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "accounting/calibration.h"
#include "accounting/comparison.h"
#include "accounting/compose_syntax.h"
#include "accounting/conversion.h"
#include "accounting/event_cost.h"
#include "accounting/loss_event_json.h"
#include "accounting/pld.h"
#include "accounting/renyi.h"
#include "accounting/renyi_epsilon.h"
#include "accounting/shuffle.h"
#include "accounting/textbook.h"
#include "bindings/accounting.h"
#include "bindings/glue.h"
#include "privacy/group.h"

namespace discreet::python {

Neighbours neighbours_of(const std::string& name) {
  if (name == "add_remove") return Neighbours::AddRemove;
  if (name == "replace_one") return Neighbours::ReplaceOne;
  throw Failure(invalid_parameter("neighbours must be add_remove or replace_one"));
}

namespace {

LossEvent event_from(const std::string& json) {
  const auto object = nlohmann::json::parse(json, nullptr, false);
  if (object.is_discarded()) throw Failure(invalid_input("an event is a JSON object"));
  return value(loss_event_from_json(object));
}

using Interval = std::pair<double, double>;
Interval interval_of(const Bracket& bracket) {
  return {bracket.lower, bracket.upper};
}

void bind_events(nb::module_& m) {
  nb::class_<LossEvent>(m, "Event")
      .def_static("from_json", event_from, "json"_a)
      .def_static(
          "parse", [](const std::string& text) { return value(parse_composition(text)); }, "text"_a)
      .def_static("composed",
                  [](std::vector<LossEvent> parts) -> LossEvent {
                    return loss::Composed{std::move(parts)};
                  })
      .def("repeated",
           [](const LossEvent& self, std::uint64_t count) -> LossEvent {
             return loss::Repeated{count, std::make_shared<const LossEvent>(self)};
           })
      .def("json", [](const LossEvent& self) { return to_json(self).dump(); })
      .def("same",
           [](const LossEvent& self, const LossEvent& other) { return same_event(self, other); });
}

void bind_distribution(nb::module_& m) {
  nb::class_<PrivacyLossDistribution>(m, "LossDistribution")
      .def(
          "__init__",
          [](PrivacyLossDistribution* self, const LossEvent& event, const std::string& neighbours) {
            const Neighbours relation = neighbours_of(neighbours);
            const Unlocked unlocked;
            new (self)
                PrivacyLossDistribution(value(PrivacyLossDistribution::make(event, relation)));
          })
      .def("epsilon",
           [](const PrivacyLossDistribution& self, double delta) {
             const Unlocked unlocked;
             return interval_of(value(self.epsilon(delta)));
           })
      .def("delta",
           [](const PrivacyLossDistribution& self, double epsilon) {
             const Unlocked unlocked;
             return interval_of(value(self.delta(epsilon)));
           })
      .def("profile",
           [](const PrivacyLossDistribution& self, const std::vector<double>& epsilons) {
             const Unlocked unlocked;
             std::vector<Interval> out;
             for (const ProfilePoint& point : value(self.profile(epsilons)))
               out.push_back(interval_of(point.delta));
             return out;
           })
      .def("trade_off", [](const PrivacyLossDistribution& self, const std::vector<double>& epsilons,
                           const std::vector<double>& alphas) {
        const Unlocked unlocked;
        const auto profile = value(self.profile(epsilons));
        std::vector<double> out;
        for (const TradeOffPoint& point : PrivacyLossDistribution::trade_off(profile, alphas))
          out.push_back(point.beta);
        return out;
      });
}

void bind_theorems(nb::module_& m) {
  m.def("renyi_divergence",
        [](const LossEvent& event, double order, const std::string& neighbours) {
          return value(renyi_divergence(event, order, neighbours_of(neighbours)));
        });
  m.def("renyi_epsilon", [](const LossEvent& event, double delta, const std::string& neighbours) {
    return value(renyi_epsilon(event, delta, neighbours_of(neighbours))).value;
  });
  m.def("concentrated_cost", [](const LossEvent& event, const std::string& neighbours) {
    const auto cost = value(concentrated_cost(event, neighbours_of(neighbours)));
    return std::pair(cost.rho.value(), cost.delta.value());
  });
  m.def("zcdp_epsilon",
        [](double rho, double delta) { return zcdp_epsilon(value(Rho::make(rho)), delta); });
  m.def("zcdp_rho", [](double epsilon, double delta) {
    return value(zcdp_rho(target_of(epsilon, delta))).value();
  });
  m.def("compare_theorems",
        [](const LossEvent& event, double delta, const std::string& neighbours) {
          std::vector<std::tuple<std::string, std::string, std::optional<double>,
                                 std::optional<double>, std::string>>
              out;
          for (const auto& line : compare_theorems(event, delta, neighbours_of(neighbours)))
            out.emplace_back(line.method, line.theorem, line.epsilon, line.lower, line.remark);
          return out;
        });
  m.def("shuffled_epsilon", [](std::uint64_t n, double epsilon0, double delta) {
    return value(shuffle_clones_epsilon(n, epsilon0, delta));
  });
  m.def("group_privacy", [](double epsilon, double delta, std::uint64_t size) {
    const ApproxDp group = group_privacy(target_of(epsilon, delta), size);
    return std::pair(group.epsilon.value(), group.delta.value());
  });
}

void bind_calibration(nb::module_& m) {
  m.def("least_noise", [](const std::function<LossEvent(double)>& family, std::uint64_t releases,
                          double epsilon, double delta, const std::string& neighbours, bool tight,
                          double tolerance) {
    const Neighbours relation = neighbours_of(neighbours);
    NoiseSearch search;
    search.relative_tolerance = tolerance;
    return value(least_noise(family, releases, target_of(epsilon, delta),
                             tight ? tight_pricing(relation) : renyi_pricing(relation), search));
  });
  m.def("most_releases", [](const LossEvent& event, double epsilon, double delta,
                            const std::string& neighbours, bool tight) {
    const Neighbours relation = neighbours_of(neighbours);
    const Unlocked unlocked;
    return value(most_releases(event, target_of(epsilon, delta),
                               tight ? tight_pricing(relation) : renyi_pricing(relation)));
  });
  m.def("split_for_laplace",
        [](const std::vector<std::pair<double, double>>& questions, double epsilon) {
          std::vector<WeightedQuestion> weighted;
          for (const auto& [sensitivity, weight] : questions)
            weighted.push_back({sensitivity, weight});
          std::vector<double> out;
          for (const Epsilon share : value(split_for_laplace(weighted, epsilon_of(epsilon))))
            out.push_back(share.value());
          return out;
        });
}

}  // namespace

void bind_accounting(nb::module_& m) {
  bind_events(m);
  bind_distribution(m);
  bind_theorems(m);
  bind_calibration(m);
}

}  // namespace discreet::python
