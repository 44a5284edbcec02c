// The embedded curator: a policy opened in this process, questions in, answers out.
//
// Guarantee: as Curator: an answer was charged in full before any private row was read. One
//            question at a time per object; other Python threads run meanwhile.
#include <cmath>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include "bindings/arrow.h"
#include "bindings/glue.h"
#include "curator/curator.h"
#include "random/secure_random.h"
#include "sql/type.h"

namespace discreet::python {
namespace {

using nlohmann::ordered_json;

template <class Number>
ordered_json limit(const std::optional<Number>& amount) {
  return amount ? ordered_json(amount->value()) : ordered_json(nullptr);
}
ordered_json finite(double amount) {
  return std::isfinite(amount) ? ordered_json(amount) : ordered_json(nullptr);
}

ordered_json balance_json(const ledger::Balance& balance) {
  return {{"account", balance.account},
          {"of", balance.parent.empty() ? ordered_json(nullptr) : ordered_json(balance.parent)},
          {"granted",
           {{"epsilon", limit(balance.granted.epsilon)}, {"delta", limit(balance.granted.delta)}}},
          {"spent",
           {{"epsilon", finite(balance.spent.epsilon.value())},
            {"delta", balance.spent.delta.value()},
            {"charges", balance.spent.charges}}},
          {"left",
           {{"epsilon", limit(balance.left.epsilon)},
            {"delta", limit(balance.left.delta)},
            {"question", limit(balance.question_left)}}}};
}

std::string text_of(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::string type_name(const std::string& engine_type) {
  const auto type = sql::parse_engine_type(engine_type);
  return type ? sql::name(*type) : engine_type;
}

/// A policy and all that its curator must not outlive.
class OpenedPolicy {
 public:
  explicit OpenedPolicy(const std::string& path)
      : policy_(value(catalog::Policy::load(path))),
        curator_(value(Curator::open(policy_, clock_, random_, nullptr))) {}

  Answer ask(const Question& question) {
    const Unlocked unlocked;
    const std::scoped_lock lock(mutex_);
    return value(curator_.answer(question));
  }

  std::string explain(const Question& question) {
    const Unlocked unlocked;
    const std::scoped_lock lock(mutex_);
    const Explanation e = value(curator_.explain(question));
    ordered_json columns = ordered_json::array();
    for (const auto& column : e.columns)
      columns.push_back(
          {{"name", column.name},
           {"mechanism",
            column.mechanism.empty() ? ordered_json(nullptr) : ordered_json(column.mechanism)},
           {"error95", column.error95 ? ordered_json(*column.error95) : ordered_json(nullptr)}});
    return text_of(
        {{"cost", {{"epsilon", e.cost.epsilon}, {"delta", e.cost.delta}, {"rho", e.cost.rho}}},
         {"columns", columns},
         {"remaining", balance_json(e.remaining)},
         {"affordable", e.affordable},
         {"notices", e.notices},
         {"plan", e.drawing},
         {"question", ordered_json::parse(e.json)}});
  }

  std::string balances() {
    const Unlocked unlocked;
    const std::scoped_lock lock(mutex_);
    ordered_json out = ordered_json::array();
    for (const auto& balance : value(curator_.ledger().balances()))
      out.push_back(balance_json(balance));
    return text_of(out);
  }

  std::string balance(const std::string& account) {
    const Unlocked unlocked;
    const std::scoped_lock lock(mutex_);
    value(ensure_account(curator_.ledger(), policy_, account));
    return text_of(balance_json(value(curator_.balance(account))));
  }

  std::string certificate(const Answer& answer) {
    const Unlocked unlocked;
    const std::scoped_lock lock(mutex_);
    return value(curator_.certificate(answer));
  }

  std::uint64_t verify() {
    const Unlocked unlocked;
    const std::scoped_lock lock(mutex_);
    return value(curator_.ledger().verify()).events;
  }

  std::string tables() {
    const Unlocked unlocked;
    const std::scoped_lock lock(mutex_);
    ordered_json out = ordered_json::array();
    for (const auto& table : policy_.tables()) {
      ordered_json columns = ordered_json::array();
      for (const auto& column : value(curator_.data().columns(table.name)))
        if (!table.column(column.name).hidden)
          columns.push_back({{"name", column.name}, {"type", type_name(column.engine_type)}});
      out.push_back({{"name", table.name}, {"public", table.is_public()}, {"columns", columns}});
    }
    return text_of(out);
  }

  const std::vector<std::string>& warnings() const { return policy_.warnings(); }

 private:
  const catalog::Policy policy_;
  const SystemClock clock_{};
  SecureRandom random_;
  std::mutex mutex_;
  Curator curator_;
};

Question question_of(std::string sql, std::string account, std::optional<double> epsilon,
                     std::optional<double> delta, const std::string& target_error,
                     std::vector<std::pair<std::optional<std::string>, std::string>> parameters) {
  Question question;
  question.sql = std::move(sql);
  if (!account.empty()) question.account = std::move(account);
  if (epsilon) question.epsilon = value(Epsilon::make(*epsilon));
  if (delta) question.delta = value(Delta::make(*delta));
  if (!target_error.empty()) question.target_error = value(TargetError::parse(target_error));
  for (auto& [text, type] : parameters) question.parameters.push_back({std::move(text), type});
  return question;
}

std::vector<TextColumn> columns_of(const Answer& answer) {
  std::vector<TextColumn> columns;
  for (std::size_t c = 0; c < answer.columns.size(); ++c) {
    auto& column =
        columns.emplace_back(TextColumn{answer.columns[c].name, answer.columns[c].type, {}});
    column.cells.reserve(answer.rows.size());
    for (const auto& row : answer.rows) column.cells.push_back(row[c]);
  }
  return columns;
}

void bind_answer(nb::module_& m) {
  nb::class_<Answer>(m, "Answer")
      .def("stream", [](const Answer& self) { return export_stream(columns_of(self)); })
      .def("with_error_columns", &Answer::with_error_columns)
      .def("names",
           [](const Answer& self) {
             std::vector<std::pair<std::string, std::string>> out;
             for (const auto& column : self.columns) out.emplace_back(column.name, column.type);
             return out;
           })
      .def("rows", [](const Answer& self) { return self.rows.size(); })
      .def("texts",
           [](const Answer& self, std::size_t column) {
             std::vector<std::optional<std::string>> out;
             for (const auto& row : self.rows) out.push_back(row.at(column));
             return out;
           })
      .def("errors",
           [](const Answer& self, std::size_t column) {
             std::vector<std::optional<double>> out;
             for (const auto& row : self.errors) out.push_back(row.at(column));
             return out;
           })
      .def("error95", [](const Answer& self) { return self.error95; })
      .def("noisy", [](const Answer& self) { return self.noisy; })
      .def("notices", [](const Answer& self) { return self.notices; })
      .def("cost",
           [](const Answer& self) {
             const auto rho =
                 std::isfinite(self.cost.rho) ? std::optional(self.cost.rho) : std::nullopt;
             return std::tuple(self.cost.epsilon, self.cost.delta, rho);
           })
      .def("repeated", [](const Answer& self) { return self.repeated; });
}

}  // namespace

void bind_curator(nb::module_& m) {
  bind_answer(m);
  m.def(
      "table_stream",
      [](const std::vector<
          std::tuple<std::string, std::string, std::vector<std::optional<std::string>>>>& columns) {
        std::vector<TextColumn> made;
        for (const auto& [name, type, cells] : columns) made.push_back({name, type, cells});
        return export_stream(made);
      },
      "columns"_a);
  nb::class_<Question>(m, "Question")
      .def(
          "__init__",
          [](Question* self, std::string sql, std::string account, std::optional<double> epsilon,
             std::optional<double> delta, const std::string& target_error,
             std::vector<std::pair<std::optional<std::string>, std::string>> parameters) {
            new (self) Question(question_of(std::move(sql), std::move(account), epsilon, delta,
                                            target_error, std::move(parameters)));
          },
          "sql"_a, "account"_a, "epsilon"_a.none(), "delta"_a.none(), "target_error"_a,
          "parameters"_a);
  nb::class_<OpenedPolicy>(m, "OpenedPolicy")
      .def("__init__",
           [](OpenedPolicy* self, const std::string& path) {
             const Unlocked unlocked;
             new (self) OpenedPolicy(path);
           })
      .def("ask", &OpenedPolicy::ask)
      .def("explain", &OpenedPolicy::explain)
      .def("balances", &OpenedPolicy::balances)
      .def("balance", &OpenedPolicy::balance)
      .def("certificate", &OpenedPolicy::certificate)
      .def("verify", &OpenedPolicy::verify)
      .def("tables", &OpenedPolicy::tables)
      .def("warnings", &OpenedPolicy::warnings);
}

}  // namespace discreet::python
