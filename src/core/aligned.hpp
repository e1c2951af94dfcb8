#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

#include "zonal/view.hpp"

namespace zonal::core {

/// One cache line, and one AVX-512 vector.
inline constexpr std::size_t cache_line = 64;

/// Allocates at cache line boundaries, so that no vector load straddles two lines.
template <class T>
struct AlignedAllocator {
    using value_type = T;
    AlignedAllocator() = default;
    template <class U>
    AlignedAllocator(const AlignedAllocator<U>&) {}
    T* allocate(std::size_t count) {
        void* const memory = ::operator new (count * sizeof(T), std::align_val_t{cache_line});
        if (count * sizeof(T) >= least_huge_array) advise_huge_pages(memory, count * sizeof(T));
        return static_cast<T*>(memory);
    }
    void deallocate(T* pointer, std::size_t) { ::operator delete (pointer, std::align_val_t{cache_line}); }
    template <class U>
    bool operator==(const AlignedAllocator<U>&) const {
        return true;
    }
};

template <class T>
using AlignedVector = std::vector<T, AlignedAllocator<T>>;

/// Large scratch memory that is not touched before its first use, so that it costs nothing until then.
class Scratch {
  public:
    Scratch() = default;
    /// At least `count` doubles, contents unspecified; grows when needed and never shrinks.
    double* reserve(std::int64_t count);
    std::int64_t bytes() const { return capacity_ * static_cast<std::int64_t>(sizeof(double)); }
    ~Scratch() { release(); }
    Scratch(Scratch&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), capacity_(std::exchange(other.capacity_, 0)) {}
    Scratch& operator=(Scratch&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(capacity_, other.capacity_);
        return *this;
    }

  private:
    void release();
    double* data_ = nullptr;
    std::int64_t capacity_ = 0;
};

/// An array in scratch memory, contents unspecified.
template <class T, int N>
View<T, N> scratch_view(Scratch& memory, const std::array<std::int64_t, N>& extents) {
    std::int64_t bytes = sizeof(T);
    for (const std::int64_t extent : extents) bytes *= extent;
    constexpr std::int64_t unit = sizeof(double);
    return {reinterpret_cast<T*>(memory.reserve((bytes + unit - 1) / unit)), extents};
}

}  // namespace zonal::core
