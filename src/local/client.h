// A client of a collection: text in, report out, within what its person agreed to give.
//
//   ReportBudget budget(Epsilon::make(4).value());
//   const auto client = Client::make(parse_header(line).value(), budget).value();
//   send(client.report("tea", random).value());
//
// Guarantee: report() costs epsilon every time, and refuses when the budget is spent.
//            report_lasting() costs the spec's epsilon (its permanent epsilon for RAPPOR) once for
//            each different value; reports of the same value repeat the same permanent
//            randomisation, so their average says no more than one of them. What it does not hide:
//            that the value changed, when it did (docs/proofs/local_lasting.md).
// Assumes:   RandomSource yields uniform bits; HMAC-SHA-256 under the client's secret is a
//            pseudo-random function (lasting reports only).
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "local/oracle.h"
#include "local/report_budget.h"

namespace discreet::local {

using ClientSecret = std::array<std::uint8_t, 32>;

class Client {
 public:
  /// The budget outlives the client. `spec` is completed.
  static Result<Client> make(Spec spec, ReportBudget& budget);

  /// One fresh report, paid for.
  Result<std::vector<std::uint8_t>> report(std::string_view value, RandomSource& random) const;
  /// A report that may be asked for again and again.
  Result<std::vector<std::uint8_t>> report_lasting(std::string_view value,
                                                   const ClientSecret& secret,
                                                   RandomSource& random) const;

  const Oracle& oracle() const { return *oracle_; }

 private:
  Client(std::unique_ptr<Oracle> oracle, ReportBudget& budget)
      : oracle_(std::move(oracle)), budget_(&budget) {}
  std::unique_ptr<Oracle> oracle_;
  ReportBudget* budget_;
};

/// The same words for the same secret and label, every time: HMAC-SHA-256 in counter mode. Lives in
/// local/ because it is no source of noise for anything but repeated reports.
class LastingRandom final : public RandomSource {
 public:
  LastingRandom(const ClientSecret& secret, std::string label);
  std::uint64_t bits64() override;
  void fill(std::span<std::uint64_t> words) override;

 private:
  ClientSecret secret_;
  std::string label_;
  std::uint64_t block_ = 0;
  std::array<std::uint64_t, 4> words_{};
  std::size_t next_ = 4;
};

}  // namespace discreet::local
