#include <algorithm>
#include <chrono>

#include "radial/pixel_sum.hpp"
#include "radial/pixel_sum_passes.hpp"
#include "zonal/error.hpp"

namespace zonal::radial {
namespace {

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

class CpuPixelSum final : public Convolver {
  public:
    CpuPixelSum(const Grid& grid, const RadialKernel& kernel, const Grid& grid_out,
                const PixelConvolutionOptions& options)
        : schedule_(grid, SumKernel(kernel, options.accuracy), grid_out, options.accuracy),
          options_(options) {}

    void convolve(View<const float, 2> maps, View<float, 2> convolved,
                  PixelConvolutionWorkspace::Storage& workspace, const Progress& progress) const override {
        convolve_maps(maps, convolved, workspace, progress);
    }
    void convolve(View<const double, 2> maps, View<double, 2> convolved,
                  PixelConvolutionWorkspace::Storage& workspace, const Progress& progress) const override {
        convolve_maps(maps, convolved, workspace, progress);
    }

    std::unique_ptr<PixelConvolutionWorkspace::Storage> make_workspace(std::int64_t) const override {
        return std::make_unique<PixelSumStorage>();
    }

    // Rows and sums of a band, in each thread: what the bands are cut to.
    std::int64_t workspace_bytes(std::int64_t n_maps) const override {
        constexpr std::int64_t band_bytes = 1 << 21;
        return std::min(n_maps, PassRunner<double>::maps_at_once) * options_.threads * band_bytes;
    }

    PixelConvolutionWork work() const override {
        PixelConvolutionWork work;
        work.pixel_products = schedule_.n_products();
        return work;
    }

  private:
    template <class Map>
    void convolve_maps(View<const Map, 2> maps, View<Map, 2> convolved,
                       PixelConvolutionWorkspace::Storage& workspace, const Progress& progress) const {
        auto* const storage = dynamic_cast<PixelSumStorage*>(&workspace);
        if (storage == nullptr)
            throw InvalidArgument("workspace: was made by a plan of another method or device");
        const auto start = std::chrono::steady_clock::now();
        if (options_.precision == Precision::single_)
            run<float>(maps, convolved, *storage, progress);
        else
            run<double>(maps, convolved, *storage, progress);
        storage->seconds = {};
        storage->seconds.sums =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }

    template <class T, class Map>
    void run(View<const Map, 2> maps, View<Map, 2> convolved, PixelSumStorage& storage,
             const Progress& progress) const {
        PassRunner<T> runner(schedule_, 1, options_.threads, storage.scratch<T>(), progress);
        runner.run(SumPass<Map>{schedule_, schedule_.kernel(), maps, convolved});
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
