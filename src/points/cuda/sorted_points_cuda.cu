#include "points/cuda/sorted_points_cuda.cuh"

#include <algorithm>
#include <cub/device/device_radix_sort.cuh>
#include <limits>
#include <numbers>

#include "core/cuda_transfer.cuh"
#include "points/cuda/sample_memory_cuda.cuh"
#include "points/point_checks.hpp"
#include "zonal/error.hpp"

namespace zonal::points::cuda {
namespace {

constexpr int n_threads = 256;
/// The most points of a task: with more, more of them share what a block reads; with fewer, there are blocks
/// enough for the whole device.
constexpr std::uint32_t tile_points = 2048, part_points = 2048;

unsigned blocks(std::int64_t n) {
    return static_cast<unsigned>(std::max<std::int64_t>(1, (n + n_threads - 1) / n_threads));
}

/// The first sample of the window around x, and y; as find_places does it on the CPU.
__device__ std::int32_t place(const PlaceRule& rule, double x, double& y) {
    const double inverse = 0x1.45f306dc9c883p-3, rest = -0x1.6b01ec5417056p-57;  // 1 / 2 pi
    const auto n = static_cast<double>(rule.n);
    const double p = x * inverse, e = fma(x, rest, fma(x, inverse, -p));
    const double q = p * n, r = fma(p, n, -q);
    double cell = rint(q);
    const double fraction = q - cell + fma(e, n, r);
    const double half = static_cast<double>(rule.width) / 2, start = ceil(fraction - half);
    y = fma(2.0, fraction - start - half, 1.0);
    if (rule.wraps) {
        cell -= floor(cell * (1 / n)) * n;  // the number of turns may be one off
        if (cell < 0) cell += n;
        if (cell >= n) cell -= n;
    }
    return static_cast<std::int32_t>(cell + start) + static_cast<std::int32_t>(rule.border);
}

/// Where the points are, and how their places are found.
struct Angles {
    const double *theta, *phi;
    std::int64_t theta_stride, phi_stride;
    PlaceRule in_theta, in_phi;

    __device__ double theta_of(std::int64_t i) const { return theta[i * theta_stride]; }
    __device__ double phi_of(std::int64_t i) const { return phi[i * phi_stride]; }
    __device__ bool valid(std::int64_t i) const {
        const double t = theta_of(i), p = phi_of(i);
        return t >= in_theta.least && t <= in_theta.most && p >= in_phi.least && p <= in_phi.most;
    }
};

/// What find_bins finds out about all points.
struct Extent {
    std::int32_t first_row, last_row;
    unsigned long long invalid;  ///< the first such point
};

__global__ void __launch_bounds__(n_threads)
    find_bins(Angles angles, std::int64_t n, std::int64_t columns, std::uint32_t* keys,
              std::uint32_t* numbers, Extent* extent) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * n_threads + threadIdx.x;
    if (i >= n) return;
    numbers[i] = static_cast<std::uint32_t>(i);
    if (!angles.valid(i)) {
        atomicMin(&extent->invalid, static_cast<unsigned long long>(i));
        keys[i] = 0;
        return;
    }
    double y = 0;
    const std::int32_t row = place(angles.in_theta, angles.theta_of(i), y),
                       column = place(angles.in_phi, angles.phi_of(i), y);
    if (row < *static_cast<volatile std::int32_t*>(&extent->first_row)) atomicMin(&extent->first_row, row);
    if (row > *static_cast<volatile std::int32_t*>(&extent->last_row)) atomicMax(&extent->last_row, row);
    constexpr std::int32_t tile = Tile::size, bins = Bin::of_tile;
    const std::int64_t of_tile = row / tile * columns + column / tile;
    keys[i] = static_cast<std::uint32_t>(of_tile * bins * bins + row % tile / Bin::size * bins +
                                         column % tile / Bin::size);
}

/// begins[bin] = the first sorted point that is in it or behind it.
__global__ void __launch_bounds__(n_threads)
    find_begins(const std::uint32_t* keys, std::int64_t n, std::int64_t n_bins, std::uint32_t* begins) {
    const std::int64_t bin = static_cast<std::int64_t>(blockIdx.x) * n_threads + threadIdx.x;
    if (bin > n_bins) return;
    std::int64_t low = 0, high = n;
    while (low < high) {
        const std::int64_t middle = (low + high) / 2;
        if (keys[middle] < bin)
            low = middle + 1;
        else
            high = middle;
    }
    begins[bin] = static_cast<std::uint32_t>(low);
}

__global__ void __launch_bounds__(n_threads)
    place_points(Angles angles, std::int64_t n, const std::uint32_t* numbers, PlacedPoint* placed) {
    const std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * n_threads + threadIdx.x;
    if (k >= n) return;
    const std::int64_t i = numbers[k];
    PlacedPoint point{};
    point.row = place(angles.in_theta, angles.theta_of(i), point.y_theta);
    point.column = place(angles.in_phi, angles.phi_of(i), point.y_phi);
    point.caller = i;
    placed[k] = point;
}

/// An array of angles on the device.
struct AnglesThere {
    AnglesThere(const char* name, View<const double, 1> angles, int device, core::HostTransfer& transfer,
                cudaStream_t stream)
        : data(angles.data()), stride(angles.stride(0)) {
        core::require_place(name, angles, device);
        if (angles.space() == MemorySpace::cuda) return;
        std::vector<double> contiguous;
        if (stride != 1)
            for (std::int64_t i = 0; i < angles.extent(0); ++i) contiguous.push_back(angles[i]);
        copy = core::DeviceArray<double>(angles.extent(0));
        transfer.to_device(stride == 1 ? angles.data() : contiguous.data(), copy.data(), copy.bytes(),
                           stream);
        core::check_cuda(cudaStreamSynchronize(stream), "copying angles");
        data = copy.data();
        stride = 1;
    }
    double at(std::int64_t i) const { return core::value_at(data + i * stride); }
    const double* data;
    std::int64_t stride;
    core::DeviceArray<double> copy;
};

/// Appends a task, as several if it has more than `most` points.
void cut(PointTask task, std::uint32_t most, std::vector<PointTask>& tasks) {
    for (const std::uint32_t end = task.end; task.begin < end; task.begin = task.end) {
        task.end = task.begin + std::min(end - task.begin, most);
        tasks.push_back(task);
    }
}

int bits_of(std::int64_t n) {
    int bits = 1;
    while ((std::int64_t{1} << bits) < n) ++bits;
    return bits;
}

/// Keys and numbers in two arrays each, of which `sorted` says where the sort left them.
struct SortRoom {
    explicit SortRoom(std::int64_t n) : keys{Array(n), Array(n)}, numbers{Array(n), Array(n)} {}

