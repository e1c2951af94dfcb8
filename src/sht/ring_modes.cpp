#include "zonal/sht/ring_modes.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "core/parallel.hpp"
#include "sht/array_checks.hpp"
#include "sht/cpu_stages.hpp"
#include "zonal/error.hpp"

namespace zonal {
namespace {

/// Which lanes of a fourier_block hold a ring: those of its side's real parts; the imaginary ones follow.
constexpr std::int64_t north = 0, south = 2;

/// Calls work(lanes, ring) for the rings of a block; lanes: where the real part of a field's F_m lies.
template <class Work>
void for_each_ring(const sht::RingPairs& pairs, std::int64_t block, const Work& work) {
    for (std::int64_t j = 0; j < sht::block_size; ++j) {
        const sht::RingPair& pair = pairs.pairs[static_cast<std::size_t>(block * sht::block_size + j)];
        if (pair.north >= 0) work(north * sht::block_size + j, pair.north);
        if (pair.south >= 0) work(south * sht::block_size + j, pair.south);
    }
}

/// The F_m of a band's blocks as rows. modes: [field, ring, order]; they are 0 where an order does not reach.
template <class T>
void store(const sht::FourierBand& band, const sht::RingPairs& pairs, const AlmLayout& layout, int threads,
           std::span<const View<std::complex<T>, 2>> modes) {
    core::parallel_for(band.end - band.first, threads, [&](std::int64_t task, int) {
        const std::int64_t block = band.first + task;
        for (std::int64_t k = 0; k < layout.n_orders(); ++k) {
            const std::int64_t m = layout.order(k);
            const bool reaches = m <= band.last_m(block);
            for (std::size_t f = 0; f < modes.size(); ++f) {
                const double* from =
                    reaches ? band.at(block, m) + static_cast<std::int64_t>(f) * sht::fourier_block : nullptr;
                for_each_ring(pairs, block, [&](std::int64_t lane, std::int64_t ring) {
                    modes[f](ring, k) = from == nullptr
                                            ? std::complex<T>{}
                                            : std::complex<T>(static_cast<T>(from[lane]),
                                                              static_cast<T>(from[lane + sht::block_size]));
                });
            }
        }
    });
}

/// The other way; lanes without a ring become 0.
template <class T>
void load(std::span<const View<const std::complex<T>, 2>> modes, const sht::RingPairs& pairs,
          const AlmLayout& layout, int threads, const sht::FourierBand& band) {
    core::parallel_for(band.end - band.first, threads, [&](std::int64_t task, int) {
        const std::int64_t block = band.first + task;
        for (std::int64_t k = 0; k < layout.n_orders() && layout.order(k) <= band.last_m(block); ++k) {
            double* const row = band.at(block, layout.order(k));
            std::fill_n(row, band.n_fields * sht::fourier_block, 0.0);
            for (std::size_t f = 0; f < modes.size(); ++f)
                for_each_ring(pairs, block, [&](std::int64_t lane, std::int64_t ring) {
                    double* const to = row + static_cast<std::int64_t>(f) * sht::fourier_block + lane;
                    to[0] = modes[f](ring, k).real();
                    to[sht::block_size] = layout.order(k) == 0 ? 0 : modes[f](ring, k).imag();
                });
        }
    });
}

/// Maps [first, first + count) of a batch, field by field.
template <class T>
std::vector<View<T, 2>> fields_of(const View<T, 4>& modes, std::int64_t first, std::int64_t count) {
    std::vector<View<T, 2>> fields;
    for (std::int64_t i = first; i < first + count; ++i)
        for (std::int64_t c = 0; c < modes.extent(1); ++c) fields.push_back(modes[i][c]);
    return fields;
}

/// The options of stages on the CPU for orders up to mmax.
ShtOptions options_on_cpu(ShtOptions options, std::int64_t mmax) {
    if (options.device.kind() == Device::Kind::cuda)
        throw InvalidArgument("device", to_string(options.device),
                              "must be cpu for the halves of a transform");
    options.device = Device::cpu();
    options.mmax = mmax;
    return sht::resolve_options(options);
}

std::int64_t last_of(const std::vector<std::int64_t>& orders) {
    if (orders.empty()) throw InvalidArgument("orders", "must hold at least one order");
    return orders.back();
}

std::vector<std::int64_t> orders_of(const AlmLayout& layout) {
    std::vector<std::int64_t> orders(static_cast<std::size_t>(layout.n_orders()));
    for (std::int64_t k = 0; k < layout.n_orders(); ++k)
        orders[static_cast<std::size_t>(k)] = layout.order(k);
    return orders;
}

}  // namespace

struct LegendrePlan::Implementation {
    Implementation(const Grid& rings, const ShtOptions& requested, const std::vector<std::int64_t>& orders)
        : grid(rings),
          options(options_on_cpu(requested, last_of(orders))),
          layout(options.lmax, options.mmax, orders),
          pairs(grid, options.lmax, options.mmax, options.spin),
          stages(layout, options, pairs, grid.rings(), nullptr) {}

