#include "radial/banded_convolver.hpp"
#include "radial/pixel_sum.hpp"
#include "radial/ring_fft.hpp"
#include "zonal/error.hpp"

namespace zonal::radial {
namespace {

[[noreturn]] void throw_unavailable(const PixelConvolutionOptions& options) {
    throw BackendUnavailable("device = " + to_string(options.device) +
                             ": this build of Zonal has no CUDA code");
}

}  // namespace

std::unique_ptr<const Convolver> make_cuda_ring_fft(RingFftGeometry, const PixelConvolutionOptions& options) {
    throw_unavailable(options);
}

std::unique_ptr<const Convolver> make_cuda_pixel_sum(const Grid&, const RadialKernel&, const Grid&,
                                                     const PixelConvolutionOptions& options) {
    throw_unavailable(options);
}

std::unique_ptr<const Convolver> make_cuda_convolver(const Grid&, double, const Grid&,
                                                     const PixelConvolutionOptions& options,
                                                     const MakeConvolver&) {
    throw_unavailable(options);
}

}  // namespace zonal::radial
