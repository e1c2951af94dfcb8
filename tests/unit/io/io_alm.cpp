#include "zonal/io/alm.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "unit/io/io_helpers.hpp"
#include "zonal/error.hpp"
#include "zonal/io/inspect.hpp"

namespace zonal::io {
namespace {

using test::big_endian;
using test::FitsBuilder;
using test::message_of;
using test::TemporaryFolder;
using testing::HasSubstr;

struct Row {
    std::int32_t index;
    float real, imaginary;
};

void add_table(FitsBuilder& file, const std::vector<Row>& rows,
               const std::vector<std::pair<std::string, int>>& keys = {}) {
    std::string data;
    for (const auto& row : rows)
        data += big_endian(row.index) + big_endian(row.real) + big_endian(row.imaginary);
    file.table(12, static_cast<std::int64_t>(rows.size()), {"J", "E", "E"}, {"INDEX", "REAL", "IMAG"});
    for (const auto& [key, value] : keys) file.number(key, value);
    file.end().data(data);
}

class AlmFiles : public testing::Test {
  protected:
    AlmFile read(const FitsBuilder& file) { return read_alm(folder.write("alm.fits", file.bytes())); }
    AlmFile read(const std::vector<Row>& rows, const std::vector<std::pair<std::string, int>>& keys = {}) {
        FitsBuilder file;
        add_table(file, rows, keys);
        return read(file);
    }
    std::string error(const std::vector<Row>& rows,
                      const std::vector<std::pair<std::string, int>>& keys = {}) {
        return message_of<IoError>([&] { read(rows, keys); });
    }
    TemporaryFolder folder;
};

TEST_F(AlmFiles, RowsInAnyOrderAndMissingOnes) {
    // index = l^2 + l + m + 1: (2, 1) = 8, (1, 0) = 3, (2, 0) = 7
    const AlmFile file = read({{8, 1, 2}, {3, 3, 0}, {7, 4, 0}});
    EXPECT_EQ(file.layout, AlmLayout(2, 1));
    EXPECT_EQ(file.precision, FilePrecision::float32);
    ASSERT_EQ(file.components.size(), 1u);
    EXPECT_EQ(file.components[0][file.layout.index(2, 1)], std::complex<double>(1, 2));
    EXPECT_EQ(file.components[0][file.layout.index(1, 0)], 3.0);
    EXPECT_EQ(file.components[0][file.layout.index(2, 0)], 4.0);
    EXPECT_EQ(file.components[0][file.layout.index(0, 0)], 0.0);
}

TEST_F(AlmFiles, KeysGiveLmaxAndMmax) {
    const AlmFile file = read({{1, 1, 0}}, {{"MAX-LPOL", 4}, {"MAX-MPOL", 2}});
    EXPECT_EQ(file.layout, AlmLayout(4, 2));
    EXPECT_THAT(error({{7, 1, 0}}, {{"MAX-LPOL", 1}}), HasSubstr("MAX-LPOL = 1: the table goes up to 2"));
    EXPECT_THAT(error({{1, 1, 0}}, {{"MAX-LPOL", 1}, {"MAX-MPOL", 2}}), HasSubstr("must be 0 <= m <= l"));
}

TEST_F(AlmFiles, RejectsWrongIndices) {
    EXPECT_THAT(error({{3, 1, 0}, {3, 1, 0}}), HasSubstr("index 3 (l = 1, m = 0) occurs twice"));
    EXPECT_THAT(error({{2, 1, 0}}), HasSubstr("index 2: l = 1, m = -1: only m >= 0"));
    EXPECT_THAT(error({{0, 1, 0}}), HasSubstr("index 0: must be"));
    EXPECT_THAT(error({{-5, 1, 0}}), HasSubstr("index -5: must be"));
    EXPECT_THAT(error({}), HasSubstr("no coefficients"));
}

TEST_F(AlmFiles, MemoryIsBoundedByTheFile) {
    EXPECT_THAT(error({{1, 1, 0}}, {{"MAX-LPOL", 1000000}, {"MAX-MPOL", 1000000}}), HasSubstr("too few"));
    EXPECT_THAT(error({{1, 1, 0}, {2147395600, 1, 0}}), HasSubstr("too few"));
}

TEST_F(AlmFiles, ComponentsMustBeOneOrThreeOfEqualSize) {
    FitsBuilder file;
    for (int i = 0; i < 3; ++i) add_table(file, {{1, float(i), 0}, {3, 1, 0}, {4, 1, 1}});
    const AlmFile alm = read(file);
    ASSERT_EQ(alm.components.size(), 3u);
    EXPECT_EQ(alm.components[2][0], 2.0);

    FitsBuilder two;
    for (int i = 0; i < 2; ++i) add_table(two, {{1, 1, 0}});
    EXPECT_THAT(message_of<IoError>([&] { read(two); }), HasSubstr("2 tables of alm"));

    FitsBuilder unequal;
    for (int i = 0; i < 3; ++i) add_table(unequal, {{i == 2 ? 7 : 3, 1, 0}});
    EXPECT_THAT(message_of<IoError>([&] { read(unequal); }),
                HasSubstr("HDU 3: lmax = 2, mmax = 0: the first component"));
}

TEST_F(AlmFiles, RoundTrip) {
    AlmFile file{.layout = AlmLayout(40, 17)};
    for (int c = 0; c < 3; ++c) {
        auto& alm = file.components.emplace_back();
        for (std::int64_t i = 0; i < file.layout.size(); ++i)
            alm.emplace_back(std::sin(double(i + c)), std::cos(double(i)));
    }
    file.unit = "uK";
    file.coordinates = CoordinateSystem::galactic;
    file.cards = {{"SEED", std::int64_t{-7}, ""}};
    write_alm(folder.path("out.fits"), file);
    const AlmFile back = read_alm(folder.path("out.fits"));
    EXPECT_EQ(back.layout, file.layout);
    EXPECT_EQ(back.components, file.components);
    EXPECT_EQ(back.unit, "uK");
    EXPECT_EQ(back.coordinates, file.coordinates);
    EXPECT_EQ(back.precision, FilePrecision::float64);
    // What was read can be written again.
    write_alm(folder.path("again.fits"), back);
    EXPECT_EQ(read_alm(folder.path("again.fits")).components, file.components);
}

TEST_F(AlmFiles, IndicesAre64BitWhere32DoNotSuffice) {
    // (lmax + 1)^2 <= 2^31 - 1 up to lmax = 46339.
    for (const auto& [lmax, format] : {std::pair{46339, "J"}, {46340, "K"}}) {
        AlmFile file{.layout = AlmLayout(lmax, 0)};
        file.components.emplace_back(lmax + 1).back() = 5;
        write_alm(folder.path("out.fits"), file, {.overwrite = true});
        EXPECT_EQ(inspect(folder.path("out.fits")).hdus[1].columns[0].format, format);
        EXPECT_EQ(read_alm(folder.path("out.fits")).components, file.components);
    }
}

TEST_F(AlmFiles, RejectsSizesThatDoNotFit) {
    AlmFile file{.layout = AlmLayout(4)};
    EXPECT_THROW(write_alm(folder.path("x"), file), InvalidArgument);
    file.components = {std::vector<std::complex<double>>(14)};
    EXPECT_THAT(message_of<InvalidArgument>([&] { write_alm(folder.path("x"), file); }),
                HasSubstr("14 alm: 15 expected"));
    EXPECT_EQ(folder.n_entries(), 0u);
}

AlmFile temperature(std::int64_t lmax) {
    AlmFile file{.layout = AlmLayout(lmax)};
    auto& alm = file.components.emplace_back(static_cast<std::size_t>(file.layout.size()));
    for (std::size_t i = 0; i < alm.size(); ++i) alm[i] = {static_cast<double>(i), 1};
    return file;
}

TEST(AlmValues, AreCutAndMultiplied) {
    auto file = temperature(4);
    const auto kept = file.components[0][file.layout.index(2, 1)];
    truncate(file, 3, 1);
    EXPECT_EQ(file.layout, AlmLayout(3, 1));
    EXPECT_EQ(file.components[0][file.layout.index(2, 1)], kept);
    multiply(file, uniform_beam({1, 2, 3, 4}));
    EXPECT_EQ(file.components[0][file.layout.index(2, 1)], 3.0 * kept);
    const auto alm = to_map_alm(file);
    EXPECT_EQ(alm.alm(0, file.layout.index(2, 1)), 3.0 * kept);
    auto copy = file;
    set_alm(copy, alm);
    EXPECT_EQ(copy.components, file.components);
}

TEST(AlmValues, SayWhichIsNoNumber) {
    auto file = temperature(4);
    require_finite("a.fits", file, "coefficients");
    file.components[0][file.layout.index(3, 2)] = std::nan("");
    EXPECT_THAT(message_of<IoError>([&] { require_finite("a.fits", file, "coefficients"); }),
                HasSubstr("a.fits: alm T: 1 coefficients are NaN or infinite, the first is l = 3, m = 2"));
}

TEST(AlmValues, OfQAndUAloneHaveNoT) {
    MapFile content{.pixelization = HealpixPixels{1, healpix::Order::ring}};
    for (const auto stokes : {Stokes::Q, Stokes::U})
        content.columns.push_back({.name = stokes == Stokes::Q ? "Q" : "U", .unit = "K", .stokes = stokes});
    const SkyMap map(content);
    const AlmLayout layout(2);
    MapAlm alm{layout, Array<std::complex<double>, 2>({2, layout.size()})};
    alm.alm(1, 3) = 7;
    const auto file = to_alm_file(alm, map);
    ASSERT_EQ(file.components.size(), 3u);
    EXPECT_EQ(file.components[0][3], 0.0);
    EXPECT_EQ(file.components[2][3], 7.0);
    EXPECT_EQ(file.unit, "K");
    EXPECT_EQ(file.notes.size(), 1u);
}

}  // namespace
}  // namespace zonal::io
