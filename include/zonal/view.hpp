#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace zonal {

/// Where the memory behind a view lies.
enum class MemorySpace { host, cuda };

/// A strided N-dimensional array that somebody else owns: pointer, extents, strides (in elements), space.
/// Row-major by default. A view of T converts to a view of const T.
template <class T, int N>
class View {
  public:
    using Extents = std::array<std::int64_t, N>;

    View() = default;
    View(T* data, const Extents& extents, MemorySpace space = MemorySpace::host)
        : View(data, extents, row_major(extents), space) {}
    View(T* data, const Extents& extents, const Extents& strides, MemorySpace space = MemorySpace::host)
        : data_(data), extents_(extents), strides_(strides), space_(space) {}

    operator View<const T, N>() const requires(!std::is_const_v<T>) {
        return {data_, extents_, strides_, space_};
    }

    T* data() const { return data_; }
    MemorySpace space() const { return space_; }
    const Extents& extents() const { return extents_; }
    const Extents& strides() const { return strides_; }
    std::int64_t extent(int axis) const { return extents_[axis]; }
    std::int64_t stride(int axis) const { return strides_[axis]; }

    std::int64_t size() const {
        std::int64_t count = 1;
        for (auto extent : extents_) count *= extent;
        return count;
    }

    template <std::integral... Index>
    requires(sizeof...(Index) == N) T& operator()(Index... index) const {
        std::int64_t offset = 0;
        int axis = 0;
        ((offset += static_cast<std::int64_t>(index) * strides_[axis++]), ...);
        return data_[offset];
    }

    /// The (N-1)-dimensional view at `index` of the first axis.
    View<T, N - 1> operator[](std::int64_t index) const requires(N > 1) {
        typename View<T, N - 1>::Extents extents, strides;
        for (int axis = 1; axis < N; ++axis) {
            extents[axis - 1] = extents_[axis];
            strides[axis - 1] = strides_[axis];
        }
        return {data_ + index * strides_[0], extents, strides, space_};
    }

    /// Entries [first, first + count) of the first axis.
    View slice(std::int64_t first, std::int64_t count) const {
        View part = *this;
        part.data_ += first * strides_[0];
        part.extents_[0] = count;
        return part;
    }

    T& operator[](std::int64_t index) const requires(N == 1) { return data_[index * strides_[0]]; }

  private:
    static Extents row_major(const Extents& extents) {
        Extents strides{};
        std::int64_t stride = 1;
        for (int axis = N - 1; axis >= 0; --axis) {
            strides[axis] = stride;
            stride *= extents[axis];
        }
        return strides;
    }

    T* data_ = nullptr;
    Extents extents_{};
    Extents strides_{};
    MemorySpace space_ = MemorySpace::host;
};

/// A view that a call reads from. It is not what T is deduced from, so that a View<T, N> can be given where T
/// follows from another argument, such as the view that is written to.
template <class T, int N>
using ConstView = std::type_identity_t<View<const T, N>>;

/// Asks the system for pages of 2 MiB for memory that will be written as a whole: they are made in a third of
/// the time, and strides through them miss the TLB less. Advice only, for what lies in whole pages.
void advise_huge_pages(void* data, std::size_t bytes);
/// Arrays from this size on get such advice. Smaller ones do not: whole pages would count as used memory even
/// where nothing is written.
inline constexpr std::size_t least_huge_array = std::size_t{16} << 20;  // bytes

/// An allocator whose memory is 0 from the start, so that elements need no initialisation of their own. The
/// system gives large pieces as pages that are cleared when they are first written, by any thread.
template <class T>
struct ZeroedAllocator {
    static_assert(std::is_trivially_copyable_v<T>);
    using value_type = T;
    ZeroedAllocator() = default;
    template <class Other>
    ZeroedAllocator(const ZeroedAllocator<Other>&) noexcept {}

    T* allocate(std::size_t n) {
        void* const memory = std::calloc(n, sizeof(T));  // NOLINT(cppcoreguidelines-no-malloc)
        if (memory == nullptr) throw std::bad_alloc();
        if (n * sizeof(T) >= least_huge_array) advise_huge_pages(memory, n * sizeof(T));
        return static_cast<T*>(memory);
    }
    void deallocate(T* memory, std::size_t) noexcept { std::free(memory); }  // NOLINT(*-no-malloc)
    template <class Element>
    void construct(Element*) noexcept {}
    template <class Element, class First, class... Rest>
    void construct(Element* at, First&& first, Rest&&... rest) {
        ::new (static_cast<void*>(at)) Element(std::forward<First>(first), std::forward<Rest>(rest)...);
    }
    friend bool operator==(const ZeroedAllocator&, const ZeroedAllocator&) { return true; }
};

/// A row-major host array that owns its elements, all 0 at first.
template <class T, int N>
class Array {
  public:
    using Extents = typename View<T, N>::Extents;

    Array() = default;
    explicit Array(const Extents& extents) : extents_(extents) {
        std::int64_t count = 1;
        for (auto extent : extents) count *= extent;
        elements_.resize(static_cast<std::size_t>(count));
    }

    View<T, N> view() { return {elements_.data(), extents_}; }
    View<const T, N> view() const { return {elements_.data(), extents_}; }
    T* data() { return elements_.data(); }
    const T* data() const { return elements_.data(); }
    std::int64_t size() const { return static_cast<std::int64_t>(elements_.size()); }
    const Extents& extents() const { return extents_; }
    std::int64_t extent(int axis) const { return extents_[axis]; }
    auto begin() { return elements_.begin(); }
    auto end() { return elements_.end(); }
    auto begin() const { return elements_.begin(); }
    auto end() const { return elements_.end(); }

    template <std::integral... Index>
    T& operator()(Index... index) {
        return view()(index...);
    }
    template <std::integral... Index>
    const T& operator()(Index... index) const {
        return view()(index...);
    }

  private:
    Extents extents_{};
    std::vector<T, ZeroedAllocator<T>> elements_;
};

}  // namespace zonal
