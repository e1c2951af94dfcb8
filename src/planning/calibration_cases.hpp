#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <span>
#include <vector>

#include "core/constants.hpp"
#include "zonal/device.hpp"
#include "zonal/planning/planner.hpp"
#include "zonal/sky/smoothing.hpp"

/// What calibrate() measures.
namespace zonal::calibration {

using core::pi;

/// Rings of a map: all, so many about each pole, or so many at the equator.
struct Part {
    enum class Where { all, poles, belt } where = Where::all;
    std::int64_t n_rings = 0;
};
inline constexpr Part all_rings{};
constexpr Part poles(std::int64_t n_rings) {
    return {Part::Where::poles, n_rings};
}
constexpr Part belt(std::int64_t n_rings) {
    return {Part::Where::belt, n_rings};
}

/// A map's nside, and about what lmax is over it.
struct TransformCase {
    std::int64_t nside, degrees = 2;
    /// No higher than an analysis may go.
    std::int64_t lmax() const { return std::min(degrees * nside, 3 * nside - 1); }
};

/// A map's nside, a kernel's support in pixels, and by how much less than the support its FWHM is: cut at
/// 2.2 it ends at 1e-6 of its peak, and its modes do not; at 3.2 at 1e-12, where the ring FFT needs no sums
/// over pixels.
struct Case {
    std::int64_t nside;
    double pixels, widths;
    Part part = all_rings;
    int n_knots = 0;  ///< of a table with the Gaussian's values, whose weights take more of these

    bool is_whole() const { return part.where == Part::Where::all; }
    double support() const { return pixels * std::sqrt(pi / 3) / static_cast<double>(nside); }

    RadialKernel kernel() const {
        auto smooth = RadialKernel::gaussian(support() / widths).truncated(support());
        if (n_knots == 0) return smooth;
        std::vector<double> theta(n_knots);
        for (int k = 0; k < n_knots; ++k) theta[k] = support() * k / (n_knots - 1);
        return RadialKernel::from_profile(theta, smooth.profile(theta));
    }

    /// The kernel of Q and U. In place of a table with knots it has a window that ends with a step, whose
    /// profile has as many zeros and is no smoother.
    PolarizationKernel polarization_kernel() const {
        if (n_knots == 0) return PolarizationKernel::gaussian(support() / widths).truncated(support());
        const std::vector<double> window(static_cast<std::size_t>(n_knots * pi / support()), 1.0);
        return PolarizationKernel(window, window).truncated(support());
    }

    Grid grid() const {
        auto all = Grid::healpix(nside);
        if (is_whole()) return all;
        const bool at_poles = part.where == Part::Where::poles;
        std::vector<std::int64_t> rings(at_poles ? 2 * part.n_rings : part.n_rings);
        const auto middle = rings.begin() + part.n_rings;
        std::iota(rings.begin(), middle, at_poles ? 0 : (all.n_rings() - part.n_rings) / 2);
        std::iota(middle, rings.end(), all.n_rings() - part.n_rings);
        return all.subset(rings);
    }
};
// Maps of all sizes with discs of few pixels and of whole caps. Wide discs on large maps, which are summed in
// the polar caps alone, are measured there: the caps' rings are the same at any nside.
inline constexpr Case sum_cases[] = {{64, 8, 2.2},
                                     {64, 20, 2.2},
                                     {128, 4, 2.2},
                                     {128, 30, 2.2},
                                     {256, 3, 2.2},
                                     {256, 8, 2.2},
                                     {512, 2, 2.2},
                                     {512, 5, 2.2},
                                     {512, 8, 2.2},
                                     {512, 48, 2.2, poles(192)},
                                     {512, 64, 2.2, poles(64)},
                                     {256, 8, 2.2, all_rings, 40},
                                     {512, 48, 2.2, poles(96), 40}};
// Wide kernels whose modes end have few; those of the belts keep them all, and many values a row.
inline constexpr Case ring_fft_cases[] = {{64, 8, 3.2},
                                          {64, 20, 3.2},
                                          {128, 12, 3.2},
                                          {128, 60, 3.2},
                                          {256, 20, 3.2},
                                          {512, 4, 3.2},
                                          {256, 24, 2.2, belt(128)},
                                          {512, 48, 2.2, belt(128)},
                                          {1024, 96, 2.2, belt(96)}};
// A GPU takes more, as it is fast, and its small and middle maps are not yet explained by the large ones.
inline constexpr Case more_sum_cases[] = {{128, 14, 2.2}, {256, 48, 2.2}, {512, 16, 2.2},
                                          {1024, 3, 2.2}, {1024, 8, 2.2}, {1024, 96, 2.2, poles(96)}};
inline constexpr Case more_ring_fft_cases[] = {{256, 200, 3.2}, {512, 40, 3.2},  {512, 400, 3.2},
                                               {1024, 5, 3.2},  {1024, 24, 3.2}, {1024, 300, 3.2}};
// There the sizes are told apart one by one (SizeCost), and the Legendre sums by another lmax of the same
// size.
inline constexpr TransformCase gpu_transform_cases[] = {{64},   {128},    {256},    {512},
                                                        {1024}, {256, 3}, {1024, 3}};

/// Maps of spin 0, or Q and U: of which rank they are, and what convolves them.
struct Scalars {
    static constexpr int rank = 2;
    static constexpr std::int64_t components = 1;
    static constexpr Fields fields = Fields::scalars;
    static constexpr TransformCase cpu_transform_cases[] = {{64}, {128}, {256, 1}, {512}, {768}};
    static bool takes(const Case&) { return true; }
    using Plan = PixelConvolutionPlan;
    static RadialKernel kernel(const Case& one) { return one.kernel(); }
    static View<double, 2>::Extents extents(std::int64_t n_pixels) { return {1, n_pixels}; }
};
struct Polarization {
    static constexpr int rank = 3;
    static constexpr std::int64_t components = 2;
    static constexpr Fields fields = Fields::qu;
    static constexpr TransformCase cpu_transform_cases[] = {{64}, {128}, {256, 1}, {512}};
    // All takes several times what it takes of spin 0: the longest cases are left out, and the wide table,
    // which is no other work here.
    static bool takes(const Case& one) {
        return (one.nside < 1024 || one.pixels < 8) && (one.is_whole() || one.n_knots == 0);
    }
    using Plan = PolarizationConvolutionPlan;
    static PolarizationKernel kernel(const Case& one) { return one.polarization_kernel(); }
    static View<double, 3>::Extents extents(std::int64_t n_pixels) { return {1, 2, n_pixels}; }
};

/// Those that every device takes, and on a GPU more: of these the ones that are taken for such maps.
template <class Maps>
std::vector<Case> cases_of(Device device, std::span<const Case> all, std::span<const Case> more) {
    std::vector<Case> cases(all.begin(), all.end());
    if (device.kind() != Device::Kind::cpu) cases.insert(cases.end(), more.begin(), more.end());
    std::erase_if(cases, [](const Case& one) { return !Maps::takes(one); });
    return cases;
}

}  // namespace zonal::calibration
