#include "points/cuda/lensing_cuda.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <vector>

#include "core/cuda_transfer.cuh"
#include "points/cuda/each_point.cuh"
#include "points/point_checks.hpp"
#include "sht/analysis/field_math.hpp"
#include "zonal/error.hpp"

namespace zonal::points::cuda {
namespace {

constexpr int n_threads = threads_of_points;

/// What one ring's block writes.
struct RingOfPoints {
    double theta, phi_0;
    std::int64_t n_pixels, first;
};

__global__ void __launch_bounds__(n_threads)
    ring_angles_kernel(const RingOfPoints* rings, double* theta, double* phi) {
    const RingOfPoints ring = rings[blockIdx.x];
    for (std::int64_t k = threadIdx.x; k < ring.n_pixels; k += n_threads) {
        theta[ring.first + k] = ring.theta;
        phi[ring.first + k] = sht::longitude(ring.phi_0, k, ring.n_pixels);
    }
}

/// What a block's points have.
struct Found {
    double squares, largest;   ///< of |d|
    unsigned long long wrong;  ///< the first point that cannot be displaced
};
constexpr unsigned long long none = std::numeric_limits<unsigned long long>::max();

struct Displacement {
    const double *theta, *phi;
    const double* deflection[2];
    double* displaced[2];
    double* rotation[2];

    __device__ Found operator()(std::int64_t i) const {
        const double t = deflection[0][i], p = deflection[1][i], square = t * t + p * p;
        if (!is_displaceable(theta[i], phi[i], t, p)) return {0, 0, static_cast<unsigned long long>(i)};
        const Displaced to = points::displaced(theta[i], phi[i], t, p);
        displaced[0][i] = to.theta;
        displaced[1][i] = to.phi;
        rotation[0][i] = to.cos_gamma;
        rotation[1][i] = to.sin_gamma;
        return {square, square, none};
    }
};

__device__ Found together(const Found& a, const Found& b) {
    return {a.squares + b.squares, fmax(a.largest, b.largest), a.wrong < b.wrong ? a.wrong : b.wrong};
}

/// found: [block]
__global__ void __launch_bounds__(n_threads)
    displace_kernel(Displacement displacement, std::int64_t n, Found* found) {
    __shared__ Found of_threads[n_threads];
    Found own{0, 0, none};
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * n_threads;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * n_threads + threadIdx.x; i < n; i += step)
        own = together(own, displacement(i));
    of_threads[threadIdx.x] = own;
    for (int half = n_threads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (static_cast<int>(threadIdx.x) < half)
            of_threads[threadIdx.x] = together(of_threads[threadIdx.x], of_threads[threadIdx.x + half]);
    }
    if (threadIdx.x == 0) found[blockIdx.x] = of_threads[0];
}

/// Work of each point.
template <class T>
struct Turn {
    const double *cos, *sin;
    int spin;
    double sign;
    T *q, *u;
    __device__ void operator()(std::int64_t i) const { turn_value({cos[i], sin[i]}, spin, sign, q[i], u[i]); }
};
struct AddSlopes {
    SlopeSums sums;
    __device__ void operator()(std::int64_t i) const { sums.add(i); }
};
template <class In, class Out>
struct Gather {
    const std::int64_t* value_of;
    const In* from;
    std::int64_t from_stride;
    Out* to;
    std::int64_t to_stride;
    __device__ void operator()(std::int64_t i) const {
        const std::int64_t k = value_of == nullptr ? i : value_of[i];
        to[i * to_stride] = static_cast<Out>(from[k * from_stride]);
    }
};
template <class T>
struct Scatter {
    const std::int64_t* value_of;
    const T* from;
    T* to;
    __device__ void operator()(std::int64_t i) const { to[value_of == nullptr ? i : value_of[i]] = from[i]; }
};

/// Orders m along y. offsets: [m], to which l is added.
__global__ void __launch_bounds__(n_threads)
    scale_kernel(std::int64_t lmax, std::int64_t n_orders, const std::int64_t* offsets, EthFactor factor,
                 const double2* from, double2* to) {
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * n_threads;
    for (std::int64_t m = blockIdx.y; m < n_orders; m += gridDim.y)
        for (std::int64_t l = m + blockIdx.x * n_threads + threadIdx.x; l <= lmax; l += step) {
            const double scale = factor(static_cast<double>(l));
            const double2 value = from[offsets[m] + l];
            to[offsets[m] + l] = {scale * value.x, scale * value.y};
        }
}

}  // namespace

