#include <algorithm>
#include <cmath>

#include "sht/analysis/field_arithmetic.hpp"
#include "sht/analysis/field_math.hpp"
#include "sht/analysis/field_sums.cuh"
#include "sht/analysis/nearest_pixel.hpp"
#include "sht/cuda_storage.cuh"

namespace zonal::sht {
namespace {

using namespace cuda;

/// One block per ring, or per order.
constexpr int threads = 256;

struct DeviceRing {
    std::int64_t first_pixel, n_pixels;
    double weight;    ///< of the quadrature
    double relative;  ///< the factor beside it
    double phi_0;
};

/// Where the pixels of another grid lie: the nearest ring.
struct DeviceNearest {
    std::int64_t first_pixel, n_pixels;
    double phi_0;
};

/// visit(ring, pixel) for all pixels of rings.
template <class Visit>
__global__ void ring_kernel(const DeviceRing* rings, Visit visit) {
    const DeviceRing ring = rings[blockIdx.x];
    for (std::int64_t k = threadIdx.x; k < ring.n_pixels; k += blockDim.x) visit(ring, ring.first_pixel + k);
}

/// partial[ring] = sum of value(ring, pixel)
template <class Value>
__global__ void ring_sums_kernel(const DeviceRing* rings, Value value, double* partial) {
    const DeviceRing ring = rings[blockIdx.x];
    double sum = 0;
    for (std::int64_t k = threadIdx.x; k < ring.n_pixels; k += blockDim.x)
        sum += value(ring, ring.first_pixel + k);
    sum = block_sum<threads>(sum);
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

template <class T>
struct Weigh {
    const T* from;
    T* to;
    const double* pixel_weights;
    __device__ void operator()(const DeviceRing& ring, std::int64_t p) const {
        const double weight = ring.relative * (pixel_weights == nullptr ? 1 : pixel_weights[p]);
        to[p] = static_cast<T>(from[p] * weight);
    }
};

template <class T>
struct WeightedSquare {
    const T* map;
    const double* pixel_weights;
    __device__ double operator()(const DeviceRing& ring, std::int64_t p) const {
        const double value = map[p];
        const double weight = ring.relative * (pixel_weights == nullptr ? 1 : pixel_weights[p]);
        return value * value * weight * ring.weight;
    }
};

template <class T>
struct Subtract {
    const T* from;
    T* out;
    __device__ void operator()(const DeviceRing&, std::int64_t p) const { out[p] = from[p] - out[p]; }
};

template <class T>
struct AddScaled {
    double factor;
    const T* x;
    T* y;
    __device__ void operator()(const DeviceRing&, std::int64_t p) const {
        y[p] = static_cast<T>(y[p] + factor * x[p]);
    }
};

template <class T>
struct CountBad {
    const T* map;
    Counter *nan, *infinite, *unseen;
    __device__ void operator()(const DeviceRing&, std::int64_t p) const {
        const auto value = static_cast<double>(map[p]);
        if (isnan(value)) nan->count(p);
        if (isinf(value)) infinite->count(p);
        if (is_unseen_pixel(value)) unseen->count(p);
    }
};

template <class T>
struct CountZeros {
    const T* map;
    Counter* zeros;
    __device__ void operator()(const DeviceRing&, std::int64_t p) const {
        if (map[p] == 0) zeros->count(p);
    }
};

struct CountBadWeights {
    const double* weights;
    Counter* bad;
    __device__ void operator()(const DeviceRing&, std::int64_t p) const {
        if (!(weights[p] >= 0) || isinf(weights[p])) bad->count(p);
    }
};

/// Fields of one pair or triple at most.
template <class T>
struct Components {
    T* field[3];
    int count;
};

template <class T>
struct KeepShare {
    Components<const T> fields;
    const T* mask;
    T* kept;
    Counter* bad;
    __device__ void operator()(const DeviceRing&, std::int64_t p) const {
        T share = mask == nullptr ? T(1) : share_of_mask(mask[p]);
        if (!is_share(share)) bad->count(p);
        for (int c = 0; c < fields.count; ++c)
            if (is_unseen_pixel(fields.field[c][p])) share = 0;
        kept[p] = share;
    }
};

template <class T>
struct TimesShare {
    const T *field, *kept;
    T* product;
    __device__ void operator()(const DeviceRing&, std::int64_t p) const {
        product[p] = times_share(field[p], kept[p]);
    }
};

template <class T>
struct OverShare {
    const T* divisor;
    double threshold;
    T* field;
    __device__ void operator()(const DeviceRing&, std::int64_t p) const {
        field[p] = over_share(field[p], divisor[p], threshold);
    }
};

template <class T>
struct RestoreUnseen {
    const DeviceNearest* nearest;  ///< [ring], or null where the grids are the same
    const T* kept;
    T* field;
    __device__ void operator()(const DeviceRing& ring, std::int64_t p) const {
        std::int64_t from = p;
        if (nearest != nullptr) {
            const DeviceNearest there = nearest[blockIdx.x];
            const double phi = longitude(ring.phi_0, p - ring.first_pixel, ring.n_pixels);
            from = there.first_pixel + nearest_on_ring(phi, there.phi_0, there.n_pixels);
        }
        if (kept[from] == 0) field[p] = static_cast<T>(unseen_value);
    }
};

template <class T>
class CudaMapArithmetic final : public MapArithmetic<T> {
  public:
    using typename MapArithmetic<T>::Map;
    using typename MapArithmetic<T>::ConstMap;

    CudaMapArithmetic(const Grid& grid, const PixelWeights& weights, CudaStorage& storage)
        : grid_(grid), weights_(weights), storage_(storage) {
        if (weights.pixel.size() > 0) take_pixel_weights();
    }

    void weigh(ConstMap map, Map out) override {
        for_each_field(map, [&](std::int64_t b, std::int64_t c) {
            visit(Weigh<T>{&map(b, c, 0), &out(b, c, 0), pixel_weights_});
        });
    }
    void subtract_from(ConstMap map, Map out) override {
        for_each_field(map, [&](std::int64_t b, std::int64_t c) {
            visit(Subtract<T>{&map(b, c, 0), &out(b, c, 0)});
        });
    }
    void add_scaled(const std::vector<double>& factors, ConstMap x, Map y) override {
        for_each_field(x, [&](std::int64_t b, std::int64_t c) {
            visit(AddScaled<T>{factors[b], &x(b, c, 0), &y(b, c, 0)});
        });
    }
    std::vector<double> weighted_squares(ConstMap map) override {
        const core::CurrentDevice current(storage_.device);
        std::vector<double> sums(map.extent(0));
        PartialSums partial(grid_.n_rings(), map.extent(0) * map.extent(1));
        for_each_field(map, [&](std::int64_t b, std::int64_t c) {
            ring_sums_kernel<<<blocks(), threads, 0, storage_.stream()>>>(
                rings(), WeightedSquare<T>{&map(b, c, 0), pixel_weights_},
                partial.row(b * map.extent(1) + c));
            core::check_launch("the norm of a map");
        });
        return partial.sums(map.extent(0), storage_.stream());
    }

    BadPixels count_bad(View<const T, 1> map) override {
        Counters found(storage_.device, 3, storage_.stream());
        visit(CountBad<T>{map.data(), found.at(0), found.at(1), found.at(2)});
        const auto counts = found.read(storage_.stream());
        return {counts[0].number, counts[1].number, counts[2].number,
                counts[0].first,  counts[1].first,  counts[2].first};
    }
    void keep_share(View<const T, 2> fields, View<const T, 1> mask, View<T, 1> kept) override {
        Components<const T> components{{}, static_cast<int>(fields.extent(0))};
        for (std::int64_t c = 0; c < fields.extent(0); ++c) components.field[c] = &fields(c, 0);
        Counters bad(storage_.device, 1, storage_.stream());
        const T* const values = mask.size() > 0 ? mask.data() : nullptr;
        visit(KeepShare<T>{components, values, kept.data(), bad.at(0)});
        const std::int64_t first = bad.read(storage_.stream())[0].first;
        if (first >= 0) reject_mask_value(first, read_value(values + first));
    }
    std::int64_t count_zeros(View<const T, 1> map) override {
        Counters zeros(storage_.device, 1, storage_.stream());
        visit(CountZeros<T>{map.data(), zeros.at(0)});
        return zeros.read(storage_.stream())[0].number;
    }
    void multiply_by_share(View<const T, 2> fields, View<const T, 1> kept, View<T, 2> product) override {
        for (std::int64_t c = 0; c < fields.extent(0); ++c)
            visit(TimesShare<T>{&fields(c, 0), kept.data(), &product(c, 0)});
    }
    void divide_by_share(View<const T, 1> divisor, double threshold, View<T, 2> fields) override {
        for (std::int64_t c = 0; c < fields.extent(0); ++c)
            visit(OverShare<T>{divisor.data(), threshold, &fields(c, 0)});
    }
    void restore_unseen(const NearestPixel& nearest, View<const T, 1> kept, View<T, 2> fields) override {
        const core::CurrentDevice current(storage_.device);
        std::vector<DeviceNearest> host;
        if (!nearest.same())
            for (std::int64_t i = 0; i < grid_.n_rings(); ++i) {
                const Ring& ring = nearest.nearest_ring(i);
                host.push_back({ring.first_pixel, ring.n_pixels, ring.phi_0});
            }
        const core::DeviceArray<DeviceNearest> there(host);
        for (std::int64_t c = 0; c < fields.extent(0); ++c)
            visit(RestoreUnseen<T>{there.data(), kept.data(), &fields(c, 0)});
        core::check_cuda(cudaStreamSynchronize(storage_.stream()), "masking");
    }

  private:
    void take_pixel_weights() {
        const core::CurrentDevice current(storage_.device);
        pixel_weights_ = weights_.pixel.data();
        if (weights_.pixel.space() != MemorySpace::cuda) {
            copied_weights_ = core::DeviceArray<double>(weights_.pixel.size());
            storage_.transfer.to_device(weights_.pixel.data(), copied_weights_.data(),
                                        copied_weights_.bytes(), storage_.stream());
            pixel_weights_ = copied_weights_.data();
        }
        Counters bad(storage_.device, 1, storage_.stream());
        visit(CountBadWeights{pixel_weights_, bad.at(0)});
        const std::int64_t first = bad.read(storage_.stream())[0].first;
        if (first >= 0) check_weight("pixel_weights", first, read_value(pixel_weights_ + first));
    }

    template <class Value>
    Value read_value(const Value* there) const {
        Value value{};
        core::check_cuda(
            cudaMemcpyAsync(&value, there, sizeof value, cudaMemcpyDeviceToHost, storage_.stream()),
            "reading a value");
        core::check_cuda(cudaStreamSynchronize(storage_.stream()), "reading a value");
        return value;
    }

    template <class Visit>
    void visit(const Visit& visit) {
        const core::CurrentDevice current(storage_.device);
        ring_kernel<<<blocks(), threads, 0, storage_.stream()>>>(rings(), visit);
        core::check_launch("arithmetic on a map");
    }
    template <class Visit>
    static void for_each_field(ConstMap map, const Visit& visit) {
        for (std::int64_t b = 0; b < map.extent(0); ++b)
            for (std::int64_t c = 0; c < map.extent(1); ++c) visit(b, c);
    }
    unsigned blocks() const { return static_cast<unsigned>(grid_.n_rings()); }
    /// Made when first needed: a plain analysis needs none.
    const DeviceRing* rings() {
        if (rings_.size() > 0) return rings_.data();
        std::vector<DeviceRing> host;
        for (std::int64_t i = 0; i < grid_.n_rings(); ++i) {
            const Ring& ring = grid_.rings()[i];
            host.push_back({ring.first_pixel, ring.n_pixels, ring.weight, weights_.of_ring(i), ring.phi_0});
        }
        rings_ = core::DeviceArray<DeviceRing>(host);
        return rings_.data();
    }

    const Grid& grid_;
    const PixelWeights weights_;
    CudaStorage& storage_;
    core::DeviceArray<DeviceRing> rings_;
    core::DeviceArray<double> copied_weights_;
    const double* pixel_weights_ = nullptr;
};

}  // namespace

template <class T>
std::unique_ptr<MapArithmetic<T>> make_cuda_map_arithmetic(const Grid& grid, const PixelWeights& weights,
                                                           ShtWorkspace::Storage& storage) {
    return std::make_unique<CudaMapArithmetic<T>>(grid, weights, dynamic_cast<CudaStorage&>(storage));
}

#define ZONAL_INSTANTIATE(T)                                                                              \
    template std::unique_ptr<MapArithmetic<T>> make_cuda_map_arithmetic(const Grid&, const PixelWeights&, \
                                                                        ShtWorkspace::Storage&);
ZONAL_INSTANTIATE(float)
ZONAL_INSTANTIATE(double)
#undef ZONAL_INSTANTIATE

}  // namespace zonal::sht
