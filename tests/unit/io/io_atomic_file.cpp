#include "zonal/io/atomic_file.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "unit/io/io_helpers.hpp"
#include "zonal/error.hpp"

namespace zonal::io {
namespace {

using test::FullDisk;
using test::message_of;
using test::read_bytes;
using test::TemporaryFolder;
using testing::HasSubstr;

TEST(AtomicFile, AppearsWhenCommitted) {
    const TemporaryFolder folder;
    AtomicFile file(folder.path("out"));
    file.write("hello");
    EXPECT_FALSE(std::filesystem::exists(folder.path("out")));
    file.commit();
    EXPECT_EQ(read_bytes(folder.path("out")), "hello");
    EXPECT_EQ(folder.n_entries(), 1u);
}

TEST(AtomicFile, LeavesNothingWithoutCommit) {
    const TemporaryFolder folder;
    {
        AtomicFile file(folder.path("out"));
        file.write("hello");
        EXPECT_EQ(folder.n_entries(), 1u);
    }
    EXPECT_EQ(folder.n_entries(), 0u);
}

TEST(AtomicFile, KeepsExistingFileUnlessToldToOverwrite) {
    const TemporaryFolder folder;
    const auto path = folder.write("out", "old");
    EXPECT_THAT(message_of<IoError>([&] { AtomicFile file(path); }), HasSubstr("exists already"));
    {
        AtomicFile file(path, true);
        file.write("half");
    }
    EXPECT_EQ(read_bytes(path), "old");
    AtomicFile file(path, true);
    file.write("new");
    file.commit();
    EXPECT_EQ(read_bytes(path), "new");
    EXPECT_EQ(folder.n_entries(), 1u);
}

TEST(AtomicFile, KeepsFileThatAppearedMeanwhile) {
    const TemporaryFolder folder;
    AtomicFile file(folder.path("out"));
    folder.write("out", "theirs");
    EXPECT_THAT(message_of<IoError>([&] { file.commit(); }), HasSubstr("exists already"));
    EXPECT_EQ(read_bytes(folder.path("out")), "theirs");
    EXPECT_EQ(folder.n_entries(), 1u);
}

TEST(AtomicFile, RefusesWhatIsNotARegularFile) {
    const TemporaryFolder folder;
    ASSERT_EQ(mkfifo(folder.path("fifo").c_str(), 0600), 0);
    EXPECT_THAT(message_of<IoError>([&] { AtomicFile file(folder.folder(), true); }),
                HasSubstr("is a directory"));
    EXPECT_THAT(message_of<IoError>([&] { AtomicFile file(folder.path("fifo"), true); }),
                HasSubstr("not a regular file"));
    EXPECT_THAT(message_of<IoError>([&] { AtomicFile file("/dev/null", true); }),
                HasSubstr("not a regular file"));
    EXPECT_THROW(AtomicFile file(""), InvalidArgument);
}

TEST(AtomicFile, FollowsSymbolicLink) {
    const TemporaryFolder folder;
    const auto target = folder.write("target", "old");
    std::filesystem::create_symlink(target, folder.path("link"));
    AtomicFile file(folder.path("link"), true);
    file.write("new");
    file.commit();
    EXPECT_TRUE(std::filesystem::is_symlink(folder.path("link")));
    EXPECT_EQ(read_bytes(target), "new");
}

TEST(AtomicFile, KeepsPermissionsOfReplacedFile) {
    const TemporaryFolder folder;
    const auto path = folder.write("out", "old");
    std::filesystem::permissions(path, std::filesystem::perms(0640));
    AtomicFile file(path, true);
    file.commit();
    EXPECT_EQ(std::filesystem::status(path).permissions(), std::filesystem::perms(0640));
}

TEST(AtomicFile, ReportsFolderThatCannotBeWritten) {
    const TemporaryFolder folder;
    EXPECT_THAT(message_of<IoError>([&] { AtomicFile file(folder.path("no/out")); }),
                HasSubstr("cannot be written: No such file"));
    // Even root may not make files there.
    EXPECT_THAT(message_of<IoError>([] { AtomicFile file("/proc/zonal"); }),
                HasSubstr("/proc/zonal: cannot be written"));
}

TEST(AtomicFile, FullDiskLeavesNothing) {
    const TemporaryFolder folder;
    AtomicFile file(folder.path("out"));
    const FullDisk disk(1000);
    EXPECT_THAT(message_of<IoError>([&] { file.write(std::string(2000, 'x')); }),
                HasSubstr("cannot be written"));
    EXPECT_EQ(folder.n_entries(), 0u);
    EXPECT_THROW(file.commit(), IoError);
}

}  // namespace
}  // namespace zonal::io
