#include "synth/mixture.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace discreet::synth {
namespace {

constexpr double kBeta1 = 0.9, kBeta2 = 0.99;
constexpr double kRateEnd = 0.02;  // of the starting rate

double rate_at(std::uint32_t step, std::uint32_t steps, double rate) {
  const double done = static_cast<double>(step) / steps;
  return done < 0.5 ? rate : rate * (1 - (1 - kRateEnd) * (done - 0.5) * 2);
}

}  // namespace

SplitClique split_clique(const Domain& domain, std::span<const std::uint32_t> clique) {
  const std::size_t k = clique.size();
  if (k < 2) return {Clique(clique.begin(), clique.end()), k};
  std::size_t best_mask = 1;
  double best = INFINITY;
  for (std::size_t mask = 1; mask + 1 < std::size_t{1} << k; ++mask) {
    double left = 1, right = 1;
    for (std::size_t i = 0; i < k; ++i)
      ((mask >> i & 1) != 0 ? left : right) *= domain[clique[i]].size;
    // The right side's products are kept whole, the left side's made a block at a time.
    const double cost = left + right + (right > left ? 0.01 * right : 0);
    if (cost < best) {
      best = cost;
      best_mask = mask;
    }
  }
  SplitClique split;
  for (std::size_t i = 0; i < k; ++i)
    if ((best_mask >> i & 1) != 0) split.attributes.push_back(clique[i]);
  split.left = split.attributes.size();
  for (std::size_t i = 0; i < k; ++i)
    if ((best_mask >> i & 1) == 0) split.attributes.push_back(clique[i]);
  return split;
}

Mixture::Mixture(Domain domain, double rows, std::uint32_t components)
    : domain_(std::move(domain)),
      rows_(rows),
      components_(components),
      lanes_((components + kLanes - 1) / kLanes * kLanes),
      attributes_(domain_.size()) {
  for (std::size_t a = 0; a < domain_.size(); ++a)
    for (FloatBuffer* buffer :
         {&attributes_[a].logits, &attributes_[a].p, &attributes_[a].log_p, &attributes_[a].first,
          &attributes_[a].second, &attributes_[a].gradient})
      buffer->resize(domain_[a].size * lanes_);
}

AdamState Mixture::state(std::size_t attribute) {
  Parameters& parameters = attributes_[attribute];
  return {.logits = parameters.logits.data(),
          .p = parameters.p.data(),
          .log_p = parameters.log_p.data(),
          .first = parameters.first.data(),
          .second = parameters.second.data(),
          .gradient = parameters.gradient.data(),
          .size = domain_[attribute].size,
          .lanes = lanes_,
          .components = components_};
}

void Mixture::start(std::span<const FitOneWay> one_ways, double spread, Dice& dice) {
  for (std::size_t a = 0; a < domain_.size(); ++a) {
    for (std::size_t v = 0; v < domain_[a].size; ++v) {
      // A count lost in its noise starts at half its standard deviation, not at zero.
      const double count =
          std::max(one_ways[a].counts[v], 0.5 * std::min(one_ways[a].sigma[v], rows_));
      const double base = std::log(std::max(count, 1e-3) / rows_);
      for (std::size_t i = 0; i < components_; ++i)
        attributes_[a].logits.data()[v * lanes_ + i] =
            static_cast<float>(base + spread * dice.normal());
    }
    softmax(state(a));
  }
}

void Mixture::update(std::size_t attribute, const FitOneWay& one_way, double penalty,
                     const AdamStep& step) {
  const AdamState parameters = state(attribute);
  std::vector<float> mean(parameters.size), shift(parameters.size), lane(lanes_ + kLanes);
  component_mean(parameters, mean.data());
  const double scale = rows_ / components_;
  for (std::size_t v = 0; v < parameters.size; ++v) {
    const double residual = rows_ * static_cast<double>(mean[v]) - one_way.counts[v];
    const double sigma = one_way.sigma[v];
    shift[v] = static_cast<float>(
        scale * (residual / (sigma * sigma) -
                 penalty * std::log(std::max(static_cast<double>(mean[v]), 1e-30))));
  }
  FloatBuffer scratch(lanes_);
  adam_step(parameters, shift.data(), static_cast<float>(scale * penalty), step, scratch.data());
  softmax(parameters);
}

