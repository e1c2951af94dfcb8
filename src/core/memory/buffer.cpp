#include "zonal/buffer.hpp"

#include <complex>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "core/cuda_host.hpp"
#include "zonal/error.hpp"

namespace zonal {
namespace {

/// Cache lines and the widest vectors have this many bytes.
constexpr std::align_val_t alignment{64};

}  // namespace

Buffer::Buffer(Kind kind, Device device, std::int64_t bytes) : kind_(kind), device_(device), bytes_(bytes) {
    if (bytes < 0) throw InvalidArgument("bytes", bytes, "must be at least 0");
    if (bytes == 0) return;
    if (kind == Kind::host) {
        const auto size = static_cast<std::size_t>(bytes);
        data_ = ::operator new(size, alignment);
        if (size >= least_huge_array) advise_huge_pages(data_, size);
    } else if (kind == Kind::device) {
        data_ = core::allocate_on_cuda(device.index(), bytes);
        space_ = MemorySpace::cuda;
    } else {
        data_ = core::allocate_page_locked(device.index(), bytes);
    }
}

Buffer::Buffer(Device device, std::int64_t bytes)
    : Buffer(resolve_device(device).kind() == Device::Kind::cuda ? Kind::device : Kind::host,
             resolve_device(device), bytes) {}

Buffer Buffer::page_locked(Device device, std::int64_t bytes) {
    const Device resolved = resolve_device(device);
    return {resolved.kind() == Device::Kind::cuda ? Kind::page_locked : Kind::host, resolved, bytes};
}

Buffer::~Buffer() {
    if (kind_ == Kind::host)
        ::operator delete(data_, alignment);
    else if (kind_ == Kind::device)
        core::release_on_cuda(data_);
    else
        core::release_page_locked(data_);
}

void Buffer::swap(Buffer& other) noexcept {
    std::swap(kind_, other.kind_);
    std::swap(device_, other.device_);
    std::swap(space_, other.space_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
}

void Buffer::copy_from(const void* host) {
    if (bytes_ == 0) return;
    if (kind_ == Kind::device)
        core::copy_to_cuda(data_, host, bytes_);
    else
        std::memcpy(data_, host, static_cast<std::size_t>(bytes_));
}

void Buffer::copy_to(void* host) const {
    if (bytes_ == 0) return;
    if (kind_ == Kind::device)
        core::copy_from_cuda(host, data_, bytes_);
    else
        std::memcpy(host, data_, static_cast<std::size_t>(bytes_));
}

void Buffer::clear() {
    if (bytes_ == 0) return;
    if (kind_ == Kind::device)
        core::clear_on_cuda(data_, bytes_);
    else
        std::memset(data_, 0, static_cast<std::size_t>(bytes_));
}

template <class T>
void copy_rows(View<const T, 2> from, View<T, 2> to) {
    if (from.extents() != to.extents())
        throw InvalidArgument("from, to: have other extents: must be those of one array");
    const bool from_cuda = from.space() == MemorySpace::cuda, to_cuda = to.space() == MemorySpace::cuda;
    if (from_cuda && to_cuda) throw InvalidArgument("from, to: are both on a device: one must be the host's");
    if (from.size() == 0) return;
    for (const auto stride : {from.stride(1), to.stride(1)})
        if (stride != 1 && from.extent(1) > 1)
            throw InvalidArgument("from, to: have rows of stride " + std::to_string(stride) + ": must be 1");
    const auto bytes = from.extent(1) * static_cast<std::int64_t>(sizeof(T));
    for (std::int64_t row = 0; row < from.extent(0); ++row) {
        const T* const source = from.data() + row * from.stride(0);
        T* const target = to.data() + row * to.stride(0);
        if (from_cuda)
            core::copy_from_cuda(target, source, bytes);
        else if (to_cuda)
            core::copy_to_cuda(target, source, bytes);
        else
            std::memcpy(target, source, static_cast<std::size_t>(bytes));
    }
}
template void copy_rows(View<const double, 2>, View<double, 2>);
template void copy_rows(View<const float, 2>, View<float, 2>);
template void copy_rows(View<const std::complex<double>, 2>, View<std::complex<double>, 2>);
template void copy_rows(View<const std::complex<float>, 2>, View<std::complex<float>, 2>);

}  // namespace zonal
