#include <chrono>

#include "radial/pixel_sum.hpp"
#include "radial/pixel_sum_passes.hpp"
#include "zonal/error.hpp"

namespace zonal::radial {
namespace {

struct PolarizationSumStorage : PixelConvolutionWorkspace::Storage {
    std::vector<SumScratch<float>> single;
    std::vector<SumScratch<double>> precise;
};

/// Component c of [map, component, pixel].
template <class T>
View<T, 2> component(View<T, 3> maps, std::int64_t c) {
    return {
        maps.data() + c * maps.stride(1), {maps.extent(0), maps.extent(2)}, {maps.stride(0), maps.stride(2)}};
}

class CpuPolarizationSum final : public PolarizationConvolver {
  public:
    CpuPolarizationSum(const Grid& grid, const PolarizationKernel& kernel, const Grid& grid_out,
                       const PixelConvolutionOptions& options)
        : schedule_(grid, SumKernel(kernel.plus(), kernel.minus(), options.accuracy), grid_out,
                    options.accuracy),
          options_(options) {}

    void convolve(View<const float, 3> maps, View<float, 3> convolved,
                  PixelConvolutionWorkspace::Storage& workspace, const Progress& progress) const override {
        convolve_maps(maps, convolved, workspace, progress);
    }
    void convolve(View<const double, 3> maps, View<double, 3> convolved,
                  PixelConvolutionWorkspace::Storage& workspace, const Progress& progress) const override {
        convolve_maps(maps, convolved, workspace, progress);
    }

    std::unique_ptr<PixelConvolutionWorkspace::Storage> make_workspace(std::int64_t) const override {
        return std::make_unique<PolarizationSumStorage>();
    }
    std::int64_t workspace_bytes(std::int64_t n_maps) const override {
        constexpr std::int64_t band_bytes = 1 << 21;
        return std::min(n_maps, PassRunner<double>::maps_at_once) * options_.threads * band_bytes;
    }
    PixelConvolutionWork work() const override {
        PixelConvolutionWork work;
        work.pixel_products = std::size(parts) * schedule_.n_products();
        return work;
    }

  private:
    struct Part {
        KernelPart part;
        int out, in;
    };
    static constexpr Part parts[] = {
        {KernelPart::qq, 0, 0}, {KernelPart::qu, 0, 1}, {KernelPart::uq, 1, 0}, {KernelPart::uu, 1, 1}};

    template <class Map>
    void convolve_maps(View<const Map, 3> maps, View<Map, 3> convolved,
                       PixelConvolutionWorkspace::Storage& workspace, const Progress& progress) const {
        auto* const storage = dynamic_cast<PolarizationSumStorage*>(&workspace);
        if (storage == nullptr)
            throw InvalidArgument("workspace: was made by a plan of another method or device");
        const auto start = std::chrono::steady_clock::now();
        if (options_.precision == Precision::single_)
            run(maps, convolved, storage->single, progress);
        else
            run(maps, convolved, storage->precise, progress);
        storage->seconds = {};
        storage->seconds.sums =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }

    template <class T, class Map>
    void run(View<const Map, 3> maps, View<Map, 3> convolved, std::vector<SumScratch<T>>& scratch,
             const Progress& progress) const {
        PassRunner<T> runner(schedule_, std::size(parts), options_.threads, scratch, progress);
        for (const Part& part : parts)
            runner.run(SumPass<Map>{schedule_, schedule_.kernel().with_part(part.part),
                                    component(maps, part.in), component(convolved, part.out), part.in == 1,
                                    part.out == 1, part.in == 1});
    }

    const PixelSumSchedule schedule_;
    const PixelConvolutionOptions options_;
};

}  // namespace

std::unique_ptr<const PolarizationConvolver> make_cpu_polarization_sum(
    const Grid& grid, const PolarizationKernel& kernel, const Grid& grid_out,
    const PixelConvolutionOptions& options) {
    return std::make_unique<CpuPolarizationSum>(grid, kernel, grid_out, options);
}

}  // namespace zonal::radial
