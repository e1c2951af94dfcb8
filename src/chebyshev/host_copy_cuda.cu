#include "chebyshev/host_copy.hpp"
#include "core/cuda.cuh"

namespace zonal::chebyshev::cuda {

template <class T>
std::vector<T> download(const SeriesArray<const T>& f, void* stream) {
    std::int64_t size = 1, lowest = 0, highest = 0;  // of offsets
    for (std::size_t axis = 0; axis < f.extents.size(); ++axis) {
        size *= f.extents[axis];
        const std::int64_t reach = (f.extents[axis] - 1) * f.strides[axis];
        (reach < 0 ? lowest : highest) += reach;
    }
    if (size == 0) return {};
    const core::CurrentDevice current(core::device_of("f", f.data));
    std::vector<T> span(static_cast<std::size_t>(highest - lowest + 1));
    const auto of_call = static_cast<cudaStream_t>(stream);
    core::check_cuda(cudaMemcpyAsync(span.data(), f.data + lowest, span.size() * sizeof(T),
                                     cudaMemcpyDeviceToHost, of_call),
                     "copying coefficients to the host");
    core::check_cuda(cudaStreamSynchronize(of_call), "copying coefficients to the host");
    std::vector<T> packed(static_cast<std::size_t>(size));
    auto there = f;
    there.data = span.data() - lowest;
    for_each_pair(there, row_major_like(f, packed.data(), f.extents),
                  [](const T& source, T& copy) { copy = source; });
    return packed;
}

template std::vector<float> download(const SeriesArray<const float>&, void*);
template std::vector<double> download(const SeriesArray<const double>&, void*);
template std::vector<std::complex<float>> download(const SeriesArray<const std::complex<float>>&, void*);
template std::vector<std::complex<double>> download(const SeriesArray<const std::complex<double>>&, void*);

}  // namespace zonal::chebyshev::cuda
