#pragma once

#include <algorithm>
#include <vector>

#include "core/parallel.hpp"
#include "radial/pixel_sum/stages.hpp"
#include "sht/progress_part.hpp"

namespace zonal::radial {

/// Runs the stages of passes over one schedule, on threads.
template <class T>
class PassRunner {
  public:
    PassRunner(const PixelSumSchedule& schedule, int n_passes, int threads,
               std::vector<SumScratch<T>>& scratch, const Progress& progress)
        : schedule_(schedule),
          threads_(threads),
          scratch_(scratch),
          general_cost_(schedule.general_rings().empty() ? 0 : cost_of(schedule.equal_bands())),
          progress_(
              progress,
              n_passes * (cost_of(schedule.equal_bands()) + cost_of(schedule.square_bands()) + general_cost_),
              "pixel sum") {
        scratch.resize(static_cast<std::size_t>(threads));
    }

    // Each stage adds to rings that the one before has set, so they run one after the other. few: benchmarks
    // take another (bench/pixel_sum_kinds.cpp).
    template <class Map>
    void run(SumPass<Map> pass, FewPixels few = few_pixels<T>) {
        const FilledPixels filled(schedule_.inputs(), pass.in, few, threads_);
        pass.filled = &filled;
        // Half of the cost is that of spreading, where there is something to spread.
        const double share = filled.any() ? 0.5 : 1;
        const auto& equal = schedule_.equal_bands();
        const auto& square = schedule_.square_bands();
        const auto& general = schedule_.general_rings();
        stage(equal.size(), [&](std::size_t i, SumScratch<T>& own) {
            sum_equal_band(pass, equal[i], own);
            return share * equal[i].cost;
        });
        stage(square.size(), [&](std::size_t i, SumScratch<T>& own) {
            for (std::int64_t first = 0; first < pass.in.extent(0); first += maps_at_once)
                add_square_band(pass.slice(first, std::min(maps_at_once, pass.in.extent(0) - first)),
                                square[i], own);
            return share * square[i].cost;
        });
        stage(general.size(), [&](std::size_t i, SumScratch<T>& own) {
            add_general_ring(pass, general[i], own);
            return share * general_cost_ / static_cast<double>(general.size());
        });
        if (!filled.any()) return;
        const std::int64_t n_outputs = schedule_.outputs().size();
        const double cost = cost_of(equal) + cost_of(square) + general_cost_;
        stage(static_cast<std::size_t>(n_outputs), [&](std::size_t output, SumScratch<T>& own) {
            add_spread_ring(pass, static_cast<std::int64_t>(output), own);
            return (1 - share) * cost / static_cast<double>(n_outputs);
        });
    }

    /// Maps that share the weights of a square band: their sums are in the cache together.
    static constexpr std::int64_t maps_at_once = 4;

  private:
    static double cost_of(const std::vector<RingBand>& bands) {
        double cost = 0;
        for (const RingBand& band : bands) cost += band.cost;
        return cost;
    }

    template <class Task>
    void stage(std::size_t n_tasks, const Task& task) {
        core::parallel_for(static_cast<std::int64_t>(n_tasks), threads_, [&](std::int64_t index, int thread) {
            const double cost =
                task(static_cast<std::size_t>(index), scratch_[static_cast<std::size_t>(thread)]);
            progress_.advance(cost, thread);
        });
    }

    const PixelSumSchedule& schedule_;
    int threads_;
    std::vector<SumScratch<T>>& scratch_;
    double general_cost_;
    sht::SharedProgress progress_;
};

}  // namespace zonal::radial
