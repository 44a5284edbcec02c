#include "lecture/plot.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace discreet::lecture {
namespace {

constexpr double kWidth = 760, kHeight = 430, kLeft = 70, kRight = 180, kTop = 66, kBottom = 60;
constexpr const char* kColours[] = {"#1f6f8b", "#c8553d", "#6a994e",
                                    "#7d5ba6", "#b08900", "#8d6e63"};
constexpr const char* kStyle =
    "<style>text{font-family:system-ui,sans-serif;fill:#1d2733}.t{font-size:17px;font-weight:600}"
    ".s{font-size:12.5px;fill:#51606f}.l{font-size:13px}.g{stroke:#dfe5ea}.m{stroke:#51606f;"
    "stroke-width:1.6;stroke-dasharray:5 4}@media(prefers-color-scheme:dark){svg{background:"
    "#14191f}text{fill:#e8edf2}.s{fill:#a9b6c3}.g{stroke:#2b3641}.m{stroke:#a9b6c3}}</style>\n";

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

std::string open(const std::string& title) {
  return fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {0} {1}' width='{0}' height='{1}' "
      "role='img'>\n{2}<title>{3}</title>\n<text x='20' y='30' class='t'>{3}</text>\n",
      kWidth, kHeight, kStyle, escape(title));
}

// 10,000 and 0.001 as people write them; powers only where zeros would have to be counted.
std::string tick_text(double value) {
  if (std::abs(value) < 1e-12) return "0";
  if (value >= 1000 && value < 1e8 && value == std::floor(value)) {
    std::string digits = fmt::format("{:.0f}", value);
    for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
    return digits;
  }
  if (value > 0 && value < 1e-4) return fmt::format("1e{:.0f}", std::log10(value));
  return fmt::format("{:.4g}", value);
}

// From numbers to places, on a plain or a logarithmic scale, with ticks at round numbers.
class Axis {
 public:
  Axis(double least, double most, bool logarithmic, double from, double to)
      : log_(logarithmic), from_(from), to_(to) {
    if (log_) {
      low_ = std::floor(std::log10(least) + 1e-9);
      high_ = std::max(low_ + 1, std::ceil(std::log10(most) - 1e-9));
      for (double at = low_; at <= high_; ++at) ticks_.push_back(std::pow(10.0, at));
      return;
    }
    const double span = most > least ? most - least : 1;
    double step = std::pow(10.0, std::floor(std::log10(span / 4)));
    for (const double times : {2.0, 5.0, 10.0})
      if (span / step > 7) step = std::pow(10.0, std::floor(std::log10(span / 4))) * times;
    low_ = std::floor(least / step + 1e-9) * step;
    high_ = std::ceil(most / step - 1e-9) * step;
    if (high_ <= low_) high_ = low_ + step;
    for (int i = 0; low_ + i * step <= high_ + step / 2; ++i) ticks_.push_back(low_ + i * step);
  }
  /// From end to end without ticks, for bars that have names.
  static Axis exactly(double least, double most, double from, double to) {
    Axis made(least, most, false, from, to);
    made.low_ = least;
    made.high_ = most;
    made.ticks_.clear();
    return made;
  }
  double place(double value) const {
    const double v = log_ ? std::log10(value) : value;
    return from_ + (v - low_) / (high_ - low_) * (to_ - from_);
  }
  const std::vector<double>& ticks() const { return ticks_; }

 private:
  bool log_;
  double from_, to_, low_ = 0, high_ = 1;
  std::vector<double> ticks_;
};

std::string frame(const Axis& x, const Axis& y, const std::string& x_label,
                  const std::string& y_label, const std::vector<Bar>& named = {}) {
  std::string out;
  for (const double tick : y.ticks())
    out += fmt::format(
        "<line x1='{0}' y1='{1:.1f}' x2='{2}' y2='{1:.1f}' class='g'/><text x='{3}' y='{4:.1f}' "
        "class='s' text-anchor='end'>{5}</text>\n",
        kLeft, y.place(tick), kWidth - kRight, kLeft - 8, y.place(tick) + 4, tick_text(tick));
  const std::size_t every = x.ticks().size() > 6 ? 2 : 1;  // long numbers keep their distance
  for (std::size_t i = 0; named.empty() && i < x.ticks().size(); i += every)
    out += fmt::format("<text x='{:.1f}' y='{}' class='s' text-anchor='middle'>{}</text>\n",
                       x.place(x.ticks()[i]), kHeight - kBottom + 20, tick_text(x.ticks()[i]));
  for (const Bar& bar : named)
    out += fmt::format("<text x='{:.1f}' y='{}' class='s' text-anchor='middle'>{}</text>\n",
                       x.place(bar.at), kHeight - kBottom + 20, escape(bar.name));
  return out + fmt::format(
                   "<text x='{:.1f}' y='{}' class='s' text-anchor='middle'>{}</text><text x='20' "
                   "y='{}' class='s'>{}</text>\n",
                   (kLeft + kWidth - kRight) / 2, kHeight - 16, escape(x_label), kTop - 14,
                   escape(y_label));
}

struct Range {
  double least = 1e300, most = -1e300;
  void take(double value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
};

}  // namespace

