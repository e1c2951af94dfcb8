#include "zonal/split_convolution.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <complex>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

#include "core/parallel.hpp"
#include "core/stopwatch.hpp"
#include "radial/convolver.hpp"
#include "radial/part_sums.hpp"
#include "sht/transform.hpp"
#include "sky/sky_part.hpp"
#include "zonal/error.hpp"
#include "zonal/polarization_convolution.hpp"
#include "zonal/sht.hpp"
#include "zonal/spectrum.hpp"

namespace zonal {
namespace {

SplitConvolutionOptions resolved(SplitConvolutionOptions options, const SkyPart& part) {
    constexpr double default_accuracy = 1e-7;
    if (options.accuracy == 0) options.accuracy = default_accuracy;
    options.threads = core::resolve_threads(options.threads);
    options.pixel_device = resolve_device(part.device(options.pixel_device));
    options.harmonic_device = resolve_device(part.device(options.harmonic_device));
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

ShtOptions harmonic_options(const SplitConvolutionOptions& options, std::int64_t lmax, int spin) {
    ShtOptions harmonic;
    harmonic.lmax = lmax;
    harmonic.spin = spin;
    harmonic.threads = options.threads;
    harmonic.device = options.harmonic_device;
    return harmonic;
}

/// The first in this thread. Rethrows what it threw, else what the second threw.
void at_the_same_time(const std::function<void()>& first, const std::function<void()>& second) {
    std::exception_ptr failure_of_second;
    std::thread other([&] { failure_of_second = thrown_by(second); });
    const auto failure_of_first = thrown_by(first);
    other.join();
    if (failure_of_first) std::rethrow_exception(failure_of_first);
    if (failure_of_second) std::rethrow_exception(failure_of_second);
}

}  // namespace

template <int Rank>
struct BasicSplitConvolutionPlan<Rank>::Implementation {
    static constexpr int n_components = Rank - 1, spin = Rank == 2 ? 0 : 2;
    using Pixels =
        radial::PartSums<std::conditional_t<Rank == 2, PixelConvolutionPlan, PolarizationConvolutionPlan>>;

    Implementation(const Grid& grid_of_maps, const KernelSplit& split, const SplitConvolutionOptions& given)
        : grid(grid_of_maps),
          part(part_or_whole(given.part, grid)),
          options(resolved(given, *part)),
          window(window_of(split)),
          transform(part->transform(harmonic_options(options, std::ssize(window) - 1, spin))) {
        auto halo = part->halo(kernel_of(split.profile).support());
        part->together("a plan of a split's sums", [&] {
            pixels.emplace(*part, std::move(halo), kernel_of(split.profile), pixel_options(options));
        });
    }

    /// As far as the transform goes, which goes to the spin at least.
    static std::vector<double> window_of(const KernelSplit& split) {
        if (split.spin != spin)
            throw InvalidArgument("split",
                                  fmt::format("is of spin {}, must be of spin {}", split.spin, spin));
        auto window = split.window;
        window.resize(std::max<std::size_t>(window.size(), spin + 1));
        return window;
    }
    static auto kernel_of(const SplineProfile& profile) {
        if constexpr (Rank == 2)
            return profile.kernel();
        else
            return profile.polarization_kernel();
    }

    /// The window's part. product: [map, component, pixel], overwritten where the grid has rings.
    template <class T>
    void apply_window(View<const T, 3> maps, View<T, 3> product) const {
        Array<std::complex<T>, 3> alm;
        std::optional<ShtWorkspace> workspace;
        part->together("memory of a split's window", [&] {
            alm = Array<std::complex<T>, 3>({maps.extent(0), n_components, transform->layout().size()});
            workspace.emplace(transform->make_workspace(maps.extent(0)));
        });
        transform->quadrature<T>(maps, alm.view(), *workspace);
        for (std::int64_t map = 0; map < maps.extent(0); ++map)
            for (int c = 0; c < n_components; ++c)
                multiply_alm<T>(transform->layout(), window, alm.view()[map][c]);
        transform->synthesize<T>(std::as_const(alm).view(), product, *workspace);
    }

    template <class T>
    void add(View<const T, 3> product, View<T, 3> convolved) const {
        for (std::int64_t map = 0; map < convolved.extent(0); ++map)
            for (int c = 0; c < n_components; ++c)
                for (const auto& ring : grid.rings())
                    for (auto p = ring.first_pixel; p < ring.first_pixel + ring.n_pixels; ++p)
                        convolved(map, c, p) += product(map, c, p);
    }

    /// Returns those that an earlier call left and no other call has now, or else none, which are to be made.
    typename Pixels::Workspaces take_workspaces() const {
        const std::lock_guard lock(mutex);
        const bool share_gpu = options.pixel_device == options.harmonic_device;
        return std::exchange(kept, {.reserved = share_gpu ? transform->workspace_bytes() : 0});
    }
    /// For the next call, on a GPU.
    void keep(typename Pixels::Workspaces workspaces) const {
        const std::lock_guard lock(mutex);
        if (options.pixel_device.kind() == Device::Kind::cuda) kept = std::move(workspaces);
    }

