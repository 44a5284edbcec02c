// Small pictures as complete SVG documents: lines over two axes, and two heaps of bars. They need
// no fonts or scripts, and follow the viewer's light or dark scheme.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace discreet::lecture {

struct Line {
  std::string name;
  std::vector<std::pair<double, double>> points;
  bool dashed = false;
};

struct LinePlot {
  std::string title, x_label, y_label;
  bool log_x = false, log_y = false;
  std::vector<Line> lines;
};

/// Points at or below zero on a logarithmic axis are left out.
std::string line_picture(const LinePlot& plot);

struct Bar {
  double at;
  double first, second;  ///< heights; a series that is all zero is not drawn
  std::string name{};    ///< shown in place of numbers when there are at most 12 bars
};
struct Mark {
  double at;
  std::string name;
};
struct BarPlot {
  std::string title, x_label, first_name, second_name;
  std::vector<Bar> bars;
  std::vector<Mark> marks;  ///< vertical lines with a name each
};
std::string bar_picture(const BarPlot& plot);

}  // namespace discreet::lecture
