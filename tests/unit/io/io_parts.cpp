// Files that ranks, which are threads here, read and write in parts, against those of one process.
#include "zonal/io/parts.hpp"

#include <gmock/gmock.h>

#include <numeric>

#include "distributed_helpers.hpp"
#include "io/fits/shared_file.hpp"
#include "unit/io/io_helpers.hpp"
#include "zonal/io/sky_map.hpp"
#include "zonal/sky/resampling.hpp"

namespace zonal::io {
namespace {

using test::FullDisk;
using test::message_of;
using test::on_ranks;
using test::read_bytes;
using test::TemporaryFolder;
using testing::Each;
using testing::HasSubstr;

/// I, Q, U of both precisions, with a pixel that is missing.
MapFile make_map(std::int64_t nside, healpix::Order order) {
    MapFile map{.pixelization = HealpixPixels{nside, order}};
    map.polarization_convention = PolarizationConvention::iau;
    map.cards = {{"HISTORY", std::string("a line"), ""}};
    const auto n = static_cast<std::size_t>(12 * nside * nside);
    for (const auto stokes : {Stokes::I, Stokes::Q, Stokes::U}) {
        std::vector<double> values(n);
        std::iota(values.begin(), values.end(), 1000.5 * static_cast<double>(map.columns.size()));
        values[n / 3] = unseen_value;
        map.columns.push_back(
            {.precision = stokes == Stokes::Q ? FilePrecision::float64 : FilePrecision::float32,
             .stokes = stokes,
             .values = std::move(values)});
    }
    return map;
}

/// Two runs of pixels for each rank, as ring order has them, of uneven length.
PixelPlaces two_runs(const Communicator& ranks, std::int64_t n_pixels) {
    const auto bound = [&](std::int64_t i) { return n_pixels / 2 * i * i / ranks.size() / ranks.size(); };
    const auto first = bound(ranks.rank()), end = bound(ranks.rank() + 1);
    return {healpix::Order::ring, {{first, end}, {n_pixels - end, n_pixels - first}}};
}

MapShare share_of(const MapFile& map, const PixelPlaces& places) {
    MapShare share{map, places};
    for (auto& column : share.file.columns) {
        std::vector<double> values;
        for (const auto& range : places.ranges)
            values.insert(values.end(), column.values.begin() + range.first,
                          column.values.begin() + range.end);
        column.values = std::move(values);
    }
    return share;
}

TEST(FilesInParts, MapsHaveTheBytesOfOneProcess) {
    const TemporaryFolder folder;
    // Rows of 1024 pixels, and of one.
    for (const std::int64_t nside : {32, 5}) {
        const auto map = make_map(nside, healpix::Order::ring);
        write_map(folder.path("whole.fits"), map, {true});
        for (const int n_ranks : {1, 2, 3, 5}) {
            const auto errors = on_ranks(n_ranks, [&](const Communicator& ranks) {
                const auto places = two_runs(ranks, full_sky_size(map.pixelization));
                write_map_share(folder.path("parts.fits"), share_of(map, places), ranks, {true});
            });
            EXPECT_THAT(errors, Each(""));
            EXPECT_TRUE(read_bytes(folder.path("parts.fits")) == read_bytes(folder.path("whole.fits")))
                << nside << " " << n_ranks;
        }
    }
    EXPECT_EQ(folder.n_entries(), 2u);
}

TEST(FilesInParts, OrderAndResolutionChangeAsInOneProcess) {
    const TemporaryFolder folder;
    for (const auto order : {healpix::Order::ring, healpix::Order::nest}) {
        const auto other = order == healpix::Order::ring ? healpix::Order::nest : healpix::Order::ring;
        write_map(folder.path("in.fits"), make_map(16, order), {true});
        const auto whole = read_sky_map(folder.path("in.fits"));
        write_sky_map(folder.path("other.fits"), zonal::reorder(whole, HealpixPixels{16, other}), {true});
        write_sky_map(folder.path("coarse.fits"), zonal::udgrade(whole, 4, {.pessimistic = true}), {true});
        write_sky_map(folder.path("fine.fits"), zonal::udgrade(whole, 32, {Combine::sum}), {true});
        const auto errors = on_ranks(3, [&](const Communicator& ranks) {
            const auto in = read_map_share(folder.path("in.fits"), ranks);
            auto turned = in;
            reorder(ranks, turned, other);
            write_map_share(folder.path("other3.fits"), turned, ranks, {true});
            write_map_share(folder.path("coarse3.fits"), udgrade(ranks, in, 4, {.pessimistic = true}), ranks,
                            {true});
            write_map_share(folder.path("fine3.fits"), udgrade(ranks, in, 32, {Combine::sum}), ranks, {true});
        });
        EXPECT_THAT(errors, Each(""));
        for (const std::string name : {"other", "coarse", "fine"})
            EXPECT_TRUE(read_bytes(folder.path(name + ".fits")) == read_bytes(folder.path(name + "3.fits")))
                << name;
    }
}

AlmFile make_alm(std::int64_t lmax, std::int64_t mmax, std::size_t n_components) {
    AlmFile file{.layout = AlmLayout(lmax, mmax), .precision = FilePrecision::float32, .unit = "K"};
    for (std::size_t c = 0; c < n_components; ++c) {
        auto& values = file.components.emplace_back(static_cast<std::size_t>(file.layout.size()));
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] = {static_cast<double>(i), static_cast<double>(c) - 0.5};
    }
    return file;
}

TEST(FilesInParts, AlmAreReadAndWrittenByOrders) {
    const TemporaryFolder folder;
    const auto alm = make_alm(40, 30, 3);
    write_alm(folder.path("whole.fits"), alm);
    write_alm(folder.path("cut.fits"), [&] {
        auto cut = alm;
        truncate(cut, 20, 10);
        return cut;
    }());
    for (const int n_ranks : {1, 2, 3, 5}) {
        const auto errors = on_ranks(n_ranks, [&](const Communicator& ranks) {
            const auto header = read_alm_header(folder.path("whole.fits"), ranks);
            EXPECT_EQ(header.n_components, 3u);
            EXPECT_TRUE(header.file.layout == alm.layout);
            const auto part = read_alm_part(folder.path("whole.fits"), share_of_orders(ranks, 40, 30), ranks);
            EXPECT_EQ(part.unit, "K");
            write_alm_part(folder.path("parts.fits"), part, ranks, {true});
            const auto cut = read_alm_part(folder.path("whole.fits"), share_of_orders(ranks, 20, 10), ranks);
            write_alm_part(folder.path("cut_parts.fits"), cut, ranks, {true});
        });
        EXPECT_THAT(errors, Each(""));
        EXPECT_TRUE(read_bytes(folder.path("parts.fits")) == read_bytes(folder.path("whole.fits")));
        EXPECT_TRUE(read_bytes(folder.path("cut_parts.fits")) == read_bytes(folder.path("cut.fits")));
    }
}

TEST(FilesInParts, OneRanksErrorIsThatOfAllAndLeavesNothing) {
    const TemporaryFolder folder;
    const auto map = make_map(16, healpix::Order::ring);
    const auto n_pixels = full_sky_size(map.pixelization);
    const auto write = [&](const Communicator& ranks, const MapFile& file, const std::string& name) {
        write_map_share(folder.path(name), share_of(file, two_runs(ranks, n_pixels)), ranks);
    };
    const auto refused = [&](const auto& change, const std::string& message) {
        const auto errors = on_ranks(3, [&](const Communicator& ranks) {
            auto file = map;
            std::string name = "out.fits";
            if (ranks.rank() == 1) change(file, name);
            write(ranks, file, name);
        });
        EXPECT_THAT(errors, Each(HasSubstr(message)));
        EXPECT_EQ(folder.n_entries(), 0u) << message;
    };
    refused([](MapFile&, std::string& name) { name = "other.fits"; }, "all must make the same calls");
    refused([&](MapFile& file,
                std::string&) { file.columns[1].values.assign(file.columns[1].values.size(), NAN); },
            "pixels of this rank's result are NaN, the first is pixel ");
    refused([](MapFile& file,
               std::string&) { file.columns[2].values.assign(file.columns[2].values.size(), 1e300); },
            "does not fit a 4-byte float");
    const auto packed = on_ranks(3, [&](const Communicator& ranks) { write(ranks, map, "out.fits.gz"); });
    EXPECT_THAT(packed, Each(HasSubstr("a gzip file is one stream")));
    for (const rlim_t bytes : {0, 2880, 10000, 30000}) {
        const FullDisk disk(bytes);
        const auto errors = on_ranks(3, [&](const Communicator& ranks) { write(ranks, map, "out.fits"); });
        EXPECT_THAT(errors, Each(HasSubstr("out.fits: cannot be written: ")));
        EXPECT_EQ(folder.n_entries(), 0u) << bytes;
    }
    folder.write("out.fits", "old");
    const auto errors = on_ranks(3, [&](const Communicator& ranks) { write(ranks, map, "out.fits"); });
    EXPECT_THAT(errors, Each(HasSubstr("exists already")));
    EXPECT_EQ(read_bytes(folder.path("out.fits")), "old");
}

TEST(FilesInParts, RanksFindTheUnfinishedFileByItsName) {
    const TemporaryFolder folder;
    const auto errors = on_ranks(2, [&](const Communicator& ranks) {
        SharedFile file(ranks, folder.path("out.fits"), {}, [] { return FitsFrame{.size = 4}; });
        // A file without a name would be found by threads of this process alone.
        EXPECT_EQ(folder.n_entries(), 1u);
        file.write(2 * ranks.rank(), ranks.rank() == 0 ? "ab" : "cd");
        file.commit();
    });
    EXPECT_THAT(errors, Each(""));
    EXPECT_EQ(read_bytes(folder.path("out.fits")), "abcd");
}

TEST(FilesInParts, WrongFilesAreErrorsOnAllRanks) {
    const TemporaryFolder folder;
    auto map = make_map(8, healpix::Order::ring);
    map.columns[0].values[700] = INFINITY;
    write_map(folder.path("infinite.fits"), map);
    map.pixels = {1, 5};
    for (auto& column : map.columns) column.values.resize(2);
    write_map(folder.path("partial.fits"), map);
    write_alm(folder.path("alm.fits.gz"), make_alm(5, 5, 1));
    const auto read_map = [&](const std::string& name) {
        return on_ranks(3, [&](const Communicator& ranks) { read_map_share(folder.path(name), ranks); });
    };
    EXPECT_THAT(read_map("infinite.fits"), Each(HasSubstr("are infinite, the first is pixel 700")));
    EXPECT_THAT(read_map("partial.fits"), Each(HasSubstr("only full skies can be read in parts")));
    EXPECT_THAT(read_map("none.fits"), Each(HasSubstr("none.fits: cannot be opened")));
    const auto errors = on_ranks(3, [&](const Communicator& ranks) {
        read_alm_part(folder.path("alm.fits.gz"), share_of_orders(ranks, 5, 5), ranks);
    });
    EXPECT_THAT(errors, Each(HasSubstr("is packed, so that it cannot be read in parts")));
    test::FitsBuilder twice;
    twice.table(12, 2, {"J", "E", "E"}, {"INDEX", "REAL", "IMAG"});
    std::string row = test::big_endian(std::int32_t{7}) + test::big_endian(1.0F) + test::big_endian(0.0F);
    twice.end().data(row + row);
    const auto path = folder.write("twice.fits", twice.bytes());
    const auto found = on_ranks(2, [&](const Communicator& ranks) {
        const auto layout = read_alm_header(path, ranks).file.layout;  // l = 2, m = 0
        read_alm_part(path, share_of_orders(ranks, layout.lmax(), layout.mmax()), ranks);
    });
    EXPECT_THAT(found, Each(HasSubstr("index 7 (l = 2, m = 0) occurs twice")));
}

}  // namespace
}  // namespace zonal::io
