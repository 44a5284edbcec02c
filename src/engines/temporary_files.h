// Room on disk for rows that do not fit memory, or that are kept for later: nobody else can open
// what is in it. In $TMPDIR, or /tmp.
#pragma once

#include <string>

namespace discreet {

/// A file without a name, gone when it is closed, also if the process ends. A descriptor that its
/// holder closes; negative: it cannot be made.
int open_unnamed_file();

/// A folder for what has to have names: one a user, for all programs. "": it cannot be made, or it
/// is not this user's alone.
std::string private_folder();

}  // namespace discreet
