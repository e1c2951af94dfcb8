#pragma once

#include <memory>
#include <vector>

#include "zonal/convolution.hpp"
#include "zonal/error.hpp"

namespace zonal {

/// What a method keeps between calls; each has its own.
struct PixelConvolutionWorkspace::Storage {
    virtual ~Storage() = default;
    /// CUDA's override it.
    virtual void use_stream(void*) { throw InvalidArgument("workspace: is the CPU's, which has no streams"); }

    PixelConvolutionSeconds seconds;
};

}  // namespace zonal

namespace zonal::radial {

inline void add(const PixelConvolutionWork& more, PixelConvolutionWork& sum) {
    sum.kernel_values += more.kernel_values;
    sum.row_products += more.row_products;
    sum.mode_products += more.mode_products;
    sum.pixel_products += more.pixel_products;
    sum.fft_pixels += more.fft_pixels;
}

/// One method on one kind of device. Immutable and safe for any number of threads, each with a workspace of
/// its own. The plan has checked the arrays: maps: [map, grid.n_pixels()], convolved: [map,
/// grid_out.n_pixels()], last axis contiguous, not overlapping, in host memory or, on CUDA, host or device
/// memory. Pixels of the output in no ring are left as they are.
class Convolver {
  public:
    virtual ~Convolver() = default;

    virtual void convolve(View<const float, 2> maps, View<float, 2> convolved,
                          PixelConvolutionWorkspace::Storage& workspace, const Progress& progress) const = 0;
    virtual void convolve(View<const double, 2> maps, View<double, 2> convolved,
                          PixelConvolutionWorkspace::Storage& workspace, const Progress& progress) const = 0;

    /// n_maps: that calls will bring at once; workspaces grow when more come.
    virtual std::unique_ptr<PixelConvolutionWorkspace::Storage> make_workspace(std::int64_t n_maps) const = 0;
    /// Bytes of a workspace for n_maps maps.
    virtual std::int64_t workspace_bytes(std::int64_t n_maps) const = 0;
    /// Bytes of each of its arrays, for one map; on CUDA convolvers of one type have the same arrays.
    virtual std::vector<std::int64_t> workspace_parts() const { return {workspace_bytes(1)}; }
    /// CUDA: makes room in a workspace that another of its type made on the same device.
    virtual void prepare(PixelConvolutionWorkspace::Storage&) const {}
    /// What each device does; empty: one does it all.
    virtual std::vector<PixelConvolutionShare> shares() const { return {}; }
    /// Of one map: what the planner's costs and the tests of scaling count.
    virtual PixelConvolutionWork work() const = 0;
};

}  // namespace zonal::radial
