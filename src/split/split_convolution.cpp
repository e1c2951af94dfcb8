#include "zonal/split_convolution.hpp"

#include <fmt/core.h>

#include <chrono>
#include <complex>
#include <exception>
#include <functional>
#include <thread>
#include <utility>

#include "core/parallel.hpp"
#include "zonal/error.hpp"
#include "zonal/sht.hpp"
#include "zonal/spectrum.hpp"

namespace zonal {
namespace {

SplitConvolutionOptions resolve(SplitConvolutionOptions options) {
    constexpr double default_accuracy = 1e-7;
    if (options.accuracy == 0) options.accuracy = default_accuracy;
    options.threads = core::resolve_threads(options.threads);
    options.pixel_device = resolve_device(options.pixel_device);
    options.harmonic_device = resolve_device(options.harmonic_device);
    return options;
}

PixelConvolutionOptions pixel_options(const SplitConvolutionOptions& options) {
    PixelConvolutionOptions pixels;
    pixels.precision = options.precision;
    pixels.accuracy = options.accuracy;
    pixels.threads = options.threads;
    pixels.device = options.pixel_device;
    return pixels;
}

ShtOptions harmonic_options(const SplitConvolutionOptions& options, std::int64_t l_cut) {
    ShtOptions harmonic;
    harmonic.lmax = l_cut;
    harmonic.threads = options.threads;
    harmonic.device = options.harmonic_device;
    return harmonic;
}

template <class Work>
double seconds_of(Work&& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The first in this thread. Rethrows what it threw, else what the second threw.
void at_the_same_time(const std::function<void()>& first, const std::function<void()>& second) {
    std::exception_ptr failure_of_first, failure_of_second;
    const auto run = [](const std::function<void()>& work, std::exception_ptr& failure) {
        try {
            work();
        } catch (...) {
            failure = std::current_exception();
        }
    };
    std::thread other([&] { run(second, failure_of_second); });
    run(first, failure_of_first);
    other.join();
    if (failure_of_first) std::rethrow_exception(failure_of_first);
    if (failure_of_second) std::rethrow_exception(failure_of_second);
}

}  // namespace

struct SplitConvolutionPlan::Parts {
    Parts(const Grid& grid_of_maps, const KernelSplit& split, const SplitConvolutionOptions& given)
        : grid(grid_of_maps),
          options(resolve(given)),
          window(split.window),
          transform(grid, harmonic_options(options, split.quality.l_cut)),
          pixels(grid, split.profile.kernel(), grid, pixel_options(options)) {}

    /// The window's part. part: [map, pixel], overwritten where the grid has rings.
    template <class T>
    void apply_window(View<const T, 2> maps, View<T, 3> part) const {
        const auto n_maps = maps.extent(0), n_alm = transform.layout().size();
        Array<std::complex<T>, 3> alm({n_maps, 1, n_alm});
        const View<const T, 3> in(maps.data(), {n_maps, 1, maps.extent(1)},
                                  {maps.stride(0), maps.stride(0), 1});
        auto workspace = transform.make_workspace(n_maps);
        transform.quadrature<T>(in, alm.view(), workspace);
        for (std::int64_t map = 0; map < n_maps; ++map)
            multiply_alm<T>(transform.layout(), window, alm.view()[map][0]);
        transform.synthesize<T>(std::as_const(alm).view(), part, workspace);
    }

    template <class T>
    void add(View<const T, 3> part, View<T, 2> convolved) const {
        for (std::int64_t map = 0; map < convolved.extent(0); ++map)
            for (const auto& ring : grid.rings())
                for (auto p = ring.first_pixel; p < ring.first_pixel + ring.n_pixels; ++p)
                    convolved(map, p) += part(map, 0, p);
    }

    const Grid grid;
    const SplitConvolutionOptions options;
    const std::vector<double> window;
    const ShtPlan transform;
    const PixelConvolutionPlan pixels;
};

SplitConvolutionPlan::SplitConvolutionPlan(const Grid& grid, const KernelSplit& split,
                                           const SplitConvolutionOptions& options)
    : parts_(std::make_unique<const Parts>(grid, split, options)) {}
SplitConvolutionPlan::~SplitConvolutionPlan() = default;
SplitConvolutionPlan::SplitConvolutionPlan(SplitConvolutionPlan&&) noexcept = default;
SplitConvolutionPlan& SplitConvolutionPlan::operator=(SplitConvolutionPlan&&) noexcept = default;

const Grid& SplitConvolutionPlan::grid() const {
    return parts_->grid;
}

const SplitConvolutionOptions& SplitConvolutionPlan::options() const {
    return parts_->options;
}

template <class T>
SplitConvolutionSeconds SplitConvolutionPlan::convolve(View<const T, 2> maps, View<T, 2> convolved,
                                                       const Progress& progress) const {
    if (maps.space() != MemorySpace::host || convolved.space() != MemorySpace::host)
        throw InvalidArgument("maps and convolved: must be in host memory");
    SplitConvolutionSeconds seconds;
    const auto pixels = [&] {
        seconds.pixels = seconds_of([&] { parts_->pixels.convolve<T>(maps, convolved, progress); });
    };
    if (maps.extent(0) == 0) {
        pixels();
        return seconds;
    }
    Array<T, 3> part({maps.extent(0), 1, maps.extent(1)});
    const auto harmonic = [&] {
        seconds.harmonic = seconds_of([&] { parts_->apply_window<T>(maps, part.view()); });
    };
    if (options().pixel_device == options().harmonic_device) {
        pixels();
        harmonic();
    } else {
        at_the_same_time(pixels, harmonic);
    }
    parts_->add<T>(std::as_const(part).view(), convolved);
    return seconds;
}

template SplitConvolutionSeconds SplitConvolutionPlan::convolve(View<const float, 2>, View<float, 2>,
                                                                const Progress&) const;
template SplitConvolutionSeconds SplitConvolutionPlan::convolve(View<const double, 2>, View<double, 2>,
                                                                const Progress&) const;

}  // namespace zonal
