// Local privacy: reports made on the person's side, estimates made by the collector.
#include <cstring>
#include <memory>

#include <fmt/format.h>

#include "bindings/glue.h"
#include "local/attributes.h"
#include "local/choose.h"
#include "local/client.h"
#include "local/estimates.h"
#include "local/heavy_hitters.h"
#include "local/oracle.h"
#include "local/postprocess.h"
#include "local/wire.h"

namespace discreet::python {
namespace {

local::Spec spec_of(const std::string& oracle, double epsilon, std::uint64_t values,
                    std::vector<std::string> labels, double low, double high,
                    const std::string& name) {
  local::Spec spec;
  spec.kind = value(local::oracle_kind(oracle));
  spec.epsilon = epsilon;
  spec.values = values;
  spec.labels = std::move(labels);
  spec.low = low;
  spec.high = high;
  spec.name = name;
  return spec;
}

using EstimateRow = std::tuple<std::string, double, double, double, double>;

local::Bytes bytes_of(const nb::bytes& reports) {
  return {reinterpret_cast<const std::uint8_t*>(reports.c_str()), reports.size()};
}

/// Valid reports only; others are left out and counted.
std::pair<local::Tally, std::uint64_t> tally_of(const local::Oracle& oracle, local::Bytes reports) {
  const std::size_t size = oracle.report_bytes();
  local::Tally tally = oracle.empty_tally();
  std::uint64_t refused = reports.size() % size == 0 ? 0 : 1;
  std::size_t from = 0;  // valid ones are added in runs
  const std::size_t count = reports.size() / size;
  for (std::size_t i = 0; i <= count; ++i) {
    if (i < count && oracle.valid(reports.subspan(i * size, size))) continue;
    if (i > from) oracle.add(reports.subspan(from * size, (i - from) * size), tally);
    from = i + 1;
    refused += i < count ? 1 : 0;
  }
  return {std::move(tally), refused};
}

std::vector<EstimateRow> rows_of(const local::Oracle& oracle, const local::Tally& tally,
                                 const local::EstimateQuestion& question) {
  std::vector<EstimateRow> rows;
  for (auto& row : value(local::estimate_rows(oracle, tally, question)))
    rows.emplace_back(std::move(row.value), row.estimate, row.standard_error, row.low, row.high);
  return rows;
}

std::string randomize(const local::Oracle& oracle, std::span<const std::uint64_t> inputs) {
  std::string reports(inputs.size() * oracle.report_bytes(), '\0');
  auto* out = reinterpret_cast<std::uint8_t*>(reports.data());
  for (std::size_t i = 0; i < inputs.size(); ++i)
    oracle.randomize(inputs[i], noise(),
                     std::span(out + i * oracle.report_bytes(), oracle.report_bytes()));
  return reports;
}

nb::bytes as_bytes(const std::string& text) {
  return nb::bytes(text.data(), text.size());
}

void bind_oracle(nb::module_& m) {
  nb::class_<local::Oracle>(m, "Oracle")
      .def_static(
          "make",
          [](const std::string& oracle, double epsilon, std::uint64_t values,
             std::vector<std::string> labels, double low, double high, const std::string& name) {
            return value(local::Oracle::make(
                spec_of(oracle, epsilon, values, std::move(labels), low, high, name)));
          })
      .def_static(
          "record",
          [](const std::string& strategy, double epsilon,
             const std::vector<std::tuple<std::string, std::uint64_t, std::vector<std::string>>>&
                 attributes,
             const std::string& name) {
            std::vector<local::AttributeQuestion> asked;
            for (const auto& [attribute, values, labels] : attributes)
              asked.push_back({attribute, values, labels});
            auto spec = value(local::record_spec(strategy, epsilon, asked));
            spec.name = name;
            return value(local::Oracle::make(std::move(spec)));
          })
      .def_static("from_header",
                  [](const std::string& line) {
                    return value(local::Oracle::make(value(local::parse_header(line))));
                  })
      .def("header", [](const local::Oracle& self) { return local::header_line(self.spec()); })
      .def("report_bytes", &local::Oracle::report_bytes)
      .def("kind", [](const local::Oracle& self) { return local::name(self.spec().kind); })
      .def("epsilon", [](const local::Oracle& self) { return self.spec().epsilon; })
      .def("values", [](const local::Oracle& self) { return self.spec().values; })
      .def("attributes",
           [](const local::Oracle& self) {
             std::vector<std::string> names;
             for (const auto& attribute : self.spec().attributes) names.push_back(attribute.name);
             return names;
           })
      .def("randomize_texts",
           [](const local::Oracle& self, const std::vector<std::string>& texts) {
             std::string reports;
             {
               const Unlocked unlocked;
               std::vector<std::uint64_t> inputs;
               for (const auto& text : texts)
                 inputs.push_back(value(local::input_of(self.spec(), text)));
               reports = randomize(self, inputs);
             }
             return as_bytes(reports);
           })
      .def(
          "randomize_numbers",
          [](const local::Oracle& self, const Input<std::int64_t>& numbers) {
            std::string reports;
            {
              const Unlocked unlocked;
              std::vector<std::uint64_t> inputs(numbers.size());
              for (std::size_t i = 0; i < numbers.size(); ++i) {
                if (numbers.data()[i] < 0 ||
                    static_cast<std::uint64_t>(numbers.data()[i]) >= self.spec().values)
                  throw Failure(invalid_parameter(fmt::format(
                      "a value must be a whole number from 0 to {}", self.spec().values - 1)));
                inputs[i] = static_cast<std::uint64_t>(numbers.data()[i]);
              }
              reports = randomize(self, inputs);
            }
            return as_bytes(reports);
          },
          nb::arg("numbers").noconvert())
      .def("estimate",
           [](const local::Oracle& self, const nb::bytes& reports,
              const std::vector<std::string>& candidates, const std::string& post,
              double confidence, bool simultaneous) {
             const local::Bytes bytes = bytes_of(reports);
             const Unlocked unlocked;
             const auto [tally, refused] = tally_of(self, bytes);
             return std::tuple(rows_of(self, tally,
                                       {.confidence = confidence,
                                        .simultaneous = simultaneous,
                                        .post = post,
                                        .candidates = candidates}),
                               tally.reports, refused);
           })
      .def("standard_error", [](const local::Oracle& self, std::uint64_t reports) {
        return std::sqrt(self.variance().at(static_cast<double>(reports), 0));
      });
  m.def("local_oracles", [] {
    std::vector<std::string> names;
    for (const auto kind : local::all_oracles()) names.emplace_back(local::name(kind));
    return names;
  });
  m.def("local_choose", [](double epsilon, std::uint64_t values) {
    return std::string(local::name(value(local::choose_oracle(epsilon, values)).kind));
  });
  m.def("local_posts", [] { return local::post_process_names(); });
  m.def("report_line",
        [](const nb::bytes& report) { return local::report_line(bytes_of(report)); });
  m.def("parse_report_line", [](const std::string& line) -> std::optional<nb::bytes> {
    const auto report = local::parse_report_line(line);
    if (!report) return std::nullopt;
    return nb::bytes(reinterpret_cast<const char*>(report->data()), report->size());
  });
}

void bind_hitters(nb::module_& m) {
  using local::HeavyHitters;
  nb::class_<HeavyHitters>(m, "HeavyHitters")
      .def("__init__",
           [](HeavyHitters* self, double epsilon, std::uint32_t bytes_max) {
             local::HitterSpec spec;
             spec.epsilon = epsilon;
             spec.bytes_max = bytes_max;
             new (self) HeavyHitters(value(HeavyHitters::make(spec)));
           })
      .def("header", &HeavyHitters::header)
      .def("randomize",
           [](const HeavyHitters& self, const std::vector<std::string>& texts) {
             std::string reports(texts.size() * HeavyHitters::kReportBytes, '\0');
             {
               const Unlocked unlocked;
               auto* out = reinterpret_cast<std::uint8_t*>(reports.data());
               for (std::size_t i = 0; i < texts.size(); ++i)
                 self.randomize(
                     texts[i], noise(),
                     std::span(out + i * HeavyHitters::kReportBytes, HeavyHitters::kReportBytes));
             }
             return as_bytes(reports);
           })
      .def("find", [](const HeavyHitters& self, const nb::bytes& reports, std::size_t most,
                      double confidence) {
        const local::Bytes bytes = bytes_of(reports);
        const Unlocked unlocked;
        std::vector<std::uint8_t> valid;
        for (std::size_t at = 0; at + HeavyHitters::kReportBytes <= bytes.size();
             at += HeavyHitters::kReportBytes) {
          const auto report = bytes.subspan(at, HeavyHitters::kReportBytes);
          if (self.valid(report)) valid.insert(valid.end(), report.begin(), report.end());
        }
        std::vector<std::tuple<std::string, double, double>> out;
        for (const auto& hitter : value(self.find(valid, most, confidence)))
          out.emplace_back(hitter.text, hitter.estimate, hitter.standard_error);
        return out;
      });
}

/// A person's side: every report is paid for out of a total that lasts.
class LocalClient {
 public:
  LocalClient(const std::string& header, const std::string& path, double total)
      : budget_(std::make_unique<local::ReportBudget>(
            path.empty() ? local::ReportBudget(epsilon_of(total))
                         : value(local::ReportBudget::open(path, epsilon_of(total))))),
        client_(value(local::Client::make(value(local::parse_header(header)), *budget_))) {}

