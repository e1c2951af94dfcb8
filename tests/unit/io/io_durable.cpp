// Files are on disk before they have their name, and the name is before the writer returns. This program's
// fsync stands in for the C library's.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <ostream>

#include "distributed_helpers.hpp"
#include "unit/io/io_helpers.hpp"
#include "zonal/error.hpp"
#include "zonal/io/alm.hpp"
#include "zonal/io/atomic_file.hpp"
#include "zonal/io/parts.hpp"

namespace zonal::io {
namespace {

using test::message_of;
using test::read_bytes;
using test::TemporaryFolder;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

/// A call of fsync: what it was for, and what the watched path had at that time.
struct Call {
    std::string of;  ///< "folder", or the file's bytes
    std::string there;
    bool operator==(const Call&) const = default;
    friend std::ostream& operator<<(std::ostream& out, const Call& call) {
        return out << '{' << call.of << ", " << call.there << '}';
    }
};

/// While it lives, calls are recorded and fail with `error`, unless that is 0.
class Watch {
  public:
    explicit Watch(std::string path, int error = 0) : path_(std::move(path)), error_(error) { active = this; }
    ~Watch() { active = nullptr; }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    int record(int descriptor) {
        const std::lock_guard lock(mutex_);
        struct stat status {};
        fstat(descriptor, &status);
        calls_.push_back(
            {S_ISDIR(status.st_mode) ? "folder" : read_bytes("/proc/self/fd/" + std::to_string(descriptor)),
             read_bytes(path_)});
        errno = error_;
        return error_ == 0 ? 0 : -1;
    }
    const std::vector<Call>& calls() const { return calls_; }

    static inline Watch* active = nullptr;

  private:
    std::string path_;
    int error_;
    std::mutex mutex_;
    std::vector<Call> calls_;
};

TEST(Durable, BytesBeforeTheNameAndTheFolderAfterIt) {
    for (const bool exists : {false, true})
        for (const bool with_name : {false, true}) {
            const TemporaryFolder folder;
            const auto path = folder.path("out"), old = std::string(exists ? "old" : "");
            if (exists) folder.write("out", old);
            AtomicFile file(path, exists, with_name);
            file.write("new");
            const Watch watch(path);
            file.commit();
            EXPECT_THAT(watch.calls(), ElementsAre(Call{"new", old}, Call{"folder", "new"})) << with_name;
        }
}

TEST(Durable, BytesThatAreNotOnDiskGetNoName) {
    for (const bool exists : {false, true}) {
        const TemporaryFolder folder;
        const auto path = folder.path("out");
        if (exists) folder.write("out", "old");
        AtomicFile file(path, exists);
        file.write("new");
        const Watch watch(path, EIO);
        EXPECT_THAT(message_of<IoError>([&] { file.commit(); }),
                    HasSubstr("out: cannot be written: Input/output error"));
        EXPECT_EQ(read_bytes(path), exists ? "old" : "");
        EXPECT_EQ(folder.n_entries(), exists ? 1u : 0u);
    }
}

TEST(Durable, FileSystemsThatCannotSynchroniseAreNoError) {
    const TemporaryFolder folder;
    AtomicFile file(folder.path("out"));
    file.write("new");
    const Watch watch(folder.path("out"), EINVAL);
    file.commit();
    EXPECT_EQ(read_bytes(folder.path("out")), "new");
    EXPECT_EQ(watch.calls().size(), 2u);
}

TEST(Durable, EveryRankFlushesItsPart) {
    const auto write = [&](const std::string& path, int error, std::size_t calls) {
        const Watch watch(path, error);
        const auto errors = test::on_ranks(3, [&](const Communicator& ranks) {
            const auto layout = share_of_orders(ranks, 8, 8);
            write_alm_part(path,
                           {.layout = layout,
                            .components = {std::vector<std::complex<double>>(
                                static_cast<std::size_t>(layout.size()), 1.0)}},
                           ranks);
        });
        EXPECT_EQ(watch.calls().size(), calls);
        return errors;
    };
    const TemporaryFolder folder;
    // Three ranks flush their part each, one more flush is of the file before it gets its name, and one of
    // the folder.
    EXPECT_THAT(write(folder.path("out.fits"), 0, 5), Each(""));
    EXPECT_THAT(write(folder.path("no.fits"), EIO, 3), Each(HasSubstr("no.fits: cannot be written: Input")));
    EXPECT_EQ(folder.n_entries(), 1u);
}

}  // namespace

int recorded_fsync(int descriptor) {
    if (Watch::active != nullptr) return Watch::active->record(descriptor);
    return static_cast<int>(syscall(SYS_fsync, descriptor));
}

}  // namespace zonal::io

extern "C" int fsync(int descriptor) {
    return zonal::io::recorded_fsync(descriptor);
}
