#include "engines/unnamed_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace discreet {

int open_unnamed_file() {
  const char* folder = std::getenv("TMPDIR");
  std::string path = std::string(folder != nullptr && *folder != '\0' ? folder : "/tmp");
  path += "/discreet-XXXXXX";
  const int file = ::mkostemp(path.data(), O_CLOEXEC);  // made with mode 0600
  if (file >= 0) ::unlink(path.c_str());
  return file;
}

}  // namespace discreet
