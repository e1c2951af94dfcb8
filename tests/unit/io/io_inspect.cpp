#include "zonal/io/inspect.hpp"

#include <gmock/gmock.h>

#include "unit/io/io_helpers.hpp"
#include "zonal/error.hpp"

namespace zonal::io {
namespace {

using test::data_file;
using test::FitsBuilder;
using test::message_of;
using test::TemporaryFolder;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Inspect, TellsKindsOfFilesApart) {
    EXPECT_EQ(inspect(data_file("wmap/wmap_W_smoothed10deg_healpix_f90.fits")).kind, FileKind::map);
    EXPECT_EQ(inspect(data_file("fermi/fermi_3fhl_counts_cube_hpx.fits.gz")).kind, FileKind::map);
    EXPECT_EQ(inspect(data_file("theory/planck2018_lcdm_cl_v3.fits")).kind, FileKind::spectrum);
    EXPECT_EQ(inspect(data_file("healpix/pixel_window_n0002.fits")).kind, FileKind::window);
    const TemporaryFolder folder;
    EXPECT_EQ(inspect(folder.write("cl.txt", "# l TT\n0 1\n")).kind, FileKind::spectrum);
    EXPECT_EQ(inspect(folder.write("bl.txt", "1\n0.5\n")).kind, FileKind::window);
    EXPECT_THROW(inspect(folder.write("x", std::string("\0\1", 2))), IoError);
}

TEST(Inspect, ListsHdusColumnsAndCards) {
    const auto summary = inspect(data_file("fermi/fermi_3fhl_counts_cube_hpx.fits.gz"));
    EXPECT_TRUE(summary.fits);
    ASSERT_EQ(summary.hdus.size(), 4u);
    EXPECT_EQ(summary.hdus[0].type, "IMAGE");
    EXPECT_EQ(summary.hdus[1].name, "SKYMAP");
    EXPECT_THAT(summary.hdus[1].shape, ElementsAre(49152));
    EXPECT_EQ(summary.hdus[2].columns.at(1).name, "E_MIN");
    EXPECT_EQ(summary.hdus[2].columns.at(1).unit, "keV");
    EXPECT_EQ(summary.hdus[3].kind, FileKind::other);
    EXPECT_TRUE(summary.notes.empty());
}

TEST(Inspect, ListsWhatStandsBeforeADamagedHdu) {
    const TemporaryFolder folder;
    auto file = FitsBuilder().table(8, 1, {"D"}, {"TT"}).end().data(std::string(8, '\0'));
    file.table(8, 1000, {"D"}, {"TT"}).end();
    const auto summary = inspect(folder.write("f", file.bytes()));
    EXPECT_EQ(summary.hdus.size(), 2u);
    EXPECT_THAT(summary.notes,
                ElementsAre(HasSubstr("HDU 2: truncated: 8000 bytes of data expected, 0 found")));
}

}  // namespace
}  // namespace zonal::io
