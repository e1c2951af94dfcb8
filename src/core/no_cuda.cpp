#include "core/cuda_host.hpp"
#include "zonal/error.hpp"

namespace zonal::core {
namespace {

[[noreturn]] void refuse() {
    throw BackendUnavailable("CUDA", cuda_devices().reason);
}

}  // namespace

CudaDevices cuda_devices() {
    return {0, "this build of Zonal has no CUDA code"};
}

std::string why_not_usable(int) {
    return cuda_devices().reason;
}

void* allocate_on_cuda(int, std::int64_t) {
    refuse();
}
void* allocate_page_locked(int, std::int64_t) {
    refuse();
}
void release_on_cuda(void*) noexcept {}
void release_page_locked(void*) noexcept {}
void copy_to_cuda(void*, const void*, std::int64_t) {
    refuse();
}
void copy_from_cuda(void*, const void*, std::int64_t) {
    refuse();
}
void clear_on_cuda(void*, std::int64_t) {
    refuse();
}
std::int64_t free_on_cuda(int) {
    refuse();
}
void require_on_cuda(const char*, const void*, int) {
    refuse();
}
std::shared_ptr<void> make_cuda_stream(int) {
    refuse();
}
void copy_on_cuda(void*, const void*, std::int64_t, void*) {
    refuse();
}
void wait_for_cuda(int, void*) {
    refuse();
}

}  // namespace zonal::core
