// What an attack achieved, against what anybody could have guessed.
//
// Every attack is run against three targets: the release as it used to be made, a noisy release
// that is too accurate, and a release as Discreet makes it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace discreet::attack {

struct Outcome {
  std::string target;        ///< what was attacked, in a few words
  double success = 0;        ///< share of attempts that came out right
  double baseline = 0;       ///< the same for a guess that ignores the release
  double low = 0, high = 1;  ///< 99.9 % limits on the success (Clopper-Pearson)
  std::uint64_t attempts = 0;
  double seconds = 0;
  double bound = 1;  ///< what the guarantee allows at most; 1 where there is none
};

struct Report {
  std::string name;
  std::string what;  ///< what "success" counts, in one sentence
  std::vector<Outcome> outcomes;
};

/// Fills the limits from hits out of attempts.
Outcome outcome(std::string target, std::uint64_t hits, std::uint64_t attempts, double baseline,
                double seconds, double bound = 1);

/// Accuracy on one fair secret bit under (epsilon, delta)-DP is at most this:
/// (e^epsilon + delta) / (e^epsilon + 1).
double bit_accuracy_bound(double epsilon, double delta);

/// Bars with their limits and the baseline, as a complete SVG document.
std::string picture(const Report& report);

/// A line per series over a logarithmic x axis; y from 0 to 1.
struct Series {
  std::string name;
  std::vector<std::pair<double, double>> points;
};
std::string curves(const std::string& title, const std::string& x_label, const std::string& y_label,
                   const std::vector<Series>& series);

}  // namespace discreet::attack
