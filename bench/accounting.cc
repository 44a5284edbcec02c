// How long is a tight price? The five workloads of bench/peers/accounting.py in one process,
// without the start of a program in the figures: one JSON object a line with the bracket and CPU
// seconds.
#include <ctime>
#include <functional>
#include <iostream>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "accounting/filter.h"
#include "accounting/pld.h"
#include "accounting/pld_account.h"

namespace discreet {
namespace {

double cpu_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

LossEvent times(std::uint64_t count, LossEvent event) {
  return loss::Repeated{count, std::make_shared<LossEvent>(std::move(event))};
}

LossEvent sampled(double q, LossEvent event) {
  return loss::PoissonSubsampled{q, std::make_shared<LossEvent>(std::move(event))};
}

// Four kinds in turn, no two releases alike; the Python side builds the same list.
LossEvent two_hundred() {
  loss::Composed all;
  for (int i = 0; i < 200; ++i) {
    const double x = i;
    if (i % 4 == 0) all.parts.push_back(loss::Gaussian{20 + 0.1 * x, 1});
    if (i % 4 == 1) all.parts.push_back(loss::Laplace{20 + 0.25 * x, 1});
    if (i % 4 == 2)
      all.parts.push_back(sampled(0.01 + 0.0001 * x, loss::Gaussian{1 + 0.01 * x, 1}));
    if (i % 4 == 3) all.parts.push_back(loss::Laplace{40 + 0.2 * x, 1});
  }
  return all;
}

void report(const char* name, const std::function<Result<Bracket>()>& work) {
  // Repeated until half a second has passed, so that short ones are measured too.
  const double begin = cpu_seconds();
  int runs = 0;
  Bracket bracket;
  do {
    const auto answer = work();
    if (!answer) {
      std::cout << nlohmann::json{{"workload", name}, {"error", answer.error().message}} << '\n';
      return;
    }
    bracket = *answer;
    ++runs;
  } while (cpu_seconds() - begin < 0.5);
  std::cout << nlohmann::json{{"workload", name},
                              {"lower", bracket.lower},
                              {"upper", bracket.upper},
                              {"cpu_seconds", (cpu_seconds() - begin) / runs}}
            << std::endl;
}

// An account of 100,000 releases, then one question more.
void report_account() {
  auto account = PldAccount::make(1e-6, Neighbours::AddRemove,
                                  {.epsilon_max = 10, .releases_max = 1.5e5, .width = 1e-3})
                     .value();
  const auto record = [&](const LossEvent& event) {
    if (const auto done = account.record(event); !done)
      std::cout << nlohmann::json{{"workload", "record"}, {"error", done.error().message}} << '\n';
  };
  for (int i = 0; i < 10; ++i) record(times(4000, loss::Laplace{300.0 + i, 1}));
  record(times(40000, loss::Gaussian{300, 1}));
  record(times(20000, sampled(0.002, loss::Gaussian{2, 1})));
  // No two releases or questions alike, so that nothing is found ready made.
  double turn = 0;
  report("record one release, then price", [&]() -> Result<Bracket> {
    turn += 1e-6;
    DISCREET_TRY_VOID(account.record(loss::Laplace{300.5 + turn, 1}));
    return account.epsilon();
  });
  if (!account.ready())
    std::cout << nlohmann::json{{"workload", "account"}, {"error", "not ready"}} << std::endl;
  report("price one Laplace question after 100,000",
         [&] { return account.epsilon_with(loss::Laplace{10 + (turn += 1e-6), 1}); });
  report("price one Gaussian question after 100,000",
         [&] { return account.epsilon_with(loss::Gaussian{10 + (turn += 1e-6), 1}); });
  report("price one sampled question after 100,000", [&] {
    return account.epsilon_with(sampled(0.01, loss::Gaussian{1 + (turn += 1e-6), 1}));
  });
}

// The same for a filter, which holds adaptive questions: price, then admit.
void report_filter() {
  const auto target = ApproxDp{Epsilon::make(50).value(), Delta::make(1e-6).value()};
  RenyiFilter filter(RenyiRule::make(target).value());
  const auto ask = [&](const LossEvent& event) -> Result<Bracket> {
    DISCREET_TRY(const auto cost, renyi_cost(event, filter.rule().orders, Neighbours::AddRemove));
    DISCREET_TRY_VOID(filter.try_spend(cost));
    return Bracket{0, 0};
  };
  for (int i = 0; i < 100'000; ++i)
    if (!ask(loss::Gaussian{20'000.0 + i, 1})) break;
  double turn = 0;
  report("filter: one Gaussian question after 100,000",
         [&] { return ask(loss::Gaussian{1e6 + (turn += 1e-3), 1}); });
  report("filter: one Laplace question after 100,000",
         [&] { return ask(loss::Laplace{1e6 + (turn += 1e-3), 1}); });
  // Sampled noise is priced by integrals or sums, one an order; admitting it is the same addition.
  const auto one = ApproxDp{Epsilon::make(1).value(), Delta::make(1e-6).value()};
  const std::vector<double> orders = RenyiRule::make(one).value().orders;
  const auto price = [&](const LossEvent& event) -> Result<Bracket> {
    DISCREET_TRY(const auto cost, renyi_cost(event, orders, Neighbours::AddRemove));
    return Bracket{0, cost.divergences.empty() ? 0 : cost.divergences.front()};
  };
  report("filter: one sampled Gaussian question (q 0.01, sigma 1)",
         [&] { return price(sampled(0.01, loss::Gaussian{1 + (turn += 1e-6), 1})); });
  report("filter: one sampled discrete Gaussian question (q 0.01, sigma 100)",
         [&] { return price(sampled(0.01, loss::DiscreteGaussian{1e4 + (turn += 1e-6), 1})); });
}

void run() {
  const auto epsilon = [](const LossEvent& event) {
    return [event]() -> Result<Bracket> {
      DISCREET_TRY(const auto pld, PrivacyLossDistribution::make(event, Neighbours::AddRemove));
      return pld.epsilon(1e-6);
    };
  };
  report("gaussian x 1000", epsilon(times(1000, loss::Gaussian{20, 1})));
  report("laplace x 1000", epsilon(times(1000, loss::Laplace{100, 1})));
  report("sampled gaussian x 10000", epsilon(times(10000, sampled(0.01, loss::Gaussian{1, 1}))));
  report("200 different", epsilon(two_hundred()));
  report("randomized response x 1000000",
         epsilon(times(1'000'000, loss::RandomizedResponse{Epsilon::make(0.01).value()})));
  report_account();
  report_filter();
}

}  // namespace
}  // namespace discreet

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "account")
    discreet::report_account();
  else if (argc > 1 && std::string_view(argv[1]) == "filter")
    discreet::report_filter();
  else
    discreet::run();
  return 0;
}