void wait_for_caller(Device device) {
    const core::CurrentDevice current(device.index());
    core::check_cuda(cudaStreamSynchronize(cudaStreamLegacy), "waiting for arrays");
}

void ring_angles(const std::vector<Ring>& rings, const std::vector<std::int64_t>& first, Device device,
                 View<double, 1> theta, View<double, 1> phi) {
    const core::CurrentDevice current(device.index());
    std::vector<RingOfPoints> all;
    for (std::size_t r = 0; r < rings.size(); ++r)
        all.push_back({rings[r].theta, rings[r].phi_0, rings[r].n_pixels, first[r]});
    const core::DeviceArray<RingOfPoints> there(all);
    ring_angles_kernel<<<static_cast<unsigned>(all.size()), n_threads>>>(there.data(), theta.data(),
                                                                         phi.data());
    core::check_launch("finding the pixels' angles");
    core::check_cuda(cudaStreamSynchronize(cudaStreamLegacy), "finding the pixels' angles");
}

Lengths displace(Device device, View<const double, 1> theta, View<const double, 1> phi,
                 View<const double, 2> deflection, View<double, 2> displaced, View<double, 2> rotation) {
    const core::CurrentDevice current(device.index());
    const std::int64_t n = theta.extent(0);
    if (n == 0) return {};
    const Displacement displacement{theta.data(),
                                    phi.data(),
                                    {deflection[0].data(), deflection[1].data()},
                                    {displaced[0].data(), displaced[1].data()},
                                    {rotation[0].data(), rotation[1].data()}};
    const core::DeviceArray<Found> found(blocks_for(n));
    displace_kernel<<<blocks_for(n), n_threads>>>(displacement, n, found.data());
    core::check_launch("displacing points");
    std::vector<Found> of_blocks(static_cast<std::size_t>(found.size()));
    core::check_cuda(cudaMemcpy(of_blocks.data(), found.data(), static_cast<std::size_t>(found.bytes()),
                                cudaMemcpyDeviceToHost),
                     "displacing points");
    Found all{0, 0, none};
    for (const Found& one : of_blocks) {
        all.squares += one.squares;
        all.largest = std::max(all.largest, one.largest);
        all.wrong = std::min(all.wrong, one.wrong);
    }
    if (all.wrong != none) {
        const auto i = static_cast<std::int64_t>(all.wrong);
        check_displacement(core::value_at(theta.data() + i), core::value_at(phi.data() + i),
                           core::value_at(deflection[0].data() + i), core::value_at(deflection[1].data() + i),
                           i);
        throw Error("points: changed while they were displaced");
    }
    return {std::sqrt(all.largest), std::sqrt(all.squares / static_cast<double>(n))};
}

template <class T>
void turn_values(Device device, View<const double, 2> rotation, int spin, double sign, View<T, 3> values) {
    const core::CurrentDevice current(device.index());
    core::require_place("values", values, device.index());
    for (std::int64_t map = 0; map < values.extent(0); ++map)
        for_each("turning values", values.extent(2),
                 Turn<T>{rotation[0].data(), rotation[1].data(), spin, sign, values[map][0].data(),
                         values[map][1].data()});
}

