// The collections a collector begins with: from files of header lines, and those of the emoji page.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "local/collector/collector.h"

namespace discreet::cli {

Result<void> begin_collections(local::Collector& collector, const std::vector<std::string>& files,
                               bool with_emoji);

}  // namespace discreet::cli
