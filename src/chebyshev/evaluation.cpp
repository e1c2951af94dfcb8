#include "zonal/chebyshev_evaluation.hpp"

#include <fmt/format.h>

#include <numeric>

#include "chebyshev/cosine_table.hpp"
#include "chebyshev/series_lines.hpp"
#include "zonal/error.hpp"

namespace zonal {

std::vector<double> chebyshev_nodes(ChebyshevNodes nodes, std::int64_t n) {
    const bool gauss = nodes == ChebyshevNodes::gauss;
    if (n < (gauss ? 1 : 2))
        throw InvalidArgument(fmt::format("n = {}: must be at least {} for {} nodes", n, gauss ? 1 : 2,
                                          gauss ? "Gauss" : "Lobatto"));
    const chebyshev::CosineTable cosine(gauss ? n : n - 1);
    std::vector<double> points(static_cast<std::size_t>(n));
    for (std::int64_t j = 0; j < n; ++j)
        points[static_cast<std::size_t>(j)] = gauss ? cosine.gauss(1, j) : cosine.lobatto(1, j);
    return points;
}

namespace chebyshev {
namespace {

/// Clenshaw (1955): b_k = a_k + 2 x b_{k+1} - b_{k+2}, f = a_0 + x b_1 - b_2 with a plain a_0. Within 1/2 of
/// the ends in differences, d_k = b_k -+ b_{k+1} (Reinsch's form), which keeps digits there.
template <class T>
T clenshaw(const T* a, std::int64_t stride, std::int64_t n, double x, Real<T> first_weight) {
    using R = Real<T>;
    const double side = x < 0 ? -1 : 1;
    const bool near_end = std::abs(x) > 0.5;
    const auto h = static_cast<R>(2 * (x - side));
    const auto sign = static_cast<R>(side), two_x = static_cast<R>(2 * x);
    T b{}, next{};  // b_{k+1}; d_{k+1} or b_{k+2}
    for (std::int64_t k = n - 1; k >= 1; --k) {
        if (near_end) {
            next = a[k * stride] + h * b + sign * next;
            b = next + sign * b;
        } else {
            const T present = a[k * stride] + two_x * b - next;
            next = b;
            b = present;
        }
    }
    const T first = a[0] * first_weight;
    return near_end ? first + (h / 2) * b + sign * next : first + static_cast<R>(x) * b - next;
}

/// Half of a primed a_0 counts.
template <class T>
Real<T> first_weight(const SeriesArray<T>& f) {
    return f.convention == ChebyshevConvention::primed ? Real<T>(0.5) : Real<T>(1);
}

std::int64_t size_of(const std::array<std::int64_t, 4>& extents) {
    return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
}

}  // namespace

template <class T>
T evaluate(const SeriesArray<const T>& f, const double* point) {
    require_host(f, "f");
    auto extents = f.extents;
    extents[0] = 1;
    std::vector<T> sums[2];
    SeriesArray<const T> rest = f;
    rest.extents[0] = 1;
    for (int axis = f.dimensions; axis >= 1; --axis) {
        extents[axis] = 1;
        auto& out = sums[axis % 2];
        out.resize(static_cast<std::size_t>(size_of(extents)));
        const auto target = row_major_like(rest, out.data(), extents);
        for_each_line(rest, target, axis, [&](std::int64_t source, std::int64_t to) {
            out[static_cast<std::size_t>(to)] = clenshaw(
                rest.data + source, rest.strides[axis], rest.extents[axis], point[axis - 1], first_weight(f));
        });
        rest = row_major_like<const T>(rest, out.data(), extents);
    }
    return rest.data[0];
}

template <class T>
void evaluate_on_grid(const SeriesArray<const T>& f, const std::array<std::vector<double>, 3>& points,
                      T* values) {
    require_host(f, "f");
    std::vector<T> sums[2];
    SeriesArray<const T> rest = f;
    rest.extents[0] = 1;
    auto extents = rest.extents;
    for (int axis = f.dimensions; axis >= 1; --axis) {
        const auto& x = points[static_cast<std::size_t>(axis - 1)];
        extents[axis] = static_cast<std::int64_t>(x.size());
        auto& buffer = sums[axis % 2];
        if (axis > 1) buffer.resize(static_cast<std::size_t>(size_of(extents)));
        T* out = axis > 1 ? buffer.data() : values;
        const auto target = row_major_like(rest, out, extents);
        for_each_line(rest, target, axis, [&](std::int64_t source, std::int64_t to) {
            for (std::int64_t i = 0; i < extents[axis]; ++i)
                out[to + i * target.strides[axis]] =
                    clenshaw(rest.data + source, rest.strides[axis], rest.extents[axis],
                             x[static_cast<std::size_t>(i)], first_weight(f));
        });
        rest = row_major_like<const T>(rest, out, extents);
    }
}

namespace {

/// c_k = weight_k sum_j v_j T_k(x_j): 2 / n at n Gauss points; at n Lobatto points 2 / (n - 1), with half of
/// the first and last v_j and of the last c_k (primed; Mason & Handscomb 2003, section 6.3).
template <class T>
class NodesToCoefficients {
  public:
    using R = Real<T>;
    NodesToCoefficients(ChebyshevNodes nodes, std::int64_t n, ChebyshevConvention convention)
        : n_(n),
          gauss_(nodes == ChebyshevNodes::gauss),
          cosine_(gauss_ || n == 1 ? n : n - 1),
          plain_(convention == ChebyshevConvention::plain) {}