std::string line_picture(const LinePlot& plot) {
  Range xs, ys;
  const auto drawn = [&](double x, double y) {
    return (!plot.log_x || x > 0) && (!plot.log_y || y > 0) && std::isfinite(x) && std::isfinite(y);
  };
  for (const Line& line : plot.lines)
    for (const auto& [x, y] : line.points)
      if (drawn(x, y)) {
        xs.take(x);
        ys.take(y);
      }
  if (!(xs.most >= xs.least)) return "";
  if (!plot.log_y) ys.take(0);
  const Axis x(xs.least, xs.most, plot.log_x, kLeft, kWidth - kRight);
  const Axis y(ys.least, ys.most, plot.log_y, kHeight - kBottom, kTop);
  std::string out = open(plot.title) + frame(x, y, plot.x_label, plot.y_label);
  std::vector<std::pair<double, std::size_t>> ends;
  for (std::size_t i = 0; i < plot.lines.size(); ++i) {
    std::string path;
    double last = kTop;
    for (const auto& [at, value] : plot.lines[i].points)
      if (drawn(at, value)) {
        path +=
            fmt::format("{}{:.1f},{:.1f}", path.empty() ? "" : " ", x.place(at), y.place(value));
        last = y.place(value);
      }
    out +=
        fmt::format("<polyline points='{}' fill='none' stroke='{}' stroke-width='2.4'{}/>\n", path,
                    kColours[i % 6], plot.lines[i].dashed ? " stroke-dasharray='6 4'" : "");
    ends.emplace_back(last, i);
  }
  std::sort(ends.begin(), ends.end());
  double below = 0;
  for (const auto& [at, i] : ends) {  // labels keep their distance from each other
    below = std::max(at + 4, below + 18);
    out += fmt::format("<text x='{}' y='{:.1f}' class='l' style='fill:{}'>{}</text>\n",
                       kWidth - kRight + 10, below, kColours[i % 6], escape(plot.lines[i].name));
  }
  return out + "</svg>\n";
}

std::string bar_picture(const BarPlot& plot) {
  if (plot.bars.empty()) return "";
  Range xs, ys;
  ys.take(0);
  bool second = false;
  double gap = 1e300;
  for (std::size_t i = 0; i < plot.bars.size(); ++i) {
    const Bar& bar = plot.bars[i];
    xs.take(bar.at);
    ys.take(bar.first);
    ys.take(bar.second);
    second = second || bar.second > 0;
    if (i > 0) gap = std::min(gap, bar.at - plot.bars[i - 1].at);
  }
  for (const Mark& mark : plot.marks) xs.take(mark.at);
  if (plot.bars.size() == 1) gap = 1;
  xs.take(xs.least - gap / 2);  // room for half a bar at both ends
  xs.take(xs.most + gap / 2);
  const bool named = plot.bars.size() <= 12 && !plot.bars.front().name.empty();
  const Axis x = named ? Axis::exactly(xs.least, xs.most, kLeft, kWidth - kRight)
                       : Axis(xs.least, xs.most, false, kLeft, kWidth - kRight);
  const Axis y(0, ys.most, false, kHeight - kBottom, kTop);
  std::string out = open(plot.title) + frame(x, y, plot.x_label, "probability",
                                             named ? plot.bars : std::vector<Bar>());
  const double slot = plot.bars.size() > 1
                          ? std::max(1.0, (x.place(xs.least + gap) - x.place(xs.least)) * 0.86)
                          : 20;
  const auto bar = [&](double at, double height, double shift, double wide, const char* colour) {
    if (height <= 0) return;
    out += fmt::format(
        "<rect x='{:.1f}' y='{:.1f}' width='{:.1f}' height='{:.1f}' fill='{}' "
        "fill-opacity='0.8'/>\n",
        x.place(at) - slot / 2 + shift, y.place(height), wide,
        std::max(0.4, y.place(0) - y.place(height)), colour);
  };
  // Many bars of two worlds would blur: the second world is drawn as an outline.
  const bool outline = second && plot.bars.size() > 30;
  std::string steps;
  for (const Bar& each : plot.bars) {
    bar(each.at, each.first, 0, second && !outline ? slot / 2 : slot, kColours[0]);
    if (outline)
      steps += fmt::format("{0:.1f},{1:.1f} {2:.1f},{1:.1f} ", x.place(each.at) - slot / 2,
                           y.place(each.second), x.place(each.at) + slot / 2);
    else if (second)
      bar(each.at, each.second, slot / 2, slot / 2, kColours[1]);
  }
  if (outline)
    out += fmt::format("<polyline points='{}' fill='none' stroke='{}' stroke-width='2'/>\n", steps,
                       kColours[1]);
  double label = kTop + 4;
  for (const Mark& mark : plot.marks) {
    const bool left = x.place(mark.at) > kWidth - kRight - 120;
    out += fmt::format(
        "<line x1='{0:.1f}' y1='{1}' x2='{0:.1f}' y2='{2}' class='m'/><text x='{3:.1f}' "
        "y='{4:.1f}' "
        "class='s' text-anchor='{5}'>{6}</text>\n",
        x.place(mark.at), kTop - 6, kHeight - kBottom, x.place(mark.at) + (left ? -6 : 6), label,
        left ? "end" : "start", escape(mark.name));
    label += 18;
  }
  double row = kTop + 6;
  for (std::size_t i = 0; i < (second ? 2U : 1U); ++i) {
    const std::string& name = i == 0 ? plot.first_name : plot.second_name;
    if (name.empty()) continue;
    out += fmt::format(
        "<rect x='{}' y='{:.1f}' width='12' height='12' fill='{}'/><text x='{}' y='{:.1f}' "
        "class='l'>{}</text>\n",
        kWidth - kRight + 12, row - 10, kColours[i], kWidth - kRight + 30, row + 1, escape(name));
    row += 22;
  }
  return out + "</svg>\n";
}

}  // namespace discreet::lecture
