// What holds for the first column, the first row or the first piece of a file holds for the others.
#include <gmock/gmock.h>

#include <functional>
#include <numeric>

#include "distributed_helpers.hpp"
#include "unit/io/io_helpers.hpp"
#include "zonal/error.hpp"
#include "zonal/io/alm.hpp"
#include "zonal/io/map.hpp"
#include "zonal/io/parts.hpp"
#include "zonal/io/spectrum.hpp"

namespace zonal::io {
namespace {

using test::message_of;
using test::TemporaryFolder;
using testing::HasSubstr;

/// Scalars of units, names, precisions and values of their own.
MapFile uneven_map(std::int64_t nside, healpix::Order order) {
    MapFile map{.pixelization = HealpixPixels{nside, order}};
    for (const auto& [name, unit, precision] : {std::tuple{"X", "uK", FilePrecision::float32},
                                                {"Y", "", FilePrecision::float64},
                                                {"Z", "MJy/sr", FilePrecision::float32}}) {
        std::vector<double> values(static_cast<std::size_t>(12 * nside * nside));
        std::iota(values.begin(), values.end(), 1000.5 * static_cast<double>(map.columns.size()));
        map.columns.push_back(
            {.name = name, .unit = unit, .precision = precision, .values = std::move(values)});
    }
    return map;
}

MapFile partial_map(std::int64_t nside) {
    auto map = uneven_map(nside, healpix::Order::nest);
    map.pixels.resize(map.columns[0].values.size());
    std::iota(map.pixels.begin(), map.pixels.end(), 0);
    map.pixels.back() += 5;
    map.pixelization = HealpixPixels{2 * nside, healpix::Order::nest};
    return map;
}

MapFile multi_order_map(std::int64_t nside) {
    auto map = uneven_map(nside, healpix::Order::nest);
    map.multi_order = true;
    return map;
}

MapFile image(std::int64_t n_rings) {
    MapFile map{.pixelization = CarPixels{.n_rings = n_rings, .n_phi = 2 * n_rings}};
    for (int plane = 0; plane < 3; ++plane)
        map.columns.push_back(
            {.values = std::vector<double>(static_cast<std::size_t>(2 * n_rings * n_rings), plane)});
    return map;
}

void expect_same(const MapColumn& column, const MapColumn& wanted) {
    EXPECT_EQ(column.name, wanted.name);
    EXPECT_EQ(column.unit, wanted.unit);
    EXPECT_EQ(column.precision, wanted.precision);
    EXPECT_EQ(column.stokes, wanted.stokes);
    EXPECT_TRUE(column.values == wanted.values) << column.name;
}

TEST(EveryColumn, KeepsItsUnitNamePrecisionAndValues) {
    const TemporaryFolder folder;
    const auto path = folder.path("map.fits");
    // Rows of 1024 pixels, and of one.
    for (const auto& map : {uneven_map(32, healpix::Order::ring), uneven_map(5, healpix::Order::ring),
                            partial_map(8), multi_order_map(8)}) {
        write_map(path, map, {.overwrite = true});
        const auto all = read_map(path);
        ASSERT_EQ(all.columns.size(), 3u);
        for (std::size_t i = 0; i < 3; ++i) expect_same(all.columns[i], map.columns[i]);
        EXPECT_EQ(all.pixels, map.pixels);
        const auto some = read_map(path, {.fields = {"Z", "Y"}});
        ASSERT_EQ(some.columns.size(), 2u);
        expect_same(some.columns[0], map.columns[2]);
        expect_same(some.columns[1], map.columns[1]);
    }
}

TEST(EveryColumn, OfSpectraKeepsItsUnit) {
    const TemporaryFolder folder;
    SpectrumFile file;
    for (const auto& [name, unit] :
         {std::pair{"TT", "uK^2"}, {"EE", "K^2"}, {"BB", ""}, {"TE", "mK^2"}, {"TB", "a"}, {"EB", "b"}})
        file.spectra.push_back({name, unit, {1, 2, 3}});
    write_spectrum(folder.path("cl.fits"), file);
    const auto back = read_spectrum(folder.path("cl.fits"));
    for (const auto& spectrum : file.spectra) EXPECT_EQ(back.find(spectrum.name)->unit, spectrum.unit);
}

/// A number at this place is refused, and no file is there.
void expect_refused(const std::string& file_name, const std::function<void(const std::string&)>& write) {
    const TemporaryFolder folder;
    EXPECT_THAT(message_of<IoError>([&] { write(folder.path(file_name)); }),
                HasSubstr("does not fit a 4-byte float"));
    EXPECT_EQ(folder.n_entries(), 0u);
}

TEST(EveryPiece, OfAMapIsCheckedForTheRangeOfFloats) {
    // Of some pieces each: CFITSIO writes about 100 kB at once.
    for (const auto& map :
         {uneven_map(64, healpix::Order::ring), partial_map(32), multi_order_map(32), image(64)})
        for (const std::size_t column : {0, 2})
            for (const double share : {0.0, 0.5, 1.0}) {
                auto wide = map;
                auto& values = wide.columns[column].values;
                for (const double sign : {-1, 1}) {
                    values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))] =
                        sign * 1e39;
                    expect_refused("map.fits", [&](const std::string& path) { write_map(path, wide); });
                }
            }
}

