// Room on disk for rows that do not fit memory, or that are kept for later: nobody else can open
// what is in it. In $TMPDIR, or /tmp.
#pragma once

#include <string>

namespace discreet {

/// A file without a name, gone when it is closed, also if the process ends. A descriptor that its
/// holder closes; negative: it cannot be made.
int open_unnamed_file();

/// A folder for what has to have names, gone with this object.
class PrivateFolder {
 public:
  PrivateFolder();
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;

  /// "": it could not be made.
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace discreet
