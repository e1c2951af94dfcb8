#include "zonal/normalized_convolution.hpp"

#include <fmt/core.h>

#include <cmath>
#include <utility>

#include "core/parallel.hpp"
#include "radial/column_sums.hpp"
#include "radial/pixel_sum/filled_pixels.hpp"
#include "sht/analysis/field_math.hpp"
#include "sht/array_checks.hpp"
#include "zonal/error.hpp"
#include "zonal/mask.hpp"

namespace zonal {
namespace {

template <class T>
void check_batch(const char* name, View<T, 2> maps, std::int64_t n_maps, std::int64_t n_pixels) {
    sht::check_host(name, maps);
    sht::check_extent(name, maps, 0, "map", n_maps);
    sht::check_extent(name, maps, 1, "pixel", n_pixels);
    sht::check_contiguous(name, maps);
}

template <class T>
void check_mask(View<const T, 1> mask) {
    for (std::int64_t pixel = 0; pixel < mask.extent(0); ++pixel)
        if (!(mask[pixel] >= 0 && mask[pixel] <= 1))
            throw InvalidArgument("mask",
                                  fmt::format("pixel {} is {}: must be from 0 to 1", pixel, mask[pixel]));
}

/// [map, pixel]: the maps times the mask, then the mask and 1.
template <class T>
Array<T, 2> with_mask(View<const T, 2> maps, View<const T, 1> mask) {
    const std::int64_t n_maps = maps.extent(0), n_pixels = maps.extent(1);
    Array<T, 2> masked({n_maps + 2, n_pixels});
    for (std::int64_t pixel = 0; pixel < n_pixels; ++pixel) {
        for (std::int64_t map = 0; map < n_maps; ++map)
            masked(map, pixel) = mask[pixel] == 0 ? T(0) : mask[pixel] * maps(map, pixel);
        masked(n_maps, pixel) = mask[pixel];
        masked(n_maps + 1, pixel) = 1;
    }
    return masked;
}

}  // namespace

namespace radial {

Grid unweighted(const Grid& grid) {
    std::vector<Ring> rings = grid.rings();
    for (Ring& ring : rings) ring.weight = 1;
    return Grid(std::move(rings), grid.n_pixels(), grid.name());
}

ColumnSums::ColumnSums(const Grid& grid, const RadialKernel& kernel, const Grid& grid_out,
                       const PixelConvolutionOptions& options)
    : grid_(grid), kernel_(kernel), grid_out_(grid_out), options_(options) {
    options_.precision = Precision::float64;
    options_.threads = core::resolve_threads(options.threads);
    if (are_weight_sums()) return;
    // The convolution of 1, from the output's pixels to the input's.
    const PixelConvolutionPlan plan(unweighted(grid_out), kernel, grid, options_);
    const std::vector<double> ones(static_cast<std::size_t>(grid_out.n_pixels()), 1.);
    all_.resize(static_cast<std::size_t>(grid.n_pixels()));
    plan.convolve<double>(View<const double, 2>(ones.data(), {1, grid_out.n_pixels()}),
                          View<double, 2>(all_.data(), {1, grid.n_pixels()}));
}

bool ColumnSums::are_weight_sums() const {
    return options_.method == PixelMethod::pixel_sum && options_.device.kind() == Device::Kind::cpu;
}

std::vector<double> ColumnSums::weight_sums_of(const std::vector<bool>& wanted, WeightSource source) const {
    const double accuracy = options_.accuracy == 0 ? default_accuracy(options_.precision) : options_.accuracy;
    return weight_sums(PixelSumSchedule(grid_out_, SumKernel(kernel_, accuracy), grid_, accuracy), wanted,
                       source, options_.threads);
}

bool ColumnSums::has_all() const {
    const std::lock_guard lock(mutex_);
    return !all_.empty();
}

const std::vector<double>& ColumnSums::all() const {
    const std::lock_guard lock(mutex_);
    if (all_.empty())
        all_ = weight_sums_of(std::vector<bool>(static_cast<std::size_t>(grid_.n_pixels()), true),
                              WeightSource::tables);
    return all_;
}

template <class T>
Array<T, 2> ColumnSums::divide(View<const T, 2> counts, const SkyPart& part) const {
    const SumRings rings(grid_);
    const FilledPixels filled(rings, counts, few_pixels<double>, options_.threads);
    const auto are_few = [&](std::int64_t map, std::int64_t ring) {
        return are_weight_sums() && filled.are_few(map, ring, PairKind::square);
    };
    Array<T, 2> shares(counts.extents());
    const auto divide_pixel = [&](std::int64_t map, std::int64_t pixel, double sum) {
        if (!(sum > 0))
            throw InvalidArgument("kernel",
                                  fmt::format("its sum over the output's pixels around input pixel {}, which "
                                              "holds counts, is {}: must be positive to conserve them",
                                              part.whole_pixel(pixel), sum));
        shares(map, pixel) = static_cast<T>(static_cast<double>(counts(map, pixel)) / sum);
    };
    const auto for_few = [&](const auto& use) {
        for (std::int64_t map = 0; map < counts.extent(0); ++map)
            for (std::int64_t ring = 0; ring < rings.size(); ++ring)
                for (const std::int64_t k : filled.of(map, ring)) use(map, rings[ring].first_pixel + k);
    };
    const auto for_others = [&](const auto& use) {
        for (std::int64_t map = 0; map < counts.extent(0); ++map)
            for (std::int64_t ring = 0; ring < rings.size(); ++ring) {
                if (are_few(map, ring)) continue;
                const std::int64_t first = rings[ring].first_pixel;
                for (auto pixel = first; pixel < first + rings[ring].n_pixels; ++pixel)
                    if (counts(map, pixel) != 0) use(map, pixel);
            }
    };
    const auto divide_by_own = [&](const auto& for_each, WeightSource source) {
        std::vector<bool> wanted(static_cast<std::size_t>(grid_.n_pixels()));
        for_each([&](std::int64_t, std::int64_t pixel) { wanted[static_cast<std::size_t>(pixel)] = true; });
        const std::vector<double> sums = weight_sums_of(wanted, source);
        for_each([&](std::int64_t map, std::int64_t pixel) {
            divide_pixel(map, pixel, sums[static_cast<std::size_t>(pixel)]);
        });
    };
    if (are_weight_sums() && filled.any()) divide_by_own(for_few, WeightSource::kernel);
    std::int64_t n_others = 0;
    for_others([&](std::int64_t, std::int64_t) { ++n_others; });
    // Those of an eighth of the pixels may take nearly the time of all, which are worth keeping.
    if (are_weight_sums() && !has_all() && n_others < counts.extent(0) * grid_.n_pixels() / 8) {
        if (n_others > 0) divide_by_own(for_others, WeightSource::tables);
    } else {
        const std::vector<double>& sums = all();
        for_others([&](std::int64_t map, std::int64_t pixel) {
            divide_pixel(map, pixel, sums[static_cast<std::size_t>(pixel)]);
        });
    }
    return shares;
}

template Array<float, 2> ColumnSums::divide(View<const float, 2>, const SkyPart&) const;
template Array<double, 2> ColumnSums::divide(View<const double, 2>, const SkyPart&) const;

}  // namespace radial

template <class T>
void convolve_masked(const PixelConvolutionPlan& plan, ConstView<T, 2> maps, ConstView<T, 1> mask,
                     View<T, 2> convolved, double min_share, const Progress& progress) {
    const std::int64_t n_maps = maps.extent(0);
    check_batch("maps", maps, n_maps, plan.grid().n_pixels());
    check_batch("convolved", convolved, n_maps, plan.grid_out().n_pixels());
    sht::check_host("mask", mask);
    sht::check_extent("mask", mask, 0, "pixel", plan.grid().n_pixels());
    check_mask<T>(mask);
    if (!(min_share > 0 && min_share <= 1))
        throw InvalidArgument("min_share", min_share, "must be above 0 and at most 1");
    const Array<T, 2> masked = with_mask<T>(maps, mask);
    Array<T, 2> sums({n_maps + 2, convolved.extent(1)});
    plan.convolve(masked.view(), sums.view(), progress);
    for (const Ring& ring : plan.grid_out().rings())
        for (std::int64_t pixel = ring.first_pixel; pixel < ring.first_pixel + ring.n_pixels; ++pixel) {
            for (std::int64_t map = 0; map < n_maps; ++map)
                convolved(map, pixel) = sht::over_share(sums(map, pixel), sums(n_maps, pixel),
                                                        min_share * std::abs(sums(n_maps + 1, pixel)));
        }
}

struct CountConvolutionPlan::Implementation {
    Implementation(const Grid& grid, const RadialKernel& kernel, const Grid& grid_out,
                   const PixelConvolutionOptions& options)
        : plan(radial::unweighted(grid), kernel, grid_out, options),
          sky(grid),
          column_sums(grid, kernel, grid_out, on_device_of(plan, options)) {}

