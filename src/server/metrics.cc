#include "server/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

namespace discreet::server {
namespace {

const char* name(Protocol protocol) {
  return protocol == Protocol::Postgres ? "postgres" : "http";
}

const char* name(RequestKind kind) {
  switch (kind) {
    case RequestKind::Question:
      return "question";
    case RequestKind::Repeat:
      return "repeat";
    case RequestKind::Explain:
      return "explain";
    case RequestKind::Catalog:
      return "catalog";
    case RequestKind::Login:
      return "login";
    case RequestKind::Reports:
      return "reports";
    case RequestKind::Other:
      return "other";
  }
  return "other";
}

const prometheus::Histogram::BucketBoundaries kSeconds{
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60};

}  // namespace

struct Metrics::State {
  prometheus::Registry registry;
  prometheus::Family<prometheus::Gauge>& connections = prometheus::BuildGauge()
                                                           .Name("discreet_connections")
                                                           .Help("Open connections")
                                                           .Register(registry);
  prometheus::Family<prometheus::Counter>& accepted = prometheus::BuildCounter()
                                                          .Name("discreet_connections_total")
                                                          .Help("Connections accepted")
                                                          .Register(registry);
  prometheus::Family<prometheus::Counter>& requests =
      prometheus::BuildCounter()
          .Name("discreet_requests_total")
          .Help("Requests by kind and outcome (ok or SQLSTATE)")
          .Register(registry);
  prometheus::Family<prometheus::Histogram>& seconds = prometheus::BuildHistogram()
                                                           .Name("discreet_request_seconds")
                                                           .Help("Time from request to reply")
                                                           .Register(registry);
  prometheus::Gauge& in_line = prometheus::BuildGauge()
                                   .Name("discreet_waiting")
                                   .Help("Requests that wait for a worker")
                                   .Register(registry)
                                   .Add({});
  prometheus::Counter& noise = prometheus::BuildCounter()
                                   .Name("discreet_noise_ahead_total")
                                   .Help("Noise samples drawn ahead, of answers that left")
                                   .Register(registry)
                                   .Add({});
};

Metrics::Metrics() : state_(std::make_unique<State>()) {}
Metrics::~Metrics() = default;

void Metrics::opened(Protocol protocol) {
  state_->connections.Add({{"protocol", name(protocol)}}).Increment();
  state_->accepted.Add({{"protocol", name(protocol)}}).Increment();
}
void Metrics::closed(Protocol protocol) {
  state_->connections.Add({{"protocol", name(protocol)}}).Decrement();
}
void Metrics::request(RequestKind kind, const std::string& outcome, double seconds) {
  state_->requests.Add({{"kind", name(kind)}, {"outcome", outcome}}).Increment();
  state_->seconds.Add({{"kind", name(kind)}}, kSeconds).Observe(seconds);
}
void Metrics::waiting(std::size_t count) {
  state_->in_line.Set(static_cast<double>(count));
}
void Metrics::noise_ahead(std::uint64_t samples) {
  if (samples > 0) state_->noise.Increment(static_cast<double>(samples));
}
std::string Metrics::text() const {
  return prometheus::TextSerializer().Serialize(state_->registry.Collect());
}

}  // namespace discreet::server
