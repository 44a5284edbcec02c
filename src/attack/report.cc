#include "attack/report.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "audit/epsilon_lower_bound.h"

namespace discreet::attack {
namespace {

constexpr double kAlpha = 0.0005;  // on each side

constexpr const char* kStyle =
    "<style>text{font-family:system-ui,sans-serif;fill:#1d2733}.t{font-size:17px;font-weight:600}"
    ".s{font-size:12.5px;fill:#51606f}.l{font-size:13px}.g{stroke:#dfe5ea}.b{stroke:#10202c;"
    "stroke-width:2;stroke-dasharray:5 4}.e{stroke:#1d2733;stroke-width:1.6}"
    "@media(prefers-color-scheme:dark){svg{background:#14191f}text{fill:#e8edf2}.s{fill:#a9b6c3}"
    ".g{stroke:#2b3641}.e{stroke:#e8edf2}.b{stroke:#ffd166}}</style>\n";

constexpr const char* kColours[] = {"#1f6f8b", "#c8553d", "#6a994e", "#7d5ba6", "#b08900"};

std::string escape(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '&')
      out += "&amp;";
    else
      out += c;
  }
  return out;
}

}  // namespace

Outcome outcome(std::string target, std::uint64_t hits, std::uint64_t attempts, double baseline,
                double seconds, double bound) {
  Outcome made{std::move(target)};
  made.success = attempts > 0 ? static_cast<double>(hits) / static_cast<double>(attempts) : 0;
  made.baseline = baseline;
  made.low = attempts > 0 ? probability_at_least(hits, attempts, kAlpha) : 0;
  made.high = attempts > 0 ? probability_at_most(hits, attempts, kAlpha) : 1;
  made.attempts = attempts;
  made.seconds = seconds;
  made.bound = bound;
  return made;
}

double bit_accuracy_bound(double epsilon, double delta) {
  return std::min(1.0, (std::exp(epsilon) + delta) / (std::exp(epsilon) + 1));
}

std::string picture(const Report& report) {
  constexpr double kWidth = 790, kLeft = 280, kRight = 40, kTop = 74, kBar = 30, kGap = 26;
  const double bottom = kTop + static_cast<double>(report.outcomes.size()) * (kBar + kGap);
  const auto x = [&](double share) { return kLeft + share * (kWidth - kLeft - kRight); };
  std::string out = fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {0} {1}' width='{0}' height='{1}' "
      "role='img'>\n{2}<text x='20' y='30' class='t'>{3}</text>\n<text x='20' y='52' "
      "class='s'>{4}</text>\n",
      kWidth, bottom + 52, kStyle, escape(report.name), escape(report.what));
  for (int tick = 0; tick <= 4; ++tick) {
    const double at = x(tick / 4.0);
    out += fmt::format(
        "<line x1='{0:.1f}' y1='{1}' x2='{0:.1f}' y2='{2}' class='g'/><text x='{0:.1f}' y='{3}' "
        "class='s' text-anchor='middle'>{4} %</text>\n",
        at, kTop - 4, bottom, bottom + 18, tick * 25);
  }
  double y = kTop + kGap / 2;
  for (const Outcome& found : report.outcomes) {
    const bool ours = found.target.starts_with("Discreet");
    const double middle = y + kBar / 2;
    out += fmt::format(
        "<text x='{:.1f}' y='{:.1f}' class='l' text-anchor='end'>{}</text>\n<rect x='{}' "
        "y='{:.1f}' width='{:.1f}' height='{}' fill='{}' rx='3'/>\n",
        kLeft - 12, middle + 4.5, escape(found.target), kLeft, y,
        std::max(1.0, x(found.success) - kLeft), kBar, ours ? kColours[0] : kColours[1]);
    out += fmt::format("<line x1='{:.1f}' y1='{:.1f}' x2='{:.1f}' y2='{:.1f}' class='e'/>\n",
                       x(found.low), middle, x(found.high), middle);
    out += fmt::format("<line x1='{0:.1f}' y1='{1:.1f}' x2='{0:.1f}' y2='{2:.1f}' class='b'/>\n",
                       x(found.baseline), y - 6, y + kBar + 6);
    const bool inside = found.high > 0.86;
    out += fmt::format("<text x='{:.1f}' y='{:.1f}' class='l' text-anchor='{}'{}>{:.1f} %</text>\n",
                       inside ? x(found.low) - 8 : x(std::max(found.high, found.baseline)) + 8,
                       middle + 4.5, inside ? "end" : "start", inside ? " style='fill:#fff'" : "",
                       100 * found.success);
    y += kBar + kGap;
  }
  out += fmt::format(
      "<line x1='20' y1='{0}' x2='48' y2='{0}' class='b'/><text x='56' y='{1}' class='s'>a guess "
      "that ignores the release; thin line: 99.9 % limits</text>\n</svg>\n",
      bottom + 38, bottom + 42);
  return out;
}

