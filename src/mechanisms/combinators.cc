#include "mechanisms/combinators.h"

#include <cmath>

namespace discreet {

Result<LossEvent> group_loss(LossEvent event, std::uint64_t size) {
  if (size == 0) return invalid_parameter("a group has at least one unit");
  if (size == 1) return event;
  return LossEvent(loss::Group{size, std::make_shared<const LossEvent>(std::move(event))});
}

Result<ApproxDp> share_for_group(ApproxDp wanted, std::uint64_t size) {
  if (size == 0) return invalid_parameter("a group has at least one unit");
  if (size == 1) return wanted;
  Epsilon epsilon = wanted.epsilon.share(size);
  // Rounding up in group_privacy may exceed the wanted epsilon by a step: then give one back.
  while (size * epsilon > wanted.epsilon)
    epsilon = Epsilon::make(next_down(epsilon.value())).value();
  double delta = 0;
  if (wanted.delta.value() > 0) {
    // delta (e^{eps} - 1) / (e^{k eps} - 1), down; without epsilon just delta / k.
    const double ratio = epsilon.value() == 0 ? div_down(1, count_up(size))
                                              : div_down(expm1_down(epsilon.value()),
                                                         expm1_up((size * epsilon).value()));
    delta = std::fmax(0, mul_down(wanted.delta.value(), ratio));
    if (std::isnan(delta) || delta == 0)
      return invalid_parameter("a group of this size leaves no delta for one unit");
    while (group_privacy({epsilon, Delta::make(delta).value()}, size).delta > wanted.delta)
      delta = next_down(delta * (1 - 1e-15));
  }
  if (epsilon.value() == 0 && delta == 0)
    return invalid_parameter("a group of this size leaves nothing for one unit");
  return ApproxDp{epsilon, Delta::make(delta).value()};
}

LossEvent sequential_loss(std::vector<LossEvent> events) {
  if (events.size() == 1) return events.front();
  return loss::Composed{std::move(events)};
}

Result<LossEvent> parallel_loss(std::vector<LossEvent> parts, Neighbours relation) {
  if (parts.empty()) return invalid_parameter("parallel composition needs at least one part");
  if (parts.size() == 1 && relation == Neighbours::AddRemove) return parts.front();
  LossEvent worst = loss::Parallel{std::move(parts)};
  const std::uint32_t steps = add_remove_steps(relation);
  if (steps == 1) return worst;
  return LossEvent(loss::Repeated{steps, std::make_shared<const LossEvent>(std::move(worst))});
}

}  // namespace discreet