    void sort(std::int64_t n, int bits, cudaStream_t stream) {
        cub::DoubleBuffer<std::uint32_t> by(keys[0].data(), keys[1].data()),
            what(numbers[0].data(), numbers[1].data());
        std::size_t bytes = 0;
        const auto run = [&](void* room) {
            core::check_cuda(cub::DeviceRadixSort::SortPairs(room, bytes, by, what, n, 0, bits, stream),
                             "sorting points");
        };
        run(nullptr);
        library = core::DeviceArray<char>(std::max<std::int64_t>(1, static_cast<std::int64_t>(bytes)));
        run(library.data());
        sorted_keys = by.Current();
        sorted_numbers = what.Current();
    }

    using Array = core::DeviceArray<std::uint32_t>;
    Array keys[2], numbers[2];
    core::DeviceArray<char> library;
    const std::uint32_t* sorted_keys = nullptr;
    const std::uint32_t* sorted_numbers = nullptr;
};

}  // namespace

SortedPoints::SortedPoints(const SphereSamples::Implementation& made_for, View<const double, 1> theta,
                           View<const double, 1> phi)
    : plan(made_for),
      device(made_for.options.device.index()),
      n_points(theta.extent(0)),
      rows{0, 1},
      border_(SampleStage::column_border(plan.tables)),
      tile_rows_((plan.tables.n / 2 + 1 + 2 * plan.tables.border + Tile::size - 1) / Tile::size),
      tile_columns_((plan.tables.n + 2 * border_ + Tile::size - 1) / Tile::size) {
    if (n_points == 0) return;
    sort(theta, phi);
    make_tiles();
}

void SortedPoints::sort(View<const double, 1> theta, View<const double, 1> phi) {
    const SampleTables& t = plan.tables;
    const std::int64_t width = plan.window.width();
    const core::OwnStream own;
    const cudaStream_t stream = own.get();
    core::check_cuda(cudaStreamSynchronize(cudaStreamLegacy), "waiting for angles");
    core::HostTransfer transfer(device, plan.options.threads);
    const AnglesThere of_theta("theta", theta, device, transfer, stream),
        of_phi("phi", phi, device, transfer, stream);
    const Angles angles{of_theta.data,
                        of_phi.data,
                        of_theta.stride,
                        of_phi.stride,
                        {t.n, width, t.border, false, 0, std::numbers::pi},
                        {t.n, width, border_, true, -largest_phi, largest_phi}};
    const std::int64_t n_bins = tile_rows_ * tile_columns_ * Bin::of_tile * Bin::of_tile;
    placed = core::DeviceArray<PlacedPoint>(n_points);
    SortRoom room(n_points);
    const Extent none{std::numeric_limits<std::int32_t>::max(), -1,
                      std::numeric_limits<unsigned long long>::max()};
    const core::DeviceArray<Extent> extent(std::vector<Extent>{none});
    find_bins<<<blocks(n_points), n_threads, 0, stream>>>(
        angles, n_points, tile_columns_, room.keys[0].data(), room.numbers[0].data(), extent.data());
    core::check_launch("finding bins");
    Extent found{};
    core::check_cuda(cudaMemcpyAsync(&found, extent.data(), sizeof found, cudaMemcpyDeviceToHost, stream),
                     "finding bins");
    core::check_cuda(cudaStreamSynchronize(stream), "finding bins");
    if (found.invalid != none.invalid) {
        const auto i = static_cast<std::int64_t>(found.invalid);
        check_angle(of_theta.at(i), of_phi.at(i), i);
        throw Error("points: changed while their plan was made");
    }
    room.sort(n_points, bits_of(n_bins), stream);
    const core::DeviceArray<std::uint32_t> begins(n_bins + 1);
    find_begins<<<blocks(n_bins + 1), n_threads, 0, stream>>>(room.sorted_keys, n_points, n_bins,
                                                              begins.data());
    core::check_launch("finding bins");
    place_points<<<blocks(n_points), n_threads, 0, stream>>>(angles, n_points, room.sorted_numbers,
                                                             placed.data());
    core::check_launch("placing points");
    bin_begin_.resize(static_cast<std::size_t>(n_bins + 1));
    transfer.to_host(begins.data(), bin_begin_.data(), begins.bytes(), stream);
    core::check_cuda(cudaStreamSynchronize(stream), "sorting points");
    rows = completed({found.first_row - t.border, found.last_row + width - t.border}, t.n);
}

