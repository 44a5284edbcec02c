// Do Rubin's rules give honest intervals from several twins?
//
// Many data sets are drawn from a known population, m twins of each are made by `latent`, every
// twin answers a question with its own sampling variance, and the answers are combined as multiple
// imputations are: q = mean, T = mean variance + (1 + 1/m) variance between twins, t with Rubin's
// degrees of freedom. Counts how often the 95 % interval holds the population's value: for twins
// fitted anew (--refit), for twins of one fit, and for one twin alone (the broken ways).
//
// Usage: bench_synth_rubin [--sets 200] [--rows 2000] [--epsilon 0.5] [--twins 5]
// [--penalty 0.12] [--components 24] [--steps 300]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "support/seeded_random.h"
#include "synth/dice.h"
#include "synth/synthesize.h"

namespace discreet::synth {
namespace {

constexpr double kChances[5] = {0.35, 0.25, 0.2, 0.15, 0.05};

// a is 1 with chance 0.3; b follows a; c is a level from 0 to 4 that leans on a.
CodedTable draw(std::size_t rows, Dice& dice) {
  CodedTable table{Domain::parse(R"({"a": 2, "b": 3, "c": 5})").value(),
                   std::vector<std::vector<std::uint16_t>>(3)};
  for (std::size_t i = 0; i < rows; ++i) {
    const bool a = dice.unit() < 0.3;
    const double u = dice.unit();
    const auto b =
        static_cast<std::uint16_t>(a ? (u < 0.6 ? 2 : u < 0.8) : (u < 0.2 ? 2 : u < 0.6));
    double v = dice.unit();
    std::uint16_t c = 0;
    while (c < 4 && v >= kChances[c]) v -= kChances[c++];
    if (a && dice.unit() < 0.5) c = static_cast<std::uint16_t>(4 - c);
    table.columns[0].push_back(a);
    table.columns[1].push_back(b);
    table.columns[2].push_back(c);
  }
  return table;
}

struct Estimate {
  double value = 0, variance = 0;
};

constexpr const char* kQuestions[] = {"share of a", "mean of c", "share of a and b",
                                      "mean of c given a"};
constexpr std::size_t kAsked = 4;

// Mean of f over rows where `where` holds, with its usual variance.
template <class Value, class Where>
Estimate mean_of(const CodedTable& table, const Value& value, const Where& where) {
  double n = 0, sum = 0, squares = 0;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (!where(row)) continue;
    const double x = value(row);
    n += 1;
    sum += x;
    squares += x * x;
  }
  if (n < 2) return {0, 1};
  const double mean = sum / n;
  return {mean, (squares / n - mean * mean) / n};
}

Estimate ask(const CodedTable& table, std::size_t question) {
  const auto& a = table.columns[0];
  const auto& b = table.columns[1];
  const auto& c = table.columns[2];
  const auto all = [](std::size_t) { return true; };
  switch (question) {
    case 0:
      return mean_of(table, [&](std::size_t r) { return a[r] == 1 ? 1.0 : 0.0; }, all);
    case 1:
      return mean_of(table, [&](std::size_t r) { return static_cast<double>(c[r]); }, all);
    case 2:
      return mean_of(table, [&](std::size_t r) { return a[r] == 1 && b[r] == 2 ? 1.0 : 0.0; }, all);
    default:
      return mean_of(
          table, [&](std::size_t r) { return static_cast<double>(c[r]); },
          [&](std::size_t r) { return a[r] == 1; });
  }
}

struct Interval {
  double from, to;
  bool holds(double x) const { return from <= x && x <= to; }
};

// The 97.5 % point of Student's t by the expansion of Cornish and Fisher: 2.77 for 2.776 at four
// degrees of freedom, nearer beyond.
double t_quantile(double freedom) {
  const double z = 1.959964, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
  return z + (z3 + z) / (4 * freedom) + (5 * z5 + 16 * z3 + 3 * z) / (96 * freedom * freedom) +
         (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * freedom * freedom * freedom);
}

Interval rubin(const std::vector<Estimate>& twins) {
  const double m = static_cast<double>(twins.size());
  double mean = 0, within = 0, between = 0;
  for (const Estimate& twin : twins) {
    mean += twin.value / m;
    within += twin.variance / m;
  }
  for (const Estimate& twin : twins) between += (twin.value - mean) * (twin.value - mean) / (m - 1);
  const double spread = (1 + 1 / m) * between;
  const double total = within + spread;
  const double freedom = (m - 1) * std::pow(1 + within / std::max(spread, 1e-300), 2);
  const double t = t_quantile(freedom);
  return {mean - t * std::sqrt(total), mean + t * std::sqrt(total)};
}

int bench(int argc, char** argv) {
  std::size_t sets = 200, rows = 2000, twins = 5;
  double epsilon = 0.5;
  SynthesisSettings settings{.method = Method::Latent};
  settings.latent.components = 24;
  settings.latent.steps = 300;
  settings.latent.proposals = 40'000;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string option = argv[i];
    if (option == "--sets") sets = std::strtoul(argv[i + 1], nullptr, 10);
    if (option == "--rows") rows = std::strtoul(argv[i + 1], nullptr, 10);
    if (option == "--twins") twins = std::strtoul(argv[i + 1], nullptr, 10);
    if (option == "--epsilon") epsilon = std::atof(argv[i + 1]);
    if (option == "--penalty") settings.latent.penalty = std::atof(argv[i + 1]);
    if (option == "--components")
      settings.latent.components = static_cast<std::uint32_t>(std::atoi(argv[i + 1]));
    if (option == "--steps")
      settings.latent.steps = static_cast<std::uint32_t>(std::atoi(argv[i + 1]));
  }
  Dice dice(1, 0);
  double truth[kAsked];
  const CodedTable population = draw(4'000'000, dice);
  for (std::size_t q = 0; q < kAsked; ++q) truth[q] = ask(population, q).value;
  const ApproxDp target{Epsilon::make(epsilon).value(), Delta::make(1e-6).value()};
  Workers workers(1);
  std::size_t anew[kAsked] = {}, same[kAsked] = {}, alone[kAsked] = {};
  double width[kAsked] = {}, classic[kAsked] = {};
  for (std::size_t s = 0; s < sets; ++s) {
    const CodedTable table = draw(rows, dice);
    const auto workload = Workload::all(table.domain, 2, 1'000).value();
    for (const bool refit : {true, false}) {
      SeededRandom random(s + 1);
      const FitContext context{
          .workers = workers, .random = random, .twins = twins, .refit = refit};
      const Twin twin = synthesize(table, workload, target, settings, context).value();
      for (std::size_t q = 0; q < kAsked; ++q) {
        std::vector<Estimate> answers;
        for (const CodedTable& one : twin.tables) answers.push_back(ask(one, q));
        const Interval interval = rubin(answers);
        (refit ? anew : same)[q] += interval.holds(truth[q]);
        const double half = 1.96 * std::sqrt(answers[0].variance);
        if (refit) {
          width[q] += (interval.to - interval.from) / static_cast<double>(sets);
          classic[q] += 2 * half / static_cast<double>(sets);
        } else {
          alone[q] += std::abs(answers[0].value - truth[q]) <= half;
        }
      }
    }
  }
  std::printf(
      "%zu data sets of %zu rows, epsilon %g, %zu twins: how often 95 %% intervals hold the "
      "truth\n%-20s %8s %8s %10s   width over that without privacy\n",
      sets, rows, epsilon, twins, "", "refitted", "one fit", "one twin");
  for (std::size_t q = 0; q < kAsked; ++q)
    std::printf("%-20s %7.1f%% %7.1f%% %9.1f%%   %.2f\n", kQuestions[q],
                100.0 * static_cast<double>(anew[q]) / static_cast<double>(sets),
                100.0 * static_cast<double>(same[q]) / static_cast<double>(sets),
                100.0 * static_cast<double>(alone[q]) / static_cast<double>(sets),
                width[q] / classic[q]);
  return 0;
}

}  // namespace
}  // namespace discreet::synth

int main(int argc, char** argv) {
  return discreet::synth::bench(argc, argv);
}
