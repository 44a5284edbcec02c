// A function applied to every line of a box of numbers along one of its axes. The last axis varies
// fastest.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace discreet::tables {

template <class Number, class Function>
void along_axis(std::span<Number> box, std::span<const std::uint32_t> sizes, std::size_t axis,
                const Function& function) {
  std::size_t stride = 1;
  for (std::size_t i = axis + 1; i < sizes.size(); ++i) stride *= sizes[i];
  const std::size_t n = sizes[axis];
  std::vector<Number> scratch(2 * n + 1), line(n);
  for (std::size_t outer = 0; outer < box.size(); outer += stride * n) {
    if (stride == 1) {
      function(box.subspan(outer, n), std::span<Number>(scratch));
      continue;
    }
    for (std::size_t inner = 0; inner < stride; ++inner) {
      Number* first = box.data() + outer + inner;
      for (std::size_t j = 0; j < n; ++j) line[j] = first[j * stride];
      function(std::span<Number>(line), std::span<Number>(scratch));
      for (std::size_t j = 0; j < n; ++j) first[j * stride] = line[j];
    }
  }
}

}  // namespace discreet::tables
