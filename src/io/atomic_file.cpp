#include "zonal/io/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <random>
#include <string_view>
#include <utility>

#include "io/fits/file_bytes.hpp"
#include "zonal/error.hpp"

namespace zonal::io {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void reject(const std::string& path, const std::string& reason) {
    throw IoError(fmt::format("{}: {}", path, reason));
}

constexpr const char* exists_already = "exists already (overwrite replaces it)";
constexpr const char* exists_by_now = "exists already: it has appeared meanwhile and is kept";

/// The file that is to appear: a link's target, so that the link stays. Refuses what a rename would destroy.
std::string find_target(const std::string& path, bool overwrite) {
    if (path.empty()) throw InvalidArgument("output path: must not be empty");
    std::error_code error;
    const auto status = fs::status(path, error);
    if (status.type() == fs::file_type::not_found) {
        // A rename would replace the link, and without overwrite fail only when all work is done.
        if (fs::is_symlink(path, error)) reject(path, "is a link to a file that does not exist");
        return path;
    }
    if (status.type() == fs::file_type::none)
        reject(path, fmt::format("cannot be examined: {}", error.message()));
    if (fs::is_directory(status)) reject(path, "is a directory");
    if (!fs::is_regular_file(status)) reject(path, "is not a regular file");
    if (!overwrite) reject(path, exists_already);
    if (!fs::is_symlink(path, error)) return path;
    const auto target = fs::canonical(path, error);
    if (error) reject(path, error.message());
    return target.string();
}

constexpr std::string_view part_prefix = ".zonal-", part_suffix = ".part";

fs::path folder_of(const std::string& target) {
    const fs::path folder = fs::path(target).parent_path();
    return folder.empty() ? fs::path(".") : folder;
}

/// A name that no other file in target's folder has.
std::string part_name(const std::string& target) {
    std::random_device random;
    return (folder_of(target) / fmt::format("{}{:08x}{:08x}{}", part_prefix, random(), random(), part_suffix))
        .string();
}

std::string path_of_descriptor(int descriptor) {
    return fmt::format("/proc/self/fd/{}", descriptor);
}

/// A file without a name in target's folder; -1 where there can be none, or nothing could name it later.
int create_unnamed(const std::string& target) {
    const int descriptor = open(folder_of(target).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
    if (descriptor < 0 || access(path_of_descriptor(descriptor).c_str(), R_OK | W_OK) == 0) return descriptor;
    close(descriptor);
    return -1;
}

/// open() rather than mkstemp, so that the umask decides on permissions.
int create_named(const std::string& target, std::string& name) {
    int descriptor = -1;
    for (int attempt = 0; attempt < 100 && descriptor < 0; ++attempt) {
        name = part_name(target);
        descriptor = open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor < 0 && errno != EEXIST) break;
    }
    return descriptor;
}

/// Gives a file without a name this one, which must be free.
int link_unnamed(int descriptor, const std::string& name) {
    return linkat(AT_FDCWD, path_of_descriptor(descriptor).c_str(), AT_FDCWD, name.c_str(),
                  AT_SYMLINK_FOLLOW);
}

/// Makes the rename itself durable; folders that cannot be opened or synchronised are not an error.
void sync_folder(const std::string& target) {
    const int descriptor = open(folder_of(target).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return;
    (void)fsync(descriptor);
    close(descriptor);
}

/// Renames without replacing. File systems that know no such rename get a check first.
int rename_new(const char* from, const char* to) {
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return 0;
    if (errno != EINVAL && errno != ENOSYS) return -1;
    struct stat status;
    if (lstat(to, &status) == 0) {
        errno = EEXIST;
        return -1;
    }
    return rename(from, to);
}

/// Whether files may get their names, and the lock of the one that gets it.
struct Naming {
    std::mutex mutex;
    std::condition_variable allowed;
    bool is_over = false;
};
/// Never destroyed, as a program may end while a file waits for its name.
Naming& naming() {
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
    static auto* const state = new Naming;
    return *state;
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path, bool overwrite, bool with_name)
    : path_(path), target_(find_target(path, overwrite)), overwrite_(overwrite) {
    descriptor_ = with_name ? -1 : create_unnamed(target_);
    has_name_ = descriptor_ < 0;
    if (has_name_)
        descriptor_ = create_named(target_, temporary_path_);
    else
        temporary_path_ = path_of_descriptor(descriptor_);
    if (descriptor_ < 0) reject(path_, fmt::format("cannot be written: {}", system_reason()));
    struct stat status;
    if (stat(target_.c_str(), &status) == 0) (void)fchmod(descriptor_, status.st_mode & 07777);
}

AtomicFile::~AtomicFile() {
    remove_temporary();
}

void AtomicFile::remove_temporary() noexcept {
    if (descriptor_ < 0) return;
    close(std::exchange(descriptor_, -1));
    if (has_name_) unlink(temporary_path_.c_str());
}

void AtomicFile::fail(const std::string& reason) {
    remove_temporary();
    reject(path_, reason);
}

void AtomicFile::write(const void* bytes, std::size_t count) {
    const char* next = static_cast<const char*>(bytes);
    while (count > 0) {
        const ssize_t written = ::write(descriptor_, next, count);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) fail(fmt::format("cannot be written: {}", system_reason()));
        next += written;
        count -= static_cast<std::size_t>(written);
    }
}

int AtomicFile::take_name() {
    if (!has_name_) {
        if (link_unnamed(descriptor_, target_) == 0) return 0;
        if (!overwrite_ || errno != EEXIST) return -1;
        // A link replaces no file, a rename does: for that instant the finished file has another name.
        const auto name = part_name(target_);
        if (link_unnamed(descriptor_, name) != 0) return -1;
        temporary_path_ = name;
        has_name_ = true;
    }
    return overwrite_ ? rename(temporary_path_.c_str(), target_.c_str())
                      : rename_new(temporary_path_.c_str(), target_.c_str());
}

bool AtomicFile::name_no_more() {
    std::unique_lock lock(naming().mutex, std::try_to_lock);
    const bool had_to_wait = !lock.owns_lock();
    if (had_to_wait) lock.lock();
    naming().is_over = true;
    return had_to_wait;
}

void AtomicFile::commit() {
    if (descriptor_ < 0) reject(path_, "has been committed or has failed already");
    if (fsync(descriptor_) != 0 && errno != EINVAL)
        fail(fmt::format("cannot be written: {}", system_reason()));
    std::unique_lock lock(naming().mutex);
    naming().allowed.wait(lock, [] { return !naming().is_over; });
    if (take_name() != 0)
        fail(errno == EEXIST ? exists_by_now : fmt::format("cannot be written: {}", system_reason()));
    close(std::exchange(descriptor_, -1));
    sync_folder(target_);
}

void AtomicFile::remove_unfinished() {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator("/proc/self/fd", error)) {
        const auto path = fs::read_symlink(entry, error);
        const auto name = path.filename().string();
        if (name.starts_with(part_prefix) && name.ends_with(part_suffix)) unlink(path.c_str());
    }
}

}  // namespace zonal::io
