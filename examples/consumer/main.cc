// A program of its own that counts with the installed library: find_package(discreet),
// discreet::core.
#include <cstdio>

#include "discreet.h"

int main() {
  using namespace discreet;
  const auto epsilon = Epsilon::make(0.5);
  const auto mechanism = DiscreteLaplace::make(epsilon.value(), L1Sensitivity{1});
  if (!mechanism) {
    std::fprintf(stderr, "%s\n", mechanism.error().message.c_str());
    return 1;
  }
  SecureRandom random;
  const long long patients = 1000;
  std::printf("about %lld patients, within %.0f in 95 %% of releases\n",
              static_cast<long long>(mechanism->release(patients, random)),
              mechanism->error_bound(0.95));
}
