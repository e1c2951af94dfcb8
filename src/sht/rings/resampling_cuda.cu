#include "sht/rings/resampling_cuda.cuh"

#include <algorithm>
#include <cmath>

#include "core/mma_fp64.cuh"

namespace zonal::sht::cuda {
namespace {

/// A block's tile: target pairs by orders, whose four numbers each are columns; rows of a step of the
/// product.
constexpr int tile_targets = BandProduct::tile_targets;
constexpr int tile_orders = 16;
constexpr int tile_columns = 4 * tile_orders;
constexpr int chunk_rows = 16;
constexpr int threads = 128;
/// Doubles from one row to the next in shared memory: four rows of four neighbours fill all banks.
constexpr int row_stride = tile_columns + 4;
static_assert(tile_targets == tile_columns);

/// Equidistant rings per degree: the fewer, the less work in the Legendre stage and the more in the matrix.
constexpr double oversampling = 1.125;
/// The grid must have this many times more pairs for the matrix to be worth its time, and this many at all.
constexpr double least_gain = 1.3;
constexpr std::int64_t fewest_pairs = 512;

/// One row of a tile's weights per block.
__global__ void weights_kernel(const BandTile* tiles, const MeridianPlace* rows, const MeridianPlace* targets,
                               ResamplingWindow window, double* weights) {
    const BandTile tile = tiles[blockIdx.x];
    const int n_rows = (tile.n_rows + chunk_rows - 1) / chunk_rows * chunk_rows;
    for (int k = blockIdx.y; k < n_rows; k += gridDim.y) {
        const int target = tile.first_pair + static_cast<int>(threadIdx.x);
        double weight = 0;
        if (k < tile.n_rows && target < tile.end_pair) {
            const MeridianPlace from = rows[tile.first_row + k], to = targets[target];
            weight = window(static_cast<double>(from.cell - to.cell) + (from.fraction - to.fraction));
        }
        weights[tile.weights + static_cast<std::int64_t>(k) * tile_targets + threadIdx.x] = weight;
    }
}

/// Weights and source values of one chunk of rows in shared memory.
struct Stage {
    double a[chunk_rows][row_stride], b[chunk_rows][row_stride];
};
/// Chunks in shared memory: one in use, the others on their way.
constexpr int n_stages = 3;

/// Copies chunks from global to shared memory, without waiting. Two threads bring the two rings of a pair,
/// next to them those of the next rows, so that a request asks for whole lines: what L2 serves is limited by
/// the number of requests, not by their size.
struct Loader {
    static constexpr int row_step = 4;
    const BandView& v;
    const BandTile& tile;
    std::int64_t m;          ///< order of this thread's source values; -1: none
    const PairModes* modes;  ///< its, by pair
    int first_pair = 0;      ///< that it reaches
    int order = own_order(), in_row = static_cast<int>(threadIdx.x) / 2 % row_step;
    int south = static_cast<int>(threadIdx.x) % 2;

    static __device__ int own_order() { return static_cast<int>(threadIdx.x) / (2 * row_step); }

    __device__ Loader(const BandView& v, const BandTile& tile, const PairModes* source, std::int64_t m)
        : v(v), tile(tile), m(m), modes(source) {
        if (m < 0) return;
        modes += v.source_origin[m];
        first_pair = static_cast<int>(v.source_first_pair[m]);
    }

    __device__ void load(int row, Stage& stage) const {
        const double* from = v.weights + tile.weights + static_cast<std::int64_t>(row) * tile_targets;
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const int at = 2 * (k * threads + static_cast<int>(threadIdx.x));
            __pipeline_memcpy_async(&stage.a[at / tile_targets][at % tile_targets], from + at,
                                    sizeof(double2));
        }
#pragma unroll
        for (int k = 0; k < chunk_rows; k += row_step) {
            const int at = row + in_row + k;
            const SourceRow entry = v.row(tile.first_row + at);
            const bool there = m >= 0 && at < tile.n_rows && entry.pair >= first_pair;
            const PairModes* const pair = modes + (there ? entry.pair : 0);
            const double2* const ring = entry.swapped == south ? &pair->north : &pair->south;
            __pipeline_memcpy_async(&stage.b[in_row + k][4 * order + 2 * south],
                                    there ? ring : reinterpret_cast<const double2*>(v.weights),
                                    sizeof(double2), there ? 0 : sizeof(double2));
        }
    }

    /// Beyond the pole functions of odd order + spin change their sign; of this thread's own values.
    __device__ void flip(int row, Stage& stage) const {
        if (tile.first_row + row >= v.n_flipped || (m + v.spin) % 2 == 0) return;
        for (int k = 0; k < chunk_rows; k += row_step)
            if (tile.first_row + row + in_row + k < v.n_flipped)
                for (int c = 2 * south; c < 2 * south + 2; ++c)
                    stage.b[in_row + k][4 * order + c] = -stage.b[in_row + k][4 * order + c];
    }
};

/// A warp's 32 targets by 32 columns of the tile.
struct WarpTile {
    double sum[2][4][4] = {};

