// Every writer on a disk that fills up: one clear line, nothing left behind, the old file kept.
#include <gmock/gmock.h>

#include "unit/io/io_helpers.hpp"
#include "zonal/error.hpp"
#include "zonal/io/alm.hpp"
#include "zonal/io/map.hpp"
#include "zonal/io/spectrum.hpp"

namespace zonal::io {
namespace {

using test::FullDisk;
using test::message_of;
using test::TemporaryFolder;
using testing::HasSubstr;

TEST(FullDisk, EveryWriterLeavesNothing) {
    const TemporaryFolder folder;
    MapFile map;
    map.pixelization = HealpixPixels{64, healpix::Order::ring};
    map.columns = {{.name = "X", .values = std::vector<double>(49152, 1.0)}};
    AlmFile alm{.layout = AlmLayout(200)};
    alm.components = {std::vector<std::complex<double>>(alm.layout.size())};
    SpectrumFile spectrum{.spectra = {{"TT", "", std::vector<double>(5000)}}};
    const auto check = [&](const char* name, auto write) {
        // From before the first header to the last block of data.
        for (const rlim_t bytes : {0, 1000, 2880, 5000, 8640, 12000, 30000}) {
            std::string message;
            {
                const FullDisk disk(bytes);
                message = message_of<IoError>([&] { write(folder.path(name)); });
            }
            EXPECT_THAT(message, HasSubstr(folder.path(name) + ": cannot be written: "));
            EXPECT_THAT(message, testing::EndsWith("File too large"));
            EXPECT_EQ(message.find('\n'), std::string::npos);
            EXPECT_EQ(folder.n_entries(), 0u) << name << " " << bytes;
        }
    };
    check("map.fits", [&](const std::string& path) { write_map(path, map); });
    check("map.fits.gz", [&](const std::string& path) { write_map(path, map); });
    check("alm.fits", [&](const std::string& path) { write_alm(path, alm); });
    check("cl.fits", [&](const std::string& path) { write_spectrum(path, spectrum); });
}

}  // namespace
}  // namespace zonal::io
