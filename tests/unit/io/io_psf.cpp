#include "zonal/io/psf.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <numbers>

#include "unit/io/io_helpers.hpp"
#include "zonal/error.hpp"
#include "zonal/kernel.hpp"

// Point-spread functions of the Fermi LAT, and the energies of a cube of counts.
namespace zonal::io {
namespace {

using test::big_endian;
using test::data_file;
using test::FitsBuilder;
using test::message_of;
using test::TemporaryFolder;
using testing::HasSubstr;

constexpr double degree = std::numbers::pi / 180;

PsfTable fermi() {
    return read_psf(data_file("fermi/fermi_3fhl_psf_gc.fits.gz"));
}

TEST(FermiPsf, HasTheTablesEnergiesAndAngles) {
    // Values as astropy reads them.
    const PsfTable psf = fermi();
    ASSERT_EQ(psf.energy.size(), 17U);
    ASSERT_EQ(psf.theta.size(), 300U);
    EXPECT_EQ(psf.energy.front(), 10000);
    EXPECT_NEAR(psf.energy.back(), 2000000, 1e-8);
    EXPECT_NEAR(psf.theta[50], 0.0048481368472167935, 1e-17);
    EXPECT_NEAR(psf.theta.back(), 0.17337130842740003, 1e-15);
    EXPECT_NEAR(psf.values[0][0], 125908.82199969, 1e-8);
    EXPECT_NEAR(psf.values[16][2], 844910.93157441, 1e-8);
}

TEST(FermiPsf, IsInterpolatedInLogarithms) {
    // numpy: exp(interp(log(12345), log(energy), log(psf[:, i]))); logarithms of 1e4 and 1e5 lose some
    // digits.
    const auto profile = psf_at_energy(fermi(), 12345);
    EXPECT_NEAR(profile[0], 156012.09556090718, 156012 * 1e-14);
    EXPECT_NEAR(profile[50], 1137.860724076646, 1138 * 1e-14);
    EXPECT_NEAR(profile[299], 0.0006155900501489896, 0.000616 * 1e-13);
}

TEST(FermiPsf, AtATablesEnergyIsTheTable) {
    const PsfTable psf = fermi();
    EXPECT_EQ(psf_at_energy(psf, psf.energy.front()), psf.values.front());
    const auto last = psf_at_energy(psf, psf.energy.back());
    for (std::size_t i = 0; i < last.size(); ++i) EXPECT_NEAR(last[i] / psf.values.back()[i], 1, 1e-14);
}

TEST(FermiPsf, IsNotExtrapolated) {
    const PsfTable psf = fermi();
    for (const double energy : {9999.0, 2000001.0, -1.0, std::nan("")})
        EXPECT_THAT(message_of<InvalidArgument>([&] { psf_at_energy(psf, energy); }),
                    testing::AllOf(HasSubstr("must be from 10000 to 2000000 MeV"),
                                   HasSubstr("fermi_3fhl_psf_gc.fits.gz: HDU 1 'PSF'")));
}

TEST(FermiPsf, HoldsAllPhotonsWithinItsAngles) {
    // At the table's energies trapezoids give 1.0013; between them interpolation loses some of the width.
    const PsfTable psf = fermi();
    const auto total = [&](double energy) {
        return RadialKernel::from_profile(psf.theta, psf_at_energy(psf, energy)).window(0)[0];
    };
    for (const double energy : psf.energy) EXPECT_NEAR(total(energy), 1, 1.5e-3) << energy;
    for (const EnergyBand& band : read_energy_bands(data_file("fermi/fermi_3fhl_counts_cube_hpx.fits.gz")))
        EXPECT_NEAR(total(band.geometric_mean()), 1, 4e-3) << band.minimum;
}

TEST(FermiPsf, ReachesTheRoundEndsOfItsRange) {
    // The table says 1999999.999999999 MeV.
    const PsfTable psf = fermi();
    EXPECT_NEAR(psf_at_energy(psf, 2e6)[0] / psf.values.back()[0], 1, 1e-14);
}

TEST(EnergyBands, OfACubeAreInMeV) {
    const auto bands = read_energy_bands(data_file("fermi/fermi_3fhl_counts_cube_hpx.fits.gz"));
    ASSERT_EQ(bands.size(), 17U);
    EXPECT_DOUBLE_EQ(bands[0].minimum, 10000);
    EXPECT_DOUBLE_EQ(bands[0].maximum, 13656.981);
    EXPECT_DOUBLE_EQ(bands[16].maximum, 2000000);
    EXPECT_DOUBLE_EQ(bands[3].geometric_mean(), 29767.438429585705);
}

TEST(EnergyBands, AreAskedForWhereAFileHasNone) {
    const auto file = data_file("fermi/fermi_3fhl_psf_gc.fits.gz");
    EXPECT_THAT(message_of<IoError>([&] { read_energy_bands(file); }), HasSubstr("EBOUNDS"));
}

/// A file of two energies and three angles, which a test can spoil.
struct SmallPsf {
    std::vector<double> energy{1, 10}, theta{0, 1, 2}, psf{9, 4, 0, 90, 1, 0};
    std::string energy_unit = "GeV", theta_unit = "deg";

