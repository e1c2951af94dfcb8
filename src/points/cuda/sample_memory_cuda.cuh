#pragma once

#include <mutex>
#include <optional>
#include <type_traits>

#include "core/cuda_transfer.cuh"
#include "points/cuda/circles_cuda.cuh"
#include "points/cuda/point_weights_cuda.cuh"
#include "points/cuda/points_cuda.hpp"
#include "points/sphere_samples.hpp"
#include "sht/rings/modes_cuda.cuh"

namespace zonal::points::cuda {

/// A plan's tables on its device.
class SampleStage {
  public:
    explicit SampleStage(const SphereSamples::Implementation& made_for);

    SampleLayout layout_of(SampleRows rows) const;
    /// Copies at each end of a row: enough that the rows cuFFT reads are aligned.
    static std::int64_t column_border(const SampleTables& tables);
    WeightTables weights() const {
        return {weights_.data(), static_cast<int>(plan.polynomials.n_pairs),
                static_cast<int>(plan.polynomials.n_terms)};
    }

    const SphereSamples::Implementation& plan;
    const int device;
    const sht::cuda::LegendreStage legendre;
    const Circles circles;

  private:
    const core::DeviceArray<double> weights_;
};

/// A field's elements on the device: the caller's, or room for a copy.
template <class T>
struct DeviceField {
    T* there;
    T* caller;  ///< null where both are the same
};

class SampleMemory {
  public:
    SampleMemory(const SampleStage& made_by, SampleRows all);

    void set_maps(std::int64_t count);
    /// Makes it hold samples in memory of somebody else.
    void lend(double* lent, std::int64_t count);
    std::int64_t n_fields() const { return n_maps * stage.plan.components; }
    double* field(std::int64_t f) const { return samples + f * layout.field_size(); }
    cudaStream_t stream() const { return caller ? *caller : own.get(); }

    /// The fields of an array on the device, with room for a copy of each if the array is on the host.
    template <class T>
    std::vector<DeviceField<T>> fields_of(const View<T, 3>& array, core::DeviceArray<char>& room) const;
    template <class T>
    void bring(const std::vector<DeviceField<const T>>& fields, std::int64_t n) const;
    template <class T>
    void deliver(const std::vector<DeviceField<T>>& fields, std::int64_t n) const;
    /// Waits until all is done, unless the arrays are on the device and the caller gave a stream.
    void finish(bool on_device) const;

    const SampleStage& stage;
    const SampleRows rows;
    const SampleLayout layout;
    std::int64_t n_maps = 0;
    core::DeviceArray<double> own_samples;  ///< or none
    double* samples = nullptr;              ///< [field][row][column]
    std::optional<Rows> rows_in_phi;        ///< made by the first call that transforms
    CircleScratch scratch;
    core::DeviceArray<PairModes> fourier;  ///< [field][entry]
    sht::cuda::ModesScratch modes;
    core::DeviceArray<char> alm;
    core::OwnStream own;
    std::optional<cudaStream_t> caller;

    // For calls that read samples, which take turns.
    mutable std::mutex turns;
    mutable core::DeviceArray<char> values[3];
    mutable core::HostTransfer transfer;
};

/// A field is contiguous where its last axis is.
template <class T>
std::vector<DeviceField<T>> SampleMemory::fields_of(const View<T, 3>& array,
                                                    core::DeviceArray<char>& room) const {
    using Element = std::remove_const_t<T>;
    const std::int64_t n = array.extent(2), n_fields = array.extent(0) * array.extent(1);
    const bool is_there = array.space() == MemorySpace::cuda;
    if (!is_there) room.reserve(n_fields * n * static_cast<std::int64_t>(sizeof(Element)));
    std::vector<DeviceField<T>> fields;
    for (std::int64_t b = 0; b < array.extent(0); ++b)
        for (std::int64_t c = 0; c < array.extent(1); ++c) {
            T* const caller = array[b][c].data();
            if (is_there)
                fields.push_back({caller, nullptr});
            else
                fields.push_back({reinterpret_cast<Element*>(room.data()) + std::ssize(fields) * n, caller});
        }
    return fields;
}

template <class T>
void SampleMemory::bring(const std::vector<DeviceField<const T>>& fields, std::int64_t n) const {
    for (const auto& field : fields)
        if (field.caller != nullptr && n > 0)
            transfer.to_device(field.caller, const_cast<T*>(field.there),
                               n * static_cast<std::int64_t>(sizeof(T)), stream());
}

template <class T>
void SampleMemory::deliver(const std::vector<DeviceField<T>>& fields, std::int64_t n) const {
    for (const auto& field : fields)
        if (field.caller != nullptr && n > 0)
            transfer.to_host(field.there, field.caller, n * static_cast<std::int64_t>(sizeof(T)), stream());
}

}  // namespace zonal::points::cuda
