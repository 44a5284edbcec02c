// An answer as an Arrow IPC stream: a schema message, one record batch, the end marker.
//
// Format: Apache Arrow Columnar Format 1.0+, "IPC Streaming Format"; metadata version V5. The few
//         FlatBuffers tables it needs are written by hand (arrow.cc), little-endian.
#pragma once

#include <string>

#include "curator/answer.h"

namespace discreet::server::http {

/// bigint is int64, numeric and double precision are float64, boolean is bool, date is date32,
/// everything else utf8. Every column may hold nulls.
std::string arrow_stream(const Answer& answer);

}  // namespace discreet::server::http
