// In place of connect/ where the build has no gRPC or not Spark's protocol files.
#include "engines/spark/connection_internal.h"

namespace discreet::spark {

Result<std::unique_ptr<Connection>> open_connection(const Address&, const ConnectionSettings&) {
  return Error{ErrorCode::Refused,
               "This program was built without Spark. Install libgrpc++-dev and "
               "run tools/setup/debian.sh spark-build and tools/setup/spark.sh and build again, or "
               "export the "
               "table to Parquet."};
}

}  // namespace discreet::spark
