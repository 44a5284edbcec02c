// A table of Spark's that is nothing but Parquet files of this machine.
//
// Such files can be read here for a fraction of what it costs Spark to send their rows.
// Guarantee: is_plain() says yes only where Spark itself would read whole files and nothing else:
// no
//            filter, mask or padding on the way, no log of deleted rows, no partitions.
// Guarantee: local_file() gives only files that Spark wrote itself. Their names have a number that
//            no other file has: with a server that only seems near (a tunnel, a container) a file
//            of that name is not here, and another is not taken for it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace discreet::spark {

/// Of the plan of `SELECT * FROM relation`, as EXPLAIN COST writes it.
bool is_plain(std::string_view plan);

/// The path of "file:/lake/visits/part-00000-<uuid>-c000.snappy.parquet". Nothing: it is another
/// file system's, another program's, or in a partition.
std::optional<std::string> local_file(std::string_view uri);

}  // namespace discreet::spark
