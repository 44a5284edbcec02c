#include "cli/collections.h"

#include <fmt/format.h>

#include "cli/local_options.h"
#include "local/choose.h"
#include "town/emoji.h"

namespace discreet::cli {
namespace {

constexpr std::size_t kDemoEmoji = 20;
constexpr double kDemoEpsilon = 1, kDemoEpsilons[] = {0.5, 1, 2, 4, 8};

Result<void> begin_emoji(local::Collector& collector) {
  std::vector<std::string> labels;
  for (const auto emoji : town::emoji_alphabet()) {
    if (labels.size() == kDemoEmoji) break;
    labels.emplace_back(emoji);
  }
  for (const double epsilon : kDemoEpsilons) {
    DISCREET_TRY(auto spec, local::choose_oracle(epsilon, labels.size()));
    spec.labels = labels;
    // The page begins with this one, and its table is local.emoji_top.
    spec.name = epsilon == kDemoEpsilon ? "emoji" : fmt::format("emoji-{}", epsilon);
    DISCREET_TRY_VOID(collector.add_collection(spec));
  }
  return {};
}

}  // namespace

Result<void> begin_collections(local::Collector& collector, const std::vector<std::string>& files,
                               bool with_emoji) {
  for (const auto& path : files) {
    DISCREET_TRY(const auto text, read_all(path));
    for (const auto& line : lines_of(text)) {
      if (line.empty()) continue;
      DISCREET_TRY(const auto spec, local::parse_header(line));
      DISCREET_TRY_VOID(collector.add_collection(spec));
    }
  }
  return with_emoji ? begin_emoji(collector) : Result<void>{};
}

}  // namespace discreet::cli