std::string curves(const std::string& title, const std::string& x_label, const std::string& y_label,
                   const std::vector<Series>& series) {
  constexpr double kWidth = 760, kHeight = 440, kLeft = 64, kRight = 170, kTop = 60, kBottom = 62;
  double least = 1e300, most = 0;
  for (const Series& line : series)
    for (const auto& [at, value] : line.points) {
      least = std::min(least, at);
      most = std::max(most, at);
    }
  if (!(least > 0) || !(most > least)) return "";
  const auto x = [&](double at) {
    return kLeft + std::log(at / least) / std::log(most / least) * (kWidth - kLeft - kRight);
  };
  const auto y = [&](double value) { return kTop + (1 - value) * (kHeight - kTop - kBottom); };
  std::string out = fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {0} {1}' width='{0}' height='{1}' "
      "role='img'>\n{2}<text x='20' y='30' class='t'>{3}</text>\n",
      kWidth, kHeight, kStyle, escape(title));
  for (int tick = 0; tick <= 4; ++tick)
    out += fmt::format(
        "<line x1='{0}' y1='{1:.1f}' x2='{2}' y2='{1:.1f}' class='g'/><text x='{3}' y='{4:.1f}' "
        "class='s' text-anchor='end'>{5:.2f}</text>\n",
        kLeft, y(tick / 4.0), kWidth - kRight, kLeft - 8, y(tick / 4.0) + 4, tick / 4.0);
  if (!series.empty())
    for (const auto& [at, value] : series.front().points)
      out += fmt::format("<text x='{:.1f}' y='{}' class='s' text-anchor='middle'>{:g}</text>\n",
                         x(at), kHeight - kBottom + 20, at);
  out += fmt::format(
      "<text x='{:.1f}' y='{}' class='s' text-anchor='middle'>{}</text><text x='{}' y='{}' "
      "class='s'>{}</text>\n",
      (kLeft + kWidth - kRight) / 2, kHeight - 18, escape(x_label), 20, kTop - 12, escape(y_label));
  std::vector<std::pair<double, std::size_t>> ends;
  for (std::size_t i = 0; i < series.size(); ++i) {
    std::string path;
    for (const auto& [at, value] : series[i].points)
      path += fmt::format("{}{:.1f},{:.1f}", path.empty() ? "" : " ", x(at), y(value));
    out += fmt::format("<polyline points='{}' fill='none' stroke='{}' stroke-width='2.4'/>\n", path,
                       kColours[i % 5]);
    for (const auto& [at, value] : series[i].points)
      out += fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='3.2' fill='{}'/>\n", x(at), y(value),
                         kColours[i % 5]);
    if (!series[i].points.empty()) ends.emplace_back(y(series[i].points.back().second), i);
  }
  std::sort(ends.begin(), ends.end());
  double below = 0;
  for (const auto& [at, i] : ends) {  // labels keep their distance from each other
    below = std::max(at + 4, below + 18);
    out += fmt::format("<text x='{}' y='{:.1f}' class='l' style='fill:{}'>{}</text>\n",
                       kWidth - kRight + 10, below, kColours[i % 5], escape(series[i].name));
  }
  return out + "</svg>\n";
}

}  // namespace discreet::attack
