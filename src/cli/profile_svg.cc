#include "cli/profile_svg.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace discreet::cli {
namespace {

constexpr double kWidth = 720, kHeight = 440;
constexpr double kLeft = 78, kRight = 24, kTop = 56, kBottom = 58;
constexpr double kLeastDelta = 1e-300;

std::string escape(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (static_cast<unsigned char>(c) >= 0x20)
      out += c;
  }
  return out;
}

// 1, 2 or 5 times a power of ten, so that about six ticks fit.
double tick_step(double span) {
  const double rough = span / 6, power = std::pow(10, std::floor(std::log10(rough)));
  for (const double m : {1.0, 2.0, 5.0})
    if (rough <= m * power) return m * power;
  return 10 * power;
}

struct Scale {
  double epsilon_max;
  double log_min, log_max = 0;  // of delta, to base ten

  double x(double epsilon) const {
    return kLeft + epsilon / epsilon_max * (kWidth - kLeft - kRight);
  }
  double y(double delta) const {
    const double at = std::clamp(std::log10(std::fmax(delta, kLeastDelta)), log_min, log_max);
    return kTop + (log_max - at) / (log_max - log_min) * (kHeight - kTop - kBottom);
  }
};

std::string axes(const Scale& scale) {
  std::string out;
  const double bottom = kHeight - kBottom, right = kWidth - kRight;
  const double step = tick_step(scale.epsilon_max);
  for (int i = 0; step * i <= scale.epsilon_max * (1 + 1e-9); ++i) {
    const double x = scale.x(step * i);
    out += fmt::format(
        "<line x1='{0:.1f}' y1='{1}' x2='{0:.1f}' y2='{2}' class='grid'/>"
        "<text x='{0:.1f}' y='{3}' class='tick' text-anchor='middle'>{4:g}</text>\n",
        x, kTop, bottom, bottom + 20, step * i);
  }
  const double decades = scale.log_max - scale.log_min;
  const int every = std::max(1, static_cast<int>(std::ceil(decades / 8)));
  for (int power = 0; power >= scale.log_min - 1e-9; power -= every) {
    const double y = scale.y(std::pow(10, power));
    const std::string label =
        power == 0 ? "1" : fmt::format("10<tspan dy='-6' font-size='10'>{}</tspan>", power);
    out += fmt::format(
        "<line x1='{0}' y1='{1:.1f}' x2='{2}' y2='{1:.1f}' class='grid'/>"
        "<text x='{3}' y='{4:.1f}' class='tick' text-anchor='end'>{5}</text>\n",
        kLeft, y, right, kLeft - 10, y + 4, label);
  }
  out += fmt::format("<path d='M{0} {1}V{2}H{3}' class='axis'/>\n", kLeft, kTop, bottom, right);
  out += fmt::format("<text x='{:.1f}' y='{}' class='name' text-anchor='middle'>epsilon</text>\n",
                     (kLeft + right) / 2, kHeight - 16);
  out += fmt::format(
      "<text transform='translate(22 {:.1f}) rotate(-90)' class='name' "
      "text-anchor='middle'>delta</text>\n",
      (kTop + bottom) / 2);
  return out;
}

// The epsilon where the profile's upper end meets the level, between the two points around it.
double crossing(std::span<const ProfilePoint> points, double level) {
  for (std::size_t i = 1; i < points.size(); ++i) {
    const double a = points[i - 1].delta.upper, b = points[i].delta.upper;
    if (a > level && b <= level) {
      if (!(b > 0)) return points[i].epsilon;
      const double share = (std::log(a) - std::log(level)) / (std::log(a) - std::log(b));
      return points[i - 1].epsilon + share * (points[i].epsilon - points[i - 1].epsilon);
    }
  }
  return -1;
}

}  // namespace

std::string profile_svg(std::span<const ProfilePoint> points, const ProfilePicture& picture) {
  Scale scale{.epsilon_max = 1e-9, .log_min = -3};
  for (const ProfilePoint& point : points) {
    scale.epsilon_max = std::fmax(scale.epsilon_max, point.epsilon);
    if (point.delta.upper > kLeastDelta)
      scale.log_min = std::fmin(scale.log_min, std::floor(std::log10(point.delta.upper)));
  }
  std::string out = fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {0} {1}' width='{0}' height='{1}' "
      "font-family='system-ui, Helvetica, Arial, sans-serif'>\n"
      "<style>.grid{{stroke:#e3e6ea}}.axis{{stroke:#30363d;fill:none;stroke-width:1.2}}"
      ".tick{{font-size:13px;fill:#57606a}}.name{{font-size:14px;fill:#24292f}}"
      ".title{{font-size:15px;fill:#24292f;font-weight:600}}.mark{{stroke:#b35900;"
      "stroke-dasharray:4 4}}.note{{font-size:13px;fill:#b35900}}</style>\n"
      "<rect width='{0}' height='{1}' fill='white'/>\n",
      kWidth, kHeight);
  std::string title = picture.title;
  if (title.size() > 84) title = title.substr(0, 81) + "...";
  out += fmt::format("<text x='{}' y='30' class='title'>{}</text>\n", kLeft, escape(title));
  out += axes(scale);

  std::string band, line;
  for (const ProfilePoint& point : points) {
    const auto vertex =
        fmt::format("{:.2f} {:.2f} ", scale.x(point.epsilon), scale.y(point.delta.upper));
    band += vertex;
    line += vertex;
  }
  for (auto point = points.rbegin(); point != points.rend(); ++point)
    band += fmt::format("{:.2f} {:.2f} ", scale.x(point->epsilon), scale.y(point->delta.lower));
  out += fmt::format("<polygon points='{}' fill='#0969da' fill-opacity='0.15'/>\n", band);
  out += fmt::format(
      "<polyline points='{}' fill='none' stroke='#0969da' stroke-width='2.2' "
      "stroke-linejoin='round'/>\n",
      line);

  const double at = picture.marked_delta > 0 ? crossing(points, picture.marked_delta) : -1;
  if (at >= 0) {
    const double x = scale.x(at), y = scale.y(picture.marked_delta);
    out += fmt::format("<path d='M{} {:.1f}H{:.1f}V{}' class='mark' fill='none'/>\n", kLeft, y, x,
                       kHeight - kBottom);
    out += fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='4' fill='#b35900'/>\n", x, y);
    const bool left = x > kWidth - 230;
    out += fmt::format(
        "<text x='{:.1f}' y='{:.1f}' class='note' text-anchor='{}'>epsilon {:.4g} at delta "
        "{:g}</text>\n",
        left ? x - 10 : x + 10, left ? y + 20 : y - 8, left ? "end" : "start", at,
        picture.marked_delta);
  }
  return out + "</svg>\n";
}

}  // namespace discreet::cli
