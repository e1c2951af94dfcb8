#include "gwrm/backend.hpp"

#include <algorithm>

namespace zonal::gwrm {
namespace {

/// By automatic choice; with fewer, launches take longer than the CPU's work (docs/decisions/gwrm.md).
constexpr std::int64_t fewest_unknowns_on_cuda = 1024;

}  // namespace

void Backend::differentiate(const chebyshev::SeriesArray<const double>& f, int axis, double scale,
                            const chebyshev::SeriesArray<double>& derivative) const {
    chebyshev::differentiate<double>(f, axis, scale, derivative, stream());
}

void Backend::integrate(const chebyshev::SeriesArray<const double>& f, int axis, double scale,
                        HighestMode mode, const chebyshev::SeriesArray<double>& integral) const {
    chebyshev::integrate<double>(f, axis, scale, mode, integral, stream());
}

void Backend::fill(double* to, std::int64_t n, double value) {
    run(Fill{.n_inner = n, .value = value, .to = to});
}

void Backend::copy(const double* from, std::int64_t n, double* to) {
    run(Copy{.n_inner = n, .from = from, .to = to});
}

void Backend::add(std::int64_t n, std::span<const WeightedArray> arrays) {
    while (!arrays.empty()) {
        AddArrays task{.n_inner = n};
        const auto count = std::min(arrays.size(), static_cast<std::size_t>(AddArrays::most));
        std::copy_n(arrays.begin(), count, task.arrays);
        task.n_arrays = static_cast<int>(count);
        run(task);
        arrays = arrays.subspan(count);
    }
}

void Backend::download(const double* from, std::int64_t n, double* host) {
    downloaded_ += n;
    if (n > 0) download_now(from, n, host);
}

void Backend::upload_bytes(const void* host, std::int64_t bytes, void* to) {
    uploaded_bytes_ += bytes;
    upload_bytes_now(host, bytes, to);
}

double* Backend::results(std::int64_t n) {
    const auto bytes = n * static_cast<std::int64_t>(sizeof(double));
    if (bytes > results_.bytes()) results_ = Buffer(device_, bytes);
    return static_cast<double*>(results_.data());
}

Device device_for(Device requested, std::int64_t unknowns) {
    const bool automatic = requested.kind() == Device::Kind::automatic;
    return resolve_device(automatic && unknowns < fewest_unknowns_on_cuda ? Device::cpu() : requested);
}

std::unique_ptr<Backend> make_backend(Device device, int threads) {
    return device.kind() == Device::Kind::cpu ? make_cpu_backend(threads)
                                              : make_cuda_backend(device, threads);
}

}  // namespace zonal::gwrm
