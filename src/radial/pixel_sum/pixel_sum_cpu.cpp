#include <algorithm>

#include "core/stopwatch.hpp"
#include "radial/pixel_sum/passes.hpp"
#include "radial/pixel_sum/pixel_sum.hpp"
#include "zonal/error.hpp"

namespace zonal::radial {
namespace {

/// A plan of one field takes none of a plan of Q and U, nor the other way round.
template <int Rank>
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

/// Component c of [map, component, pixel].
template <class T>
View<T, 2> component(View<T, 3> maps, std::int64_t c) {
    return {
        maps.data() + c * maps.stride(1), {maps.extent(0), maps.extent(2)}, {maps.stride(0), maps.stride(2)}};
}

/// Which part of a kernel takes which component to which, in a pass of its own.
struct Part {
    KernelPart part;
    int out, in;
};
template <int components>
constexpr Part parts_of_kernel[] = {{KernelPart::radial, 0, 0}};
template <>
constexpr Part parts_of_kernel<2>[] = {
    {KernelPart::qq, 0, 0}, {KernelPart::qu, 0, 1}, {KernelPart::uq, 1, 0}, {KernelPart::uu, 1, 1}};

template <int Rank>
class CpuPixelSum final : public ConvolverOf<CpuPixelSum<Rank>, PixelSumStorage<Rank>, Rank> {
  public:
    using CpuPixelSum::ConvolverOf::components;

    CpuPixelSum(const Grid& grid, const SumKernel& kernel, const Grid& grid_out,
                const PixelConvolutionOptions& options)
        : schedule_(grid, kernel, grid_out, options.accuracy), options_(options) {}

    template <class Map>
    void convolve_maps(View<const Map, 3> maps, View<Map, 3> convolved, PixelSumStorage<Rank>& storage,
                       const Progress& progress) const {
        const core::Stopwatch watch;
        if (options_.precision == Precision::float32)
            run<float>(maps, convolved, storage, progress);
        else
            run<double>(maps, convolved, storage, progress);
        storage.seconds = {};
        storage.seconds.sums = watch.seconds();
    }

    std::unique_ptr<PixelConvolutionWorkspace::Storage> make_workspace(std::int64_t) const override {
        return std::make_unique<PixelSumStorage<Rank>>();
    }

    // Rows and sums of a band, in each thread: what the bands are cut to. Lists of pixels.
    std::int64_t workspace_bytes(std::int64_t n_maps) const override {
        constexpr std::int64_t band_bytes = 1 << 21;
        const FewPixels few =
            options_.precision == Precision::float32 ? few_pixels<float> : few_pixels<double>;
        return std::min(n_maps, PassRunner<double>::maps_at_once) * options_.threads * band_bytes +
               n_maps * FilledPixels::bytes(schedule_.inputs(), few);
    }

    PixelConvolutionWork work() const override {
        PixelConvolutionWork one = schedule_.work(), work;
        one.pixel_weights = options_.precision == Precision::float32 ? count_weight_values<float>(schedule_)
                                                                     : count_weight_values<double>(schedule_);
        for (int pass = 0; pass < n_passes; ++pass) add(one, work);
        return work;
    }

  private:
    static constexpr int n_passes = std::size(parts_of_kernel<components>);

    template <class T, class Map>
    void run(View<const Map, 3> maps, View<Map, 3> convolved, PixelSumStorage<Rank>& storage,
             const Progress& progress) const {
        PassRunner<T> runner(schedule_, n_passes, options_.threads, storage.template scratch<T>(), progress);
        for (const auto& [part, out, in] : parts_of_kernel<components>)
            runner.run(SumPass<Map>{schedule_, schedule_.kernel().with_part(part), component(maps, in),
                                    component(convolved, out), in == 1, out == 1, in == 1});
    }

    const PixelSumSchedule schedule_;
    const PixelConvolutionOptions options_;
};

}  // namespace

std::unique_ptr<const Convolver> make_cpu_pixel_sum(const Grid& grid, const RadialKernel& kernel,
                                                    const Grid& grid_out,
                                                    const PixelConvolutionOptions& options) {
    return std::make_unique<CpuPixelSum<2>>(grid, SumKernel(kernel, options.accuracy), grid_out, options);
}

std::unique_ptr<const PolarizationConvolver> make_cpu_pixel_sum(const Grid& grid,
                                                                const PolarizationKernel& kernel,
                                                                const Grid& grid_out,
                                                                const PixelConvolutionOptions& options) {
    return std::make_unique<CpuPixelSum<3>>(grid, SumKernel(kernel.plus(), kernel.minus(), options.accuracy),
                                            grid_out, options);
}

}  // namespace zonal::radial
