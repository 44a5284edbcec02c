// Has Spark send parts of its own files: their ends, and then the columns that are read.
//
// A row that Spark sends costs it as much as a dozen rows that it adds up, and a question sends
// them all. The bytes of a column in a file cost a tenth of that, and once.
// Guarantee: what send_parts() says has come is in the copies, every byte of it.
// Assumes:   an executor has room for a file of 128 MiB, which Spark reads as a whole.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engines/engine.h"
#include "engines/spark/connection_internal.h"
#include "engines/spark/file_copies_internal.h"

namespace discreet::spark {

struct SendLimits {
  std::uint64_t file_bytes = std::uint64_t{128} << 20;     ///< of one file, as Spark has it
  std::uint64_t table_bytes = std::uint64_t{1} << 30;      ///< of all its files
  std::uint64_t bytes_at_once = std::uint64_t{128} << 20;  ///< that one statement sends
};

struct Sender {
  Connection& connection;
  std::function<Result<void>()> goes_on;  ///< asked once a statement runs: RemoteState::goes_on()
  SendLimits limits{};
};

/// A copy of each of a table's files, those that were not kept with their ends alone. None: there
/// are too many, they are too large, or they do not end as Parquet files do.
Result<std::vector<std::shared_ptr<FileCopy>>> send_ends(const Sender& sender,
                                                         const std::vector<std::string>& locations,
                                                         FileCopies& kept);

/// Puts parts of the files into the copies. False: not all came, or there is no room for them.
Result<bool> send_parts(const Sender& sender, const std::vector<std::string>& locations,
                        const std::vector<PartialFiles::Part>& parts,
                        const std::vector<std::shared_ptr<FileCopy>>& copies);

}  // namespace discreet::spark
