#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

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
enum class Precision { float32, float64 };

/// Returns the accuracy of kernels that PixelConvolutionOptions::accuracy = 0 stands for.
constexpr double default_accuracy(Precision precision) {
    return precision == Precision::float32 ? 3e-8 : 1e-12;
}

/// How a convolution over pixels is done.
struct PixelConvolutionOptions {
    PixelMethod method = PixelMethod::ring_fft;
    Precision precision = Precision::float64;
    /// Largest error of the kernel's values, of its largest: of the table of its profile and, in ring_fft,
    /// of the series over longitude that stands for it between rings of different lengths. 1e-14 to 1e-2; 0:
    /// default_accuracy, 1e-12 in double and 3e-8 in single precision. A profile whose series does not
    /// converge to this (a top hat, a hard cut) is summed over the pixels between such rings.
    double accuracy = 0;
    int threads = 0;  ///< 0: available_cpus()
    Device device = Device::automatic();
    /// CUDA devices that work at the same time, each on latitude bands of the output, for maps in host
    /// memory; empty: `device` alone, else `device` is automatic or the first of them. A device that is named
    /// twice works on two bands at once.
    std::vector<Device> devices = {};
    /// On CUDA, the most memory that a call may take on each device (PixelConvolutionShare::memory_bytes): a
    /// plan that needs more works in latitude bands, one after the other, and is refused where that does not
    /// help. 0: what is free on the device when the plan is made. On the CPU it must be 0.
    std::int64_t max_workspace_bytes = 0;
};

/// What one device does in a call, and the memory that it takes for that beside the plan's own tables.
struct PixelConvolutionShare {
    Device device;
    /// Latitude bands, which it works through: some rings of the output each, with the rings of the input
    /// within the kernel's support of them. 1 where it is the only device: all rings.
    std::int64_t n_bands = 1;
    /// Scratch memory; on CUDA with two copies of a map and its result in double, or of a band's parts of
    /// them, through which maps in host memory pass.
    std::int64_t memory_bytes = 0;
};

/// What the convolution of one map takes, counted when the plan is made.
struct PixelConvolutionWork {
    double kernel_values = 0;  ///< values of the profile in ring_fft: once for maps_per_pass maps
    double row_products = 0;   ///< real multiply-adds that transform the kernel's rows, as often
    /// Maps of a batch that the kernel's rows are made for at once.
    std::int64_t maps_per_pass = 1;
    double mode_products = 0;   ///< of a complex number with a real one, that sum over rings
    double pixel_products = 0;  ///< of a kernel value with a pixel
    /// Those of pixel_products between rings that no filter serves as a whole, such as rings of different
    /// length.
    double uneven_products = 0;
    double longest_sum = 0;  ///< the most of those of one pixel: on a GPU they wait for each other
    double pixel_rows = 0;   ///< rows of pixels that the discs of pixel_products have
    /// Values of the profile that the weights of pixel_products are made of, on CUDA one for each pixel of
    /// one disc of each ring: there weights are made when the plan is.
    double pixel_weights = 0;
    double fft_pixels = 0;  ///< pixels that are transformed, of the input and of the output
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

    /// Zero on a stream of the caller's, and in latitude bands.
    PixelConvolutionSeconds seconds() const;
    /// On CUDA: work on this stream (a cudaStream_t) of the caller's from now on; calls with arrays on the
    /// device then return before the work is done. Throws InvalidArgument on the CPU and for several devices.
    void use_stream(void* cuda_stream);

    struct Storage;
    explicit PixelConvolutionWorkspace(std::unique_ptr<Storage> storage);
    Storage& storage() { return *storage_; }

  private:
    std::unique_ptr<Storage> storage_;
};

/// Convolves maps with a compact kernel by summing over the map's pixels,
///   g(p) = sum_p' w(p') K(theta(p, p')) f(p'),
/// w the weights of the grid's rings (sr): what harmonic smoothing gives without iterations where the kernel
/// is band-limited, without ringing. Immutable: any number of threads may use one plan at the same time.
/// Kernel: RadialKernel, for maps of one field, or PolarizationKernel, for maps of Q and U.
///
/// ring_fft carries a value that is not finite to the whole of all rings within the support; pixel_sum to
/// the pixels within it and perhaps some around them (see convolve_masked for maps of which part is unknown).
///
/// On CUDA, where a device has no memory for the whole (max_workspace_bytes) or there are several, the output
/// is made in latitude bands, to the same accuracy as the whole at once.
template <class Kernel>
class KernelConvolutionPlan {
  public:
    /// The axes of an array of maps: [map, pixel], or [map, 2 (Q, U), pixel] for a PolarizationKernel.
    static constexpr int rank = std::is_same_v<Kernel, RadialKernel> ? 2 : 3;

    /// grid: of the input. grid_out: of the output; where it is a subset of the rings only those are
    /// computed. kernel: its support may be anything up to pi. Throws InvalidArgument and BackendUnavailable.
    KernelConvolutionPlan(const Grid& grid, const Kernel& kernel, const Grid& grid_out,
                          const PixelConvolutionOptions& options = {});
    ~KernelConvolutionPlan();
    KernelConvolutionPlan(KernelConvolutionPlan&&) noexcept;
    KernelConvolutionPlan& operator=(KernelConvolutionPlan&&) noexcept;

    const Grid& grid() const;
    const Grid& grid_out() const;
    /// With accuracy, threads and device resolved.
    const PixelConvolutionOptions& options() const;
    /// Returns the scratch memory that n_maps need at once; on CUDA it is that of one map. In bands, it is
    /// that of all devices and has the bands' parts of the maps.
    std::int64_t workspace_bytes(std::int64_t n_maps = 1) const;
    /// What each device does, in the order of PixelConvolutionOptions::devices.
    std::vector<PixelConvolutionShare> shares() const;
    PixelConvolutionWork work() const;
    /// n_maps: that calls will bring at once; >= 1.
    PixelConvolutionWorkspace make_workspace(std::int64_t n_maps = 1) const;

    /// maps: [map, (Q and U,) grid.n_pixels()], convolved: the same of grid_out, last axis contiguous, not
    /// overlapping; on CUDA in host memory or, where there is one device, the device's. Q and U are in the
    /// COSMO convention; with IAU's, U has the other sign in both. Pixels of the output in no ring are left
    /// as they are. Every kernel row is made once for all maps, but in bands. T: float or double. Throws
    /// InvalidArgument, Cancelled and DeviceError.
    template <class T>
    void convolve(ConstView<T, rank> maps, View<T, rank> convolved, const Progress& progress = {}) const;
    template <class T>
    void convolve(ConstView<T, rank> maps, View<T, rank> convolved, PixelConvolutionWorkspace& workspace,
                  const Progress& progress = {}) const;

  private:
    struct Implementation;
    std::unique_ptr<const Implementation> implementation_;
};

using PixelConvolutionPlan = KernelConvolutionPlan<RadialKernel>;

}  // namespace zonal
