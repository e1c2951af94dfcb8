#pragma once

#include "radial/convolver.hpp"
#include "radial/ring_fft/geometry.hpp"

/// ARKCoS (Elsner & Wandelt 2011): ring by ring in Fourier space,
///   F_r'(m) = w_r' sum_j f_r'j exp(-i m phi_r'j),   G_r(m) = sum_r' k_rr'(m) F_r'(m),
///   g_rj = sum_m G_r(m) exp(i m phi_rj),
/// k_rr'(m) the Fourier coefficients over longitude of the kernel between two rings (ring_fft_geometry.hpp).
namespace zonal::radial {

/// options: with accuracy, threads and device resolved. Any grids; sums in options.precision whatever the
/// maps' type. Rings of the output that meet others for which the kernel's series over longitude does not
/// converge are left to the sum over pixels.
std::unique_ptr<const Convolver> make_ring_fft(const Grid& grid, const RadialKernel& kernel,
                                               const Grid& grid_out, const PixelConvolutionOptions& options);
/// The same of Q and U.
std::unique_ptr<const PolarizationConvolver> make_ring_fft(const Grid& grid, const PolarizationKernel& kernel,
                                                           const Grid& grid_out,
                                                           const PixelConvolutionOptions& options);

/// Rings of the output, in order.
struct RingWays {
    std::vector<std::int64_t> direct;  ///< left to the sum over pixels
    std::vector<std::int64_t> others;
};
RingWays ways_of_rings(const RingFftGeometry& geometry);

/// The rows of `geometry` that are not direct; Rank: 2, or 3 where it is polarized.
template <int Rank>
std::unique_ptr<const BasicConvolver<Rank>> make_cpu_ring_fft(RingFftGeometry geometry,
                                                              const PixelConvolutionOptions& options);
template <int Rank>
std::unique_ptr<const BasicConvolver<Rank>> make_cuda_ring_fft(RingFftGeometry geometry,
                                                               const PixelConvolutionOptions& options);

/// Brings host arrays to the device once for a convolver on CUDA of several passes, each of which would do so
/// by itself.
template <int Rank>
std::unique_ptr<const BasicConvolver<Rank>> make_staged(std::unique_ptr<const BasicConvolver<Rank>> convolver,
                                                        const Grid& grid_out,
                                                        const PixelConvolutionOptions& options);

}  // namespace zonal::radial