    template <class T>
    void check(const View<const std::complex<T>, 3>& alm, const View<const std::complex<T>, 4>& modes) const {
        sht::check_host("alm", alm);
        sht::check_host("modes", modes);
        sht::check_contiguous("alm", alm);
        const std::int64_t components = stages.table().components;
        sht::check_extent("alm", alm, 1, "component", options.parts == SpinParts::both ? components : 1);
        sht::check_extent("alm", alm, 2, "coefficient", layout.size());
        sht::check_extent("modes", modes, 0, "batch", alm.extent(0));
        sht::check_extent("modes", modes, 1, "component", components);
        sht::check_extent("modes", modes, 2, "ring", grid.n_rings());
        sht::check_extent("modes", modes, 3, "order", layout.n_orders());
    }

    /// Calls work(band, first map, maps) for every band of every pass.
    template <class Work>
    void for_each_band(std::int64_t n_maps, sht::CpuStorage& workspace, const Work& work) const {
        stages.fit(workspace);
        const std::vector<std::vector<std::int64_t>> runs{orders_of(layout)};
        for (std::int64_t first = 0; first < n_maps; first += stages.maps_per_pass()) {
            const std::int64_t maps = std::min(stages.maps_per_pass(), n_maps - first);
            const std::int64_t n_fields = maps * stages.table().components;
            const auto bounds = stages.band_bounds(n_fields);
            for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
                sht::FourierBand band(pairs, bounds[i], bounds[i + 1], n_fields, runs);
                band.data = workspace.fourier.reserve(band.size());
                work(band, first, maps);
            }
        }
    }
    sht::OrderNumbers all_orders() const { return {0, layout.n_orders()}; }

    const Grid grid;
    const ShtOptions options;
    const AlmLayout layout;
    const sht::RingPairs pairs;
    const sht::CpuStages stages;
};

LegendrePlan::LegendrePlan(const Grid& rings, const ShtOptions& options,
                           const std::vector<std::int64_t>& orders)
    : implementation_(std::make_unique<const Implementation>(rings, options, orders)) {}
LegendrePlan::~LegendrePlan() = default;
LegendrePlan::LegendrePlan(LegendrePlan&&) noexcept = default;
LegendrePlan& LegendrePlan::operator=(LegendrePlan&&) noexcept = default;

const AlmLayout& LegendrePlan::layout() const {
    return implementation_->layout;
}

template <class T>
void LegendrePlan::synthesize(ConstView<std::complex<T>, 3> alm, View<std::complex<T>, 4> modes) const {
    const Implementation& own = *implementation_;
    own.check<T>(alm, modes);
    sht::CpuStorage workspace;
    own.for_each_band(
        alm.extent(0), workspace, [&](const sht::FourierBand& band, std::int64_t first, std::int64_t maps) {
            own.stages.synthesize_orders<T>(alm.slice(first, maps), own.all_orders(), band, workspace);
            const auto fields = fields_of(modes, first, maps);
            store<T>(band, own.pairs, own.layout, own.options.threads, fields);
        });
}

template <class T>
void LegendrePlan::adjoint(ConstView<std::complex<T>, 4> modes, View<std::complex<T>, 3> alm) const {
    const Implementation& own = *implementation_;
    own.check<T>(alm, modes);
    sht::CpuStorage workspace;
    own.for_each_band(alm.extent(0), workspace,
                      [&](const sht::FourierBand& band, std::int64_t first, std::int64_t maps) {
                          const auto fields = fields_of(modes, first, maps);
                          load<T>(fields, own.pairs, own.layout, own.options.threads, band);
                          own.stages.adjoint_orders<T>({&band, 1}, alm.slice(first, maps), own.all_orders(),
                                                       workspace, band.first > 0);
                      });
}

