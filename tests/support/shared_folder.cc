#include "support/shared_folder.h"

namespace discreet {

std::string shared_file(const std::string& path) {
  return DISCREET_SHARED "/" + path;
}

}  // namespace discreet
