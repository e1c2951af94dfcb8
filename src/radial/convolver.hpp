#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "zonal/convolution.hpp"
#include "zonal/error.hpp"

namespace zonal {

/// What a method keeps between calls; each has its own type.
struct PixelConvolutionWorkspace::Storage {
    /// owner: the device or the plan that it belongs to; 0: any plan whose storage has this type.
    explicit Storage(std::uint64_t owner = 0) : owner(owner) {}
    virtual ~Storage() = default;
    /// CUDA's override it.
    virtual void use_stream(void*) {
        throw InvalidArgument("workspace", "is the CPU's, which has no streams");
    }

    const std::uint64_t owner;
    PixelConvolutionSeconds seconds;
};

}  // namespace zonal

namespace zonal::radial {

inline void add(const PixelConvolutionWork& more, PixelConvolutionWork& sum) {
    sum.kernel_values += more.kernel_values;
    sum.row_products += more.row_products;
    sum.maps_per_pass = std::max(sum.maps_per_pass, more.maps_per_pass);
    sum.mode_products += more.mode_products;
    sum.pixel_products += more.pixel_products;
    sum.uneven_products += more.uneven_products;
    sum.longest_sum = std::max(sum.longest_sum, more.longest_sum);
    sum.pixel_rows += more.pixel_rows;
    sum.pixel_weights += more.pixel_weights;
    sum.fft_pixels += more.fft_pixels;
}

inline void add(const PixelConvolutionSeconds& more, PixelConvolutionSeconds& sum) {
    sum.kernel_rows += more.kernel_rows;
    sum.ffts += more.ffts;
    sum.sums += more.sums;
}

/// One method on one kind of device. Immutable and safe for any number of threads, each with a workspace of
/// its own. The plan has checked the arrays: maps: [map, grid.n_pixels()] or, Rank = 3, [map, 2 (Q, U),
/// grid.n_pixels()], convolved: the same of grid_out, last axis contiguous, not overlapping, in host memory
/// or, on CUDA, host or device memory. Pixels of the output in no ring are left as they are.
template <int Rank>
class BasicConvolver {
  public:
    virtual ~BasicConvolver() = default;

    virtual void convolve(View<const float, Rank> maps, View<float, Rank> convolved,
                          PixelConvolutionWorkspace::Storage& workspace, const Progress& progress) const = 0;
    virtual void convolve(View<const double, Rank> maps, View<double, Rank> convolved,
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
    /// What the planner's costs and the tests of scaling count, for one map.
    virtual PixelConvolutionWork work() const = 0;
};

using Convolver = BasicConvolver<2>;
using PolarizationConvolver = BasicConvolver<3>;

/// The components of maps in device memory, `stride` elements apart; where there are several maps, those
/// `map_stride` apart.
template <class T>
struct Fields {
    T* pixels;
    std::int64_t stride, map_stride;
};

/// [map, component, pixel]
template <class T>
View<T, 3> with_component(View<T, 2> maps) {
    return {
        maps.data(), {maps.extent(0), 1, maps.extent(1)}, {maps.stride(0), maps.extent(1), 1}, maps.space()};
}
template <class T>
View<T, 3> with_component(View<T, 3> maps) {
    return maps;
}
/// The other way round.
template <int Rank, class T>
View<T, Rank> of_rank(View<T, 3> maps) {
    if constexpr (Rank == 3)
        return maps;
    else
        return {
            maps.data(), {maps.extent(0), maps.extent(2)}, {maps.stride(0), maps.stride(2)}, maps.space()};
}

/// Takes both types of maps to Derived::convolve_maps<T>(View<const T, 3>, View<T, 3>, Storage_&, progress),
/// of [map, component, pixel], and workspaces to Storage_.
template <class Derived, class Storage_, int Rank>
class ConvolverOf : public BasicConvolver<Rank> {
  public:
    using Storage = Storage_;
    static constexpr int components = Rank - 1;

    void convolve(View<const float, Rank> maps, View<float, Rank> convolved,
                  PixelConvolutionWorkspace::Storage& workspace, const Progress& progress) const final {
        run(maps, convolved, workspace, progress);
    }
    void convolve(View<const double, Rank> maps, View<double, Rank> convolved,
                  PixelConvolutionWorkspace::Storage& workspace, const Progress& progress) const final {
        run(maps, convolved, workspace, progress);
    }

  protected:
    explicit ConvolverOf(std::uint64_t owner = 0) : owner_(owner) {}

    Storage& storage_of(PixelConvolutionWorkspace::Storage& workspace) const {
        auto* const storage = dynamic_cast<Storage*>(&workspace);
        if (storage == nullptr || storage->owner != owner_)
            throw InvalidArgument("workspace",
                                  "was made by a plan of another method or device, or in other bands: must "
                                  "be one that this plan's make_workspace returned");
        return *storage;
    }
    std::uint64_t owner() const { return owner_; }

  private:
    template <class T>
    void run(View<const T, Rank> maps, View<T, Rank> convolved, PixelConvolutionWorkspace::Storage& workspace,
             const Progress& progress) const {
        static_cast<const Derived&>(*this).template convolve_maps<T>(
            with_component(maps), with_component(convolved), storage_of(workspace), progress);
    }

    const std::uint64_t owner_;
};

}  // namespace zonal::radial
