#include <fmt/format.h>

#include <algorithm>

#include "learn/forking_paths.h"

namespace discreet::learn {
namespace {

constexpr double kWidth = 720, kHeight = 400, kLeft = 64, kRight = 250, kTop = 48, kBottom = 56;
constexpr double kLow = 0.45;

struct Line {
  const char* label;
  const char* colour;
  const char* dash;
  std::vector<double> values;
};

}  // namespace

std::string forking_paths_svg(const ForkingPaths& paths) {
  std::vector<Line> lines = {{"plain holdout says", "#b3261e", "", {}},
                             {"fresh rows say", "#b3261e", "5 4", {}},
                             {"reusable holdout says", "#1a5fb4", "", {}},
                             {"fresh rows say", "#1a5fb4", "5 4", {}}};
  double high = 0.6, picked_max = 1;
  for (std::size_t i = 0; i < paths.plain.size(); ++i) {
    lines[0].values.push_back(paths.plain[i].holdout);
    lines[1].values.push_back(paths.plain[i].fresh);
    lines[2].values.push_back(paths.reusable[i].holdout);
    lines[3].values.push_back(paths.reusable[i].fresh);
    high = std::max({high, paths.plain[i].holdout, paths.reusable[i].holdout});
    picked_max = std::max(picked_max, static_cast<double>(paths.plain[i].picked));
  }
  high += 0.02;
  const auto x = [&](double picked) {
    return kLeft + picked / picked_max * (kWidth - kLeft - kRight);
  };
  const auto y = [&](double share) {
    return kHeight - kBottom - (share - kLow) / (high - kLow) * (kHeight - kTop - kBottom);
  };
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" "
      "font-size=\"13\"><rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      "<text x=\"{}\" y=\"24\" font-size=\"15\" font-weight=\"bold\">Votes of picked attributes on "
      "coin tosses: share that is right</text>\n",
      kWidth, kHeight, kLeft);
  for (double share = 0.45; share < high; share += 0.05)
    svg += fmt::format(
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#ddd\"/>"
        "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{:.2f}</text>\n",
        kLeft, y(share), kWidth - kRight, y(share), kLeft - 8, y(share) + 4, share);
  for (const auto& step : paths.plain)
    if (step.picked >= 20)
      svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
                         x(static_cast<double>(step.picked)), kHeight - kBottom + 20, step.picked);
  svg += fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">attributes picked</text>\n",
      (kLeft + kWidth - kRight) / 2, kHeight - 12);
  // Labels at the lines' ends, pushed apart.
  std::vector<std::pair<double, std::size_t>> ends;
  for (std::size_t l = 0; l < lines.size(); ++l) {
    std::string points;
    for (std::size_t i = 0; i < lines[l].values.size(); ++i)
      points += fmt::format("{:.1f},{:.1f} ", x(static_cast<double>(paths.plain[i].picked)),
                            y(lines[l].values[i]));
    svg += fmt::format(
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2.2\" "
        "stroke-dasharray=\"{}\"/>\n",
        points, lines[l].colour, lines[l].dash);
    ends.emplace_back(y(lines[l].values.back()), l);
  }
  std::sort(ends.begin(), ends.end());
  double last = -100;
  for (const auto& [at, l] : ends) {
    const double place = std::max(at + 4, last + 17);
    last = place;
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" fill=\"{}\">{}{}</text>\n",
                       kWidth - kRight + 10, place, lines[l].colour, lines[l].label,
                       l == 1   ? " (same picks)"
                       : l == 3 ? " (same picks)"
                                : "");
  }
  return svg + "</svg>\n";
}

}  // namespace discreet::learn
