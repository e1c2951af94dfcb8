#pragma once

#include <vector>

#include "chebyshev/series_lines.hpp"

namespace zonal::chebyshev {

namespace cuda {

/// The coefficients, row-major, when the stream, a cudaStream_t, has come to its present end. Without CUDA
/// code throws BackendUnavailable.
template <class T>
std::vector<T> download(const SeriesArray<const T>& f, void* stream);

}  // namespace cuda

/// Coefficients where the host can read them: f itself, or a copy that lives as long as this.
template <class T>
class HostCopy {
  public:
    HostCopy(const SeriesArray<const T>& f, void* stream) : array_(f) {
        if (f.space == MemorySpace::host) return;
        copy_ = cuda::download(f, stream);
        array_ = row_major_like<const T>(f, copy_.data(), f.extents);
        array_.space = MemorySpace::host;
    }
    HostCopy(const HostCopy&) = delete;
    HostCopy& operator=(const HostCopy&) = delete;

    const SeriesArray<const T>& array() const { return array_; }

  private:
    SeriesArray<const T> array_;
    std::vector<T> copy_;
};

}  // namespace zonal::chebyshev
