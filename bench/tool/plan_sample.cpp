#include "tool/plan_sample.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <random>
#include <utility>

#include "planning/request.hpp"
#include "tool/harmonic_reference.hpp"
#include "zonal/healpix.hpp"

namespace zonal::cli {
namespace {

using planning::n_components;
using planning::windows_of;

using Complex = std::complex<double>;

/// Root of the part of sum_l (2l+1) K_l^2 above lmax, which white noise on the pixels has.
double left_above(const ConvolutionRequest& request, std::int64_t lmax) {
    double all = 0, above = 0;
    for (const auto& window : windows_of(request, 2 * lmax))
        for (std::size_t l = 0; l < window.size(); ++l) {
            const double power = (2 * static_cast<double>(l) + 1) * window[l] * window[l];
            all += power;
            if (static_cast<std::int64_t>(l) > lmax) above += power;
        }
    return all > 0 ? std::sqrt(above / all) : 0;
}

/// The sum over the pixels, one by one, good to this error.
ReferenceMap direct_sum(const ConvolutionRequest& request, double error, const std::vector<double>& map) {
    const View<const double, 1> view(map.data(), {std::ssize(map)});
    if (!request.polarization) {
        const double support = support_for_error(request.kernel, {}, error, request.grid);
        return discrete_reference(request.grid, request.kernel.truncated(support), view, request.threads);
    }
    const auto& kernel = *request.polarization;
    const double support = support_for_error(kernel, {}, {}, error, request.grid);
    return discrete_reference(request.grid, kernel.truncated(support), view, request.threads);
}

/// The sum over the pixels: in harmonic space, where it is exact for band-limited kernels, if this kernel has
/// faded away as far as the grid goes; else pixel by pixel on some rings. Either is good to `share` of the
/// error.
ReferenceMap sum_over_pixels(const ConvolutionRequest& request, const std::vector<double>& map) {
    constexpr double share = 1e-3;
    const auto lmax = 3 * healpix::nside_of(request.grid.n_pixels()) - 1;
    if (left_above(request, lmax) > share * request.error)
        return direct_sum(request, share * request.error, map);
    const auto plan = transform_of(request, lmax, Device::cpu());
    Array<Complex, 3> alm({1, n_components(request), plan.layout().size()});
    plan.quadrature<double>({map.data(), {1, n_components(request), request.grid.n_pixels()}}, alm.view());
    return in_harmonic_space(request, plan, alm, fmt::format("the sum over pixels, by alm up to {}", lmax));
}

}  // namespace

Sample make_sample(const ConvolutionRequest& request, std::uint64_t seed) {
    Sample sample;
    const bool is_discrete = request.reference == ConvolutionReference::discrete;
    if (is_discrete) {
        sample.description = "white noise on pixels";
        std::mt19937_64 generator(seed);
        std::normal_distribution<double> normal;
        sample.map.resize(static_cast<std::size_t>(n_components(request) * request.grid.n_pixels()));
        for (double& value : sample.map) value = normal(generator);
    } else {
        sample.description = fmt::format("random alm up to {}", request.lmax);
        const auto plan = transform_of(request, request.lmax, Device::cpu());
        const std::vector<double> white(static_cast<std::size_t>(request.lmax + 1), 1.0);
        const std::vector<std::vector<double>> spectra(static_cast<std::size_t>(n_components(request)),
                                                       white);
        const auto alm = draw_alm(spectra, plan.layout(), seed, request.threads);
        sample.map = synthesize(plan, alm);
        sample.reference =
            in_harmonic_space(request, plan, alm, "the window on the alm of which the map is made");
    }
    if (is_discrete) sample.reference = sum_over_pixels(request, sample.map);
    return sample;
}

}  // namespace zonal::cli
