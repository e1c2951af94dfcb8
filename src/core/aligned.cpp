#include "core/aligned.hpp"

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace zonal::core {

namespace {
constexpr std::size_t huge_page = std::size_t{2} << 20;
}

double* Scratch::reserve(std::int64_t count) {
    if (count <= capacity_) return data_;
    release();
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(double);
    data_ = static_cast<double*>(::operator new (bytes, std::align_val_t{huge_page}));
    capacity_ = count;
#ifdef __linux__
    // The transforms stride through this memory: huge pages save most of the TLB misses. Advice only.
    if (bytes >= huge_page) madvise(data_, bytes, MADV_HUGEPAGE);
#endif
    return data_;
}

void Scratch::release() {
    if (data_ != nullptr) ::operator delete (data_, std::align_val_t{huge_page});
    data_ = nullptr;
    capacity_ = 0;
}

}  // namespace zonal::core
