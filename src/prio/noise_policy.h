// How much noise a task wants, and who adds it; what noise.h does with it is another matter.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "privacy/neighbours.h"

namespace discreet::prio {

enum class NoiseKind { None, Laplace, Gaussian };
enum class NoiseSplit {
  Full,  ///< every server adds all of it: one honest server suffices, the variance is one a server
  Divided,  ///< together they add it once: all must be trusted not to drop theirs
};

const char* name(NoiseKind kind);
const char* name(NoiseSplit split);
Result<NoiseKind> noise_kind(std::string_view name);
Result<NoiseSplit> noise_split(std::string_view name);

struct NoisePolicy {
  NoiseKind kind = NoiseKind::None;
  double epsilon = 0;
  double delta = 0;  ///< Gaussian only
  NoiseSplit split = NoiseSplit::Full;
  Neighbours neighbours = Neighbours::ReplaceOne;
  std::uint32_t reports_per_client = 1;  ///< the protocol does not bound this; the deployment must
};

}  // namespace discreet::prio
