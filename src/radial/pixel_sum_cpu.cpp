#include <algorithm>
#include <atomic>
#include <chrono>

#include "core/parallel.hpp"
#include "radial/pixel_sum.hpp"
#include "radial/pixel_sum_stages.hpp"
#include "zonal/error.hpp"

namespace zonal::radial {
namespace {

/// Maps that share the weights of a square band: their sums are in the cache together.
constexpr std::int64_t maps_at_once = 4;

template <class Map, class Work>
void for_each_slice(const SumMaps<Map>& maps, const Work& work) {
    const std::int64_t n_maps = maps.in.extent(0);
    for (std::int64_t first = 0; first < n_maps; first += maps_at_once) {
        const std::int64_t count = std::min(maps_at_once, n_maps - first);
        work(SumMaps<Map>{maps.in.slice(first, count), maps.out.slice(first, count)});
    }
}

struct PixelSumStorage : PixelConvolutionWorkspace::Storage {
    std::vector<SumScratch<float>> single;
    std::vector<SumScratch<double>> precise;

    template <class T>
    std::vector<SumScratch<T>>& scratch() {
        if constexpr (sizeof(T) == sizeof(float))
            return single;
        else
            return precise;
    }
};

/// Tells the caller's thread's progress callback what all threads have done.
class SharedProgress {
  public:
    SharedProgress(const Progress& progress, double total) : progress_(progress), total_(total) { report(0); }
    void advance(double work, int thread) {
        const double done = done_.fetch_add(work) + work;
        if (thread == 0) report(done);
    }

  private:
    void report(double done) const {
        if (progress_ && !progress_(std::min(1.0, done / total_))) throw Cancelled("pixel sum: cancelled");
    }
    const Progress& progress_;
    double total_;
    std::atomic<double> done_{0};
};

double cost_of(const std::vector<RingBand>& bands) {
    double cost = 0;
    for (const RingBand& band : bands) cost += band.cost;
    return cost;
}

class CpuPixelSum final : public Convolver {
  public:
    CpuPixelSum(const Grid& grid, const RadialKernel& kernel, const Grid& grid_out,
                const PixelConvolutionOptions& options)
        : schedule_(grid, kernel, grid_out, options.accuracy), options_(options) {}

    void convolve(View<const float, 2> maps, View<float, 2> convolved,
                  PixelConvolutionWorkspace::Storage& workspace, const Progress& progress) const override {
        convolve_maps(SumMaps<float>{maps, convolved}, workspace, progress);
    }
    void convolve(View<const double, 2> maps, View<double, 2> convolved,
                  PixelConvolutionWorkspace::Storage& workspace, const Progress& progress) const override {
        convolve_maps(SumMaps<double>{maps, convolved}, workspace, progress);
    }

    std::unique_ptr<PixelConvolutionWorkspace::Storage> make_workspace(std::int64_t) const override {
        return std::make_unique<PixelSumStorage>();
    }

    // Rows and sums of a band, in each thread: what the bands are cut to.
    std::int64_t workspace_bytes(std::int64_t n_maps) const override {
        constexpr std::int64_t band_bytes = 1 << 21;
        return std::min(n_maps, maps_at_once) * options_.threads * band_bytes;
    }

    PixelConvolutionWork work() const override {
        PixelConvolutionWork work;
        work.pixel_products = schedule_.n_products();
        return work;
    }

  private:
    template <class Map>
    void convolve_maps(const SumMaps<Map>& maps, PixelConvolutionWorkspace::Storage& workspace,
                       const Progress& progress) const {
        auto* const storage = dynamic_cast<PixelSumStorage*>(&workspace);
        if (storage == nullptr)
            throw InvalidArgument("workspace: was made by a plan of another method or device");
        const auto start = std::chrono::steady_clock::now();
        if (options_.precision == Precision::single_)
            run<float>(maps, storage->scratch<float>(), progress);
        else
            run<double>(maps, storage->scratch<double>(), progress);
        storage->seconds = {};
        storage->seconds.sums =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }

    // Each stage adds to rings that the one before has set, so they run one after the other.
    template <class T, class Map>
    void run(const SumMaps<Map>& maps, std::vector<SumScratch<T>>& scratch, const Progress& progress) const {
        scratch.resize(static_cast<std::size_t>(options_.threads));
        const auto& equal = schedule_.equal_bands();
        const auto& square = schedule_.square_bands();
        const auto& general = schedule_.general_rings();
        const double general_cost = general.empty() ? 0 : cost_of(equal);
        SharedProgress shared(progress, cost_of(equal) + cost_of(square) + general_cost);
        const auto stage = [&](std::size_t n_tasks, const auto& task) {
            core::parallel_for(
                static_cast<std::int64_t>(n_tasks), options_.threads, [&](std::int64_t index, int thread) {
                    const double cost =
                        task(static_cast<std::size_t>(index), scratch[static_cast<std::size_t>(thread)]);
                    shared.advance(cost, thread);
                });
        };
        stage(equal.size(), [&](std::size_t i, SumScratch<T>& own) {
            sum_equal_band(schedule_, equal[i], maps, own);
            return equal[i].cost;
        });
        stage(square.size(), [&](std::size_t i, SumScratch<T>& own) {
            for_each_slice(maps, [&](const SumMaps<Map>& slice) {
                add_square_band(schedule_, square[i], slice, own);
            });
            return square[i].cost;
        });
        stage(general.size(), [&](std::size_t i, SumScratch<T>& own) {
            add_general_ring(schedule_, general[i], maps, own);
            return general_cost / static_cast<double>(general.size());
        });
    }

    const PixelSumSchedule schedule_;
    const PixelConvolutionOptions options_;
};

}  // namespace

std::unique_ptr<const Convolver> make_cpu_pixel_sum(const Grid& grid, const RadialKernel& kernel,
                                                    const Grid& grid_out,
                                                    const PixelConvolutionOptions& options) {
    return std::make_unique<CpuPixelSum>(grid, kernel, grid_out, options);
}

}  // namespace zonal::radial
