#include "engines/temporary_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace discreet {
namespace {

std::string temporary_folder() {
  const char* folder = std::getenv("TMPDIR");
  return folder != nullptr && *folder != '\0' ? folder : "/tmp";
}

}  // namespace

int open_unnamed_file() {
  std::string path = temporary_folder() + "/discreet-XXXXXX";
  const int file = ::mkostemp(path.data(), O_CLOEXEC);  // made with mode 0600
  if (file >= 0) ::unlink(path.c_str());
  return file;
}

std::string private_folder() {
  std::string path = temporary_folder() + "/discreet-" + std::to_string(::geteuid());
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return "";
  // Somebody else may have been here before.
  struct stat is{};
  constexpr mode_t kOthers = 077;
  if (::lstat(path.c_str(), &is) != 0 || !S_ISDIR(is.st_mode) || is.st_uid != ::geteuid() ||
      (is.st_mode & kOthers) != 0)
    return "";
  return path;
}

}  // namespace discreet
