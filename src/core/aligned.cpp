#include "core/aligned.hpp"

#include <memory>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace zonal {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;

}  // namespace

void advise_huge_pages(void* data, std::size_t bytes) {
#ifdef __linux__
    void* page = data;
    // Mapped from the first whole huge page on: what lies around it has ordinary ones in any case.
    if (std::align(huge_page, huge_page, page, bytes) != nullptr) madvise(page, bytes, MADV_HUGEPAGE);
#endif
}

namespace core {

double* Scratch::reserve(std::int64_t count) {
    if (count <= capacity_) return data_;
    release();
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(double);
    data_ = static_cast<double*>(::operator new (bytes, std::align_val_t{huge_page}));
    capacity_ = count;
    advise_huge_pages(data_, bytes);
    return data_;
}

void Scratch::release() {
    if (data_ != nullptr) ::operator delete (data_, std::align_val_t{huge_page});
    data_ = nullptr;
    capacity_ = 0;
}

}  // namespace core
}  // namespace zonal
