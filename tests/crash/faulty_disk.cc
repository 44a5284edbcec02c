#include "crash/faulty_disk.h"

#include <sqlite3.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>

namespace discreet::crash {
namespace {

FaultyDisk* disk = nullptr;
sqlite3_vfs* real = nullptr;

struct File {
  sqlite3_file base;
  std::string* path;
  sqlite3_file* inner;  // directly behind this struct
};

sqlite3_file* inner(sqlite3_file* file) {
  return reinterpret_cast<File*>(file)->inner;
}
const std::string& path_of(sqlite3_file* file) {
  return *reinterpret_cast<File*>(file)->path;
}

int close_file(sqlite3_file* file) {
  const int code = inner(file)->pMethods->xClose(inner(file));
  delete reinterpret_cast<File*>(file)->path;
  return code;
}
int read_file(sqlite3_file* file, void* into, int size, sqlite3_int64 offset) {
  return inner(file)->pMethods->xRead(inner(file), into, size, offset);
}
int write_file(sqlite3_file* file, const void* data, int size, sqlite3_int64 offset) {
  const int code = disk->before_write(path_of(file), offset, data, size);
  return code != SQLITE_OK ? code : inner(file)->pMethods->xWrite(inner(file), data, size, offset);
}
int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
  const int code = disk->before_truncate(path_of(file), size);
  return code != SQLITE_OK ? code : inner(file)->pMethods->xTruncate(inner(file), size);
}
int sync_file(sqlite3_file* file, int flags) {
  int code = disk->before_sync(path_of(file));
  if (code == SQLITE_OK) code = inner(file)->pMethods->xSync(inner(file), flags);
  if (code == SQLITE_OK) disk->synced(path_of(file));
  return code;
}
int file_size(sqlite3_file* file, sqlite3_int64* size) {
  return inner(file)->pMethods->xFileSize(inner(file), size);
}
int lock_file(sqlite3_file* file, int level) {
  return inner(file)->pMethods->xLock(inner(file), level);
}
int unlock_file(sqlite3_file* file, int level) {
  return inner(file)->pMethods->xUnlock(inner(file), level);
}
int check_lock(sqlite3_file* file, int* held) {
  return inner(file)->pMethods->xCheckReservedLock(inner(file), held);
}
int control_file(sqlite3_file* file, int operation, void* argument) {
  return inner(file)->pMethods->xFileControl(inner(file), operation, argument);
}
int sector_size(sqlite3_file* file) {
  return inner(file)->pMethods->xSectorSize(inner(file));
}
int characteristics(sqlite3_file*) {
  return 0;  // promises nothing: no atomic, ordered or safe writes
}
int map_shared(sqlite3_file* file, int region, int size, int extend, void volatile** memory) {
  return inner(file)->pMethods->xShmMap(inner(file), region, size, extend, memory);
}
int lock_shared(sqlite3_file* file, int offset, int count, int flags) {
  return inner(file)->pMethods->xShmLock(inner(file), offset, count, flags);
}
void barrier(sqlite3_file* file) {
  inner(file)->pMethods->xShmBarrier(inner(file));
}
int unmap_shared(sqlite3_file* file, int remove) {
  return inner(file)->pMethods->xShmUnmap(inner(file), remove);
}

const sqlite3_io_methods kMethods = {2,
                                     close_file,
                                     read_file,
                                     write_file,
                                     truncate_file,
                                     sync_file,
                                     file_size,
                                     lock_file,
                                     unlock_file,
                                     check_lock,
                                     control_file,
                                     sector_size,
                                     characteristics,
                                     map_shared,
                                     lock_shared,
                                     barrier,
                                     unmap_shared,
                                     nullptr,
                                     nullptr};

int open_file(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* flags_out) {
  auto* ours = reinterpret_cast<File*>(file);
  ours->base.pMethods = nullptr;
  ours->inner = reinterpret_cast<sqlite3_file*>(ours + 1);
  if (disk->dead()) return SQLITE_IOERR;
  if (name) disk->opened(name);
  const int code = real->xOpen(real, name, ours->inner, flags, flags_out);
  if (code != SQLITE_OK) return code;
  ours->path = new std::string(name ? name : "");
  ours->base.pMethods = &kMethods;
  return SQLITE_OK;
}
int delete_file(sqlite3_vfs*, const char* name, int sync_folder) {
  const int code = disk->before_delete(name);
  return code != SQLITE_OK ? code : real->xDelete(real, name, sync_folder);
}
int access_file(sqlite3_vfs*, const char* name, int flags, int* result) {
  return real->xAccess(real, name, flags, result);
}
int full_name(sqlite3_vfs*, const char* name, int size, char* out) {
  return real->xFullPathname(real, name, size, out);
}
int randomness(sqlite3_vfs*, int size, char* out) {
  return real->xRandomness(real, size, out);
}
int pause(sqlite3_vfs*, int micros) {
  return real->xSleep(real, micros);
}
int julian_day(sqlite3_vfs*, double* day) {
  return real->xCurrentTime(real, day);
}
int last_error(sqlite3_vfs*, int size, char* out) {
  return real->xGetLastError(real, size, out);
}

sqlite3_vfs vfs{};

std::string slurp(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

FaultyDisk::FaultyDisk() {
  disk = this;
  real = sqlite3_vfs_find(nullptr);
  vfs = {};
  vfs.iVersion = 1;
  vfs.szOsFile = static_cast<int>(sizeof(File)) + real->szOsFile;
  vfs.mxPathname = real->mxPathname;
  vfs.zName = name();
  vfs.xOpen = open_file;
  vfs.xDelete = delete_file;
  vfs.xAccess = access_file;
  vfs.xFullPathname = full_name;
  vfs.xRandomness = randomness;
  vfs.xSleep = pause;
  vfs.xCurrentTime = julian_day;
  vfs.xGetLastError = last_error;
  sqlite3_vfs_register(&vfs, 0);
}

FaultyDisk::~FaultyDisk() {
  sqlite3_vfs_unregister(&vfs);
  disk = nullptr;
}

void FaultyDisk::plan(Fault fault, int at_operation) {
  fault_ = fault;
  at_ = at_operation;
  operations_ = 0;
  struck_ = false;
}

int FaultyDisk::strike(int error_code) {
  ++operations_;
  if (dead()) return SQLITE_IOERR;
  if (fault_ == Fault::Full && struck_) return SQLITE_FULL;
  if (fault_ == Fault::None || operations_ != at_) return SQLITE_OK;
  struck_ = true;
  return fault_ == Fault::Full ? SQLITE_FULL : error_code;
}

int FaultyDisk::before_write(const std::string& path, std::int64_t offset, const void* data,
                             int size) {
  const int code = strike(SQLITE_IOERR_WRITE);
  if (code == SQLITE_OK)
    images_[path].unsynced.push_back(
        {offset, std::string(static_cast<const char*>(data), static_cast<std::size_t>(size)),
         false});
  return code;
}
int FaultyDisk::before_truncate(const std::string& path, std::int64_t size) {
  const int code = strike(SQLITE_IOERR_TRUNCATE);
  if (code == SQLITE_OK) images_[path].unsynced.push_back({size, {}, true});
  return code;
}
int FaultyDisk::before_sync(const std::string&) {
  const int code = strike(SQLITE_IOERR_FSYNC);
  return code == SQLITE_FULL ? SQLITE_IOERR_FSYNC : code;
}
int FaultyDisk::before_delete(const std::string& path) {
  // A full disk still deletes.
  const int code = fault_ == Fault::Full ? SQLITE_OK : strike(SQLITE_IOERR_DELETE);
  if (code == SQLITE_OK) images_.erase(path);
  return code;
}

void FaultyDisk::opened(const std::string& path) {
  if (!images_.contains(path) && std::filesystem::exists(path)) images_[path].synced = slurp(path);
}

void FaultyDisk::synced(const std::string& path) {
  Image& image = images_[path];
  for (const Change& change : image.unsynced) apply(image.synced, change);
  image.unsynced.clear();
}

void FaultyDisk::apply(std::string& bytes, const Change& change) {
  const auto offset = static_cast<std::size_t>(change.offset);
  if (change.truncates) {
    bytes.resize(offset);
    return;
  }
  if (bytes.size() < offset + change.data.size()) bytes.resize(offset + change.data.size());
  bytes.replace(offset, change.data.size(), change.data);
}

void FaultyDisk::restart(Leaves leaves) {
  // Without a power cut the files are what they are.
  if (fault_ != Fault::Power) images_.clear();
  for (auto& [path, image] : images_) {
    std::string bytes = image.synced;
    const std::size_t count = image.unsynced.size();
    for (std::size_t i = 0; i < count; ++i) {
      Change change = image.unsynced[i];
      const bool first_half = i < count / 2;
      const bool torn = leaves == Leaves::TornHalf && i == count / 2;
      const bool kept =
          leaves == Leaves::Everything || torn ||
          ((leaves == Leaves::FirstHalf || leaves == Leaves::TornHalf) && first_half) ||
          (leaves == Leaves::Scattered && i % 2 == 1);
      if (torn && !change.truncates) change.data.resize(change.data.size() / 2);
      if (kept) apply(bytes, change);
    }
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (path.ends_with("sqlite")) std::filesystem::remove(path + "-shm");
  }
  images_.clear();
  plan(Fault::None, 0);
}

}  // namespace discreet::crash
