// What tables are taken for, by their names, keys and sizes.
#include <gmock/gmock.h>

#include "io/fits/fits_reader.hpp"
#include "io/fits/hdu_kind.hpp"
#include "unit/io/io_helpers.hpp"
#include "zonal/error.hpp"
#include "zonal/io/events.hpp"

namespace zonal::io {
namespace {

using test::FitsBuilder;
using testing::HasSubstr;

struct Table {
    std::vector<std::string> formats, names;
    std::int64_t row_bytes, rows = 5;
    std::vector<std::pair<std::string, std::string>> keys{};
    std::string type = "BINTABLE";
};

FileKind kind_of_table(const Table& table) {
    const test::TemporaryFolder folder;
    FitsBuilder file;
    file.table(table.row_bytes, table.rows, table.formats, table.names, table.type);
    for (const auto& [key, value] : table.keys) file.card(key, value);
    const auto bytes = static_cast<std::size_t>(table.row_bytes * table.rows);
    FitsReader reader(folder.write("f", file.end().data(std::string(bytes, '\0')).bytes()));
    EXPECT_EQ(reader.problem(), "");
    return kind_of(reader.hdus().at(1));
}

TEST(Kinds, OfAlmHaveIndicesAndParts) {
    using Names = std::vector<std::string>;
    const Table alm{{"J", "D", "D"}, {"INDEX", "REAL", "IMAG"}, 20};
    EXPECT_EQ(kind_of_table(alm), FileKind::alm);
    auto other = alm;
    other.names = Names{"index_", "a", "b"};
    EXPECT_EQ(kind_of_table(other), FileKind::alm);
    other.names = Names{"N", "A", "B"};
    EXPECT_EQ(kind_of_table(other), FileKind::other);
    other.keys = {{"MAX-LPOL", "3"}};
    EXPECT_EQ(kind_of_table(other), FileKind::alm);
    other.keys.emplace_back("PIXTYPE", "'HEALPIX'");
    EXPECT_EQ(kind_of_table(other), FileKind::map);
    EXPECT_EQ(kind_of_table({{"D", "D", "D"}, alm.names, 24}), FileKind::other);
    EXPECT_EQ(kind_of_table({{"J", "D"}, alm.names, 12}), FileKind::other);
    EXPECT_EQ(kind_of_table({{"2J", "D", "D"}, alm.names, 24}), FileKind::other);
}

TEST(Kinds, OfWindowsWeightsAndSolutionsAreNamed) {
    for (const char* name : {"BEAM", "my_beam_1", "BL", "b_l", "WL", "W_L"})
        EXPECT_EQ(kind_of_table({{"D"}, {name}, 8}), FileKind::window) << name;
    for (const char* name : {"'PIXEL WINDOW'", "'Beam'"})
        EXPECT_EQ(kind_of_table({{"D"}, {"X"}, 8, 5, {{"EXTNAME", name}}}), FileKind::window) << name;
    for (const char* name : {"B", "L", "BLX", "WEIGHTS OF X"})
        EXPECT_EQ(kind_of_table({{"D"}, {name}, 8}), FileKind::other) << name;
    EXPECT_EQ(kind_of_table({{"D"}, {"Temperature Weights"}, 8}), FileKind::weights);
    EXPECT_EQ(kind_of_table({{"D"}, {"X"}, 8, 5, {{"ZONALSOL", "1"}}}), FileKind::solution);
    EXPECT_EQ(kind_of_table({{"D"}, {"COEFFICIENTS"}, 8, 5, {{"EXTNAME", "'Solution'"}}}),
              FileKind::solution);
    EXPECT_EQ(kind_of_table({{"D"}, {"X"}, 8, 5, {{"EXTNAME", "'SOLUTION'"}}}), FileKind::other);
    EXPECT_EQ(kind_of_table({{"D"}, {"COEFFICIENTS"}, 8}), FileKind::other);
}

TEST(Kinds, OfSpectraHaveNamesOfSpectraAlone) {
    EXPECT_EQ(kind_of_table({{"D", "D"}, {"ELL", "TT"}, 16}), FileKind::spectrum);
    EXPECT_EQ(kind_of_table({{"D", "D"}, {"TEMPERATURE", "G-T"}, 16}), FileKind::spectrum);
    EXPECT_EQ(kind_of_table({{"D", "D"}, {"ELL", "L"}, 16}), FileKind::other);
    EXPECT_EQ(kind_of_table({{"D", "D"}, {"TT", "X"}, 16}), FileKind::other);
    EXPECT_EQ(kind_of_table({{"E15.7"}, {"TT"}, 15, 4, {{"TBCOL1", "1"}}, "TABLE"}), FileKind::spectrum);
}

TEST(Kinds, OfMapsHaveKeysOrTheSizeOfOne) {
    for (const auto& [key, value] :
         {std::pair{"PIXTYPE", "'HEALPIX'"}, {"PIXTYPE", "'healpix'"}, {"ORDERING", "'RING'"}}) {
        EXPECT_EQ(kind_of_table({{"D"}, {"X"}, 8, 5, {{key, value}}}), FileKind::map) << value;
        EXPECT_EQ(kind_of_table({{"E15.7"}, {"X"}, 15, 4, {{"TBCOL1", "1"}, {key, value}}, "TABLE"}),
                  FileKind::other);
    }
    EXPECT_EQ(kind_of_table({{"D"}, {"X"}, 8, 5, {{"PIXTYPE", "'CSC'"}}}), FileKind::other);
    for (const auto& [rows, repeat] :
         {std::pair<std::int64_t, std::int64_t>{192, 1}, {768, 1}, {48, 4}, {1, 192}})
        EXPECT_EQ(kind_of_table({{std::to_string(repeat) + "E"}, {"X"}, 4 * repeat, rows}), FileKind::map)
            << rows;
    // Tables of 12 and 48 rows are more often of energies; 432 are of nside 6.
    for (const std::int64_t rows : {1, 12, 48, 191, 193, 432})
        EXPECT_EQ(kind_of_table({{"E"}, {"X"}, 4, rows}), FileKind::other) << rows;
    for (const char* name : {"THETA", "phi", "RA", "Dec", "GLON", "GLAT"})
        EXPECT_EQ(kind_of_table({{"E", "E"}, {"X", name}, 8, 192}), FileKind::other) << name;
}

TEST(Kinds, NsideFollowsFromANumberOfPixels) {
    for (const std::int64_t nside : {1, 2, 3, 1000, 1 << 29}) {
        EXPECT_EQ(nside_of_size(12 * nside * nside), nside);
        EXPECT_EQ(nside_of_size(12 * nside * nside + 12), 0);
    }
    for (const std::int64_t n : {0, 1, 6, 24}) EXPECT_EQ(nside_of_size(n), 0) << n;
}

TEST(EventColumns, TellTheirCoordinatesAndRefuseMixedOnes) {
    using enum CoordinateSystem;
    for (const auto& [longitude, latitude, system] : {std::tuple{"L", "B", galactic},
                                                      {"glon", "GLAT", galactic},
                                                      {"GLON", "B", galactic},
                                                      {"Ra", "dec", equatorial},
                                                      {"ELON", "ELAT", ecliptic},
                                                      {"X", "Y", unknown}})
        EXPECT_EQ(coordinates_of_columns(longitude, latitude), system) << longitude;
    const auto error = [](const char* longitude, const char* latitude) {
        return test::message_of<InvalidArgument>([&] { coordinates_of_columns(longitude, latitude); });
    };
    for (const char* name : {"B", "GLAT", "DEC", "elat"})
        EXPECT_THAT(error(name, "Y"), HasSubstr("holds latitudes, not longitudes")) << name;
    for (const char* name : {"L", "GLON", "ra", "ELON"})
        EXPECT_THAT(error("X", name), HasSubstr("holds longitudes, not latitudes")) << name;
    EXPECT_THAT(error("RA", "B"), HasSubstr("columns RA (equatorial) and B (galactic): must be of one"));
    EXPECT_THAT(error("RA", "Y"), HasSubstr("must be of one coordinate system"));
}

}  // namespace
}  // namespace zonal::io
