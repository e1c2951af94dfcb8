#pragma once

#include "backend/cuda_helpers.cuh"
#include "chebyshev_helpers.hpp"

/// Batches of Chebyshev series on the device.
namespace zonal::test {

inline ChebyshevProductOptions on_cuda(ChebyshevMethod method, bool full = false) {
    ChebyshevProductOptions options;
    options.method = method;
    options.full = full;
    options.device = Device::cuda(0);
    return options;
}

template <int D>
std::array<std::int64_t, D + 1> batch_extents(std::int64_t n_batch,
                                              const std::array<std::int64_t, D>& extents) {
    std::array<std::int64_t, D + 1> all{n_batch};
    std::copy(extents.begin(), extents.end(), all.begin() + 1);
    return all;
}

template <class T, int D>
Array<T, D + 1> random_batch(std::int64_t n_batch, const std::array<std::int64_t, D>& extents,
                             unsigned seed) {
    return random_array<T, D + 1>(batch_extents<D>(n_batch, extents), seed);
}

/// A copy of a batch, row-major.
template <class T, int D>
struct DeviceBatch {
    core::DeviceArray<T> memory;
    std::array<std::int64_t, D + 1> extents;

    explicit DeviceBatch(const Array<T, D + 1>& host) : memory(host.size()), extents(host.extents()) {
        core::check_cuda(cudaMemcpy(memory.data(), host.data(), memory.bytes(), cudaMemcpyHostToDevice),
                         "copy");
        // From pageable memory the call returns before the last bytes are there, and streams do not wait.
        core::check_cuda(cudaDeviceSynchronize(), "copy");
    }
    template <ChebyshevConvention C>
    ChebyshevView<T, D, C> series() const {
        return ChebyshevView<T, D, C>(View<T, D + 1>(memory.data(), extents, MemorySpace::cuda));
    }
    Array<T, D + 1> host() const {
        Array<T, D + 1> result(extents);
        core::check_cuda(cudaMemcpy(result.data(), memory.data(), memory.bytes(), cudaMemcpyDeviceToHost),
                         "copy");
        return result;
    }
};

template <ChebyshevConvention C, class T, int D>
void sum_of(const ChebyshevProductPlan<T, D, C>& plan, const std::vector<DeviceBatch<T, D>>& fields,
            const std::vector<DeviceBatch<T, D>>& sums) {
    std::vector<ChebyshevView<const T, D, C>> in;
    std::vector<ChebyshevView<T, D, C>> out;
    for (const auto& field : fields) in.push_back(field.template series<C>());
    for (const auto& sum : sums) out.push_back(sum.template series<C>());
    plan.sum(in, out);
}

/// [output]
template <ChebyshevConvention C, class T, int D>
std::vector<Array<T, D + 1>> sums_on_cpu(const ChebyshevProductPlan<T, D, C>& plan,
                                         std::vector<Array<T, D + 1>>& fields) {
    std::vector<ChebyshevView<const T, D, C>> in;
    std::vector<ChebyshevView<T, D, C>> out;
    for (auto& field : fields) in.push_back(ChebyshevView<T, D, C>(field.view()));
    std::vector<Array<T, D + 1>> sums;
    for (int o = 0; o < plan.n_outputs(); ++o)
        sums.emplace_back(batch_extents<D>(fields.front().extent(0), plan.extents_out()));
    for (auto& sum : sums) out.push_back(ChebyshevView<T, D, C>(sum.view()));
    plan.sum(in, out);
    return sums;
}

}  // namespace zonal::test
