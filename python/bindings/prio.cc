// The client's end of private aggregation, and what makes tasks and reads results.
#include <map>
#include <memory>

#include "bindings/glue.h"
#include "prio/client.h"
#include "prio/service.h"
#include "prio/task.h"
#include "random/secure_random.h"

namespace discreet::python {
namespace {

/// Splits measurements into sealed shares and sends them. Not for several threads at once.
class PrioClient {
 public:
  explicit PrioClient(const std::string& task_json)
      : maker_(value(prio::ReportMaker::make(value(prio::Task::from_json(task_json)), random_))) {}

  void add(const std::vector<std::uint64_t>& measurement, std::uint64_t time) {
    waiting_.push_back(value(maker_.report(measurement, time)));
  }
  std::size_t waiting() const { return waiting_.size(); }
  nb::bytes encoded() const {
    const prio::Bytes bytes = prio::encode(waiting_);
    return nb::bytes(bytes.data(), bytes.size());
  }
  /// What was refused, by reason. Reports stay where the leader does not answer.
  std::map<std::string, std::size_t> send(const std::string& ca_file) {
    const Unlocked unlocked;
    const auto refused = value(prio::upload(maker_.task(), waiting_, ca_file));
    waiting_.clear();
    std::map<std::string, std::size_t> by_reason;
    for (const auto& report : refused) ++by_reason[prio::name(report.error)];
    return by_reason;
  }

 private:
  SecureRandom random_;
  prio::ReportMaker maker_;
  std::vector<prio::UploadedReport> waiting_;
};

/// Public task, then the secrets of leader, helper and collector, all as JSON.
using TaskFiles = std::tuple<std::string, std::string, std::string, std::string>;

TaskFiles new_task(const std::string& circuit, std::uint64_t length, std::uint64_t max,
                   const std::string& noise_kind, double epsilon, double delta,
                   const std::string& leader, const std::string& helper,
                   std::uint64_t min_batch_size, std::uint64_t time_precision,
                   std::pair<double, double> budget) {
  prio::Task task;
  task.circuit.kind = value(prio::circuit_kind(circuit));
  task.circuit.length = length;
  task.circuit.max = max;
  task.noise.kind = value(prio::noise_kind(noise_kind));
  task.noise.epsilon = epsilon;
  task.noise.delta = delta;
  task.leader_url = leader;
  task.helper_url = helper;
  task.min_batch_size = min_batch_size;
  task.time_precision = time_precision;
  const auto made = value(prio::make_task(std::move(task), budget.first, budget.second, noise()));
  return {made.task.to_json(), made.leader.to_json(), made.helper.to_json(),
          made.collector.to_json()};
}

std::pair<std::uint64_t, std::vector<double>> collect(const std::string& task_json,
                                                      const std::string& secrets_json,
                                                      std::uint64_t start, std::uint64_t duration,
                                                      const std::string& ca_file) {
  const Unlocked unlocked;
  const auto task = value(prio::Task::from_json(task_json));
  const auto secrets = value(prio::TaskSecrets::from_json(secrets_json));
  const prio::Interval batch{start, duration};
  value(task.check_batch(batch));
  const auto response = value(prio::request_collection(task, secrets, batch, ca_file));
  const auto collected = value(prio::open_collection(task, secrets, batch, response));
  std::vector<double> totals;
  for (const Int128 total : collected.totals) totals.push_back(static_cast<double>(total));
  return {collected.report_count, std::move(totals)};
}

}  // namespace

void bind_prio(nb::module_& m) {
  nb::class_<PrioClient>(m, "PrioClient")
      .def(nb::init<const std::string&>(), "task"_a)
      .def("add", &PrioClient::add, "measurement"_a, "time"_a)
      .def("waiting", &PrioClient::waiting)
      .def("encoded", &PrioClient::encoded)
      .def("send", [](PrioClient& self, const std::string& ca_file) {
        nb::dict out;
        for (const auto& [reason, count] : self.send(ca_file)) out[reason.c_str()] = count;
        return out;
      });
  m.def("prio_new_task", new_task);
  m.def("prio_collect", collect);
}

}  // namespace discreet::python
