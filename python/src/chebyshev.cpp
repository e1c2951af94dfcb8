#include "zonal/chebyshev.hpp"

#include <nanobind/stl/complex.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <nanobind/typing.h>

#include <algorithm>
#include <complex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"
#include "zonal/chebyshev/approximation.hpp"
#include "zonal/chebyshev/calculus.hpp"
#include "zonal/chebyshev/evaluation.hpp"
#include "zonal/chebyshev/product.hpp"
#include "zonal/chebyshev/roots.hpp"

// Series are contiguous arrays of plain coefficients, [k_0, ..], of one to three axes: who calls has seen to
// it.
namespace zonal::python {
namespace {

using chebyshev::SeriesArray;
using Coefficients = HostArray<const double>;
using Points = HostArrayOfRank<const double, 1>;
using NumpyArray = nb::ndarray<nb::numpy, double>;
using Extents = std::vector<std::int64_t>;
using Intervals = std::vector<std::pair<double, double>>;
using PlainSeries = ChebyshevSeries<double, 1, ChebyshevConvention::plain>;

template <class T>
SeriesArray<T> as_series(T* data, const Extents& extents) {
    SeriesArray<T> series{data, static_cast<int>(extents.size()), ChebyshevConvention::plain};
    std::int64_t stride = 1;
    for (int axis = series.dimensions; axis >= 1; --axis) {
        series.extents.at(static_cast<std::size_t>(axis)) = extents.at(static_cast<std::size_t>(axis - 1));
        series.strides.at(static_cast<std::size_t>(axis)) = stride;
        stride *= series.extents.at(static_cast<std::size_t>(axis));
    }
    series.strides[0] = stride;
    return series;
}

Extents extents_of(const Coefficients& array) {
    Extents extents;
    for (std::size_t axis = 0; axis < array.ndim(); ++axis)
        extents.push_back(static_cast<std::int64_t>(array.shape(axis)));
    return extents;
}

SeriesArray<const double> series_of(const Coefficients& array) {
    return as_series(array.data(), extents_of(array));
}

Interval interval_of(const std::pair<double, double>& ends) {
    return {ends.first, ends.second};
}

/// An array that the library fills and Python gets.
class Result {
  public:
    explicit Result(Extents extents) : extents_(std::move(extents)) {
        std::int64_t n = 1;
        for (const auto extent : extents_) n *= extent;
        values_.resize(static_cast<std::size_t>(n));
    }

    SeriesArray<double> series() { return as_series(values_.data(), extents_); }
    double* data() { return values_.data(); }
    NumpyArray to_numpy() && {
        auto* const owned = new std::vector<double>(std::move(values_));
        const nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
        const std::vector<std::size_t> shape(extents_.begin(), extents_.end());
        return {owned->data(), shape.size(), shape.data(), owner};
    }

  private:
    Extents extents_;
    std::vector<double> values_;
};

/// Result of work(series) without the GIL.
template <class Work>
NumpyArray result_of(Extents extents, const Work& work) {
    Result result(std::move(extents));
    without_gil(nb::none(), [&](const Progress&) { work(result); });
    return std::move(result).to_numpy();
}

/// Sums of products (ChebyshevProductPlan), the number of axes being known at run time.
class Sums {
  public:
    using Term = std::tuple<int, double, std::vector<int>>;

    Sums(const Extents& extents, int n_fields, int n_outputs, const std::vector<Term>& terms, bool full,
         int threads)
        : handle_(shape_of(extents, n_fields, n_outputs, terms), options_of(full, threads)) {}

    nb::typed<nb::list, NumpyArray> operator()(const std::vector<Coefficients>& fields) const {
        std::vector<SeriesArray<const double>> in;
        in.reserve(fields.size());
        for (const auto& field : fields) in.push_back(series_of(field));
        const auto& shape = handle_.shape();
        const auto all = handle_.extents_out();
        std::vector<Result> sums(static_cast<std::size_t>(shape.n_outputs),
                                 Result(Extents(all.begin(), all.begin() + shape.dimensions)));
        std::vector<SeriesArray<double>> out;
        out.reserve(sums.size());
        for (auto& sum : sums) out.push_back(sum.series());
        without_gil(nb::none(), [&](const Progress&) {
            ChebyshevWorkspace workspace;
            handle_.execute(in, out, workspace);
        });
        nb::typed<nb::list, NumpyArray> list;
        for (auto& sum : sums) list.append(std::move(sum).to_numpy());
        return list;
    }

