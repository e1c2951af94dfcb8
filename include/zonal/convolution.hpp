#pragma once

#include <cstdint>
#include <memory>

#include "zonal/device.hpp"
#include "zonal/grid.hpp"
#include "zonal/kernel.hpp"
#include "zonal/progress.hpp"
#include "zonal/view.hpp"

namespace zonal {

/// How a sum over pixels is done.
enum class PixelMethod {
    pixel_sum,  ///< over the disc around each pixel: for kernels of few pixels
    ring_fft    ///< ring by ring in Fourier space (ARKCoS: Elsner & Wandelt 2011)
};

/// In which the sums are done; angles, tables and Fourier phases are always double.
enum class Precision { single_, double_ };

/// How a convolution over pixels is done.
struct PixelConvolutionOptions {
    PixelMethod method = PixelMethod::ring_fft;
    Precision precision = Precision::double_;
    /// Largest error of the kernel's values, of its largest: of the table of its profile and, in ring_fft,
    /// of the series over longitude that stands for it between rings of different lengths. 1e-14 to 1e-2; 0:
    /// 1e-12 in double, 3e-8 in single precision. A profile whose series does not converge to this (a top
    /// hat, a hard cut) is summed over the pixels between such rings.
    double accuracy = 0;
    int threads = 0;  ///< 0: available_cpus()
    Device device = Device::automatic();
};

/// What the convolution of one map takes, counted when the plan is made.
struct PixelConvolutionWork {
    double kernel_values = 0;   ///< values of the profile: once for all maps in ring_fft
    double row_products = 0;    ///< real multiply-adds that transform the kernel's rows, once for all maps
    double mode_products = 0;   ///< of a complex number with a real one, that sum over rings
    double pixel_products = 0;  ///< of a kernel value with a pixel
    double fft_pixels = 0;      ///< pixels that are transformed, of the input and of the output
};

/// Wall-clock seconds of the parts of the last call.
struct PixelConvolutionSeconds {
    double kernel_rows = 0;  ///< values of the kernel
    double ffts = 0;
    double sums = 0;  ///< with the transforms of the kernel's rows
};

/// Scratch memory of a convolution, one call at a time.
class PixelConvolutionWorkspace {
  public:
    ~PixelConvolutionWorkspace();
    PixelConvolutionWorkspace(PixelConvolutionWorkspace&&) noexcept;
    PixelConvolutionWorkspace& operator=(PixelConvolutionWorkspace&&) noexcept;

    /// Zero on a stream of the caller's.
    PixelConvolutionSeconds seconds() const;
    /// On CUDA: work on this stream (a cudaStream_t) of the caller's from now on; calls with arrays on the
    /// device then return before the work is done. Throws InvalidArgument on the CPU.
    void use_stream(void* cuda_stream);

    struct Storage;
    explicit PixelConvolutionWorkspace(std::unique_ptr<Storage> storage);
    Storage& storage() { return *storage_; }

  private:
    std::unique_ptr<Storage> storage_;
};

/// Convolution of maps with a compact radial kernel as the sum over the map's pixels,
///   g(p) = sum_p' w(p') K(theta(p, p')) f(p'),
/// w the weights of the grid's rings (sr): what harmonic smoothing gives without iterations where the kernel
/// is band-limited, without ringing. Immutable: any number of threads may use one plan at the same time.
///
/// ring_fft carries a value that is not finite to the whole of all rings within the support; pixel_sum to
/// the pixels within it and perhaps some around them (see convolve_masked for maps of which part is unknown).
class PixelConvolutionPlan {
  public:
    /// grid: of the input. grid_out: of the output; where it is a subset of the rings only those are
    /// computed. kernel: its support may be anything up to pi. Throws InvalidArgument and BackendUnavailable.
    PixelConvolutionPlan(const Grid& grid, const RadialKernel& kernel, const Grid& grid_out,
                         const PixelConvolutionOptions& options = {});
    ~PixelConvolutionPlan();
    PixelConvolutionPlan(PixelConvolutionPlan&&) noexcept;
    PixelConvolutionPlan& operator=(PixelConvolutionPlan&&) noexcept;

    const Grid& grid() const;
    const Grid& grid_out() const;
    /// With accuracy, threads and device resolved.
    const PixelConvolutionOptions& options() const;
    /// Of one map.
    std::int64_t workspace_bytes() const;
    PixelConvolutionWork work() const;
    /// n_maps: that calls will bring at once; >= 1.
    PixelConvolutionWorkspace make_workspace(std::int64_t n_maps = 1) const;

    /// maps: [map, grid.n_pixels()], convolved: [map, grid_out.n_pixels()], last axis contiguous, not the
    /// same array; on CUDA in host or device memory. Pixels of the output in no ring are left as they are.
    /// Every kernel row is made once for all maps. Throws InvalidArgument, Cancelled and DeviceError.
    template <class T>
    void convolve(View<const T, 2> maps, View<T, 2> convolved, const Progress& progress = {}) const;
    template <class T>
    void convolve(View<const T, 2> maps, View<T, 2> convolved, PixelConvolutionWorkspace& workspace,
                  const Progress& progress = {}) const;

    class Implementation;

  private:
    std::unique_ptr<const Implementation> implementation_;
};

}  // namespace zonal
