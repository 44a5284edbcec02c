// A file for what does not fit memory: nobody else can open it, and it is gone when it is closed,
// also if the process ends.
#pragma once

namespace discreet {

/// In $TMPDIR, or /tmp. A descriptor that its holder closes; negative: it cannot be made.
int open_unnamed_file();

}  // namespace discreet
