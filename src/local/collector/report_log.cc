#include "local/collector/report_log.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/crc.hpp>
#include <cstring>
#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "local/report_bytes_internal.h"

namespace discreet::local {
namespace {

constexpr std::string_view kMagic = "DLS1";
constexpr std::size_t kFrameHead = 8;  // length and checksum
constexpr std::size_t kIdBytes = 16;
constexpr std::size_t kBatchMax = std::size_t{1} << 30;

std::uint32_t checksum(Bytes bytes) {
  boost::crc_32_type crc;
  crc.process_bytes(bytes.data(), bytes.size());
  return crc.checksum();
}

std::vector<std::uint8_t> frame(Bytes first, Bytes second) {
  std::vector<std::uint8_t> out(kFrameHead);
  out.insert(out.end(), first.begin(), first.end());
  out.insert(out.end(), second.begin(), second.end());
  put(out.data(), out.size() - kFrameHead, 4);
  put(out.data() + 4, checksum(Bytes(out).subspan(kFrameHead)), 4);
  return out;
}

bool write_all(int file, Bytes bytes) {
  while (!bytes.empty()) {
    const auto wrote = ::write(file, bytes.data(), bytes.size());
    if (wrote <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(wrote));
  }
  return true;
}

/// Reads one frame; false at the end or where the file is torn.
bool read_frame(int file, std::vector<std::uint8_t>& payload) {
  std::uint8_t head[kFrameHead];
  const auto fully = [&](std::uint8_t* to, std::size_t count) {
    while (count > 0) {
      const auto got = ::read(file, to, count);
      if (got <= 0) return false;
      to += got;
      count -= static_cast<std::size_t>(got);
    }
    return true;
  };
  if (!fully(head, kFrameHead)) return false;
  const std::uint64_t length = get(head, 4);
  if (length > kBatchMax) return false;
  payload.resize(length);
  return fully(payload.data(), length) && checksum(payload) == get(head + 4, 4);
}

Error refused(const std::string& path, const std::string& why) {
  return {ErrorCode::Refused, fmt::format("the report log {} {}", path, why)};
}

Bytes as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

/// The name of a new file is only on disk once its folder is.
bool sync_folder(const std::string& path) {
  auto folder = std::filesystem::path(path).parent_path();
  if (folder.empty()) folder = ".";
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return false;
  const bool done = ::fsync(file) == 0;
  ::close(file);
  return done;
}

}  // namespace

ReportLog::~ReportLog() {
  ::close(file_);
}

Result<std::string> ReportLog::header_of(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return refused(path, "cannot be opened");
  char magic[4] = {};
  std::vector<std::uint8_t> payload;
  const bool read = ::read(file, magic, 4) == 4 && std::string_view(magic, 4) == kMagic &&
                    read_frame(file, payload);
  ::close(file);
  if (!read) return refused(path, "is not a log of reports");
  return std::string(payload.begin(), payload.end());
}

Result<std::string> ReportLog::scan(const std::string& path, const Replay& replay) {
  DISCREET_TRY(const std::string header, header_of(path));
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return refused(path, "cannot be opened");
  ::lseek(file, kMagic.size(), SEEK_SET);
  std::vector<std::uint8_t> payload;
  read_frame(file, payload);  // the header again
  while (read_frame(file, payload) && payload.size() >= kIdBytes) {
    BatchId id;
    std::memcpy(id.data(), payload.data(), kIdBytes);
    replay(id, Bytes(payload).subspan(kIdBytes));
  }
  ::close(file);
  return header;
}

Result<std::unique_ptr<ReportLog>> ReportLog::open(const std::string& path,
                                                   const std::string& header,
                                                   const Replay& replay) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return refused(path, "cannot be opened");
  std::unique_ptr<ReportLog> log(new ReportLog(file, path));
  if (::flock(file, LOCK_EX | LOCK_NB) != 0) return refused(path, "is in use by another collector");
  DISCREET_TRY_VOID(log->read(header, replay));
  return log;
}

// A file whose header never reached the disk holds no acknowledged batch, so it is begun again.
Result<void> ReportLog::read(const std::string& header, const Replay& replay) {
  char magic[4] = {};
  const auto got = ::read(file_, magic, 4);
  std::vector<std::uint8_t> payload;
  off_t good = 0;
  if (got == 4 && std::string_view(magic, 4) != kMagic)
    return refused(path_, "is not a log of reports");
  if (got == 4 && read_frame(file_, payload)) {
    if (std::string(payload.begin(), payload.end()) != header)
      return refused(path_,
                     "belongs to a collection with another header; give this one another name");
    good = ::lseek(file_, 0, SEEK_CUR);
    while (read_frame(file_, payload)) {
      if (payload.size() < kIdBytes) break;
      BatchId id;
      std::memcpy(id.data(), payload.data(), kIdBytes);
      replay(id, Bytes(payload).subspan(kIdBytes));
      good = ::lseek(file_, 0, SEEK_CUR);
    }
  }
  if (::ftruncate(file_, good) != 0 || ::lseek(file_, good, SEEK_SET) != good)
    return refused(path_, "cannot be mended");
  if (good == 0) {
    const auto first = frame(as_bytes(header), {});
    if (!write_all(file_, as_bytes(kMagic)) || !write_all(file_, first) || ::fsync(file_) != 0 ||
        !sync_folder(path_))
      return refused(path_, "cannot be written");
  }
  return {};
}

Result<void> ReportLog::append(const BatchId& id, Bytes records) {
  const Error broken{ErrorCode::Unavailable, fmt::format("the report log {} cannot be written; the "
                                                         "batch was not taken",
                                                         path_)};
  if (failed_ || records.size() > kBatchMax - kIdBytes) return broken;
  if (!write_all(file_, frame(id, records)) || ::fdatasync(file_) != 0) {
    failed_ = true;
    return broken;
  }
  return {};
}

}  // namespace discreet::local