    __device__ void multiply(const double (&a)[chunk_rows][row_stride],
                             const double (&b)[chunk_rows][row_stride]) {
        const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
        double left[2][8], right[4][4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
#pragma unroll
            for (int r = 0; r < 2; ++r)
#pragma unroll
                for (int h = 0; h < 2; ++h)
                    left[r][2 * i + h] = a[t + 4 * i][first_target() + 16 * r + 8 * h + g];
#pragma unroll
            for (int c = 0; c < 4; ++c) right[c][i] = b[t + 4 * i][first_column() + 8 * c + g];
        }
#pragma unroll
        for (int r = 0; r < 2; ++r)
#pragma unroll
            for (int c = 0; c < 4; ++c) core::multiply_add_16x8x16(sum[r][c], left[r], right[c]);
    }

    __device__ void store(const BandView& v, const BandTile& tile, std::int64_t first_order,
                          PairModes* target) const {
        const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
#pragma unroll
        for (int c = 0; c < 4; ++c) {
            const int column = first_column() + 8 * c + 2 * t;
            if (first_order + column / 4 >= v.n_orders) continue;
            const std::int64_t m = v.orders[first_order + column / 4];
            const std::int64_t first_pair = v.target_first_pair[m];
            PairModes* const order = target + v.target_origin[m];
#pragma unroll
            for (int r = 0; r < 2; ++r)
#pragma unroll
                for (int h = 0; h < 2; ++h) {
                    const int pair = tile.first_pair + first_target() + 16 * r + 8 * h + g;
                    if (pair < first_pair || pair >= tile.end_pair) continue;
                    const double2 value{sum[r][c][2 * h], sum[r][c][2 * h + 1]};
                    (column % 4 == 0 ? order[pair].north : order[pair].south) = value;
                }
        }
    }

    static __device__ int first_target() {
        return threadIdx.x / 32 % 2 * 32;
    }
    static __device__ int first_column() {
        return threadIdx.x / 64 * 32;
    }
};

__global__ void __launch_bounds__(threads, 3)
    band_kernel(BandView v, const PairModes* source, std::int64_t source_size, PairModes* target,
                std::int64_t target_size) {
    extern __shared__ Stage stages[];
    const BandTile tile = v.tiles[blockIdx.x];
    const std::int64_t first_order = static_cast<std::int64_t>(blockIdx.y) * tile_orders;
    const std::int64_t lowest = v.orders[first_order];
    if (tile.end_pair <= v.target_first_pair[lowest]) return;
    // Leading rows of pairs that no order of the tile reaches are zero.
    int row = 0;
    if (tile.first_row >= v.n_flipped)
        row = max(0, v.n_flipped + static_cast<int>(v.source_first_pair[lowest]) - tile.first_row) /
              chunk_rows * chunk_rows;
    const std::int64_t number = first_order + Loader::own_order();
    const Loader loader{v, tile, source + blockIdx.z * source_size,
                        number < v.n_orders ? v.orders[number] : -1};
    for (int k = 0; k < n_stages - 1; ++k) {
        if (row + k * chunk_rows < tile.n_rows) loader.load(row + k * chunk_rows, stages[k]);
        __pipeline_commit();
    }
    WarpTile sums;
    for (int k = 0; row < tile.n_rows; row += chunk_rows, k = (k + 1) % n_stages) {
        __pipeline_wait_prior(n_stages - 2);
        loader.flip(row, stages[k]);
        __syncthreads();  // the chunk is there, and the one before it has been used
        const int ahead = row + (n_stages - 1) * chunk_rows;
        if (ahead < tile.n_rows) loader.load(ahead, stages[(k + n_stages - 1) % n_stages]);
        __pipeline_commit();
        sums.multiply(stages[k].a, stages[k].b);
    }
    sums.store(v, tile, first_order, target + blockIdx.z * target_size);
}

/// The place on the other side of cell `axis`, 0 or n_samples.
MeridianPlace mirrored(MeridianPlace place, std::int64_t axis) {
    return {axis - place.cell - 1, 1 - place.fraction};
}

double distance(MeridianPlace a, MeridianPlace b) {
    return static_cast<double>(a.cell - b.cell) + (a.fraction - b.fraction);
}

}  // namespace

