#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "io/fits/fits_reader.hpp"
#include "io/fits/fits_writer.hpp"
#include "io_helpers.hpp"
#include "zonal/error.hpp"
#include "zonal/io/pointings.hpp"

namespace zonal::io {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double pi = std::numbers::pi;

class PointingFiles : public ::testing::Test {
  protected:
    /// A table of these columns.
    std::string write(const std::vector<WriteColumn>& columns,
                      const std::vector<std::vector<double>>& values) {
        const auto path = folder_.path("scan.fits");
        FitsWriter writer(path, {.overwrite = true});
        writer.begin_table("POINTINGS", std::ssize(values[0]), columns);
        for (std::size_t i = 0; i < values.size(); ++i)
            writer.write_column(static_cast<int>(i), 0, values[i].data(), std::ssize(values[i]));
        writer.commit();
        return path;
    }
    std::string refusal(const std::vector<WriteColumn>& columns,
                        const std::vector<std::vector<double>>& values,
                        const ReadPointingsOptions& options = {}) {
        const auto path = write(columns, values);
        try {
            read_pointings(path, options);
        } catch (const IoError& error) {
            return error.what();
        }
        return "nothing";
    }

    test::TemporaryFolder folder_;
};

const std::vector<WriteColumn> radians{{"THETA", "D", "rad"}, {"PHI", "D", "rad"}, {"PSI", "D", "rad"}};

TEST_F(PointingFiles, AreReadInTheirUnits) {
    const auto table = read_pointings(
        write({{"PSI", "D", "deg"}, {"THETA", "E", "deg"}, {"PHI", "D", ""}, {"HWP", "D", "rad"}},
              {{90, -720}, {45, 180}, {1, 7}, {0.5, 100}}));
    EXPECT_THAT(table.theta, ElementsAre(45 * (pi / 180), pi));
    EXPECT_THAT(table.phi, ElementsAre(1, 7));
    EXPECT_THAT(table.psi, ElementsAre(90 * (pi / 180), -720 * (pi / 180)));
    EXPECT_THAT(table.hwp, ElementsAre(0.5, 100));
    EXPECT_EQ(table.size(), 2);
    EXPECT_THAT(table.notes, ElementsAre(HasSubstr("column PHI has no unit: taken as rad")));
    EXPECT_THAT(table.source, HasSubstr("'POINTINGS'"));
}

TEST_F(PointingFiles, NeedNoPlateAndTakeOtherNames) {
    const auto path = write({{"T", "D", "rad"}, {"P", "D", "rad"}, {"ROLL", "D", "rad"}, {"HWP", "D", "rad"}},
                            {{1}, {2}, {3}, {4}});
    const auto table = read_pointings(path, {.theta = "T", .phi = "P", .psi = "ROLL", .hwp = "ALPHA"});
    EXPECT_THAT(table.psi, ElementsAre(3));
    EXPECT_TRUE(table.hwp.empty());
    EXPECT_THAT(read_pointings(path, {.hdu = "POINTINGS", .theta = "T", .phi = "P", .psi = "ROLL"}).hwp,
                ElementsAre(4));
}

TEST_F(PointingFiles, AreRefusedWhereTheyAreNoPointings) {
    EXPECT_THAT(
        refusal(radians, {{0, 3.2}, {0, 0}, {0, 0}}),
        HasSubstr("column THETA: row 2 is 3.2 rad: must be a colatitude, from 0 to pi (180 degrees)"));
    EXPECT_THAT(refusal(radians, {{-1e-9}, {0}, {0}}), HasSubstr("row 1 is -1e-09 rad"));
    EXPECT_THAT(refusal(radians, {{1}, {std::nan("")}, {0}}),
                HasSubstr("column PHI: row 1 is nan: must be finite"));
    EXPECT_THAT(refusal(radians, {{1}, {1}, {std::numeric_limits<double>::infinity()}}),
                HasSubstr("column PSI: row 1 is inf"));
    EXPECT_THAT(refusal({{"THETA", "D", "m"}, {"PHI", "D", "rad"}, {"PSI", "D", "rad"}}, {{1}, {1}, {1}}),
                HasSubstr("THETA"));
    EXPECT_THAT(refusal({{"THETA", "D", "rad"}, {"PHI", "D", "rad"}}, {{1}, {1}}),
                HasSubstr("table of pointings"));
    EXPECT_THAT(
        refusal({{"THETA", "2D", "rad"}, {"PHI", "D", "rad"}, {"PSI", "D", "rad"}}, {{1, 1}, {1}, {1}}),
        HasSubstr("column THETA: format 2D: must be one number a row"));
    EXPECT_THROW(read_pointings(write(radians, {{1}, {1}, {1}}), {},
                                [](double bytes, const std::string&) {
                                    EXPECT_EQ(bytes, 24);
                                    throw OutOfMemory("none left");
                                }),
                 OutOfMemory);
}

TEST_F(PointingFiles, OfFloatsMayReachThePole) {
    const double rounded = static_cast<float>(pi);  // beyond pi
    EXPECT_THAT(read_pointings(write({{"THETA", "E", "rad"}, {"PHI", "E", "rad"}, {"PSI", "E", "rad"}},
                                     {{rounded}, {0}, {0}}))
                    .theta,
                ElementsAre(pi));
    EXPECT_THAT(refusal(radians, {{rounded}, {0}, {0}}), HasSubstr("must be a colatitude"));
}

TEST_F(PointingFiles, SignalsAreWrittenAndReadBack) {
    const auto path = folder_.path("signal.fits");
    const std::vector<double> values{1, -2.5, 1.0 / 3};
    write_signal(path, {.signal = values, .unit = "K", .cards = {{"MAX-LPOL", std::int64_t{12}, ""}}});
    FitsReader reader(path);
    const Hdu& hdu = reader.select("SIGNAL", "table", [](const Hdu&) { return true; });
    ASSERT_EQ(hdu.columns.size(), 1u);
    EXPECT_EQ(hdu.columns[0].name, "SIGNAL");
    EXPECT_EQ(hdu.columns[0].unit, "K");
    EXPECT_EQ(reader.read_columns(hdu, {0}, 0)[0], values);
    EXPECT_THROW(write_signal(path, {.signal = values}), IoError);  // it is there
    EXPECT_THROW(write_signal(folder_.path("bad.fits"), {.signal = {0, std::nan("")}}), IoError);
    EXPECT_THROW(
        write_signal(folder_.path("wide.fits"), {.signal = {1e300}, .precision = FilePrecision::float32}),
        IoError);
    EXPECT_EQ(folder_.n_entries(), 1u);
}

}  // namespace
}  // namespace zonal::io
