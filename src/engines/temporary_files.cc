#include "engines/temporary_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace discreet {
namespace {

std::string name_to_be_made() {
  const char* folder = std::getenv("TMPDIR");
  return std::string(folder != nullptr && *folder != '\0' ? folder : "/tmp") + "/discreet-XXXXXX";
}

}  // namespace

int open_unnamed_file() {
  std::string path = name_to_be_made();
  const int file = ::mkostemp(path.data(), O_CLOEXEC);  // made with mode 0600
  if (file >= 0) ::unlink(path.c_str());
  return file;
}

PrivateFolder::PrivateFolder() : path_(name_to_be_made()) {
  if (::mkdtemp(path_.data()) == nullptr) path_.clear();  // made with mode 0700
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace discreet
