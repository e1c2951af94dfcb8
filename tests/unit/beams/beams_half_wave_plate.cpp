#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "beam_helpers.hpp"

namespace zonal::test {
namespace {

/// A detector's signal behind the plate, the sky turned into the beam's frame and summed over pixels.
class TurnedSky {
  public:
    TurnedSky(const AlmLayout& of_beam, const AlmArray& beam, const AlmArray& sky)
        : layout_(of_beam.lmax()),
          sky_(sky),
          // Exact for products of two functions of degree lmax, with room for exp(4 i phi) twice.
          grid_(Grid::gauss_legendre(of_beam.lmax() + 1, 2 * of_beam.lmax() + 9)),
          scalar_(grid_, options_of(of_beam.lmax())),
          tensor_(grid_, options_of(of_beam.lmax(), 2)) {
        AlmArray full({1, 3, layout_.size()});
        for (std::int64_t c = 0; c < 3; ++c)
            for (std::int64_t k = 0; k <= of_beam.mmax(); ++k)
                for (std::int64_t l = k; l <= of_beam.lmax(); ++l)
                    full(0, c, layout_.index(l, k)) = beam(0, c, of_beam.index(l, k));
        beam_ = fields_of(full);
    }

    double signal(double theta, double phi, double psi, double alpha) const {
        AlmArray turned = sky_;
        // The inverse of R_z(phi) R_y(theta) R_z(psi): -theta about y, as angles of this library have it.
        rotate_alm<double>(layout_, {-phi, -theta, -psi}, turned.view()[0], {.threads = 1});
        const MapArray sky = fields_of(turned);
        double sum = 0;
        for (const Ring& ring : grid_.rings())
            for (std::int64_t j = 0; j < ring.n_pixels; ++j) {
                const std::int64_t p = ring.first_pixel + j;
                const double azimuth =
                    2 * std::numbers::pi * static_cast<double>(j) / static_cast<double>(ring.n_pixels);
                const Complex to_cartesian = std::polar(1.0, 2 * azimuth);
                const Complex beam = Complex(beam_(0, 1, p), beam_(0, 2, p)) * to_cartesian,
                              seen = std::polar(1.0, 4 * alpha) *
                                     std::conj(Complex(sky(0, 1, p), sky(0, 2, p)) * to_cartesian);
                sum += ring.weight * (beam_(0, 0, p) * sky(0, 0, p) + (std::conj(beam) * seen).real());
            }
        return sum;
    }

  private:
    MapArray fields_of(const AlmArray& alm) const {
        MapArray map({1, 3, grid_.n_pixels()});
        const std::int64_t n = layout_.size(), pixels = grid_.n_pixels();
        scalar_.synthesize<double>({alm.data(), {1, 1, n}}, {map.data(), {1, 1, pixels}});
        tensor_.synthesize<double>({alm.data() + n, {1, 2, n}}, {map.data() + pixels, {1, 2, pixels}});
        return map;
    }

    AlmLayout layout_;
    AlmArray sky_;
    Grid grid_;
    ShtPlan scalar_, tensor_;
    MapArray beam_;
};

TEST(BeamHalfWavePlate, MatchesTurnedSkies) {
    for (const auto& [lmax, kmax] :
         std::vector<std::pair<std::int64_t, std::int64_t>>{{24, 3}, {16, 0}, {10, 8}, {3, 3}}) {
        const AlmLayout layout(lmax), of_beam(lmax, kmax);
        const AlmArray beam = random_teb(of_beam, 1, 3, 3), sky = random_teb(layout, 1, 3, 4);
        const BeamConvolver convolver(
            of_beam, beam.view(), on_test_device({.half_wave_plate = true, .error = 1e-12, .threads = 1}));
        const Scan scan = random_scan(60, 5);
        const Tod tod = scanned(convolver, sky, scan);
        const TurnedSky turned(of_beam, beam, sky);
        for (std::size_t i = 0; i < scan.theta.size(); ++i)
            // The error asked for, a bound for any sky, of the largest signal anywhere: below twice that
            // of 60.
            EXPECT_LT(std::abs(tod(0, static_cast<std::int64_t>(i)) -
                               turned.signal(scan.theta[i], scan.phi[i], scan.psi[i], scan.hwp[i])),
                      2e-12 * largest_of(tod))
                << lmax << ", " << kmax << ", pointing " << i;
    }
}

TEST(BeamHalfWavePlate, SkipsOrdersThatBeamsHaveNot) {
    const AlmLayout of_beam(24, 2);
    AlmArray beam = random_teb(of_beam, 1, 3, 3);
    for (std::int64_t c = 0; c < 3; ++c)
        for (std::int64_t k = 0; k <= 2; ++k)
            if ((k == 0) != (c == 0) || k == 1)
                for (std::int64_t l = k; l <= 24; ++l) beam(0, c, of_beam.index(l, k)) = 0;
    // T of order 0; P of order 2 becomes orders 2 and 6, cosine and sine of each.
    EXPECT_EQ(BeamConvolver(of_beam, beam.view(), {.half_wave_plate = true}).n_fields(), 1 + 2 * (2 + 2));
}

TEST(BeamHalfWavePlate, LeavesOutOrdersAboveKmax) {
    const AlmLayout layout(20), of_beam(20, 5);
    const AlmArray beam = random_teb(of_beam, 1, 3, 3), sky = random_teb(layout, 1, 3, 4);
    const Scan scan = random_scan(20000, 8);
    BeamOptions options = on_test_device({.half_wave_plate = true, .error = 1e-9, .threads = 1});
    const Tod all = scanned(BeamConvolver(of_beam, beam.view(), options), sky, scan);
    options.kmax = 3;
    const BeamConvolver convolver(of_beam, beam.view(), options);
    BeamReport report;
    convolver.make_planes<double>(sky.view()[0], &report);
    const Tod some = scanned(convolver, sky, scan);
    double missing = 0, square = 0;
    for (std::int64_t i = 0; i < scan.size(); ++i) {
        missing += std::pow(all(0, i) - some(0, i), 2);
        square += std::pow(some(0, i), 2);
    }
    // 20,000 random pointings tell both to a few per cent.
    EXPECT_NEAR(std::sqrt(missing / square) / report.left_out, 1, 0.05);
}

}  // namespace
}  // namespace zonal::test
