#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "point_helpers.hpp"
#include "zonal/beams/convolver.hpp"
#include "zonal/error.hpp"
#include "zonal/sky/rotation.hpp"

/// What the tests of beams share: pointings, beams and skies, and a detector's signal by turning its beam.
namespace zonal::test {

using Tod = Array<double, 2>;

/// What the work is refused with, or "nothing".
template <class Work>
std::string refusal(const Work& work) {
    try {
        work();
    } catch (const InvalidArgument& e) {
        return e.what();
    }
    return "nothing";
}

/// The same where the tests run.
inline BeamOptions on_test_device(BeamOptions options) {
    options.device = test_device();
    return options;
}

struct Scan {
    std::vector<double> theta, phi, psi, hwp;

    std::int64_t size() const { return std::ssize(theta); }
    void add(double t, double p, double q, double a = 0) {
        theta.push_back(t);
        phi.push_back(p);
        psi.push_back(q);
        hwp.push_back(a);
    }
    View<const double, 2> view(const std::vector<double>& angles) const {
        return {angles.data(), {1, size()}};
    }
    Pointings pointings(const BeamConvolver& convolver) const {
        if (convolver.options().half_wave_plate)
            return {convolver, view(theta), view(phi), view(psi), view(hwp)};
        return {convolver, view(theta), view(phi), view(psi)};
    }
};

/// Anywhere, with both poles among them and psi of several turns.
inline Scan random_scan(std::int64_t n, unsigned seed) {
    const Points points = random_points(n, seed);
    std::mt19937_64 generator(seed + 1);
    std::uniform_real_distribution<double> angle(-10, 10);
    Scan scan;
    for (std::size_t i = 0; i < points.theta.size(); ++i)
        scan.add(points.theta[i], points.phi[i], angle(generator), angle(generator));
    if (n > 0) scan.theta[0] = 0;
    if (n > 1) scan.theta[1] = std::numbers::pi;
    return scan;
}

/// [maps, 1 or 3, coefficient], no E and B below l = 2.
inline AlmArray random_teb(const AlmLayout& layout, std::int64_t maps, std::int64_t components,
                           unsigned seed) {
    AlmArray alm = random_alm(layout, maps, components, seed);
    for (std::int64_t map = 0; map < maps; ++map)
        for (std::int64_t c = 1; c < components; ++c)
            for (std::int64_t m = 0; m <= std::min<std::int64_t>(layout.mmax(), 1); ++m)
                for (std::int64_t l = m; l < 2 && l <= layout.lmax(); ++l)
                    alm(map, c, layout.index(l, m)) = 0;
    return alm;
}

inline Tod scanned(const BeamConvolver& convolver, const AlmArray& sky, const Scan& scan) {
    Tod tod({convolver.n_detectors(), scan.size()});
    convolver.scan<double>(convolver.make_planes<double>(sky.view()[0]), scan.pointings(convolver),
                           tod.view());
    return tod;
}

/// sum_lm conj(b^rot_lm) s_lm for each pointing, the beam turned by the library's rotation.
inline std::vector<double> by_turning(const AlmLayout& of_beam, View<const Complex, 2> beam,
                                      const AlmArray& sky, const Scan& scan) {
    const AlmLayout layout(of_beam.lmax());
    std::vector<double> signal;
    AlmArray turned({1, beam.extent(0), layout.size()});
    for (std::size_t i = 0; i < scan.theta.size(); ++i) {
        rotate_alm<Complex::value_type>(of_beam, beam, {scan.psi[i], scan.theta[i], scan.phi[i]}, layout,
                                        turned.view()[0], {.threads = 1});
        signal.push_back(inner_product(layout, turned, sky));
    }
    return signal;
}

inline double largest_of(const Tod& tod) {
    double most = 0;
    for (std::int64_t i = 0; i < tod.size(); ++i) most = std::max(most, std::abs(tod.data()[i]));
    return most;
}

}  // namespace zonal::test