TEST(EveryPiece, OfAMapInPartsIsCheckedForTheRangeOfFloats) {
    // Rows of 1024 pixels, of which a rank has whole ones and parts, and rows of one.
    for (const std::int64_t nside : {32, 5})
        for (const std::size_t place : {0, 57, 150, 299})
            expect_refused("map.fits", [&](const std::string& path) {
                auto map = uneven_map(nside, healpix::Order::ring);
                const auto n_pixels = std::ssize(map.columns[0].values);
                map.columns[2].values[place * static_cast<std::size_t>(n_pixels) / 300] = 1e39;
                const auto errors = test::on_ranks(2, [&](const Communicator& ranks) {
                    const std::int64_t middle = 3 * n_pixels / 7;
                    const PixelRange own =
                        ranks.rank() == 0 ? PixelRange{0, middle} : PixelRange{middle, n_pixels};
                    MapShare share{map, {healpix::Order::ring, {own}}};
                    for (auto& column : share.file.columns)
                        column.values = {column.values.begin() + own.first, column.values.begin() + own.end};
                    write_map_share(path, share, ranks);
                });
                if (!errors[0].empty()) throw IoError(errors[0]);
            });
}

TEST(EveryPiece, OfAlmAndSpectraIsCheckedForTheRangeOfFloats) {
    AlmFile alm{.layout = AlmLayout(200), .precision = FilePrecision::float32};
    alm.components.resize(3, std::vector<std::complex<double>>(static_cast<std::size_t>(alm.layout.size())));
    for (const std::size_t component : {0, 2})
        for (const std::size_t place :
             {std::size_t{0}, alm.components[0].size() / 2, alm.components[0].size() - 1})
            for (const auto value : {std::complex{1e39, 0.0}, std::complex{0.0, -1e39}}) {
                auto wide = alm;
                wide.components[component][place] = value;
                expect_refused("alm.fits", [&](const std::string& path) { write_alm(path, wide); });
                expect_refused("alm.fits", [&](const std::string& path) {
                    const auto errors = test::on_ranks(
                        1, [&](const Communicator& ranks) { write_alm_part(path, wide, ranks); });
                    if (!errors[0].empty()) throw IoError(errors[0]);
                });
            }
    for (const std::size_t l : {0, 2500, 4999}) {
        SpectrumFile file{.precision = FilePrecision::float32};
        for (const char* name : {"TT", "EE", "BB", "TE"})
            file.spectra.push_back({name, "", std::vector<double>(5000)});
        file.spectra[3].values[l] = 1e39;
        expect_refused("cl.fits", [&](const std::string& path) { write_spectrum(path, file); });
    }
}

}  // namespace
}  // namespace zonal::io
