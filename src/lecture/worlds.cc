#include "lecture/worlds.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "lecture/people.h"
#include "lecture/plot.h"

namespace discreet::lecture {
namespace {

// P[exact + Z = y] for discrete Laplace noise of rate epsilon.
double laplace_chance(double epsilon, std::int64_t away) {
  const double a = std::exp(-epsilon);
  return (1 - a) / (1 + a) * std::pow(a, static_cast<double>(std::abs(away)));
}

Result<void> check_epsilon(double epsilon) {
  if (!(epsilon > 0 && epsilon <= 20))
    return invalid_parameter("--epsilon must lie above 0 and not above 20 here");
  return {};
}

struct Chances {
  std::int64_t output;
  double with, without;
};

std::vector<Chances> chances_of(const WorldsOptions& options) {
  std::vector<Chances> all;
  if (options.mechanism == WorldsMechanism::Response) {
    const double truth = std::exp(options.epsilon) / (1 + std::exp(options.epsilon));
    return {{0, 1 - truth, truth}, {1, truth, 1 - truth}};
  }
  const std::int64_t other = options.count - options.distance;
  if (options.mechanism == WorldsMechanism::Exact) return {{other, 0, 1}, {options.count, 1, 0}};
  // Far enough that what is left out is below 1e-15.
  const auto reach = static_cast<std::int64_t>(std::ceil(36 / options.epsilon)) + 1;
  for (std::int64_t y = other - reach; y <= options.count + reach; ++y)
    all.push_back({y, laplace_chance(options.epsilon, y - options.count),
                   laplace_chance(options.epsilon, y - other)});
  return all;
}

}  // namespace

Result<Shown> two_worlds(const WorldsOptions& options) {
  DISCREET_TRY_VOID(check_epsilon(options.epsilon));
  if (options.distance < 1 || options.distance > 100)
    return invalid_parameter("--distance must lie between 1 and 100 people");
  if (options.mechanism == WorldsMechanism::Response && options.distance != 1)
    return invalid_parameter("randomized response is about one person: leave out --distance");
  const auto all = chances_of(options);
  const double claimed = options.epsilon * static_cast<double>(options.distance);
  double most = 0, apart = 0;
  for (const Chances& each : all) {
    const double loss = std::abs(std::log(each.with / each.without));
    if (each.with > 0 || each.without > 0) most = std::max(most, loss);
    apart += std::max(0.0, each.with - each.without);
  }
  Shown shown;
  const bool exact = options.mechanism == WorldsMechanism::Exact;
  const bool response = options.mechanism == WorldsMechanism::Response;
  shown.statement =
      response
          ? fmt::format("One answer told with epsilon {:g}: yes in one world, no in the other.",
                        options.epsilon)
          : fmt::format("A count in two worlds: {} people, or {} when {} left. {}.", options.count,
                        options.count - options.distance,
                        options.distance == 1 ? "one" : fmt::format("{}", options.distance),
                        exact ? "The exact count is shown"
                              : fmt::format("Laplace noise, epsilon {:g}", options.epsilon));
  shown.columns = {"output", "here", "there", "ratio"};
  const std::int64_t middle = options.count - options.distance / 2;
  for (const Chances& each : all)
    if (std::abs(each.output - middle) <= 5 || response)
      shown.rows.push_back(
          {Cell(static_cast<double>(each.output), 12), each.with, each.without,
           each.without > 0 ? each.with / each.without : std::numeric_limits<double>::infinity()});
  const double guess = (1 + apart) / 2, bound = 1 / (1 + std::exp(-claimed));
  if (exact) {
    shown.notes = {
        "Some outputs happen in one world only: no epsilon bounds the ratio, the exact sum is "
        "not differentially private.",
        "The best guess which world it is: right with chance 1."};
    shown.holds = std::isinf(most) && apart == 1;
    return shown;
  }
  shown.holds = most <= claimed * (1 + 1e-9) && guess <= bound * (1 + 1e-9);
  shown.notes = {
      fmt::format("Largest |ln ratio| over all outputs: {:.6g}; promised: {} = {:.6g}.", most,
                  options.distance == 1 ? "epsilon" : fmt::format("{} epsilon", options.distance),
                  claimed),
      fmt::format(
          "The best guess which world it is: right with chance {:.4f} when both are equally "
          "likely; no mechanism with this promise allows more than {:.4f}.",
          guess, bound),
      fmt::format("P[right | here] + P[right | there] = {:.4f}; blind guessing gives 1.",
                  1 + apart)};
  BarPlot plot{response ? "One answer, two worlds" : "One count, two worlds",
               "what is published",
               response ? "the answer is yes" : "they are in the data",
               response ? "the answer is no" : "they are not",
               {},
               {}};
  const auto shown_reach = static_cast<std::int64_t>(std::ceil(4 / options.epsilon));
  for (const Chances& each : all)
    if (response || std::abs(each.output - middle) <=
                        std::min<std::int64_t>(shown_reach, 40) + options.distance)
      plot.bars.push_back({static_cast<double>(each.output), each.with, each.without, {}});
  shown.picture = bar_picture(plot);
  return shown;
}

Result<Shown> posterior_band(double epsilon) {
  DISCREET_TRY_VOID(check_epsilon(epsilon));
  Shown shown;
  shown.statement = fmt::format(
      "Belief that Alice has the illness, before an answer of epsilon {:g} and at most after it.",
      epsilon);
  shown.columns = {"before", "least after", "most after", "change at most"};
  const auto after = [](double prior, double factor) {
    return prior * factor / (1 - prior + prior * factor);
  };
  for (const double prior : {0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99})
    shown.rows.push_back({prior, after(prior, std::exp(-epsilon)), after(prior, std::exp(epsilon)),
                          std::max(after(prior, std::exp(epsilon)) - prior,
                                   prior - after(prior, std::exp(-epsilon)))});
  shown.notes = {
      fmt::format("Odds move by at most a factor e^epsilon = {:.4g} either way, whatever "
                  "the answer and whatever else is known.",
                  std::exp(epsilon))};
  LinePlot plot{fmt::format("Belief before and after, epsilon {:g}", epsilon),
                "believed before",
                "believed after",
                false,
                false,
                {{"most", {}}, {"before = after", {}, true}, {"least", {}}}};
  for (int i = 0; i <= 100; ++i) {
    const double prior = i / 100.0;
    plot.lines[0].points.emplace_back(prior, after(prior, std::exp(epsilon)));
    plot.lines[1].points.emplace_back(prior, prior);
    plot.lines[2].points.emplace_back(prior, after(prior, std::exp(-epsilon)));
  }
  shown.picture = line_picture(plot);
  return shown;
}

Result<Shown> side_information(double epsilon, std::uint32_t people, std::uint64_t seed) {
  DISCREET_TRY_VOID(check_epsilon(epsilon));
  if (people < 2 || people > 12)
    return invalid_parameter("all data sets are tried: --people must lie between 2 and 12");
  const std::size_t worlds = std::size_t{1} << people;
  const auto n = static_cast<int>(people);
  MadeUp dice(seed);
  struct Side {
    std::string known;
    std::function<double(std::size_t)> weight;  // of a data set; bit 0 is Alice's
    int draws = 1;
  };
  std::vector<double> wild(worlds);
  const std::vector<Side> sides = {
      {"nothing", [](std::size_t) { return 1.0; }},
      {"everybody else's bit", [](std::size_t x) { return x >> 1 == 0 ? 1.0 : 0.0; }},
      {"all have the same bit",
       [&](std::size_t x) { return x == 0 || x == worlds - 1 ? 1.0 : 0.0; }},
      {"exactly half have it",
       [&](std::size_t x) { return std::popcount(x) == n / 2 ? 1.0 : 0.0; }},
      {"it is rare, one in ten",
       [&](std::size_t x) {
         const int ones = std::popcount(x);
         return std::pow(0.1, ones) * std::pow(0.9, n - ones);
       }},
      {"500 random beliefs, the worst", [&](std::size_t x) { return wild[x]; }, 500}};
  const auto reach = static_cast<std::int64_t>(std::ceil(20 / epsilon)) + 1;
  Shown shown;
  shown.statement = fmt::format(
      "A noisy count of {} secret bits (epsilon {:g}): how far any answer moves an attacker's "
      "belief.",
      people, epsilon);
  shown.columns = {"known beforehand", "belief in Alice's bit moves", "of that due to Alice",
                   "bound"};
  const double tight = std::tanh(epsilon / 2);
  for (const Side& side : sides) {
    double moved = 0, due = 0;
    for (int draw = 0; draw < side.draws; ++draw) {
      if (side.draws > 1)
        for (double& each : wild) each = -std::log(dice.unit()) * (dice.unit() < 0.3 ? 50 : 1);
      double total = 0, prior = 0;
      std::vector<double> weight(worlds);
      for (std::size_t x = 0; x < worlds; ++x) {
        weight[x] = side.weight(x);
        total += weight[x];
        if (x & 1) prior += weight[x];
      }
      prior /= total;
      for (std::int64_t y = -reach; y <= n + reach; ++y) {
        double with = 0, with_alice = 0, without = 0;
        std::vector<double> a(worlds), b(worlds);
        for (std::size_t x = 0; x < worlds; ++x) {
          const std::int64_t exact = std::popcount(x);
          a[x] = weight[x] * laplace_chance(epsilon, y - exact);
          b[x] =
              weight[x] * laplace_chance(epsilon, y - (exact - static_cast<std::int64_t>(x & 1)));
          with += a[x];
          without += b[x];
          if (x & 1) with_alice += a[x];
        }
        double apart = 0;
        for (std::size_t x = 0; x < worlds; ++x)
          apart += std::max(0.0, a[x] / with - b[x] / without);
        moved = std::max(moved, std::abs(with_alice / with - prior));
        due = std::max(due, apart);
      }
    }
    if (moved < 1e-12) moved = 0;  // rounding of equal sums
    shown.rows.push_back({side.known, moved, due, tight});
    shown.holds = shown.holds && due <= tight * (1 + 1e-9);
  }
  shown.notes = {
      "\"Due to Alice\": total variation between what is believed after the answer and what would "
      "be\n"
      "believed had her row been left out, at the worst answer. It never passes tanh(epsilon / "
      "2),\n"
      "which is below e^epsilon - 1; what the answer says about everybody may move far more."};
  return shown;
}

}  // namespace discreet::lecture