    static PixelConvolutionOptions on_device_of(const PixelConvolutionPlan& plan,
                                                PixelConvolutionOptions options) {
        options.device = plan.options().device;
        return options;
    }

    const PixelConvolutionPlan plan;
    const WholeSky sky;
    const radial::ColumnSums column_sums;
};

CountConvolutionPlan::CountConvolutionPlan(const Grid& grid, const RadialKernel& kernel, const Grid& grid_out,
                                           const PixelConvolutionOptions& options)
    : implementation_(std::make_unique<Implementation>(grid, kernel, grid_out, options)) {}
CountConvolutionPlan::~CountConvolutionPlan() = default;
CountConvolutionPlan::CountConvolutionPlan(CountConvolutionPlan&&) noexcept = default;
CountConvolutionPlan& CountConvolutionPlan::operator=(CountConvolutionPlan&&) noexcept = default;

const std::vector<double>& CountConvolutionPlan::column_sums() const {
    return implementation_->column_sums.all();
}

template <class T>
void CountConvolutionPlan::convolve(ConstView<T, 2> counts, View<T, 2> convolved,
                                    const Progress& progress) const {
    const PixelConvolutionPlan& plan = implementation_->plan;
    check_batch("counts", counts, counts.extent(0), plan.grid().n_pixels());
    check_batch("convolved", convolved, counts.extent(0), plan.grid_out().n_pixels());
    const auto shares = implementation_->column_sums.divide<T>(counts, implementation_->sky);
    plan.convolve(shares.view(), convolved, progress);
}

template void convolve_masked(const PixelConvolutionPlan&, View<const float, 2>, View<const float, 1>,
                              View<float, 2>, double, const Progress&);
template void convolve_masked(const PixelConvolutionPlan&, View<const double, 2>, View<const double, 1>,
                              View<double, 2>, double, const Progress&);
template void CountConvolutionPlan::convolve(View<const float, 2>, View<float, 2>, const Progress&) const;
template void CountConvolutionPlan::convolve(View<const double, 2>, View<double, 2>, const Progress&) const;

}  // namespace zonal