void scale(Device device, const AlmLayout& layout, EthFactor factor, View<const std::complex<double>, 1> from,
           View<std::complex<double>, 1> to) {
    const core::CurrentDevice current(device.index());
    std::vector<std::int64_t> offsets;
    for (std::int64_t m = 0; m <= layout.mmax(); ++m) offsets.push_back(layout.offset(m));
    const core::DeviceArray<std::int64_t> there(offsets);
    constexpr std::int64_t most_orders = 32768, degrees_of_thread = 4;
    const dim3 blocks(blocks_for(layout.lmax() / degrees_of_thread + 1),
                      static_cast<unsigned>(std::min(layout.mmax() + 1, most_orders)));
    scale_kernel<<<blocks, n_threads>>>(layout.lmax(), layout.mmax() + 1, there.data(), factor,
                                        reinterpret_cast<const double2*>(from.data()),
                                        reinterpret_cast<double2*>(to.data()));
    core::check_launch("scaling alm");
    core::check_cuda(cudaStreamSynchronize(cudaStreamLegacy), "scaling alm");
}

void add_slopes(Device device, const SlopeSums& sums, std::int64_t n) {
    const core::CurrentDevice current(device.index());
    for_each("adding slopes", n, AddSlopes{sums});
}

template <class In, class Out>
void gather(const char* name, Device device, const std::int64_t* value_of, View<const In, 1> values,
            View<Out, 1> points) {
    const core::CurrentDevice current(device.index());
    core::require_place(name, values, device.index());
    core::require_place(name, points, device.index());
    for_each("copying values", points.extent(0),
             Gather<In, Out>{value_of, values.data(), values.stride(0), points.data(), points.stride(0)});
}

template <class T>
void scatter(Device device, const std::int64_t* value_of, View<const T, 1> points, View<T, 1> values) {
    const core::CurrentDevice current(device.index());
    core::require_place("values", values, device.index());
    for_each("copying values", points.extent(0), Scatter<T>{value_of, points.data(), values.data()});
}

class ValueTransfer {
  public:
    /// The device is current.
    ValueTransfer(int device, int threads) : device_(device), transfer_(device, threads) {}

    /// call(transfer, stream), and waits.
    template <class Call>
    void run(const Call& call) {
        const core::CurrentDevice current(device_);
        const std::lock_guard turn(turns_);
        call(transfer_, stream_.get());
        core::check_cuda(cudaStreamSynchronize(stream_.get()), "copying values");
    }

  private:
    const int device_;
    core::OwnStream stream_;
    core::HostTransfer transfer_;
    std::mutex turns_;
};

std::shared_ptr<ValueTransfer> make_transfer(Device device, int threads) {
    const core::CurrentDevice current(device.index());
    return std::make_shared<ValueTransfer>(device.index(), threads);
}

void to_device(ValueTransfer& transfer, const void* host, void* there, std::int64_t bytes) {
    if (bytes == 0) return;
    transfer.run([&](core::HostTransfer& copies, cudaStream_t stream) {
        copies.to_device(host, there, bytes, stream);
    });
}

void to_host(ValueTransfer& transfer, const void* there, void* host, std::int64_t bytes) {
    if (bytes == 0) return;
    transfer.run(
        [&](core::HostTransfer& copies, cudaStream_t stream) { copies.to_host(there, host, bytes, stream); });
}

template void turn_values(Device, View<const double, 2>, int, double, View<float, 3>);
template void turn_values(Device, View<const double, 2>, int, double, View<double, 3>);
template void gather(const char*, Device, const std::int64_t*, View<const double, 1>, View<double, 1>);
template void gather(const char*, Device, const std::int64_t*, View<const float, 1>, View<float, 1>);
template void gather(const char*, Device, const std::int64_t*, View<const float, 1>, View<double, 1>);
template void gather(const char*, Device, const std::int64_t*, View<const double, 1>, View<float, 1>);
template void scatter(Device, const std::int64_t*, View<const double, 1>, View<double, 1>);
template void scatter(Device, const std::int64_t*, View<const float, 1>, View<float, 1>);

}  // namespace zonal::points::cuda
