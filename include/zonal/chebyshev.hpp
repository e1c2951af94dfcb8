#pragma once

#include <array>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "zonal/view.hpp"

namespace zonal {

/// What the coefficient a_0 stands for: primed sums f = a_0 / 2 + a_1 T_1 + .., in several dimensions with
/// one half per index that is 0, or plain sums f = a_0 + a_1 T_1 + ...
enum class ChebyshevConvention { primed, plain };

/// A closed interval, [-1, 1] unless said otherwise; the map between it and [-1, 1].
struct Interval {
    double lower = -1;
    double upper = 1;

    double half_width() const { return (upper - lower) / 2; }
    /// sigma = (z - (upper + lower) / 2) / ((upper - lower) / 2), written so that the ends go to -1 and 1.
    double to_reference(double z) const { return ((z - lower) - (upper - z)) / (upper - lower); }
    double from_reference(double sigma) const { return ((1 - sigma) * lower + (1 + sigma) * upper) / 2; }
    /// Returns n equally spaced points from end to end; the middle where n = 1.
    std::vector<double> points(int n) const {
        std::vector<double> result;
        result.reserve(static_cast<std::size_t>(n > 0 ? n : 0));
        for (int i = 0; i < n; ++i) result.push_back(from_reference(n == 1 ? 0 : 2.0 * i / (n - 1) - 1));
        return result;
    }
    bool operator==(const Interval&) const = default;
};

/// One interval per axis.
template <int D>
using ChebyshevDomain = std::array<Interval, D>;

/// A batch of series that somebody else owns, of equal shape, in D = 1 to 3 dimensions. T: float, double or
/// std::complex of them, const for what is read.
template <class T, int D, ChebyshevConvention C = ChebyshevConvention::primed>
struct ChebyshevView {
    static_assert(1 <= D && D <= 3);

    ChebyshevView() = default;
    /// coefficients: [batch, k_0, .., k_{D-1}], any strides
    explicit ChebyshevView(View<T, D + 1> batch) : coefficients(batch) {}
    /// One series. coefficients: [k_0, .., k_{D-1}]
    explicit ChebyshevView(View<T, D> one) : coefficients(batch_of(one)) {}
    operator ChebyshevView<const T, D, C>() const requires(!std::is_const_v<T>) {
        return ChebyshevView<const T, D, C>(View<const T, D + 1>(coefficients));
    }

    std::int64_t n_batch() const { return coefficients.extent(0); }

    View<T, D + 1> coefficients;

  private:
    static View<T, D + 1> batch_of(View<T, D> one) {
        typename View<T, D + 1>::Extents extents{1}, strides{0};
        for (int axis = 0; axis < D; ++axis) {
            extents[axis + 1] = one.extent(axis);
            strides[axis + 1] = one.stride(axis);
        }
        return {one.data(), extents, strides, one.space()};
    }
};

/// One Chebyshev series in D = 1 to 3 dimensions that owns its coefficients, on a box.
template <class T, int D, ChebyshevConvention C = ChebyshevConvention::primed>
class ChebyshevSeries {
  public:
    using Extents = typename View<T, D>::Extents;
    static constexpr ChebyshevConvention convention = C;

    ChebyshevSeries() = default;
    /// extents: numbers of coefficients, the highest mode K plus 1, per axis; all coefficients 0
    explicit ChebyshevSeries(const Extents& extents, const ChebyshevDomain<D>& domain = {})
        : coefficients_(extents), domain_(domain) {}
    ChebyshevSeries(Array<T, D> coefficients, const ChebyshevDomain<D>& domain)
        : coefficients_(std::move(coefficients)), domain_(domain) {}

    const Extents& extents() const { return coefficients_.extents(); }
    std::int64_t extent(int axis) const { return coefficients_.extent(axis); }
    std::int64_t size() const { return coefficients_.size(); }
    const ChebyshevDomain<D>& domain() const { return domain_; }
    T* data() { return coefficients_.data(); }
    const T* data() const { return coefficients_.data(); }

    template <std::integral... Index>
    T& operator()(Index... k) {
        return coefficients_(k...);
    }
    template <std::integral... Index>
    const T& operator()(Index... k) const {
        return coefficients_(k...);
    }

    /// [k_0, .., k_{D-1}]
    View<T, D> coefficients() { return coefficients_.view(); }
    View<const T, D> coefficients() const { return coefficients_.view(); }
    /// As a batch of one.
    ChebyshevView<T, D, C> view() { return ChebyshevView<T, D, C>(coefficients()); }
    ChebyshevView<const T, D, C> view() const { return ChebyshevView<const T, D, C>(coefficients()); }

    /// The same function with its coefficients in the other or the same convention; exact but for
    /// underflow.
    template <ChebyshevConvention To>
    ChebyshevSeries<T, D, To> to() const;

  private:
    Array<T, D> coefficients_;
    ChebyshevDomain<D> domain_{};
};

namespace chebyshev {

/// What the library's compiled code takes for a ChebyshevView: dimension and convention at run time.
template <class T>
struct SeriesArray {
    T* data = nullptr;
    int dimensions = 1;
    ChebyshevConvention convention = ChebyshevConvention::primed;
    MemorySpace space = MemorySpace::host;
    std::array<std::int64_t, 4> extents{1, 1, 1, 1};  ///< [batch, k_0, k_1, k_2]
    std::array<std::int64_t, 4> strides{};
};

template <class T, int D, ChebyshevConvention C>
SeriesArray<T> series_array(const ChebyshevView<T, D, C>& view) {
    SeriesArray<T> array{view.coefficients.data(), D, C, view.coefficients.space()};
    for (int axis = 0; axis <= D; ++axis) {
        array.extents[axis] = view.coefficients.extent(axis);
        array.strides[axis] = view.coefficients.stride(axis);
    }
    return array;
}

/// Copies, between conventions. Throws InvalidArgument where shapes differ.
template <class T>
void convert(const SeriesArray<const T>& from, const SeriesArray<T>& to);

}  // namespace chebyshev

template <class T, int D, ChebyshevConvention C>
template <ChebyshevConvention To>
ChebyshevSeries<T, D, To> ChebyshevSeries<T, D, C>::to() const {
    ChebyshevSeries<T, D, To> result(extents(), domain());
    chebyshev::convert<T>(chebyshev::series_array(view()), chebyshev::series_array(result.view()));
    return result;
}

}  // namespace zonal