    T coefficient(const T* values, std::int64_t stride, std::int64_t k) const {
        T sum{};
        for (std::int64_t j = 0; j < n_; ++j) {
            const double weight =
                gauss_ ? cosine_.gauss(k, j) : cosine_.lobatto(k, j) * (j == 0 || j == n_ - 1 ? 0.5 : 1);
            sum += values[j * stride] * static_cast<R>(weight);
        }
        const double halves = (plain_ && k == 0 ? 0.5 : 1) * (!gauss_ && k == n_ - 1 ? 0.5 : 1);
        return sum * static_cast<R>(2 * halves / static_cast<double>(gauss_ ? n_ : n_ - 1));
    }

  private:
    std::int64_t n_;
    bool gauss_;
    CosineTable cosine_;
    bool plain_;
};

}  // namespace

template <class T>
void interpolate(const T* values, const std::array<std::int64_t, 3>& n_values, ChebyshevNodes nodes,
                 const SeriesArray<T>& f) {
    require_host(f, "f");
    std::vector<T> sums[2];
    std::array<std::int64_t, 4> extents{1, 1, 1, 1};
    for (int axis = 1; axis <= f.dimensions; ++axis) {
        extents[axis] = n_values[static_cast<std::size_t>(axis - 1)];
        if (nodes == ChebyshevNodes::lobatto && extents[axis] < 2)
            throw InvalidArgument(fmt::format("n = {}: must be at least 2 for Lobatto nodes", extents[axis]));
        if (f.extents[axis] > extents[axis])
            throw InvalidArgument(fmt::format("f: {} = {}: must be at most the number of values {}",
                                              axis_names[axis], f.extents[axis], extents[axis]));
    }
    auto rest = row_major_like<const T>(f, values, extents);
    for (int axis = f.dimensions; axis >= 1; --axis) {
        const NodesToCoefficients<T> transform(nodes, extents[axis], f.convention);
        extents[axis] = f.extents[axis];
        auto& buffer = sums[axis % 2];
        if (axis > 1) buffer.resize(static_cast<std::size_t>(size_of(extents)));
        auto target = row_major_like<T>(f, buffer.data(), extents);
        if (axis == 1) target = f;
        for_each_line(rest, target, axis, [&](std::int64_t source, std::int64_t to) {
            for (std::int64_t k = 0; k < extents[axis]; ++k)
                target.data[to + k * target.strides[axis]] =
                    transform.coefficient(rest.data + source, rest.strides[axis], k);
        });
        rest = row_major_like<const T>(f, buffer.data(), extents);
    }
}

template float evaluate(const SeriesArray<const float>&, const double*);
template double evaluate(const SeriesArray<const double>&, const double*);
template std::complex<float> evaluate(const SeriesArray<const std::complex<float>>&, const double*);
template std::complex<double> evaluate(const SeriesArray<const std::complex<double>>&, const double*);
template void evaluate_on_grid(const SeriesArray<const float>&, const std::array<std::vector<double>, 3>&,
                               float*);
template void evaluate_on_grid(const SeriesArray<const double>&, const std::array<std::vector<double>, 3>&,
                               double*);
template void evaluate_on_grid(const SeriesArray<const std::complex<float>>&,
                               const std::array<std::vector<double>, 3>&, std::complex<float>*);
template void evaluate_on_grid(const SeriesArray<const std::complex<double>>&,
                               const std::array<std::vector<double>, 3>&, std::complex<double>*);
template void interpolate(const float*, const std::array<std::int64_t, 3>&, ChebyshevNodes,
                          const SeriesArray<float>&);
template void interpolate(const double*, const std::array<std::int64_t, 3>&, ChebyshevNodes,
                          const SeriesArray<double>&);
template void interpolate(const std::complex<float>*, const std::array<std::int64_t, 3>&, ChebyshevNodes,
                          const SeriesArray<std::complex<float>>&);
template void interpolate(const std::complex<double>*, const std::array<std::int64_t, 3>&, ChebyshevNodes,
                          const SeriesArray<std::complex<double>>&);

}  // namespace chebyshev
}  // namespace zonal
