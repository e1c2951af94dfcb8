#include "sht/rings/wire_cuda.cuh"

#include <algorithm>

namespace zonal::sht::cuda {
namespace {

constexpr int warp_size = 32;
constexpr int threads = 128;
static_assert(fourier_block == warp_size && sizeof(PairModes) == 4 * sizeof(double));

/// What the kernel reads of both sides.
struct WireView {
    const std::int64_t *orders, *origin, *first_pair;
    std::int64_t n_pairs, field_stride;
    const FourierBand::Place* places;
    const std::int64_t* offsets;
    std::int64_t n_blocks, n_fields;
};

/// A warp copies a block of pairs of one field at a time: 256 bytes in a row on either side, where they have
/// another order, [pair][part] here and [part][pair] in the band. Blocks along y: orders.
template <bool ToBand>
__global__ void __launch_bounds__(threads) wire_kernel(WireView v, PairModes* modes, double* band) {
    const std::int64_t m = v.orders[blockIdx.y], first_pair = v.first_pair[m];
    if (first_pair >= v.n_pairs) return;
    const FourierBand::Place place = v.places[m];
    const std::int64_t first_block = first_pair / block_size;
    const std::int64_t n_rows = (v.n_blocks - first_block) * v.n_fields;
    const int lane = threadIdx.x % warp_size, part = lane / block_size, pair_of_block = lane % block_size;
    const std::int64_t warps = static_cast<std::int64_t>(gridDim.x) * (threads / warp_size);
    for (std::int64_t row = (blockIdx.x * threads + threadIdx.x) / warp_size; row < n_rows; row += warps) {
        const std::int64_t block = first_block + row / v.n_fields, field = row % v.n_fields;
        const std::int64_t pair = block * block_size + pair_of_block;
        const std::int64_t before = v.offsets[place.run * v.n_blocks + block] + place.position;
        double* const there = band + (before * v.n_fields + field) * fourier_block + lane;
        double* const here =
            reinterpret_cast<double*>(modes + field * v.field_stride + v.origin[m] + pair) + part;
        if constexpr (ToBand)
            *there = pair < v.n_pairs ? *here : 0;
        else if (pair < v.n_pairs)
            *here = *there;
    }
}

/// The same of a band with zones.
struct ZoneView {
    const std::int64_t *orders, *origin, *first_pair;
    std::int64_t n_pairs, field_stride;
    const std::int32_t* zones;
    const std::int64_t* origins;
    std::int64_t orders_of_zone, band_stride;
};

/// A thread copies half of a pair's modes at a time. Blocks along y: orders; along z: fields.
template <bool ToBand>
__global__ void __launch_bounds__(threads) zone_kernel(ZoneView v, PairModes* modes, double* band) {
    const std::int64_t m = v.orders[blockIdx.y], field = blockIdx.z;
    auto* const here = reinterpret_cast<double2*>(modes + field * v.field_stride + v.origin[m]);
    auto* const there = reinterpret_cast<double2*>(band + field * v.band_stride);
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * threads;
    for (std::int64_t half = 2 * v.first_pair[m] + blockIdx.x * threads + threadIdx.x; half < 2 * v.n_pairs;
         half += step) {
        const std::int64_t zone = v.zones[half / 2 / block_size],
                           place = 2 * v.origins[zone * v.orders_of_zone + m] + half;
        if constexpr (ToBand)
            there[place] = here[half];
        else
            here[half] = there[place];
    }
}

template <bool ToBand>
void copy_zones(const FourierLayout& layout, Orders orders, PairModes* modes, const BandTables& tables,
                const FourierBand& band, cudaStream_t stream) {
    constexpr std::int64_t halves_per_block = 8 * threads;
    const dim3 blocks(static_cast<unsigned>((2 * layout.n_pairs() + halves_per_block - 1) / halves_per_block),
                      static_cast<unsigned>(orders.count()), static_cast<unsigned>(band.n_fields));
    const ZoneView view{layout.orders() + orders.first,
                        layout.origin(),
                        layout.first_pairs(),
                        layout.n_pairs(),
                        layout.size(),
                        tables.zones.data(),
                        tables.origins.data(),
                        static_cast<std::int64_t>(band.places().size()),
                        band.size() / band.n_fields};
    zone_kernel<ToBand><<<blocks, threads, 0, stream>>>(view, modes, band.data);
    core::check_launch("Fourier coefficients of zones");
}

template <bool ToBand>
void copy_modes(const FourierLayout& layout, Orders orders, PairModes* modes, const BandTables& tables,
                const FourierBand& band, cudaStream_t stream) {
    if (orders.count() == 0) return;
    if (band.has_zones()) return copy_zones<ToBand>(layout, orders, modes, tables, band, stream);
    // Some rows a warp, as each has little to do.
    constexpr std::int64_t rows_per_block = 4 * threads / warp_size;
    const std::int64_t n_rows = band.n_stored_blocks() * band.n_fields;
    const dim3 blocks(static_cast<unsigned>((n_rows + rows_per_block - 1) / rows_per_block),
                      static_cast<unsigned>(orders.count()));
    const WireView view{layout.orders() + orders.first,
                        layout.origin(),
                        layout.first_pairs(),
                        layout.n_pairs(),
                        layout.size(),
                        tables.places.data(),
                        tables.offsets.data(),
                        band.n_stored_blocks(),
                        band.n_fields};
    wire_kernel<ToBand><<<blocks, threads, 0, stream>>>(view, modes, band.data);
    core::check_launch("Fourier coefficients of a band");
}

template <class T>
void copy_table(const std::vector<T>& table, core::DeviceArray<T>& copy, cudaStream_t stream) {
    copy.reserve(static_cast<std::int64_t>(table.size()));
    core::check_cuda(
        cudaMemcpyAsync(copy.data(), table.data(), table.size() * sizeof(T), cudaMemcpyHostToDevice, stream),
        "copying a band's tables");
}

}  // namespace

void BandTables::fill(const FourierBand& band, cudaStream_t stream) {
    if (band.has_zones()) {
        copy_table(band.zones(), zones, stream);
        copy_table(band.origins(), origins, stream);
        return;
    }
    copy_table(band.places(), places, stream);
    copy_table(band.offsets(), offsets, stream);
}

void to_band(const FourierLayout& layout, Orders orders, const PairModes* modes, const BandTables& tables,
             const FourierBand& band, cudaStream_t stream) {
    copy_modes<true>(layout, orders, const_cast<PairModes*>(modes), tables, band, stream);  // reads them
}

void from_band(const FourierLayout& layout, Orders orders, const BandTables& tables, const FourierBand& band,
               PairModes* modes, cudaStream_t stream) {
    copy_modes<false>(layout, orders, modes, tables, band, stream);
}

}  // namespace zonal::sht::cuda