void SortedPoints::make_tiles() {
    constexpr std::int64_t bins = Bin::of_tile * Bin::of_tile;
    std::vector<PointTask> tasks;
    for (std::int64_t tile = 0; tile < tile_rows_ * tile_columns_; ++tile) {
        const std::uint32_t begin = bin_begin_[static_cast<std::size_t>(tile * bins)],
                            end = bin_begin_[static_cast<std::size_t>((tile + 1) * bins)];
        const auto row = static_cast<std::int32_t>(tile / tile_columns_ * Tile::size),
                   column = static_cast<std::int32_t>(tile % tile_columns_ * Tile::size);
        cut({row, column, begin, end}, tile_points, tasks);
    }
    tiles = core::DeviceArray<PointTask>(tasks);
}

const SpreadTasks& SortedPoints::spread_tasks() const {
    std::call_once(spread_once_, [&] {
        const std::int64_t width = plan.window.width(), together = Bin::together(width);
        // In bins, what windows of their points reach.
        const std::int64_t rows = (Bin::size + width - 1 + Bin::size - 1) / Bin::size,
                           columns = (together * Bin::size + width - 1 + Bin::size - 1) / Bin::size;
        const std::int64_t columns_apart = (columns + together - 1) / together;
        struct OfColour {
            std::vector<PointTask> tasks;
            std::vector<CrowdedBin> crowded;
        };
        std::vector<OfColour> colours(static_cast<std::size_t>(rows * columns_apart));
        std::vector<PointTask> parts;
        constexpr std::int64_t bins = Bin::of_tile;
        for (std::int64_t bin = 0; bin + 1 < std::ssize(bin_begin_); bin += together) {
            const std::uint32_t begin = bin_begin_[static_cast<std::size_t>(bin)],
                                end = bin_begin_[static_cast<std::size_t>(bin + together)];
            if (begin == end) continue;
            const std::int64_t tile = bin / (bins * bins), of_tile = bin % (bins * bins);
            const std::int64_t bin_row = tile / tile_columns_ * bins + of_tile / bins,
                               bin_column = tile % tile_columns_ * bins + of_tile % bins;
            const auto row = static_cast<std::int32_t>(bin_row * Bin::size),
                       column = static_cast<std::int32_t>(bin_column * Bin::size);
            OfColour& colour = colours[static_cast<std::size_t>(bin_row % rows * columns_apart +
                                                                bin_column / together % columns_apart)];
            if (end - begin <= part_points) {
                colour.tasks.push_back({row, column, begin, end});
                continue;
            }
            const auto first_part = static_cast<std::int32_t>(parts.size());
            cut({row, column, begin, end}, part_points, parts);
            colour.crowded.push_back(
                {row, column, first_part, static_cast<std::int32_t>(parts.size()) - first_part});
        }
        std::vector<PointTask> tasks;
        std::vector<CrowdedBin> crowded;
        SpreadTasks made;
        for (const OfColour& colour : colours) {
            made.colours.push_back({std::ssize(tasks), std::ssize(colour.tasks), std::ssize(crowded),
                                    std::ssize(colour.crowded)});
            tasks.insert(tasks.end(), colour.tasks.begin(), colour.tasks.end());
            crowded.insert(crowded.end(), colour.crowded.begin(), colour.crowded.end());
        }
        made.parts = core::DeviceArray<PointTask>(parts);
        made.tasks = core::DeviceArray<PointTask>(tasks);
        made.crowded = core::DeviceArray<CrowdedBin>(crowded);
        spread_ = std::move(made);  // all of it or, where memory is short, nothing
    });
    return spread_;
}

std::shared_ptr<const SortedPoints> sort_points(const SphereSamples::Implementation& plan,
                                                View<const double, 1> theta, View<const double, 1> phi) {
    const core::CurrentDevice current(plan.options.device.index());
    return std::make_shared<const SortedPoints>(plan, theta, phi);
}

SampleRows rows_of(const SortedPoints& points) {
    return points.rows;
}

}  // namespace zonal::points::cuda
