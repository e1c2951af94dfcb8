#include "zonal/io/atomic_file.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

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
        EXPECT_LE(folder.n_entries(), 1u);  // a name only where the file system knows no files without
    }
    EXPECT_EQ(folder.n_entries(), 0u);
}

/// Whether the file system has files without a name.
bool has_unnamed_files(const TemporaryFolder& folder) {
    const int descriptor = open(folder.folder().c_str(), O_TMPFILE | O_RDWR, 0600);
    if (descriptor >= 0) close(descriptor);
    return descriptor >= 0;
}

TEST(AtomicFile, HasNoNameUntilItIsCommitted) {
    const TemporaryFolder folder;
    if (!has_unnamed_files(folder))
        GTEST_SKIP() << "the file system of " << folder.folder() << " has no O_TMPFILE";
    for (const bool overwrite : {false, true}) {
        AtomicFile file(folder.path("out"), overwrite);
        file.write("hello");
        EXPECT_EQ(folder.n_entries(), overwrite ? 1u : 0u);
        EXPECT_EQ(read_bytes(file.temporary_path()), "hello");
        file.commit();
        EXPECT_EQ(folder.n_entries(), 1u);
    }
}

TEST(AtomicFile, RemovesUnfinishedFilesOfThisProcessOnly) {
    const TemporaryFolder folder;
    folder.write(".zonal-0.part", "of another process");
    const auto own = folder.path(".zonal-1.part"), other = folder.path("kept");
    const int part = open(own.c_str(), O_RDWR | O_CREAT, 0600),
              kept = open(other.c_str(), O_RDWR | O_CREAT, 0600);
    AtomicFile::remove_unfinished();
    EXPECT_FALSE(std::filesystem::exists(own));
    EXPECT_TRUE(std::filesystem::exists(other));
    EXPECT_EQ(folder.n_entries(), 2u);
    close(part);
    close(kept);
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

TEST(AtomicFile, LeavesNothingWhereItCannotTakeItsName) {
    const TemporaryFolder folder;
    for (const bool with_name : {false, true}) {
        const auto path = folder.write("out", "old");
        AtomicFile file(path, true, with_name);
        file.write("new");
        std::filesystem::remove(path);
        std::filesystem::create_directories(path + "/inside");
        EXPECT_THAT(message_of<IoError>([&] { file.commit(); }), HasSubstr("cannot be written"));
        EXPECT_EQ(folder.n_entries(), 1u);
        std::filesystem::remove_all(path);
    }
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
