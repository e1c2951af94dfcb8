#include "beams/sky_spectra.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace zonal::beams {

std::vector<Complex> factors(const EffectiveBeam& beam, std::int64_t component, std::int64_t k) {
    std::vector<Complex> made(static_cast<std::size_t>(beam.layout.lmax()) + 1);
    for (std::int64_t l = k; l <= beam.layout.lmax(); ++l)
        made[static_cast<std::size_t>(l)] = std::sqrt(4 * std::numbers::pi / static_cast<double>(2 * l + 1)) *
                                            beam.alm(component, beam.layout.index(l, k));
    return made;
}

std::vector<std::pair<std::int64_t, std::vector<Complex>>> parts(const EffectiveBeam& beam, std::int64_t k) {
    std::vector<std::pair<std::int64_t, std::vector<Complex>>> made;
    for (std::int64_t c = 0; c < beam.alm.extent(0); ++c) {
        auto f = factors(beam, c, k);
        if (std::any_of(f.begin(), f.end(), [](Complex x) { return x != 0.0; }))
            made.emplace_back(c, std::move(f));
    }
    return made;
}

template <class T>
SkySpectra::SkySpectra(const AlmLayout& layout, const View<const std::complex<T>, 2>& sky)
    : sums_({sky.extent(0), sky.extent(0), layout.lmax() + 1}) {
    for (std::int64_t x = 0; x < sky.extent(0); ++x)
        for (std::int64_t y = 0; y < sky.extent(0); ++y)
            for (std::int64_t m = 0; m <= layout.mmax(); ++m)
                for (std::int64_t l = m; l <= layout.lmax(); ++l) {
                    const std::complex<T> a = sky(x, layout.index(l, m)), b = sky(y, layout.index(l, m));
                    sums_(x, y, l) +=
                        (m == 0 ? 1 : 2) * static_cast<double>(a.real() * b.real() + a.imag() * b.imag());
                }
}

// The signal of order k is 2 Re(exp(-i k psi) P_k), or P_0.
double SkySpectra::mean_square(const EffectiveBeam& beam) const {
    double all = 0;
    for (std::int64_t k = 0; k <= beam.layout.mmax(); ++k) {
        const auto of_order = parts(beam, k);
        double sum = 0;
        for (const auto& [x, a] : of_order)
            for (const auto& [y, b] : of_order)
                for (std::size_t l = 0; l < a.size(); ++l)
                    sum += sums_(x, y, static_cast<std::int64_t>(l)) * (std::conj(a[l]) * b[l]).real();
        all += (k == 0 ? 1 : 2) * sum;
    }
    return beam.mean_square() * all / (4 * std::numbers::pi);
}

template SkySpectra::SkySpectra(const AlmLayout&, const View<const std::complex<float>, 2>&);
template SkySpectra::SkySpectra(const AlmLayout&, const View<const std::complex<double>, 2>&);

}  // namespace zonal::beams