    std::string bytes() const {
        FitsBuilder file;
        file.table(32, 2, {"D", "3D"}, {"ENERGY", "PSF"})
            .text("EXTNAME", "PSF")
            .text("TUNIT1", energy_unit)
            .end();
        std::string rows;
        for (std::size_t k = 0; k < 2; ++k) {
            rows += big_endian(std::vector<double>{energy[k]});
            rows += big_endian(std::vector<double>(psf.begin() + 3 * k, psf.begin() + 3 * k + 3));
        }
        file.data(rows)
            .table(8, 3, {"D"}, {"THETA"})
            .text("EXTNAME", "THETA")
            .text("TUNIT1", theta_unit)
            .end();
        return file.data(big_endian(theta)).bytes();
    }
};

class PsfFiles : public testing::Test {
  protected:
    PsfTable read(const SmallPsf& psf) { return read_psf(folder.write("psf.fits", psf.bytes())); }
    std::string error(const SmallPsf& psf) {
        return message_of<IoError>([&] { read(psf); });
    }
    TemporaryFolder folder;
};

TEST_F(PsfFiles, StateTheirUnits) {
    const PsfTable psf = read({});
    EXPECT_EQ(psf.energy, (std::vector<double>{1000, 10000}));
    EXPECT_EQ(psf.theta[2], 2 * degree);
    EXPECT_THAT(error({.energy_unit = "erg"}), HasSubstr("column Energy: unit 'erg': must be MeV"));
    EXPECT_THAT(error({.theta_unit = "m"}), HasSubstr("HDU 2 'THETA': column Theta: unit 'm'"));
}

TEST_F(PsfFiles, AreInterpolatedLinearlyBesideZeros) {
    const auto profile = psf_at_energy(read({.psf = {9, 4, 0, 90, 0, 0}}), 1000 * std::sqrt(10.0));
    EXPECT_NEAR(profile[0], 9 * std::sqrt(10.0), 1e-13);
    EXPECT_NEAR(profile[1], 2, 1e-14);
    EXPECT_EQ(profile[2], 0);
}

TEST_F(PsfFiles, MustAscend) {
    EXPECT_THAT(error({.energy = {10, 1}}), HasSubstr("column Energy: does not ascend at 1"));
    EXPECT_THAT(error({.energy = {0, 1}}), HasSubstr("column Energy: must be positive"));
    EXPECT_THAT(error({.theta = {0, 2, 2}}), HasSubstr("column Theta: does not ascend at 2"));
    EXPECT_THAT(error({.theta = {1, 2, 3}}), HasSubstr("column Theta: must be from 0"));
    EXPECT_THAT(error({.theta = {0, 2, 200}}), HasSubstr("column Theta: must be from 0"));
    EXPECT_THAT(error({.psf = {9, -4, 0, 90, 1, 0}}), HasSubstr("column Psf: value -4 at 1"));
    EXPECT_THAT(error({.psf = {9, std::nan(""), 0, 90, 1, 0}}), HasSubstr("column Psf: value nan at 1"));
}

}  // namespace
}  // namespace zonal::io