Result<Mixture> Mixture::fit(const Domain& domain, double rows, std::span<const FitOneWay> one_ways,
                             std::span<const FitTarget> targets, const MixtureSettings& settings,
                             Workers& workers, Dice& dice, const Progress& progress) {
  Mixture model(domain, rows, settings.components);
  model.start(one_ways, settings.start_spread, dice);
  const std::size_t batch = std::min<std::size_t>(settings.batch, targets.size());
  // Each marginal of a batch has gradients of its own; they are added in the batch's order.
  struct Slot {
    std::size_t target = 0;
    std::vector<FloatBuffer> gradients;
    MarginalScratch scratch;
  };
  std::vector<Slot> slots(batch);
  std::vector<std::size_t> deck(targets.size());
  std::iota(deck.begin(), deck.end(), std::size_t{0});
  std::size_t next = deck.size();
  const float scale = static_cast<float>(rows / settings.components);
  for (std::uint32_t step = 1; step <= settings.steps; ++step) {
    std::vector<std::size_t> chosen;
    for (std::size_t b = 0; b < batch; ++b) {
      // A shuffled deck, dealt to the end, shows every marginal equally often. A card that this
      // batch already holds goes back one place.
      if (next == deck.size()) {
        for (std::size_t i = deck.size(); i > 1; --i) std::swap(deck[i - 1], deck[dice.below(i)]);
        next = 0;
      }
      std::size_t pick = next;
      while (pick < deck.size() &&
             std::find(chosen.begin(), chosen.end(), deck[pick]) != chosen.end())
        ++pick;
      if (pick < deck.size()) std::swap(deck[pick], deck[next]);
      chosen.push_back(deck[next++]);
    }
    std::stable_sort(chosen.begin(), chosen.end(), [&](auto a, auto b) {
      return targets[a].counts.size() > targets[b].counts.size();
    });
    const auto boost =
        static_cast<double>(targets.size()) / std::max<double>(1, static_cast<double>(batch));
    workers.run(batch, [&](std::size_t b) {
      Slot& slot = slots[b];
      slot.target = chosen[b];
      const FitTarget& target = targets[slot.target];
      std::vector<FactorView> views;
      slot.gradients.resize(std::max(slot.gradients.size(), target.attributes.size()));
      for (std::size_t i = 0; i < target.attributes.size(); ++i) {
        const std::uint32_t a = target.attributes[i];
        const std::size_t size = domain[a].size * model.lanes_;
        if (slot.gradients[i].size() < size) slot.gradients[i].resize(size);
        views.push_back({model.attributes_[a].p.data(), slot.gradients[i].data(), domain[a].size});
      }
      const std::span<const FactorView> all(views);
      mixture_marginal({.left = all.first(target.left),
                        .right = all.subspan(target.left),
                        .lanes = model.lanes_,
                        .scale = scale,
                        .target = target.counts.data(),
                        .weight = static_cast<float>(boost / (target.sigma * target.sigma))},
                       slot.scratch);
    });
    const AdamStep adam{.rate = static_cast<float>(rate_at(step, settings.steps, settings.rate)),
                        .beta1 = static_cast<float>(kBeta1),
                        .beta2 = static_cast<float>(kBeta2),
                        .correction1 = static_cast<float>(1 / (1 - std::pow(kBeta1, step))),
                        .correction2 = static_cast<float>(1 / (1 - std::pow(kBeta2, step)))};
    workers.run(domain.size(), [&](std::size_t a) {
      FloatBuffer& total = model.attributes_[a].gradient;
      total.zero();
      for (const Slot& slot : slots) {
        const Clique& clique = targets[slot.target].attributes;
        for (std::size_t i = 0; i < clique.size(); ++i) {
          if (clique[i] != a) continue;
          float* to = total.data();
          const float* from = slot.gradients[i].data();
          for (std::size_t j = 0; j < total.size(); ++j) to[j] += from[j];
        }
      }
      model.update(a, one_ways[a], settings.penalty, adam);
    });
    if (progress && step % 8 == 0 && !progress(static_cast<double>(step) / settings.steps))
      return Error{ErrorCode::Refused, "stopped before the twin was finished"};
  }
  return model;
}

Mixture Mixture::from(const Domain& domain, double rows, std::uint32_t components,
                      std::span<const FloatBuffer> chances) {
  Mixture model(domain, rows, components);
  for (std::size_t a = 0; a < domain.size(); ++a)
    std::copy_n(chances[a].data(), domain[a].size * model.lanes_, model.attributes_[a].p.data());
  return model;
}

std::vector<float> Mixture::marginal(std::span<const std::uint32_t> clique) const {
  const std::size_t left = (clique.size() + 1) / 2;
  std::vector<float> counts(domain_.cells(clique));
  std::vector<FactorView> views;
  for (const std::uint32_t a : clique)
    views.push_back({attributes_[a].p.data(), nullptr, domain_[a].size});
  const std::span<const FactorView> all(views);
  MarginalScratch scratch;
  mixture_marginal({.left = all.first(left),
                    .right = all.subspan(left),
                    .lanes = lanes_,
                    .scale = static_cast<float>(rows_ / components_),
                    .marginal = counts.data()},
                   scratch);
  return counts;
}

}  // namespace discreet::synth
