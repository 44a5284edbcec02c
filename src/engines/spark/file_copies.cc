#include "engines/spark/file_copies_internal.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include <fmt/format.h>

#include "engines/spare_memory.h"
#include "engines/temporary_files.h"

namespace discreet::spark {

std::shared_ptr<FileCopy> FileCopy::make(std::uint64_t size) {
  const int file = open_unnamed_file();
  if (file < 0) return nullptr;
  std::shared_ptr<FileCopy> made(new FileCopy(file, size));
  if (::ftruncate(file, static_cast<off_t>(size)) != 0) return nullptr;
  return made;
}

FileCopy::FileCopy(int file, std::uint64_t size)
    : file_(file), size_(size), number_([] {
        static std::atomic<std::uint64_t> last = 0;
        return ++last;
      }()) {}

FileCopy::~FileCopy() {
  ::close(file_);
}

std::string FileCopy::path() const {
  return fmt::format("/proc/self/fd/{}", file_);
}

bool FileCopy::write(std::uint64_t at, std::string_view bytes) {
  if (at > size_ || bytes.size() > size_ - at) return false;
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t wrote =
        ::pwrite(file_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(at + done));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    done += static_cast<std::size_t>(wrote);
  }
  const std::scoped_lock lock(mutex_);
  written_ += bytes.size();
  return true;
}

std::uint64_t FileCopy::bytes_written() const {
  const std::scoped_lock lock(mutex_);
  return written_;
}

bool FileCopy::has(const std::string& column) const {
  const std::scoped_lock lock(mutex_);
  return columns_.contains(column);
}

void FileCopy::add(const std::vector<std::string>& columns) {
  const std::scoped_lock lock(mutex_);
  columns_.insert(columns.begin(), columns.end());
}

std::uint64_t FileCopies::bytes_for_this_machine() {
  return spare_memory(std::uint64_t{4} << 30);
}

std::shared_ptr<FileCopy> FileCopies::find(const std::string& location) {
  const std::scoped_lock lock(mutex_);
  const auto found = places_.find(location);
  if (found == places_.end()) return nullptr;
  kept_.splice(kept_.end(), kept_, found->second);
  return found->second->copy;
}

void FileCopies::keep(const std::string& location, std::shared_ptr<FileCopy> copy) {
  const std::scoped_lock lock(mutex_);
  if (const auto found = places_.find(location); found != places_.end()) {
    kept_.erase(found->second);
    places_.erase(found);
  }
  places_[location] = kept_.insert(kept_.end(), {location, std::move(copy)});
  std::uint64_t bytes = 0;
  for (const Kept& one : kept_) bytes += one.copy->bytes_written();
  while (kept_.size() > 1 && (bytes > bytes_max_ || kept_.size() > kFilesMax)) {
    bytes -= kept_.front().copy->bytes_written();
    places_.erase(kept_.front().location);
    kept_.pop_front();
  }
}

void FileCopies::put(const std::vector<std::string>& locations, Lists& lists) {
  if (lists.size() >= kListsMax) lists.clear();
  lists.insert(locations);
}

bool FileCopies::asked_again(const std::vector<std::string>& locations) {
  const std::scoped_lock lock(mutex_);
  if (asked_.contains(locations)) return true;
  put(locations, asked_);
  return false;
}

void FileCopies::refuse(const std::vector<std::string>& locations) {
  const std::scoped_lock lock(mutex_);
  put(locations, refused_);
}

bool FileCopies::is_refused(const std::vector<std::string>& locations) const {
  const std::scoped_lock lock(mutex_);
  return refused_.contains(locations);
}

}  // namespace discreet::spark
