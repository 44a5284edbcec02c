#include "attack/reconstruction.h"

#include <chrono>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <Eigen/Dense>

#include "attack/least_squares_internal.h"
#include "attack/linear_program_internal.h"
#include "attack/served.h"
#include "mechanisms/discrete_gaussian.h"

namespace discreet::attack {
namespace {

struct Instance {
  Eigen::MatrixXf subsets;  // a row per query; one where the person is in the subset
  Eigen::VectorXf secret;
  std::vector<std::int64_t> answers;
};

Instance make_instance(const ReconstructionOptions& options, RandomSource& random) {
  Instance made;
  const auto n = static_cast<Eigen::Index>(options.people);
  const auto m = static_cast<Eigen::Index>(options.queries);
  const auto coins = [&](auto&& put, Eigen::Index count) {
    for (Eigen::Index i = 0; i < count;) {
      const std::uint64_t word = random.bits64();
      for (int bit = 0; bit < 64 && i < count; ++bit, ++i)
        put(i, static_cast<float>(word >> bit & 1));
    }
  };
  made.secret.resize(n);
  coins([&](Eigen::Index i, float bit) { made.secret[i] = bit; }, n);
  made.subsets.resize(m, n);
  coins([&](Eigen::Index i, float bit) { made.subsets(i % m, i / m) = bit; }, m * n);
  const Eigen::VectorXf exact = made.subsets * made.secret;
  for (Eigen::Index i = 0; i < m; ++i) made.answers.push_back(std::llround(exact[i]));
  return made;
}

Eigen::VectorXf answers_of(const Instance& instance) {
  Eigen::VectorXf y(static_cast<Eigen::Index>(instance.answers.size()));
  for (Eigen::Index i = 0; i < y.size(); ++i)
    y[i] = static_cast<float>(instance.answers[static_cast<std::size_t>(i)]);
  return y;
}

// The candidate whose worst answer is nearest: with noise at most E everywhere it is within 4E.
Eigen::VectorXf exhaustive(const Eigen::MatrixXf& a, const Eigen::VectorXf& y) {
  const auto n = static_cast<std::size_t>(a.cols());
  Eigen::VectorXf best, candidate(a.cols());
  float least = std::numeric_limits<float>::infinity();
  for (std::uint64_t code = 0; code < std::uint64_t{1} << n; ++code) {
    for (std::size_t i = 0; i < n; ++i)
      candidate[static_cast<Eigen::Index>(i)] = static_cast<float>(code >> i & 1);
    const float worst = (a * candidate - y).cwiseAbs().maxCoeff();
    if (worst < least) {
      least = worst;
      best = candidate;
    }
  }
  return best;
}

Answering gaussian_noise(const DiscreteGaussian& noise) {
  return [noise](std::span<std::int64_t> answers, RandomSource& random) {
    for (std::int64_t& answer : answers) answer = noise.release(answer, random);
  };
}

// Discrete Gaussian noise of this standard deviation (rounded up), whatever it is worth.
Result<Answering> noise_of(double sigma) {
  const double rho = 1 / (2 * sigma * sigma);
  auto noise = DiscreteGaussian::make(Rho::make(rho).value(), L2Sensitivity{1});
  if (!noise) return noise.error();
  return gaussian_noise(*noise);
}

}  // namespace

// Conjugate gradients on the normal equations: the spectrum is narrow, so few steps are enough.
Eigen::VectorXf least_squares(const Eigen::MatrixXf& a, const Eigen::VectorXf& y) {
  // Subsets are halves: in coordinates x - 1/2 the common direction vanishes.
  const Eigen::VectorXf target = y - 0.5F * a.rowwise().sum();
  Eigen::VectorXf x = Eigen::VectorXf::Zero(a.cols());
  Eigen::VectorXf residual = a.transpose() * target, direction = residual;
  float energy = residual.squaredNorm();
  const float enough = 1e-10F * energy;
  for (int step = 0; step < 200 && energy > enough; ++step) {
    const Eigen::VectorXf image = a * direction;
    const float along = energy / image.squaredNorm();
    x += along * direction;
    residual -= along * (a.transpose() * image);
    const float next = residual.squaredNorm();
    direction = residual + next / energy * direction;
    energy = next;
  }
  return x.array() + 0.5F;
}

Result<std::size_t> reconstruct(const ReconstructionOptions& options, const Answering& answering,
                                RandomSource& random) {
  if (options.people < 2 || options.queries < 1)
    return invalid_parameter("Reconstruction needs at least 2 people and 1 query.");
  if (options.decoder == Decoder::Exhaustive && options.people > 16)
    return invalid_parameter("Exhaustive search tries all 2^n answers: at most 16 people.");
  if (options.decoder == Decoder::LinearProgram && options.people > 400)
    return invalid_parameter("The linear program is for at most 400 people; use least squares.");
  if (options.people * options.queries > std::size_t{400'000'000})
    return invalid_parameter("People times queries must stay below 400 million (memory).");
  Instance instance = make_instance(options, random);
  if (answering) answering(instance.answers, random);
  const Eigen::VectorXf y = answers_of(instance);
  Eigen::VectorXf guess;
  switch (options.decoder) {
    case Decoder::LeastSquares:
      guess = least_squares(instance.subsets, y);
      break;
    case Decoder::LinearProgram:
      guess = least_deviations(instance.subsets, y);
      break;
    case Decoder::Exhaustive:
      guess = exhaustive(instance.subsets, y);
      break;
  }
  std::size_t right = 0;
  for (Eigen::Index i = 0; i < guess.size(); ++i)
    right += (guess[i] > 0.5F) == (instance.secret[i] > 0.5F);
  return right;
}

Result<Report> reconstruction(const ReconstructionOptions& options, RandomSource& random) {
  Report report{"Reconstruction from subset counts",
                fmt::format("share of {} secret bits recovered from {} counts of random halves",
                            options.people, options.queries),
                {}};
  const auto epsilon = Epsilon::make(options.epsilon);
  if (!epsilon) return epsilon.error();
  const auto delta = Delta::make(options.delta);
  if (!delta) return delta.error();
  // One person is in every count: the L2 sensitivity of all of them together is sqrt(m).
  auto budget = DiscreteGaussian::make(
      ApproxDp{*epsilon, *delta},
      L2Sensitivity::make(std::sqrt(static_cast<double>(options.queries))).value());
  if (!budget) return budget.error();
  auto accurate = noise_of(0.1 * std::sqrt(static_cast<double>(options.people)));
  if (!accurate) return accurate.error();
  const std::pair<std::string, Answering> targets[] = {
      {"exact counts", nullptr},
      {"noise of sqrt(n) / 10", *accurate},
      {fmt::format("Discreet, epsilon {:g} in all", options.epsilon), gaussian_noise(*budget)}};
  for (const auto& [name, answering] : targets) {
    const auto start = std::chrono::steady_clock::now();
    const auto right = reconstruct(options, answering, random);
    if (!right) return right.error();
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const bool ours = &answering == &targets[2].second;
    report.outcomes.push_back(
        outcome(name, *right, options.people, 0.5, seconds,
                ours ? bit_accuracy_bound(options.epsilon, options.delta) : 1));
  }
  // Whole questions take milliseconds: a smaller table, counts by seat.
  for (const bool generous : {true, false}) {
    DISCREET_TRY(auto served,
                 served_reconstruction({.epsilon = options.epsilon, .generous = generous}, random));
    report.outcomes.push_back(std::move(served));
  }
  return report;
}

Result<std::vector<Series>> phase_change(std::size_t people, std::span<const std::size_t> multiples,
                                         std::span<const double> noise, RandomSource& random) {
  std::vector<Series> all;
  for (const std::size_t multiple : multiples) {
    Series series{fmt::format("{}n counts", multiple), {}};
    for (const double relative : noise) {
      const auto answering = noise_of(relative * std::sqrt(static_cast<double>(people)));
      if (!answering) return answering.error();
      const auto right =
          reconstruct({.people = people, .queries = multiple * people}, *answering, random);
      if (!right) return right.error();
      series.points.emplace_back(relative,
                                 static_cast<double>(*right) / static_cast<double>(people));
    }
    all.push_back(std::move(series));
  }
  return all;
}

double predicted_recovery(std::size_t people, std::size_t queries, double sigma) {
  if (queries <= people) return 0.5;
  const double spread = 2 * sigma / std::sqrt(static_cast<double>(queries - people));
  return 0.5 * std::erfc(-1 / (2 * spread) / std::sqrt(2.0));
}

}  // namespace discreet::attack