struct RingPlan::Implementation {
    Implementation(const Grid& whole, std::int64_t mmax, int threads)
        : grid(whole),
          // No theta resampling: there is no Legendre stage.
          options(options_on_cpu({.lmax = mmax, .threads = threads, .device = Device::cpu(), .accuracy = 0},
                                 mmax)),
          layout(mmax),
          pairs(sht::RingPairs(grid, mmax, mmax, 0).with_all_orders(mmax)),
          stages(layout, options, pairs, grid.rings(), nullptr) {}

    template <class T>
    void check(const View<const std::complex<T>, 3>& modes, const View<const T, 2>& map) const {
        sht::check_host("modes", modes);
        sht::check_host("map", map);
        sht::check_contiguous("map", map);
        sht::check_extent("modes", modes, 0, "field", map.extent(0));
        sht::check_extent("modes", modes, 1, "ring", grid.n_rings());
        sht::check_extent("modes", modes, 2, "order", layout.n_orders());
        sht::check_extent("map", map, 1, "pixel", grid.n_pixels());
    }

    /// Calls work(band, field) for every band of each field.
    template <class Work>
    void for_each_band(std::int64_t n_fields, sht::CpuStorage& workspace, const Work& work) const {
        stages.fit(workspace);
        const auto bounds = stages.band_bounds(1);
        for (std::int64_t field = 0; field < n_fields; ++field)
            for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
                sht::FourierBand band(pairs, bounds[i], bounds[i + 1], 1);
                band.data = workspace.fourier.reserve(band.size());
                work(band, field);
            }
    }

    const Grid grid;
    const ShtOptions options;
    const AlmLayout layout;
    const sht::RingPairs pairs;
    const sht::CpuStages stages;
};

RingPlan::RingPlan(const Grid& grid, std::int64_t mmax, int threads) {
    if (mmax < 0) throw InvalidArgument("mmax", mmax, "must be 0 or more");
    implementation_ = std::make_unique<const Implementation>(grid, mmax, threads);
}
RingPlan::~RingPlan() = default;
RingPlan::RingPlan(RingPlan&&) noexcept = default;
RingPlan& RingPlan::operator=(RingPlan&&) noexcept = default;

namespace {

/// One map as [1, 1, pixel].
template <class T>
View<T, 3> alone(const View<T, 1>& map) {
    return {map.data(), {1, 1, map.extent(0)}};
}

}  // namespace

template <class T>
void RingPlan::synthesize(ConstView<std::complex<T>, 3> modes, View<T, 2> map) const {
    const Implementation& own = *implementation_;
    own.check<T>(modes, map);
    sht::CpuStorage workspace;
    own.for_each_band(map.extent(0), workspace, [&](const sht::FourierBand& band, std::int64_t field) {
        const View<const std::complex<T>, 2> rows = modes[field];
        load<T>({&rows, 1}, own.pairs, own.layout, own.options.threads, band);
        own.stages.synthesize_rings<T>(band, alone(map[field]), workspace);
    });
}

template <class T>
void RingPlan::adjoint(ConstView<T, 2> map, View<std::complex<T>, 3> modes) const {
    const Implementation& own = *implementation_;
    own.check<T>(modes, map);
    sht::CpuStorage workspace;
    own.for_each_band(map.extent(0), workspace, [&](const sht::FourierBand& band, std::int64_t field) {
        own.stages.adjoint_rings<T>(alone(map[field]), false, band, workspace);
        const View<std::complex<T>, 2> rows = modes[field];
        store<T>(band, own.pairs, own.layout, own.options.threads, {&rows, 1});
    });
}

template void LegendrePlan::synthesize(View<const std::complex<float>, 3>,
                                       View<std::complex<float>, 4>) const;
template void LegendrePlan::synthesize(View<const std::complex<double>, 3>,
                                       View<std::complex<double>, 4>) const;
template void LegendrePlan::adjoint(View<const std::complex<float>, 4>, View<std::complex<float>, 3>) const;
template void LegendrePlan::adjoint(View<const std::complex<double>, 4>, View<std::complex<double>, 3>) const;
template void RingPlan::synthesize(View<const std::complex<float>, 3>, View<float, 2>) const;
template void RingPlan::synthesize(View<const std::complex<double>, 3>, View<double, 2>) const;
template void RingPlan::adjoint(View<const float, 2>, View<std::complex<float>, 3>) const;
template void RingPlan::adjoint(View<const double, 2>, View<std::complex<double>, 3>) const;

}  // namespace zonal