BandProduct::BandProduct(const std::vector<MeridianPlace>& source, const FourierLayout& source_layout,
                         const std::vector<MeridianPlace>& target, const FourierLayout& target_layout,
                         std::int64_t n_samples, ResamplingWindow window, int spin)
    : source_size_(source_layout.size()), target_size_(target_layout.size()) {
    // In the order of BandView::row.
    std::vector<MeridianPlace> places;
    const auto n_source = static_cast<std::int32_t>(source.size());
    const MeridianPlace pole{0, 0}, equator{n_samples / 2, 0};
    for (std::int32_t p = n_source - 1; p >= 0; --p)
        if (distance(source[p], pole) < window.support) places.push_back(mirrored(source[p], 0));
    const int n_flipped = static_cast<int>(places.size());
    for (const MeridianPlace& place : source) places.push_back(place);
    for (std::int32_t p = n_source - 1; p >= 0; --p)
        if (distance(equator, source[p]) < window.support) places.push_back(mirrored(source[p], n_samples));
    view_.n_flipped = n_flipped;
    view_.n_source = n_source;

    std::vector<BandTile> tiles;
    std::int64_t n_weights = 0;
    for (std::size_t first = 0; first < target.size(); first += tile_targets) {
        const std::size_t end = std::min(target.size(), first + tile_targets);
        const auto first_row = std::partition_point(
            places.begin(), places.end(),
            [&](const MeridianPlace& place) { return distance(place, target[first]) <= -window.support; });
        const auto end_row = std::partition_point(first_row, places.end(), [&](const MeridianPlace& place) {
            return distance(place, target[end - 1]) < window.support;
        });
        const auto n_rows = static_cast<std::int32_t>(end_row - first_row);
        tiles.push_back({static_cast<std::int32_t>(first), static_cast<std::int32_t>(end),
                         static_cast<std::int32_t>(first_row - places.begin()), n_rows, n_weights});
        std::int64_t lowest = n_rows == 0 ? 0 : n_source, end_of_highest = 0;
        for (int k = 0; k < n_rows; ++k) {
            const std::int64_t pair = view_.row(tiles.back().first_row + k).pair;
            lowest = std::min(lowest, pair);
            end_of_highest = std::max(end_of_highest, pair + 1);
        }
        first_source_.push_back(lowest);
        end_source_.push_back(end_of_highest);
        n_weights += (n_rows + chunk_rows - 1) / chunk_rows * chunk_rows * std::int64_t{tile_targets};
    }
    tiles_ = core::DeviceArray<BandTile>(tiles);
    weights_ = core::DeviceArray<double>(n_weights);
    const core::DeviceArray<MeridianPlace> row_places(places), targets(target);
    const core::OwnStream stream;
    weights_kernel<<<dim3(static_cast<unsigned>(tiles.size()), 64), tile_targets, 0, stream.get()>>>(
        tiles_.data(), row_places.data(), targets.data(), window, weights_.data());
    core::check_launch("resampling weights");
    core::check_cuda(cudaStreamSynchronize(stream.get()), "resampling weights");
    view_ = {tiles_.data(),
             weights_.data(),
             source_layout.origin(),
             source_layout.first_pairs(),
             target_layout.origin(),
             target_layout.first_pairs(),
             source_layout.orders(),
             source_layout.n_orders(),
             spin,
             n_flipped,
             n_source};
}

void BandProduct::apply(Orders orders, const PairModes* source, int n_fields, PairModes* target,
                        cudaStream_t stream, TileRange tiles) const {
    if (tiles.first == tiles.end) return;
    BandView view = view_;
    view.tiles += tiles.first;
    view.orders += orders.first;
    view.n_orders = orders.count();
    const dim3 blocks(static_cast<unsigned>(tiles.end - tiles.first),
                      static_cast<unsigned>((view.n_orders + tile_orders - 1) / tile_orders),
                      static_cast<unsigned>(n_fields));
    constexpr int shared_bytes = n_stages * static_cast<int>(sizeof(Stage));
    core::check_cuda(
        cudaFuncSetAttribute(band_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes),
        "asking for shared memory");
    band_kernel<<<blocks, threads, shared_bytes, stream>>>(view, source, source_size_, target, target_size_);
    core::check_launch("resampling in theta");
}

std::int64_t resampled_rings(std::int64_t n_pairs, std::int64_t lmax, double accuracy) {
    if (accuracy == 0) return 0;
    const std::int64_t half =
        static_cast<std::int64_t>(std::ceil(oversampling / 2 * static_cast<double>(lmax)));
    const bool gains = static_cast<double>(n_pairs) > least_gain * static_cast<double>(half);
    if (n_pairs < fewest_pairs || !gains) return 0;
    // Beyond a pole or the equator the window must not reach the other one.
    const auto n_samples = static_cast<double>(2 * half);
    const double support = resampling_window(static_cast<double>(lmax), n_samples, accuracy).support;
    return support <= static_cast<double>(half) ? 2 * half : 0;
}

ThetaResampling::ThetaResampling(const RingPairs& coarse, const FourierLayout& coarse_layout,
                                 const RingPairs& fine, const FourierLayout& fine_layout,
                                 std::int64_t n_rings, std::int64_t lmax, int spin, double accuracy)
    : ThetaResampling(places_of(coarse, coarse_layout.n_pairs(), n_rings), coarse_layout,
                      places_of(fine, fine_layout.n_pairs(), n_rings), fine_layout, n_rings,
                      resampling_window(static_cast<double>(lmax), static_cast<double>(n_rings), accuracy),
                      spin) {}

ThetaResampling::ThetaResampling(const std::vector<MeridianPlace>& coarse, const FourierLayout& coarse_layout,
                                 const std::vector<MeridianPlace>& fine, const FourierLayout& fine_layout,
                                 std::int64_t n_rings, ResamplingWindow window, int spin)
    : interpolation_(coarse, coarse_layout, fine, fine_layout, n_rings, window, spin),
      adjoint_(fine, fine_layout, coarse, coarse_layout, n_rings, window, spin) {}

}  // namespace zonal::sht::cuda
