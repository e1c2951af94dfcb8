#include "radial/bands/banded_convolver.hpp"
#include "radial/pixel_sum/pixel_sum.hpp"
#include "radial/ring_fft/ring_fft.hpp"
#include "zonal/error.hpp"

namespace zonal::radial {
namespace {

[[noreturn]] void throw_unavailable(const PixelConvolutionOptions& options) {
    throw BackendUnavailable("device", to_string(options.device), "this build of Zonal has no CUDA code");
}

}  // namespace

template <int Rank>
std::unique_ptr<const BasicConvolver<Rank>> make_cuda_ring_fft(RingFftGeometry,
                                                               const PixelConvolutionOptions& options) {
    throw_unavailable(options);
}
template std::unique_ptr<const BasicConvolver<2>> make_cuda_ring_fft<2>(RingFftGeometry,
                                                                        const PixelConvolutionOptions&);
template std::unique_ptr<const BasicConvolver<3>> make_cuda_ring_fft<3>(RingFftGeometry,
                                                                        const PixelConvolutionOptions&);

template <int Rank>
std::unique_ptr<const BasicConvolver<Rank>> make_staged(std::unique_ptr<const BasicConvolver<Rank>>,
                                                        const Grid&, const PixelConvolutionOptions& options) {
    throw_unavailable(options);
}
template std::unique_ptr<const Convolver> make_staged<2>(std::unique_ptr<const Convolver>, const Grid&,
                                                         const PixelConvolutionOptions&);
template std::unique_ptr<const PolarizationConvolver> make_staged<3>(
    std::unique_ptr<const PolarizationConvolver>, const Grid&, const PixelConvolutionOptions&);

std::unique_ptr<const Convolver> make_cuda_pixel_sum(const Grid&, const RadialKernel&, const Grid&,
                                                     const PixelConvolutionOptions& options) {
    throw_unavailable(options);
}

std::unique_ptr<const PolarizationConvolver> make_cuda_pixel_sum(const Grid&, const PolarizationKernel&,
                                                                 const Grid&,
                                                                 const PixelConvolutionOptions& options) {
    throw_unavailable(options);
}

template <int Rank>
std::unique_ptr<const BasicConvolver<Rank>> make_cuda_convolver(const Grid&, double, const Grid&,
                                                                const PixelConvolutionOptions& options,
                                                                const MakeConvolver<Rank>&) {
    throw_unavailable(options);
}
template std::unique_ptr<const Convolver> make_cuda_convolver<2>(const Grid&, double, const Grid&,
                                                                 const PixelConvolutionOptions&,
                                                                 const MakeConvolver<2>&);
template std::unique_ptr<const PolarizationConvolver> make_cuda_convolver<3>(const Grid&, double, const Grid&,
                                                                             const PixelConvolutionOptions&,
                                                                             const MakeConvolver<3>&);

}  // namespace zonal::radial
