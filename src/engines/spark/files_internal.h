// A table of Spark's that is nothing but Parquet files of this machine.
//
// Such files can be read here for a fraction of what it costs Spark to send their rows.
// Guarantee: layout_of() knows only tables of which Spark itself would read whole files and nothing
//            else: no filter, mask or padding on the way, no log of deleted rows.
// Guarantee: local_file() gives only files that Spark wrote itself. Their names have a number that
//            no other file has: with a server that only seems near (a tunnel, a container) a file
//            of that name is not here, and another is not taken for it.
// Assumes:   a partition in a folder of its table has the values that the folders' names tell, as
//            Spark itself names them. (Whoever sets a partition's location by hand can name another
//            one's folder.)
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engines/engine.h"

namespace discreet::spark {

enum class Layout {
  Other,
  Files,      ///< the rows are in the files
  Partitions  ///< some columns are in the names of their folders alone
};
/// Of the plan of `SELECT * FROM relation`, as EXPLAIN COST writes it.
Layout layout_of(std::string_view plan);

struct LocalFile {
  std::string path;
  std::string root;  ///< its table's folder, if it has partitions
  /// What the folders between say: "year=2024" and so on. Absent: NULL.
  std::vector<std::pair<std::string, std::optional<std::string>>> partition{};
};
/// "file:/lake/visits/part-00000-<uuid>-c000.snappy.parquet". Nothing: it is another file system's,
/// or another program's.
std::optional<LocalFile> local_file(std::string_view uri);

/// All files of a table. None: one of them is not here, or does not lie as the others do.
PlainFiles local_files(const std::vector<std::string>& uris, Layout layout);

}  // namespace discreet::spark
