// A table of Spark's that is nothing but Parquet files.
//
// Such files can be read here for a fraction of what it costs Spark to send their rows.
// Guarantee: layout_of() knows only tables of which Spark itself would read whole files and nothing
//            else: no filter, mask or padding on the way, no log of deleted rows.
// Guarantee: own_file() gives only files that Spark wrote itself. Their names have a number that no
//            other file has: with a server that only seems near (a tunnel, a container) a file of
//            that name is not here, and another is not taken for it; and a copy stays true.
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

struct OwnFile {
  std::string location;  ///< as Spark prints it: "s3a://lake/visits/part-00000-..."
  std::string path;      ///< "/visits/part-00000-..."
  bool is_local;         ///< of the file system that `path` would be found in
  std::string root;      ///< its table's folder, if it has partitions
  /// What the folders between say: "year=2024" and so on. Absent: NULL.
  std::vector<std::pair<std::string, std::optional<std::string>>> partition{};
};
/// "file:/lake/visits/part-00000-<uuid>-c000.snappy.parquet". Nothing: it is another program's.
std::optional<OwnFile> own_file(std::string_view uri);

/// All files of a table: their paths, if they are all local, or their locations. None: they are
/// not, or one of them does not lie as the others do.
PlainFiles local_files(const std::vector<std::string>& uris, Layout layout);
PlainFiles located_files(const std::vector<std::string>& uris, Layout layout);

}  // namespace discreet::spark
