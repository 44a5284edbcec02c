#include "lecture/study.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>

#include "lecture/people.h"
#include "mechanisms/discrete_laplace.h"
#include "mechanisms/exponential.h"
#include "mechanisms/sparse_vector.h"

namespace discreet::lecture {
namespace {

double as_double(std::uint64_t value) {
  return static_cast<double>(value);
}

}  // namespace

Result<Shown> smoker(const SmokerOptions& o, RandomSource& random) {
  if (o.people < 100 || o.runs < 100 || o.runs > 1'000'000)
    return invalid_parameter("--people must be at least 100, --runs between 100 and a million");
  DISCREET_TRY(const Epsilon epsilon, Epsilon::make(o.epsilon));
  DISCREET_TRY(const auto noise, DiscreteLaplace::make(epsilon, L1Sensitivity{1}));
  // Four disjoint cells: a person is in one of them, so epsilon pays for all.
  const auto n = static_cast<std::int64_t>(o.people);
  const std::int64_t smokers = n / 4, others = n - smokers;
  const std::int64_t ill_smokers = smokers * 15 / 100, ill_others = others * 5 / 100;
  double concluded[2] = {}, ratio_sum[2] = {};
  for (int world = 0; world < 2; ++world)
    for (std::uint64_t run = 0; run < o.runs; ++run) {
      // Alice smokes and is ill; in world 1 her row is not there.
      std::vector<std::int64_t> cells = {ill_smokers - world, smokers - ill_smokers, ill_others,
                                         others - ill_others};
      noise.release(cells, random);
      const auto risk = [](std::int64_t ill, std::int64_t well) {
        const double all = static_cast<double>(std::max<std::int64_t>(1, ill + well));
        return std::max(0.5, static_cast<double>(ill)) / all;
      };
      const double ratio = risk(cells[0], cells[1]) / risk(cells[2], cells[3]);
      ratio_sum[world] += ratio;
      concluded[world] += ratio >= 2;
    }
  const double runs = as_double(o.runs);
  Shown shown;
  shown.statement = fmt::format(
      "{} people, a quarter of them smokers; a private study (epsilon {:g}) concludes that smoking "
      "causes cancer when the risk is at least twice as high.",
      o.people, o.epsilon);
  shown.columns = {"world", "risk ratio told, mean", "studies that conclude it",
                   "Alice's premium rises"};
  const char* names[] = {"Alice took part", "Alice did not"};
  for (int world = 0; world < 2; ++world)
    shown.rows.push_back({names[world], Cell(ratio_sum[world] / runs, 3),
                          Cell(concluded[world] / runs, 4), Cell(concluded[world] / runs, 4)});
  const double p = concluded[0] / runs, q = concluded[1] / runs;
  const double slack = 6 * std::sqrt(2 * std::max(p * (1 - p), 1 / runs) / runs);
  shown.holds = p <= std::exp(o.epsilon) * q + slack && q <= std::exp(o.epsilon) * p + slack;
  shown.notes = {
      "Alice is harmed by what is true of smokers, not by her row: the premium rises in both "
      "worlds.",
      fmt::format(
          "What is promised: whatever happens because of the study is at most e^epsilon = {:.3g} "
          "times as likely when she takes part.",
          std::exp(o.epsilon))};
  return shown;
}

Result<Shown> generalise(const GeneraliseOptions& o, RandomSource& random) {
  if (o.people < 10 || o.features < 2 || o.runs < 20 ||
      as_double(o.people) * as_double(o.features) * as_double(o.runs) > 2e9)
    return invalid_parameter("--people, --features and --runs are too small or too large together");
  DISCREET_TRY(const Epsilon epsilon, Epsilon::make(o.epsilon));
  // A person replaced moves each count by at most 1, some up and some down.
  DISCREET_TRY(const auto mechanism,
               ExponentialMechanism::make(epsilon, QualityScore{LInfSensitivity{1}, false}));
  MadeUp dice(o.seed);
  const double n = as_double(o.people), runs = as_double(o.runs);
  double plain = 0, chosen = 0;
  std::uint64_t plain_far = 0, chosen_far = 0;
  for (std::uint64_t run = 0; run < o.runs; ++run) {
    std::vector<std::int64_t> agree(o.features);
    for (std::int64_t& count : agree)
      for (std::uint64_t i = 0; i < o.people; i += 64) {
        std::uint64_t word = dice.bits();
        if (o.people - i < 64) word &= (std::uint64_t{1} << (o.people - i)) - 1;
        count += std::popcount(word);
      }
    const double greedy =
        static_cast<double>(*std::max_element(agree.begin(), agree.end())) / n - 0.5;
    DISCREET_TRY(const std::size_t index, mechanism.release(agree, random));
    const double careful = static_cast<double>(agree[index]) / n - 0.5;
    plain += greedy / runs;
    chosen += careful / runs;
    plain_far += std::abs(greedy) > o.epsilon;
    chosen_far += std::abs(careful) > o.epsilon;
  }
  Shown shown;
  shown.statement = fmt::format(
      "{} features of {} people, all coin flips; a rule is the feature that agrees best with the "
      "outcome. On the population every rule is right half of the time.",
      o.features, o.people);
  shown.columns = {"rule chosen by", "too good on the sample, mean", "bound on the mean",
                   fmt::format("off by more than {:g}", o.epsilon)};
  const double bound = std::expm1(o.epsilon);
  // 6 standard errors of the mean of rules that agree with n coin flips.
  const double slack = 6 * 0.5 / std::sqrt(n * runs) + 3 / std::sqrt(n * runs);
  shown.rows = {
      {"the best on the sample", Cell(plain, 3), "none", Cell(as_double(plain_far) / runs, 3)},
      {fmt::format("exponential, epsilon {:g}", o.epsilon), Cell(chosen, 3), Cell(bound, 3),
       Cell(as_double(chosen_far) / runs, 3)}};
  shown.holds = std::abs(chosen) <= bound + slack && chosen < plain;
  shown.notes = {
      fmt::format(
          "{} samples. On average a private rule looks at most e^epsilon - 1 better than it is; "
          "with many people it is also rarely off by more than about epsilon.",
          o.runs),
      "What is made of a private rule afterwards, or asked because of it, keeps this promise."};
  return shown;
}

Result<Shown> sparse(const SparseOptions& o, RandomSource& random) {
  if (o.questions < 1 || o.questions > 1'000'000 || o.above > o.questions || o.above < 1)
    return invalid_parameter(
        "--questions must lie between 1 and a million, --above between 1 and that");
  DISCREET_TRY(const Epsilon epsilon, Epsilon::make(o.epsilon));
  const SparseVectorPlan plan{epsilon, LInfSensitivity{1}, o.above, true, 0.3};
  DISCREET_TRY(const auto mechanism, SparseVector::make(plan));
  auto run = mechanism.start(o.threshold, random);
  std::uint64_t right_yes = 0, wrong_yes = 0, missed = 0, right_no = 0, unanswered = 0;
  double worst_value = 0;
  const std::uint64_t every = o.questions / o.above;
  for (std::uint64_t q = 0; q < o.questions; ++q) {
    const bool is_high = q % every == every - 1 && q / every < o.above;
    const std::int64_t exact = is_high ? o.high : o.low;
    if (run.answers_left() == 0) {
      ++unanswered;
      continue;
    }
    DISCREET_TRY(const auto value, run.value_above(exact, random));
    if (value) {
      ++(is_high ? right_yes : wrong_yes);
      worst_value = std::max(worst_value, std::abs(static_cast<double>(*value - exact)));
    } else {
      ++(is_high ? missed : right_no);
    }
  }
  const double k = as_double(o.questions);
  Shown shown;
  shown.statement = fmt::format(
      "{} questions, {} of them above {}; the sparse vector technique pays for the yeses only: "
      "epsilon "
      "{:g} in all.",
      o.questions, o.above, o.threshold, o.epsilon);
  shown.columns = {"outcome", "questions"};
  const auto whole = [](std::uint64_t value) { return Cell(as_double(value), 12); };
  shown.rows = {{"yes, and it was", whole(right_yes)},
                {"yes, but it was not", whole(wrong_yes)},
                {"no, and it was not", whole(right_no)},
                {"no, but it was", whole(missed)},
                {"after the last yes", whole(unanswered)}};
  const double bound = mechanism.error_bound(0.999999, o.questions);
  shown.notes = {
      fmt::format("Each side of {} is told right when {} or more away from it (with chance "
                  "0.999999); values of the yeses were within {:g}.",
                  o.threshold, bound, worst_value),
      fmt::format(
          "Laplace noise on every answer would have scale {:g} and be wrong by {:.4g} somewhere.",
          k / o.epsilon, k * std::log(k / 0.05) / o.epsilon)};
  const bool clear =
      static_cast<double>(std::min(o.high - o.threshold, o.threshold - o.low)) > bound;
  shown.holds = !clear || (wrong_yes == 0 && missed == 0);
  return shown;
}

}  // namespace discreet::lecture
