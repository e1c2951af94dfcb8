#pragma once

#include <algorithm>
#include <optional>

#include "sht/progress_part.hpp"
#include "sky/sky_part.hpp"
#include "zonal/convolution.hpp"

namespace zonal::radial {

/// Sums over the pixels of a part of a sky: in rings that need a halo, and in those that need none, for which
/// the maps are read where they are. Plan: a KernelConvolutionPlan.
template <class Plan>
class PartSums {
  public:
    static constexpr int rank = Plan::rank;

    /// Scratch memory that calls share.
    struct Workspaces {
        std::optional<PixelConvolutionWorkspace> inner, outer;
    };

    /// change(grid): what is summed, in place of a halo's grid.
    template <class Kernel, class Change>
    PartSums(const SkyHalo& halo, const Kernel& kernel, const PixelConvolutionOptions& options,
             const Change& change) {
        if (const auto& sums = halo.inner()) inner_.emplace(change(sums->in), kernel, sums->out, options);
        if (const auto& sums = halo.outer()) outer_.emplace(change(sums->in), kernel, sums->out, options);
    }
    template <class Kernel>
    PartSums(const SkyHalo& halo, const Kernel& kernel, const PixelConvolutionOptions& options)
        : PartSums(halo, kernel, options, [](const Grid& grid) { return grid; }) {}

    /// None where two plans share a GPU, as each takes what is free there while it works.
    Workspaces make_workspaces(std::int64_t n_maps) const {
        Workspaces made;
        if (inner_ && outer_ && inner_->options().device.kind() == Device::Kind::cuda) return made;
        if (inner_) made.inner.emplace(inner_->make_workspace(n_maps));
        if (outer_) made.outer.emplace(outer_->make_workspace(n_maps));
        return made;
    }
    /// The bytes of both plans' workspaces.
    std::int64_t workspace_bytes(std::int64_t n_maps) const {
        return (inner_ ? inner_->workspace_bytes(n_maps) : 0) +
               (outer_ ? outer_->workspace_bytes(n_maps) : 0);
    }

    /// reached: what the halo's reach() made of the maps.
    template <class T>
    void convolve(View<const T, rank> maps, View<const T, rank> reached, View<T, rank> convolved,
                  Workspaces& workspaces, const Progress& progress) const {
        const double inner = pixels_of(inner_), share = inner / (inner + pixels_of(outer_));
        if (inner_) run<T>(*inner_, maps, convolved, workspaces.inner, sht::part_of(progress, 0, share));
        if (outer_) run<T>(*outer_, reached, convolved, workspaces.outer, sht::part_of(progress, share, 1));
    }

  private:
    static double pixels_of(const std::optional<Plan>& plan) {
        double n = 0;
        if (plan)
            for (const Ring& ring : plan->grid_out().rings()) n += static_cast<double>(ring.n_pixels);
        return n;
    }
    template <class T>
    static void run(const Plan& plan, View<const T, rank> maps, View<T, rank> convolved,
                    std::optional<PixelConvolutionWorkspace>& kept, const Progress& progress) {
        if (kept)
            plan.template convolve<T>(maps, convolved, *kept, progress);
        else
            plan.template convolve<T>(maps, convolved, progress);
    }

    std::optional<Plan> inner_, outer_;
};

}  // namespace zonal::radial
