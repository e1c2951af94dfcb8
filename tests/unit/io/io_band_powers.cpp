#include "zonal/io/band_powers.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "unit/io/io_helpers.hpp"
#include "zonal/error.hpp"
#include "zonal/grid.hpp"
#include "zonal/io/inspect.hpp"

// Band powers as files: what is read is what was written, or one clear line. That astropy finds the same
// numbers in them is in tests/python/test_band_powers.py.
namespace zonal::io {
namespace {

using test::message_of;
using test::TemporaryFolder;
using testing::ElementsAre;
using testing::HasSubstr;

const Grid grid = Grid::healpix(4);
/// Not even, and with degrees of weight 0 at the ends of a band.
const Bins bins({{2, {0.1, 0.7, 0.3}}, {6, {0, 1, 2, 0}}}, BandsOf::d_l);

Array<double, 2> numbers(std::int64_t rows, std::int64_t columns) {
    Array<double, 2> found({rows, columns});
    for (std::int64_t i = 0; i < found.size(); ++i)
        found.data()[i] = 1.5 + std::sin(1.3 * static_cast<double>(i * i % 977));
    return found;
}

const Array<double, 2> sky = numbers(3, grid.n_pixels()), masks = numbers(2, grid.n_pixels());

MaskedMaps part(bool is_polarized, std::int64_t mask) {
    return {.maps = is_polarized ? sky.view().slice(1, 2) : sky.view().slice(0, 1),
            .mask = masks.view()[mask],
            .noise = is_polarized ? std::vector<std::vector<double>>(2, std::vector<double>(12, 0.1))
                                  : std::vector<std::vector<double>>{}};
}

/// Of T with one mask, and Q and U with another; and of Q and U.
std::vector<MaskedField> two_fields() {
    return {{grid, {part(false, 1), part(true, 0)}}, {grid, {part(true, 1)}}};
}

BandPowersFile file_of(const std::vector<MaskedField>& fields, std::int64_t n_values) {
    BandPowersFile file{bins, estimate_bands(fields, bins, {.lmax_sky = 11, .threads = 1})};
    file.covariance = numbers(n_values, n_values);
    for (std::int64_t i = 0; i < n_values; ++i)
        for (std::int64_t j = 0; j < i; ++j) file.covariance(i, j) = file.covariance(j, i);
    file.units.resize(fields.size());
    return file;
}

/// All numbers are the same, bit by bit.
void expect_equal(const BandPowersFile& found, const BandPowersFile& file) {
    const auto same = [](const auto& one, const auto& other) {
        return one.extents() == other.extents() && std::equal(one.begin(), one.end(), other.begin());
    };
    ASSERT_EQ(found.bins.size(), file.bins.size());
    EXPECT_EQ(found.bins.of(), file.bins.of());
    for (std::size_t b = 0; b < file.bins.bands().size(); ++b) {
        EXPECT_EQ(found.bins.bands()[b].first, file.bins.bands()[b].first);
        EXPECT_EQ(found.bins.bands()[b].weights, file.bins.bands()[b].weights);
    }
    EXPECT_TRUE(same(found.covariance, file.covariance));
    EXPECT_EQ(found.units, file.units);
    EXPECT_TRUE(same(found.estimate.mask_spectra, file.estimate.mask_spectra));
    EXPECT_EQ(found.estimate.mask_of, file.estimate.mask_of);
    ASSERT_EQ(found.estimate.blocks.size(), file.estimate.blocks.size());
    for (std::size_t i = 0; i < file.estimate.blocks.size(); ++i) {
        const auto &block = found.estimate.blocks[i], &given = file.estimate.blocks[i];
        EXPECT_EQ(block.first, given.first);
        EXPECT_EQ(block.second, given.second);
        EXPECT_EQ(block.names, given.names);
        EXPECT_TRUE(same(block.pseudo, given.pseudo)) << i;
        EXPECT_TRUE(same(block.noise, given.noise)) << i;
        EXPECT_TRUE(same(block.bands, given.bands)) << i;
        EXPECT_TRUE(same(block.decoupling->windows, given.decoupling->windows)) << i;
        EXPECT_EQ(block.decoupling->condition, given.decoupling->condition);
        EXPECT_EQ(block.decoupling->low_degrees, given.decoupling->low_degrees);
        EXPECT_EQ(block.decoupling->matrix.size(), 0);
    }
}

std::vector<std::string> names_of(const HduSummary& hdu) {
    std::vector<std::string> names;
    for (const auto& column : hdu.columns) names.push_back(column.name);
    return names;
}

/// As a file of a version that does not know a key or an HDU: the text is overwritten where it stands.
std::string without(const std::string& path, const std::string& text) {
    auto bytes = test::read_bytes(path);
    const auto at = bytes.find(text);
    EXPECT_NE(at, std::string::npos) << text;
    bytes.replace(at, text.size(), std::string(text.size(), 'X'));
    return bytes;
}

TEST(BandPowersFile, IsReadAsItWasWritten) {
    const TemporaryFolder folder;
    auto file = file_of(two_fields(), 30);
    file.units = {"K", "K_CMB"};
    file.cards = {{"HELLO", std::string("world"), "a card"}};
    write_band_powers(folder.path("b.fits"), file);
    const auto found = read_band_powers(folder.path("b.fits"));
    expect_equal(found, file);
    ASSERT_EQ(found.cards.size(), 1U);
    EXPECT_EQ(found.cards[0].key, "HELLO");
    // And what was read is written as the same bytes.
    write_band_powers(folder.path("again.fits.gz"), found);
    write_band_powers(folder.path("again.fits"), read_band_powers(folder.path("again.fits.gz")));
    EXPECT_EQ(test::read_bytes(folder.path("again.fits")), test::read_bytes(folder.path("b.fits")));
}

TEST(BandPowersFile, OfOneFieldHasPlainNames) {
    const TemporaryFolder folder;
    auto file = file_of({{grid, {part(false, 0), part(true, 0)}}}, 12);
    file.units = {"K"};
    write_band_powers(folder.path("b.fits"), file);
    expect_equal(read_band_powers(folder.path("b.fits")), file);
    const auto summary = inspect(folder.path("b.fits"));
    EXPECT_EQ(summary.kind, FileKind::bands);
    EXPECT_EQ(to_string(summary.kind), "bands");
    std::vector<std::string> hdus;
    for (const auto& hdu : summary.hdus) hdus.push_back(hdu.name);
    EXPECT_THAT(hdus, ElementsAre("", "BANDS", "PSEUDO", "MASK", "WINDOWS TT", "WINDOWS TE", "WINDOWS TB",
                                  "WINDOWS EE", "WINDOWS EE<-BB", "WINDOWS EB", "WINDOWS EB<-BE",
                                  "WINDOWS BB<-EE", "WINDOWS BB", "COVARIANCE"));
    EXPECT_THAT(names_of(summary.hdus[1]),
                ElementsAre("L_MIN", "L_MAX", "L_EFF", "TT", "TE", "TB", "EE", "EB", "BB", "ERROR_TT",
                            "ERROR_TE", "ERROR_TB", "ERROR_EE", "ERROR_EB", "ERROR_BB"));
    EXPECT_EQ(summary.hdus[1].columns[3].unit, "K^2");
    EXPECT_THAT(names_of(summary.hdus[3]), ElementsAre("W_0x0"));
}

TEST(BandPowersFile, OfSeveralFieldsHasTheirNumbers) {
    const TemporaryFolder folder;
    write_band_powers(folder.path("b.fits"), file_of(two_fields(), 30));
    const auto summary = inspect(folder.path("b.fits"));
    EXPECT_THAT(names_of(summary.hdus[1]),
                testing::IsSupersetOf({"TT_0x0", "TB_0x1", "BE_0x1", "EE_1x1", "ERROR_EB_1x1"}));
    EXPECT_THAT(names_of(summary.hdus[3]), ElementsAre("W_0x0", "W_0x1", "W_1x1"));
}

TEST(BandPowersFile, WithoutErrorsHasNone) {
    const TemporaryFolder folder;
    auto file = file_of({{grid, {part(true, 0)}}}, 6);
    file.covariance = {};
    write_band_powers(folder.path("b.fits"), file);
    EXPECT_EQ(read_band_powers(folder.path("b.fits")).covariance.size(), 0);
    EXPECT_THAT(names_of(inspect(folder.path("b.fits")).hdus[1]),
                ElementsAre("L_MIN", "L_MAX", "L_EFF", "EE", "EB", "BB"));
}

TEST(BandPowersFile, KeepsWhatIsThere) {
    const TemporaryFolder folder;
    const auto file = file_of({{grid, {part(true, 0)}}}, 6);
    const auto path = folder.write("b.fits", "mine");
    EXPECT_THAT(message_of<IoError>([&] { write_band_powers(path, file); }), HasSubstr("exists"));
    EXPECT_EQ(test::read_bytes(path), "mine");
    write_band_powers(path, file, {.overwrite = true});
    expect_equal(read_band_powers(path), file);
    const test::FullDisk full(20'000);
    EXPECT_THAT(message_of<IoError>([&] { write_band_powers(folder.path("c.fits"), file); }),
                HasSubstr("c.fits"));
    EXPECT_EQ(folder.n_entries(), 1U);
}

TEST(BandPowersFile, IsNotWrittenOfWhatDoesNotFit) {
    const TemporaryFolder folder;
    const auto whole = file_of({{grid, {part(true, 0)}}}, 6);
    const auto refusal = [&](const auto& spoil) {
        auto file = whole;
        spoil(file);
        return message_of<InvalidArgument>([&] { write_band_powers(folder.path("b.fits"), file); });
    };
    EXPECT_THAT(refusal([](auto& file) { file.estimate.blocks.clear(); }), HasSubstr("no spectra"));
    EXPECT_THAT(refusal([](auto& file) { file.estimate.blocks[0].decoupling = nullptr; }),
                HasSubstr("windows"));
    EXPECT_THAT(refusal([](auto& file) { file.estimate.blocks[0].bands = numbers(4, 3); }),
                HasSubstr("blocks"));
    EXPECT_THAT(refusal([](auto& file) { file.estimate.blocks[0].second = 1; }), HasSubstr("mask_of"));
    EXPECT_THAT(refusal([](auto& file) { file.estimate.mask_of[0] = {1}; }), HasSubstr("has the mask 1"));
    EXPECT_THAT(refusal([](auto& file) { file.covariance = numbers(8, 8); }), HasSubstr("[6, 6]"));
    EXPECT_THAT(refusal([](auto& file) { file.units = {"K", "K"}; }), HasSubstr("units"));
    EXPECT_THAT(refusal([](auto& file) {
                    file.cards = {{"NAXIS1", std::int64_t{1}, ""}};
                }),
                HasSubstr("NAXIS1"));
    EXPECT_EQ(folder.n_entries(), 0U);
}

TEST(BandPowersFile, WithMoreFieldsThanColumnsIsRefused) {
    const TemporaryFolder folder;
    test::FitsBuilder file;
    file.table(24, 1, {"K", "K", "D"}, {"L_MIN", "L_MAX", "L_EFF"}).text("EXTNAME", "BANDS").card("DL", "F");
    file.card("LMAX_SKY", "2").end().data(test::big_endian(std::vector<std::int64_t>{2, 2, 0}));
    file.table(8, 3, {"D"}, {"WEIGHT"}).text("EXTNAME", "PSEUDO").end();
    file.data(test::big_endian(std::vector{0.0, 0.0, 1.0}));
    file.table(8, 1, {"D"}, {"W_0x0"}).text("EXTNAME", "MASK");
    for (int i = 0; i < 1000; ++i) file.card("MASKT" + std::to_string(i), "0");
    file.end().data(test::big_endian(std::vector{1.0}));
    const auto path = folder.write("b.fits", file.bytes());
    EXPECT_THAT(message_of<IoError>([&] { read_band_powers(path); }),
                HasSubstr("too few for the spectra of 1000"));
}

TEST(BandPowersFile, ThatLacksSomethingIsRefused) {
    const TemporaryFolder folder;
    write_band_powers(folder.path("b.fits"), file_of({{grid, {part(true, 0)}}}, 6));
    for (const std::string text : {"PSEUDO  ", "WEIGHT  ", "NOISE_EB", "W_0x0", "MASKP0", "WINDOWS BB'",
                                   "WINDOWS EE<-BB", "NWINDOWS", "DL      =", "LOWDEG", "'COVARIANCE'"}) {
        const auto path = folder.write("bad.fits", without(folder.path("b.fits"), text));
        EXPECT_THAT(message_of<IoError>([&] { read_band_powers(path); }), HasSubstr("bad.fits")) << text;
    }
    EXPECT_THAT(
        message_of<IoError>([&] { read_band_powers(test::data_file("theory/planck2018_lcdm_cl_v3.fits")); }),
        HasSubstr("band powers"));
}

TEST(BandPowersFile, OfACovarianceThatIsNotSymmetricIsRefused) {
    const TemporaryFolder folder;
    const auto whole = file_of({{grid, {part(true, 0)}}}, 6);
    for (const double change : {0.01, -0.01, std::nan("")}) {
        auto file = whole;
        file.covariance(4, 1) += change;
        const auto path = folder.path("b.fits");
        write_band_powers(path, file, {.overwrite = true});
        EXPECT_THAT(message_of<IoError>([&] { read_band_powers(path); }),
                    HasSubstr("elements [2, 5] and [5, 2] must be finite and alike"))
            << change;
    }
}

}  // namespace
}  // namespace zonal::io
