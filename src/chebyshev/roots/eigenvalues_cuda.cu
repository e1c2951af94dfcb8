#include <cusolverDn.h>
#include <dlfcn.h>

#include <string>

#include "chebyshev/roots/roots.hpp"
#include "core/cuda.cuh"
#include "zonal/error.hpp"

namespace zonal::chebyshev::cuda {
namespace {

/// cuSOLVER, opened when it is first needed: programs that find no roots of long series need not have it.
class CuSolver {
  public:
    static const CuSolver& get() {
        static const CuSolver library;
        return library;
    }

    decltype(&cusolverDnCreate) create;
    decltype(&cusolverDnDestroy) destroy;
    decltype(&cusolverDnSetStream) set_stream;
    decltype(&cusolverDnCreateParams) create_parameters;
    decltype(&cusolverDnDestroyParams) destroy_parameters;
    decltype(&cusolverDnXgeev_bufferSize) geev_buffer_size;
    decltype(&cusolverDnXgeev) geev;

  private:
    CuSolver() : handle_(dlopen(ZONAL_CUSOLVER, RTLD_NOW | RTLD_LOCAL)) {
        if (handle_ == nullptr)
            throw DeviceError(std::string("cuSOLVER, which finds the roots of long series on a GPU: ") +
                              dlerror());
        find(create, "cusolverDnCreate");
        find(destroy, "cusolverDnDestroy");
        find(set_stream, "cusolverDnSetStream");
        find(create_parameters, "cusolverDnCreateParams");
        find(destroy_parameters, "cusolverDnDestroyParams");
        find(geev_buffer_size, "cusolverDnXgeev_bufferSize");
        find(geev, "cusolverDnXgeev");
    }
    template <class Function>
    void find(Function& function, const char* name) {
        function = reinterpret_cast<Function>(dlsym(handle_, name));
        if (function == nullptr) throw DeviceError(std::string(ZONAL_CUSOLVER) + " has no " + name);
    }

    void* handle_;
};

void check_cusolver(cusolverStatus_t status, const char* what) {
    if (status == CUSOLVER_STATUS_SUCCESS) return;
    throw DeviceError(std::string("cuSOLVER, ") + what + ": error " +
                      std::to_string(static_cast<int>(status)));
}

/// What cuSOLVER is called with.
class Session {
  public:
    explicit Session(cudaStream_t stream) {
        const auto& library = CuSolver::get();
        check_cusolver(library.create(&handle), "beginning");
        check_cusolver(library.create_parameters(&parameters), "beginning");
        check_cusolver(library.set_stream(handle, stream), "choosing a stream");
    }
    ~Session() {
        CuSolver::get().destroy_parameters(parameters);
        CuSolver::get().destroy(handle);
    }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    cusolverDnHandle_t handle = nullptr;
    cusolverDnParams_t parameters = nullptr;
};

}  // namespace

template <class Scalar>
std::vector<std::complex<double>> eigenvalues(const Scalar* matrix, std::int64_t n, const void* data,
                                              void* cuda_stream) {
    const core::CurrentDevice current(core::device_of("f", data));
    const auto stream = static_cast<cudaStream_t>(cuda_stream);
    const Session session(stream);
    constexpr cudaDataType type = is_complex<Scalar> ? CUDA_C_64F : CUDA_R_64F;
    constexpr cusolverEigMode_t no_vectors = CUSOLVER_EIG_MODE_NOVECTOR;
    const core::StreamArray<Scalar> on_device(n * n, stream);
    const core::StreamArray<std::complex<double>> values(n, stream);
    const core::StreamArray<int> info(1, stream);
    core::check_cuda(
        cudaMemcpyAsync(on_device.data(), matrix, static_cast<std::size_t>(n * n) * sizeof(Scalar),
                        cudaMemcpyHostToDevice, stream),
        "copying a matrix");
    std::size_t bytes = 0, host_bytes = 0;
    check_cusolver(
        CuSolver::get().geev_buffer_size(session.handle, session.parameters, no_vectors, no_vectors, n, type,
                                         on_device.data(), n, CUDA_C_64F, values.data(), type, nullptr, 1,
                                         type, nullptr, 1, type, &bytes, &host_bytes),
        "eigenvalues");
    const core::StreamArray<char> buffer(static_cast<std::int64_t>(bytes), stream);
    std::vector<char> host_buffer(host_bytes);
    check_cusolver(
        CuSolver::get().geev(session.handle, session.parameters, no_vectors, no_vectors, n, type,
                             on_device.data(), n, CUDA_C_64F, values.data(), type, nullptr, 1, type, nullptr,
                             1, type, buffer.data(), bytes, host_buffer.data(), host_bytes, info.data()),
        "eigenvalues");
    std::vector<std::complex<double>> found(static_cast<std::size_t>(n));
    int failed = 0;
    core::check_cuda(cudaMemcpyAsync(&failed, info.data(), sizeof(int), cudaMemcpyDeviceToHost, stream),
                     "copying eigenvalues");
    core::check_cuda(cudaMemcpyAsync(found.data(), values.data(), found.size() * sizeof(found[0]),
                                     cudaMemcpyDeviceToHost, stream),
                     "copying eigenvalues");
    core::check_cuda(cudaStreamSynchronize(stream), "eigenvalues");
    if (failed != 0) found.clear();
    return found;
}

template std::vector<std::complex<double>> eigenvalues(const double*, std::int64_t, const void*, void*);
template std::vector<std::complex<double>> eigenvalues(const std::complex<double>*, std::int64_t, const void*,
                                                       void*);

}  // namespace zonal::chebyshev::cuda