    template <class T>
    SplitConvolutionSeconds convolve(View<const T, Rank> maps, View<T, Rank> convolved,
                                     const Progress& progress) const {
        if (maps.space() != MemorySpace::host || convolved.space() != MemorySpace::host)
            throw InvalidArgument("maps and convolved", "must be in host memory");
        SplitConvolutionSeconds seconds;
        const auto in = radial::with_component(maps);
        const auto sum = [&] {
            seconds.pixels = core::seconds_of([&] {
                HaloMemory memory;
                auto workspaces = take_workspaces();
                pixels->template convolve<T>(maps, convolved, workspaces, memory, progress);
                keep(std::move(workspaces));
            });
        };
        if (maps.extent(0) == 0) {
            sum();
            return seconds;
        }
        Array<T, 3> product(in.extents());
        const auto harmonic = [&] {
            seconds.harmonic = core::seconds_of([&] { apply_window<T>(in, product.view()); });
        };
        // On one GPU on two streams: while one part's maps are on their way, the other works.
        if (are_one_by_one()) {
            sum();
            harmonic();
        } else {
            at_the_same_time(sum, harmonic);
        }
        add<T>(std::as_const(product).view(), radial::with_component(convolved));
        return seconds;
    }

    double scratch_bytes(std::int64_t n_maps) const {
        const auto product = n_maps * n_components * grid.n_pixels() * std::int64_t{8},
                   alm = n_maps * n_components * transform->layout().size() * std::int64_t{16};
        const auto of_sums = options.pixel_device.kind() == Device::Kind::cuda
                                 ? 0
                                 : pixels->workspace_bytes(n_maps),
                   of_window = alm + sht::host_workspace_bytes(*transform, n_maps);
        return static_cast<double>(product +
                                   (are_one_by_one() ? std::max(of_sums, of_window) : of_sums + of_window));
    }

    /// Where both work on the CPU, and among ranks, which all meet in the same order.
    bool are_one_by_one() const {
        return part->is_of_a_rank() ||
               (options.pixel_device == Device::cpu() && options.harmonic_device == Device::cpu());
    }

    const Grid grid;
    const std::shared_ptr<const SkyPart> part;
    const SplitConvolutionOptions options;
    const std::vector<double> window;
    const std::shared_ptr<const ShtPlan> transform;
    std::optional<Pixels> pixels;
    mutable std::mutex mutex;
    mutable typename Pixels::Workspaces kept;  ///< between calls
};

template <int Rank>
BasicSplitConvolutionPlan<Rank>::BasicSplitConvolutionPlan(const Grid& grid, const KernelSplit& split,
                                                           const SplitConvolutionOptions& options)
    : implementation_(std::make_unique<const Implementation>(grid, split, options)) {}
template <int Rank>
BasicSplitConvolutionPlan<Rank>::~BasicSplitConvolutionPlan() = default;
template <int Rank>
BasicSplitConvolutionPlan<Rank>::BasicSplitConvolutionPlan(BasicSplitConvolutionPlan&&) noexcept = default;
template <int Rank>
BasicSplitConvolutionPlan<Rank>& BasicSplitConvolutionPlan<Rank>::operator=(
    BasicSplitConvolutionPlan&&) noexcept = default;

template <int Rank>
const Grid& BasicSplitConvolutionPlan<Rank>::grid() const {
    return implementation_->grid;
}

template <int Rank>
const SplitConvolutionOptions& BasicSplitConvolutionPlan<Rank>::options() const {
    return implementation_->options;
}

template <int Rank>
template <class T>
SplitConvolutionSeconds BasicSplitConvolutionPlan<Rank>::convolve(ConstView<T, Rank> maps,
                                                                  View<T, Rank> convolved,
                                                                  const Progress& progress) const {
    return implementation_->template convolve<T>(maps, convolved, progress);
}

template <int Rank>
double BasicSplitConvolutionPlan<Rank>::scratch_bytes(std::int64_t n_maps) const {
    return implementation_->scratch_bytes(n_maps);
}

template class BasicSplitConvolutionPlan<2>;
template SplitConvolutionSeconds BasicSplitConvolutionPlan<2>::convolve(View<const float, 2>, View<float, 2>,
                                                                        const Progress&) const;
template SplitConvolutionSeconds BasicSplitConvolutionPlan<2>::convolve(View<const double, 2>,
                                                                        View<double, 2>,
                                                                        const Progress&) const;
template class BasicSplitConvolutionPlan<3>;
template SplitConvolutionSeconds BasicSplitConvolutionPlan<3>::convolve(View<const float, 3>, View<float, 3>,
                                                                        const Progress&) const;
template SplitConvolutionSeconds BasicSplitConvolutionPlan<3>::convolve(View<const double, 3>,
                                                                        View<double, 3>,
                                                                        const Progress&) const;

}  // namespace zonal
