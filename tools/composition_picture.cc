// The picture and the table of docs/accounting.md: one composition under every theorem.
//
//   composition_picture > docs/img/composition.svg     (the table goes to stderr)
//
// Gaussian noise, each release just (0.1, 1e-9)-DP; the total at delta 1e-6.
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "accounting/optimal_composition.h"
#include "accounting/renyi_epsilon.h"
#include "accounting/textbook.h"
#include "privacy/gaussian_profile.h"

namespace discreet {
namespace {

constexpr double kDelta = 1e-6;
const ApproxDp kOne{Epsilon::make(0.1).value(), Delta::make(1e-9).value()};
constexpr std::uint64_t kReleasesMax = 900;  // beyond 1000 the releases' own deltas pass 1e-6

// The least epsilon at which mu-Gaussian noise has delta at most kDelta; rounded up.
double exact_gaussian(double mu) {
  double bad = 0, good = 64;
  for (int step = 0; step < 60; ++step) {
    const double middle = (bad + good) / 2;
    (gaussian_delta_up(mu, middle) <= kDelta ? good : bad) = middle;
  }
  return good;
}

struct Line {
  const char* name;
  const char* colour;
  double (*epsilon)(std::uint64_t k);
};

double sigma() {
  static const double value = gaussian_noise_multiplier(kOne).value();
  return value;
}

const Line kLines[] = {
    {"basic", "#8c8c8c",
     [](std::uint64_t k) { return basic_composition(kOne, k).epsilon.value(); }},
    {"advanced", "#c2571a",
     [](std::uint64_t k) {
       const double slack = kDelta - static_cast<double>(k) * kOne.delta.value();
       return advanced_composition(kOne, k, slack)->epsilon.value();
     }},
    {"optimal for any (0.1, 1e-9)", "#7a3e9d",
     [](std::uint64_t k) { return optimal_epsilon(kOne.epsilon, kOne.delta, k, kDelta); }},
    {"Renyi, for this noise", "#1f6fb2",
     [](std::uint64_t k) {
       const LossEvent event =
           loss::Repeated{k, std::make_shared<LossEvent>(loss::Gaussian{sigma(), 1})};
       return renyi_epsilon(event, kDelta, Neighbours::AddRemove)->value;
     }},
    {"exact, for this noise", "#111111",
     [](std::uint64_t k) { return exact_gaussian(std::sqrt(static_cast<double>(k)) / sigma()); }},
};

constexpr double kLeft = 64, kRight = 520, kTop = 34, kBottom = 390, kWidth = 740, kHeight = 442;
constexpr double kEpsilonLow = 0.05, kEpsilonHigh = 100;

double x_of(double k) {
  return kLeft + (kRight - kLeft) * std::log(k) / std::log(static_cast<double>(kReleasesMax));
}
double y_of(double epsilon) {
  return kBottom -
         (kBottom - kTop) * std::log(epsilon / kEpsilonLow) / std::log(kEpsilonHigh / kEpsilonLow);
}

void text(double x, double y, const char* anchor, const char* colour, const std::string& words) {
  fmt::print("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" fill=\"{}\">{}</text>\n", x, y,
             anchor, colour, words);
}

void axes() {
  for (const double epsilon : {0.1, 1.0, 10.0, 100.0}) {
    fmt::print("<line x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#e3e3e3\"/>\n",
               kLeft, kRight, y_of(epsilon), y_of(epsilon));
    text(kLeft - 8, y_of(epsilon) + 4, "end", "#555555", fmt::format("{}", epsilon));
  }
  for (const double k : {1.0, 10.0, 100.0, 900.0}) {
    fmt::print("<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{}\" y2=\"{}\" stroke=\"#e3e3e3\"/>\n",
               x_of(k), x_of(k), kTop, kBottom);
    text(x_of(k), kBottom + 18, "middle", "#555555", fmt::format("{}", k));
  }
  text((kLeft + kRight) / 2, kBottom + 40, "middle", "#333333", "number of releases");
  text(kLeft - 48, kTop - 16, "start", "#333333", "total epsilon at delta 1e-6");
}

void draw() {
  fmt::print(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" width=\"{}\" height=\"{}\" "
      "font-family=\"sans-serif\" font-size=\"13\">\n<title>One composition under five "
      "theorems</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
      kWidth, kHeight, kWidth, kHeight);
  axes();
  std::vector<std::uint64_t> counts;
  for (double k = 1; k < static_cast<double>(kReleasesMax); k = std::ceil(k * 1.12))
    counts.push_back(static_cast<std::uint64_t>(k));
  counts.push_back(kReleasesMax);
  for (const Line& line : kLines) {
    std::string points;
    double last = 0;
    for (const std::uint64_t k : counts) {
      last = line.epsilon(k);
      points += fmt::format("{:.1f},{:.1f} ", x_of(static_cast<double>(k)), y_of(last));
    }
    fmt::print("<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"2\" points=\"{}\"/>\n",
               line.colour, points);
    text(kRight + 8, y_of(last) + (line.name[0] == 'e' ? 12 : 1), "start", line.colour,
         fmt::format("{:.2f} {}", last, line.name));
  }
  fmt::print("</svg>\n");
}

void table() {
  fmt::print(stderr, "sigma / sensitivity = {:.6f}\n| releases |", sigma());
  for (const Line& line : kLines) fmt::print(stderr, " {} |", line.name);
  fmt::print(stderr, "\n| ---: | ---: | ---: | ---: | ---: | ---: |\n");
  for (const std::uint64_t k : {1u, 10u, 100u, 900u}) {
    fmt::print(stderr, "| {} |", k);
    for (const Line& line : kLines) fmt::print(stderr, " {:.4f} |", line.epsilon(k));
    fmt::print(stderr, "\n");
  }
}

}  // namespace
}  // namespace discreet

int main() {
  discreet::draw();
  discreet::table();
  return 0;
}
