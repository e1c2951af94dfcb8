#include "radial/ring_fft/ring_fft.hpp"

#include <algorithm>

#include "radial/pixel_sum/pixel_sum.hpp"
#include "sht/progress_part.hpp"

namespace zonal::radial {
namespace {

struct MixedStorage : PixelConvolutionWorkspace::Storage {
    std::unique_ptr<PixelConvolutionWorkspace::Storage> first, second;

    void use_stream(void* cuda_stream) override {
        first->use_stream(cuda_stream);
        second->use_stream(cuda_stream);
    }
};

/// Some rings of the output by one method, the others by another.
template <int Rank>
class MixedConvolver final : public ConvolverOf<MixedConvolver<Rank>, MixedStorage, Rank> {
  public:
    using One = std::unique_ptr<const BasicConvolver<Rank>>;

    MixedConvolver(One first, One second) : first_(std::move(first)), second_(std::move(second)) {}

    template <class T>
    void convolve_maps(View<const T, 3> maps, View<T, 3> convolved, MixedStorage& storage,
                       const Progress& progress) const {
        const auto run = [&](const One& one, auto& part, double begin) {
            one->convolve(of_rank<Rank>(maps), of_rank<Rank>(convolved), *part,
                          sht::part_of(progress, begin, begin + 0.5));
        };
        run(first_, storage.first, 0);
        run(second_, storage.second, 0.5);
        storage.seconds = storage.first->seconds;
        add(storage.second->seconds, storage.seconds);
    }

    std::unique_ptr<PixelConvolutionWorkspace::Storage> make_workspace(std::int64_t n_maps) const override {
        auto storage = std::make_unique<MixedStorage>();
        storage->first = first_->make_workspace(n_maps);
        storage->second = second_->make_workspace(n_maps);
        return storage;
    }
    std::int64_t workspace_bytes(std::int64_t n_maps) const override {
        return first_->workspace_bytes(n_maps) + second_->workspace_bytes(n_maps);
    }
    std::vector<std::int64_t> workspace_parts() const override {
        std::vector<std::int64_t> parts = first_->workspace_parts();
        const std::vector<std::int64_t> more = second_->workspace_parts();
        parts.insert(parts.end(), more.begin(), more.end());
        return parts;
    }
    void prepare(PixelConvolutionWorkspace::Storage& workspace) const override {
        const MixedStorage& storage = this->storage_of(workspace);
        first_->prepare(*storage.first);
        second_->prepare(*storage.second);
    }
    PixelConvolutionWork work() const override {
        PixelConvolutionWork sum = first_->work();
        add(second_->work(), sum);
        return sum;
    }

  private:
    const One first_, second_;
};

bool on_cuda(const PixelConvolutionOptions& options) {
    return options.device.kind() == Device::Kind::cuda;
}

template <int Rank>
std::unique_ptr<const BasicConvolver<Rank>> make_rings(RingFftGeometry geometry,
                                                       const PixelConvolutionOptions& options) {
    return on_cuda(options) ? make_cuda_ring_fft<Rank>(std::move(geometry), options)
                            : make_cpu_ring_fft<Rank>(std::move(geometry), options);
}

template <int Rank, class Kernel>
std::unique_ptr<const BasicConvolver<Rank>> make_mixed(RingFftGeometry geometry, const Kernel& kernel,
                                                       const PixelConvolutionOptions& options) {
    const auto [direct, others] = ways_of_rings(geometry);
    if (direct.empty()) return make_rings<Rank>(std::move(geometry), options);
    const Grid &grid = geometry.grid(), &grid_out = geometry.grid_out();
    auto pixels = make_pixel_sum(grid, kernel, grid_out.subset(direct), options);
    if (others.empty()) return pixels;
    auto rings =
        make_rings<Rank>(RingFftGeometry(grid, kernel, grid_out.subset(others), options.accuracy), options);
    auto mixed = std::make_unique<const MixedConvolver<Rank>>(std::move(rings), std::move(pixels));
    if (!on_cuda(options)) return mixed;
    return make_staged<Rank>(std::move(mixed), grid_out, options);
}

}  // namespace

RingWays ways_of_rings(const RingFftGeometry& geometry) {
    RingWays ways{geometry.direct_rings(), {}};
    auto& direct = ways.direct;
    std::sort(direct.begin(), direct.end());
    for (std::int64_t ring = 0; ring < geometry.grid_out().n_rings(); ++ring)
        if (!std::binary_search(direct.begin(), direct.end(), ring)) ways.others.push_back(ring);
    return ways;
}

std::unique_ptr<const Convolver> make_ring_fft(const Grid& grid, const RadialKernel& kernel,
                                               const Grid& grid_out, const PixelConvolutionOptions& options) {
    return make_mixed<2>(RingFftGeometry(grid, kernel, grid_out, options.accuracy), kernel, options);
}

std::unique_ptr<const PolarizationConvolver> make_ring_fft(const Grid& grid, const PolarizationKernel& kernel,
                                                           const Grid& grid_out,
                                                           const PixelConvolutionOptions& options) {
    return make_mixed<3>(RingFftGeometry(grid, kernel, grid_out, options.accuracy), kernel, options);
}

}  // namespace zonal::radial