  private:
    static chebyshev::ProductShape shape_of(const Extents& extents, int n_fields, int n_outputs,
                                            const std::vector<Term>& terms) {
        chebyshev::ProductShape shape{
            static_cast<int>(extents.size()), ChebyshevConvention::plain, {1, 1, 1}, n_fields, n_outputs, {}};
        std::copy(extents.begin(), extents.end(), shape.extents.begin());
        for (const auto& [output, weight, factors] : terms) shape.terms.push_back({output, weight, factors});
        return shape;
    }
    static ChebyshevProductOptions options_of(bool full, int threads) {
        ChebyshevProductOptions options;
        options.full = full;
        options.threads = threads;
        options.device = Device::cpu();
        return options;
    }

    chebyshev::ProductPlanHandle<double> handle_;
};

/// points: [point, axis], in the domain
NumpyArray evaluate_at(const Coefficients& f, const Intervals& domain,
                       const HostArrayOfRank<const double, 2>& points) {
    const auto at = view_of<2>(points);
    return result_of({at.extent(0)}, [&](Result& values) {
        Array<double, 2> sigma(at.extents());
        for (std::int64_t i = 0; i < at.extent(0); ++i)
            for (std::int64_t axis = 0; axis < at.extent(1); ++axis)
                sigma(i, axis) =
                    interval_of(domain.at(static_cast<std::size_t>(axis))).to_reference(at(i, axis));
        chebyshev::evaluate<double>(series_of(f), sigma.view(),
                                    View<double, 2>(values.data(), {1, at.extent(0)}));
    });
}

using AxisPoints = std::array<std::vector<double>, 3>;

/// Values at the points of each axis, in [-1, 1], and the series through them at Gauss points.
NumpyArray evaluate_on_axes(const Coefficients& f, const Intervals& domain,
                            const std::vector<Points>& points) {
    AxisPoints sigma;
    Extents extents;
    for (std::size_t axis = 0; axis < points.size(); ++axis) {
        sigma.at(axis) = vector_of(points[axis]);
        for (double& z : sigma.at(axis)) z = interval_of(domain.at(axis)).to_reference(z);
        extents.push_back(std::ssize(sigma.at(axis)));
    }
    return result_of(extents, [&](Result& values) {
        chebyshev::evaluate_on_grid<double>(series_of(f), chebyshev::grid_points(sigma), values.series());
    });
}

NumpyArray restrict_to(const Coefficients& f, const Intervals& from, const Intervals& to) {
    AxisPoints sigma;
    const auto extents = extents_of(f);
    for (std::size_t axis = 0; axis < extents.size(); ++axis)
        for (const double node : chebyshev_nodes(ChebyshevNodes::gauss, extents[axis]))
            sigma.at(axis).push_back(
                interval_of(from.at(axis)).to_reference(interval_of(to.at(axis)).from_reference(node)));
    return result_of(extents, [&](Result& result) {
        chebyshev::resample<double>(series_of(f), chebyshev::grid_points(sigma), result.series());
    });
}

/// The series through values at Gauss points.
NumpyArray interpolate_values(const Coefficients& values) {
    const auto n = static_cast<std::int64_t>(values.size());
    chebyshev::largest_value(values.data(), n, n);  // refuses what is not finite
    return result_of(extents_of(values), [&](Result& result) {
        chebyshev::interpolate<double>(series_of(values), ChebyshevNodes::gauss, result.series());
    });
}

NumpyArray differentiate_along(const Coefficients& f, int axis, std::pair<double, double> interval) {
    return result_of(extents_of(f), [&](Result& result) {
        chebyshev::differentiate<double>(series_of(f), axis, 1 / interval_of(interval).half_width(),
                                         result.series());
    });
}

NumpyArray integrate_along(const Coefficients& f, int axis, std::pair<double, double> interval) {
    auto extents = extents_of(f);
    ++extents.at(static_cast<std::size_t>(axis));
    return result_of(extents, [&](Result& result) {
        chebyshev::integrate<double>(series_of(f), axis, interval_of(interval).half_width(),
                                     HighestMode::kept, result.series());
    });
}

/// With one coefficient along the axis.
NumpyArray integrate_out_axis(const Coefficients& f, int axis, std::pair<double, double> interval) {
    auto extents = extents_of(f);
    extents.at(static_cast<std::size_t>(axis)) = 1;
    return result_of(extents, [&](Result& result) {
        chebyshev::integrate_out<double>(series_of(f), axis, interval_of(interval).half_width(),
                                         result.series());
    });
}

/// How many coefficients along each axis resolve f.
Extents chop_lengths(const Coefficients& f, double tolerance) {
    Extents lengths;
    for (int axis = 0; axis < static_cast<int>(f.ndim()); ++axis)
        lengths.push_back(
            chebyshev::chop_length(chebyshev::magnitudes<double>(series_of(f), axis, nullptr), tolerance));
    return lengths;
}

double bound_beyond(const Coefficients& f, const Extents& kept) {
    std::array<std::int64_t, 3> all{1, 1, 1};
    std::copy(kept.begin(), kept.end(), all.begin());
    return chebyshev::sum_beyond(series_of(f), all);
}

PlainSeries plain_series(const Coefficients& f, std::pair<double, double> interval) {
    PlainSeries series({static_cast<std::int64_t>(f.size())}, {interval_of(interval)});
    std::copy(f.data(), f.data() + f.size(), series.data());
    return series;
}

template <int D, ChebyshevConvention C>
NumpyArray numpy_of(const ChebyshevSeries<double, D, C>& f) {
    Result result(Extents(f.extents().begin(), f.extents().end()));
    std::copy(f.data(), f.data() + f.size(), result.data());
    return std::move(result).to_numpy();
}

auto roots_in(const Coefficients& f, std::pair<double, double> interval, double tolerance) {
    const auto series = plain_series(f, interval);
    return to_numpy(without_gil(nb::none(), [&](const Progress&) { return roots(series, tolerance); }));
}

/// In the complex plane of the interval's variable.
auto all_roots_of(const Coefficients& f, std::pair<double, double> interval) {
    const auto series = plain_series(f, interval);
    const auto on = interval_of(interval);
    auto found = without_gil(nb::none(), [&](const Progress&) { return all_roots(series); });
    for (auto& root : found) root = {on.from_reference(root.real()), on.half_width() * root.imag()};
    return to_numpy(std::move(found));
}

NumpyArray quotient_of(const Coefficients& f, const Coefficients& g, std::pair<double, double> interval,
                       double tolerance) {
    const auto dividend = plain_series(f, interval), divisor = plain_series(g, interval);
    return numpy_of(
        without_gil(nb::none(), [&](const Progress&) { return quotient(dividend, divisor, tolerance); }));
}

/// What a Python function of the points of each axis gives, [i, j, ..].
template <int D>
GridFunction<D> grid_function(nb::handle function) {
    return [function](const std::array<std::vector<double>, D>& points) {
        const GilAcquire gil;
        nb::list axes;
        std::array<std::int64_t, D> extents{};
        for (std::size_t axis = 0; axis < points.size(); ++axis) {
            axes.append(to_numpy(points[axis]));
            extents[axis] = std::ssize(points[axis]);
        }
        const auto values = nb::cast<HostArrayOfRank<const double, D>>(function(axes));
        Array<double, D> copy(extents);
        std::copy(values.data(), values.data() + copy.size(), copy.data());
        return copy;
    };
}

template <int D>
NumpyArray approximate_in(nb::handle function, const Intervals& domain, double tolerance,
                          std::int64_t max_coefficients) {
    ChebyshevDomain<D> box;
    for (std::size_t axis = 0; axis < box.size(); ++axis) box[axis] = interval_of(domain.at(axis));
    return numpy_of(without_gil(nb::none(), [&](const Progress&) {
        return approximate<D, ChebyshevConvention::plain>(grid_function<D>(function), box, tolerance,
                                                          max_coefficients);
    }));
}

using OnAxes = nb::typed<nb::callable, NumpyArray(nb::typed<nb::list, NumpyArray>)>;

NumpyArray approximate_function(const OnAxes& function, const Intervals& domain, double tolerance,
                                std::int64_t max_coefficients) {
    const auto work = domain.size() == 1   ? approximate_in<1>
                      : domain.size() == 2 ? approximate_in<2>
                                           : approximate_in<3>;
    return work(function, domain, tolerance, max_coefficients);
}

auto gauss_points(const std::pair<double, double>& interval, std::int64_t n) {
    auto points = chebyshev_nodes(ChebyshevNodes::gauss, n);
    for (double& z : points) z = interval_of(interval).from_reference(z);
    return to_numpy(std::move(points));
}

}  // namespace

void bind_chebyshev(nb::module_& module) {
    nb::class_<Sums>(module, "ChebyshevSums")
        .def(nb::init<const Extents&, int, int, const std::vector<Sums::Term>&, bool, int>())
        .def("__call__", &Sums::operator());
    module.def("chebyshev_evaluate", &evaluate_at);
    module.def("chebyshev_evaluate_on_grid", &evaluate_on_axes);
    module.def("chebyshev_restrict", &restrict_to);
    module.def("chebyshev_interpolate", &interpolate_values);
    module.def("chebyshev_differentiate", &differentiate_along);
    module.def("chebyshev_integrate", &integrate_along);
    module.def("chebyshev_integrate_out", &integrate_out_axis);
    module.def("chebyshev_chop_lengths", &chop_lengths);
    module.def("chebyshev_truncation_bound", &bound_beyond);
    module.def("chebyshev_roots", &roots_in);
    module.def("chebyshev_all_roots", &all_roots_of);
    module.def("chebyshev_quotient", &quotient_of);
    module.def("chebyshev_approximate", &approximate_function);
    module.def("chebyshev_points", &gauss_points);
}

}  // namespace zonal::python
