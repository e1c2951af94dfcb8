#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "core/cuda_host.hpp"
#include "radial/convolver.hpp"
#include "sht/progress_part.hpp"
#include "sky/sky_part.hpp"
#include "zonal/convolution.hpp"
#include "zonal/error.hpp"

namespace zonal::radial {

/// Sums over the pixels of a part of a sky: in rings that need a halo, and in those that need none, for which
/// the maps are read where they are. Plan: a KernelConvolutionPlan.
template <class Plan>
class PartSums {
  public:
    static constexpr int rank = Plan::rank;

    /// Scratch memory that calls share, made by the first of them. There is none where a GPU has no memory
    /// for those of two plans beside `reserved` bytes: calls then make one after the other.
    struct Workspaces {
        std::optional<PixelConvolutionWorkspace> inner = {}, outer = {};
        bool are_made = false;
        std::int64_t reserved = 0;
    };

    /// part: outlives the sums. halo: of the kernel's support. change(grid): what is summed, in place of a
    /// halo's grid.
    template <class Kernel, class Change>
    PartSums(const SkyPart& part, std::shared_ptr<const SkyHalo> halo, const Kernel& kernel,
             const PixelConvolutionOptions& options, const Change& change)
        : part_(&part), halo_(std::move(halo)) {
        if (const auto& sums = halo_->inner()) inner_.emplace(change(sums->in), kernel, sums->out, options);
        if (const auto& sums = halo_->outer()) outer_.emplace(change(sums->in), kernel, sums->out, options);
    }
    template <class Kernel>
    PartSums(const SkyPart& part, std::shared_ptr<const SkyHalo> halo, const Kernel& kernel,
             const PixelConvolutionOptions& options)
        : PartSums(part, std::move(halo), kernel, options, [](const Grid& grid) { return grid; }) {}

    /// Makes them unless they are made. n_maps: that calls will bring at once.
    void make(Workspaces& workspaces, std::int64_t n_maps) const {
        if (workspaces.are_made) return;
        try {
            if (fit(workspaces.reserved)) {
                if (inner_) workspaces.inner.emplace(inner_->make_workspace(n_maps));
                if (outer_) workspaces.outer.emplace(outer_->make_workspace(n_maps));
            }
        } catch (const OutOfDeviceMemory&) {  // another rank has taken it
            if (!inner_ || !outer_) throw;
            workspaces.inner.reset();
        }
        workspaces.are_made = true;
    }
    /// The bytes of both plans' workspaces.
    std::int64_t workspace_bytes(std::int64_t n_maps) const {
        return (inner_ ? inner_->workspace_bytes(n_maps) : 0) +
               (outer_ ? outer_->workspace_bytes(n_maps) : 0);
    }

    /// Collective. Sums the rings that need no halo while it is on its way.
    template <class T>
    void convolve(View<const T, rank> maps, View<T, rank> convolved, Workspaces& workspaces,
                  HaloMemory& memory, const Progress& progress) const {
        const double inner = pixels_of(inner_), share = inner / (inner + pixels_of(outer_));
        const auto exchange = halo_->begin(with_component(maps), memory);
        auto error = thrown_by([&] {
            make(workspaces, std::max<std::int64_t>(1, maps.extent(0)));
            if (inner_) run<T>(*inner_, maps, convolved, workspaces.inner, sht::part_of(progress, 0, share));
        });
        const auto reached = of_rank<rank>(exchange->wait());
        if (!error)
            error = thrown_by([&] {
                if (outer_)
                    run<T>(*outer_, reached, convolved, workspaces.outer, sht::part_of(progress, share, 1));
            });
        part_->agree("sums over pixels", error);
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

    /// Whether both workspaces can be there at the same time.
    bool fit(std::int64_t reserved) const {
        std::int64_t needed = reserved;
        bool is_on_gpu = false;
        for (const auto* plan : {&inner_, &outer_}) {
            if (!*plan) continue;
            for (const auto& one : (*plan)->shares()) needed += one.memory_bytes;
            is_on_gpu = (*plan)->options().device.kind() == Device::Kind::cuda;
        }
        const bool is_alone = reserved == 0 && !(inner_ && outer_);  // its plan knows what was free
        return !is_on_gpu || is_alone ||
               needed <= core::free_on_cuda((inner_ ? inner_ : outer_)->options().device.index());
    }

    const SkyPart* part_;
    std::shared_ptr<const SkyHalo> halo_;
    std::optional<Plan> inner_, outer_;
};

}  // namespace zonal::radial