  nb::bytes report(const std::string& text) {
    const auto made = value(client_.report(text, noise()));
    return nb::bytes(made.data(), made.size());
  }
  /// The same secret and value give the same permanent randomisation; pays once for each value.
  nb::bytes report_lasting(const std::string& text, const nb::bytes& secret) {
    local::ClientSecret own;
    if (secret.size() != own.size())
      throw Failure(invalid_parameter("a client's secret has 32 bytes"));
    std::memcpy(own.data(), secret.c_str(), own.size());
    const auto made = value(client_.report_lasting(text, own, noise()));
    return nb::bytes(made.data(), made.size());
  }
  double spent() const { return budget_->spent().value(); }
  double total() const { return budget_->total().value(); }

 private:
  std::unique_ptr<local::ReportBudget> budget_;
  local::Client client_;
};

}  // namespace

void bind_local(nb::module_& m) {
  bind_oracle(m);
  bind_hitters(m);
  nb::class_<LocalClient>(m, "LocalClient")
      .def(nb::init<const std::string&, const std::string&, double>(), "header"_a, "path"_a,
           "total"_a)
      .def("report", &LocalClient::report)
      .def("report_lasting", &LocalClient::report_lasting)
      .def("spent", &LocalClient::spent)
      .def("total", &LocalClient::total);
}

}  // namespace discreet::python
