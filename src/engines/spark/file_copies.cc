#include "engines/spark/file_copies_internal.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

#include "engines/spare_memory.h"
#include "engines/unnamed_file.h"

namespace discreet::spark {

std::shared_ptr<FileCopies> FileCopies::make(const std::vector<std::uint64_t>& sizes) {
  const std::shared_ptr<FileCopies> made(new FileCopies());
  made->sizes_ = sizes;
  for (const std::uint64_t size : sizes) {
    const int file = open_unnamed_file();
    if (file < 0) return nullptr;
    made->files_.push_back(file);
    if (::ftruncate(file, static_cast<off_t>(size)) != 0) return nullptr;
  }
  return made;
}

FileCopies::~FileCopies() {
  for (const int file : files_) ::close(file);
}

std::vector<std::string> FileCopies::paths() const {
  std::vector<std::string> paths;
  for (const int file : files_) paths.push_back(fmt::format("/proc/self/fd/{}", file));
  return paths;
}

bool FileCopies::write(std::size_t file, std::uint64_t at, std::string_view bytes) {
  if (at > sizes_[file] || bytes.size() > sizes_[file] - at) return false;
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t wrote = ::pwrite(files_[file], bytes.data() + done, bytes.size() - done,
                                   static_cast<off_t>(at + done));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    done += static_cast<std::size_t>(wrote);
  }
  const std::scoped_lock lock(mutex_);
  written_ += bytes.size();
  return true;
}

std::uint64_t FileCopies::bytes_written() const {
  const std::scoped_lock lock(mutex_);
  return written_;
}

bool FileCopies::has(const std::string& column) const {
  const std::scoped_lock lock(mutex_);
  return columns_.contains(column);
}

void FileCopies::add(const std::vector<std::string>& columns) {
  const std::scoped_lock lock(mutex_);
  columns_.insert(columns.begin(), columns.end());
}

std::uint64_t FileCopiesKept::bytes_for_this_machine() {
  return spare_memory(std::uint64_t{4} << 30);
}

FileCopiesKept::Found FileCopiesKept::find(const std::vector<std::string>& locations) {
  const std::scoped_lock lock(mutex_);
  const auto found = std::ranges::find(kept_, locations, &Kept::locations);
  if (found == kept_.end()) return {};
  std::rotate(found, found + 1, kept_.end());
  return {true, kept_.back().copies};
}

void FileCopiesKept::keep(const std::vector<std::string>& locations,
                          std::shared_ptr<FileCopies> copies) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(kept_, [&](const Kept& one) { return one.locations == locations; });
  kept_.push_back({locations, std::move(copies)});
  const auto is_too_much = [&] {
    std::uint64_t bytes = 0;
    std::size_t files = 0;
    for (const Kept& one : kept_) {
      if (!one.copies) continue;
      bytes += one.copies->bytes_written();
      files += one.copies->count();
    }
    return kept_.size() > kTablesMax || bytes > bytes_max_ || files > kFilesMax;
  };
  while (kept_.size() > 1 && is_too_much()) kept_.erase(kept_.begin());
}

}  // namespace discreet::spark
