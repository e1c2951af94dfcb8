#pragma once

#include <string>
#include <type_traits>

#include "sht/legendre_cuda.cuh"
#include "sht/transform.hpp"
#include "zonal/error.hpp"

namespace zonal::sht::cuda {

/// What a call's stages took, by events between them.
class StageClock {
  public:
    /// Not where a caller's stream is used: nobody waits there to read the events.
    void start(cudaStream_t stream, bool enabled) {
        enabled_ = enabled;
        events_.clear();
        stages_.clear();
        if (enabled_) events_.record(stream);
    }
    /// What came since the last mark was this stage; null: what is not counted.
    void mark(cudaStream_t stream, double ShtStageSeconds::*stage) {
        if (!enabled_) return;
        events_.record(stream);
        stages_.push_back(stage);
    }
    /// Once the stream has passed all marks.
    ShtStageSeconds seconds() const {
        ShtStageSeconds sum;
        for (std::size_t k = 0; k < stages_.size(); ++k)
            if (stages_[k] != nullptr) sum.*stages_[k] += events_.seconds(k);
        return sum;
    }

  private:
    bool enabled_ = false;
    core::EventList events_;
    std::vector<double ShtStageSeconds::*> stages_;
};

/// Device memory of one call.
struct CudaStorage : ShtWorkspace::Storage {
    explicit CudaStorage(int device) : device(device) {}

    void use_stream(void* stream) override {
        caller = static_cast<cudaStream_t>(stream);
        has_caller = true;
    }
    cudaStream_t stream() const { return has_caller ? caller : own.get(); }

    const int device;
    core::OwnStream own;
    core::SideStream side;
    cudaStream_t caller = nullptr;
    bool has_caller = false;
    StageClock clock;
    core::DeviceArray<PairModes> fourier;         ///< [fields][entries], of the grid's rings
    core::DeviceArray<PairModes> coarse;          ///< the same of the Legendre stage's, where they differ
    core::DeviceArray<double> steps, rows, sums;  ///< of Ishioka's recurrence
    core::DeviceArray<double> polar, equatorial;  ///< adjoint_jacobi
    core::DeviceArray<double> buffer;             ///< of the Fourier stage
    core::DeviceArray<char> library;              ///< of the FFT library
    core::DeviceArray<char> alm, map, update;     ///< copies of host arrays
    core::DeviceArray<char> residual;             ///< of project_residual
};

/// Throws InvalidArgument for an array that is said to lie on the device and does not.
template <class T>
void require_on_device(const char* name, View<T, 3> view, int device) {
    if (view.space() != MemorySpace::cuda || view.size() == 0) return;
    cudaPointerAttributes found{};
    core::check_cuda(cudaPointerGetAttributes(&found, view.data()), "looking up a pointer");
    const bool usable =
        found.type == cudaMemoryTypeManaged || (found.type == cudaMemoryTypeDevice && found.device == device);
    if (!usable)
        throw InvalidArgument(std::string(name) + ": is not in device memory of " +
                              to_string(Device::cuda(device)));
    constexpr std::uintptr_t alignment = sizeof(std::remove_const_t<T>);
    if (reinterpret_cast<std::uintptr_t>(view.data()) % alignment != 0)
        throw InvalidArgument(std::string(name) + ": must be aligned to " + std::to_string(alignment) +
                              " bytes");
}

/// Array `index` of the first axis in device memory: itself, or a copy in `copy`.
template <class T>
T* on_device(View<T, 2> view, core::DeviceArray<char>& copy, bool fill, cudaStream_t stream) {
    if (view.space() == MemorySpace::cuda) return view.data();
    const std::int64_t row = view.extent(1) * static_cast<std::int64_t>(sizeof(T));
    copy.reserve(view.extent(0) * row);
    if (fill)
        core::check_cuda(cudaMemcpy2DAsync(copy.data(), row, view.data(),
                                           view.stride(0) * static_cast<std::int64_t>(sizeof(T)), row,
                                           view.extent(0), cudaMemcpyHostToDevice, stream),
                         "copying to the device");
    return reinterpret_cast<T*>(copy.data());
}

template <class T>
void copy_back(const T* from, View<T, 2> view, cudaStream_t stream) {
    if (view.space() == MemorySpace::cuda) return;
    const std::int64_t row = view.extent(1) * static_cast<std::int64_t>(sizeof(T));
    core::check_cuda(cudaMemcpy2DAsync(view.data(), view.stride(0) * static_cast<std::int64_t>(sizeof(T)),
                                       from, row, row, view.extent(0), cudaMemcpyDeviceToHost, stream),
                     "copying to the host");
}

/// Elements from one component to the next, where on_device left them.
template <class T>
std::int64_t component_stride(View<T, 2> view) {
    return view.space() == MemorySpace::cuda ? view.stride(0) : view.extent(1);
}

}  // namespace zonal::sht::cuda
