#include "points/point_transform.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "points/sphere_samples.hpp"
#include "sht/array_checks.hpp"
#include "zonal/error.hpp"

namespace zonal {
namespace points {
namespace {

PointOptions with_points(PointOptions options, std::int64_t n_points) {
    options.n_points = std::max<std::int64_t>(n_points, 1);
    return options;
}

/// The largest share of a map's rms that its errors are.
void merge(const std::vector<PointErrors>& errors, std::int64_t components, PointReport& report) {
    for (std::size_t first = 0; first < errors.size(); first += static_cast<std::size_t>(components)) {
        double error = 0, power = 0;
        for (std::size_t f = first; f < first + static_cast<std::size_t>(components); ++f) {
            error += errors[f].rms_error * errors[f].rms_error;
            power += errors[f].rms * errors[f].rms;
        }
        if (power > 0) report.mean_error = std::max(report.mean_error, std::sqrt(error / power));
    }
}

/// Calls work(first map, maps) for what is transformed at once. Where a GPU has no memory for several maps,
/// they go one by one.
template <class Work>
void for_passes(const PointTransform& transform, std::int64_t n_maps, const Work& work) {
    std::int64_t most = maps_at_once(transform);
    for (std::int64_t first = 0; first < n_maps;) {
        const std::int64_t maps = std::min(most, n_maps - first);
        try {
            work(first, maps);
            first += maps;
        } catch (const OutOfDeviceMemory&) {
            if (maps == 1) throw;
            most = 1;
        }
    }
}

void check_maps(std::int64_t alm, std::int64_t values, const char* name) {
    if (alm != values)
        throw InvalidArgument(std::string("alm and ") + name, "have " + std::to_string(alm) + " and " +
                                                                  std::to_string(values) +
                                                                  " maps: must have the same number");
}

}  // namespace

std::int64_t maps_at_once(const PointTransform& transform) {
    // More fields share the recurrences for little more, but a thread's Fourier coefficients leave its cache.
    constexpr std::int64_t most_fields = 4;
    return most_fields / transform.samples().components();
}

SampleArray& samples_of(const PointTransform& transform, std::int64_t n_maps, PointWorkspace& workspace) {
    auto& samples = workspace.storage().samples;
    const auto& plan = transform.samples().implementation();
    const SampleRows rows = transform.points().rows();
    if (!samples || samples->storage().plan.get() != &plan || !(samples->rows() == rows))
        samples.emplace(transform.samples().make_array(n_maps, rows));
    else
        samples->storage().set_maps(n_maps);
    if (workspace.storage().stream) samples->use_stream(*workspace.storage().stream);
    return *samples;
}

}  // namespace points

PointWorkspace::PointWorkspace(std::unique_ptr<Storage> storage) : storage_(std::move(storage)) {}
PointWorkspace::~PointWorkspace() = default;
PointWorkspace::PointWorkspace(PointWorkspace&&) noexcept = default;
PointWorkspace& PointWorkspace::operator=(PointWorkspace&&) noexcept = default;

void PointWorkspace::use_stream(void* cuda_stream) {
    storage_->stream = cuda_stream;
}

PointTransform::PointTransform(View<const double, 1> theta, View<const double, 1> phi,
                               const PointOptions& options)
    : samples_(points::with_points(options, theta.extent(0))), points_(samples_, theta, phi) {}

PointWorkspace PointTransform::make_workspace() const {
    return PointWorkspace(std::make_unique<PointWorkspace::Storage>());
}

template <class T>
void PointTransform::synthesize(ConstView<std::complex<T>, 3> alm, View<T, 3> values,
                                PointWorkspace& workspace, PointReport* report) const {
    points::check_maps(alm.extent(0), values.extent(0), "values");
    std::vector<PointErrors> errors;
    if (report != nullptr) *report = {.bound = samples_.bound()};
    points::for_passes(*this, alm.extent(0), [&](std::int64_t first, std::int64_t maps) {
        SampleArray& samples = points::samples_of(*this, maps, workspace);
        samples_.synthesize<T>(alm.slice(first, maps), samples, report == nullptr ? nullptr : &errors);
        points_.interpolate<T>(samples, values.slice(first, maps));
        if (report != nullptr) points::merge(errors, samples_.components(), *report);
    });
}

template <class T>
void PointTransform::synthesize(ConstView<std::complex<T>, 3> alm, View<T, 3> values, View<T, 3> by_theta,
                                View<T, 3> by_phi, PointWorkspace& workspace, PointReport* report) const {
    points::check_maps(alm.extent(0), values.extent(0), "values");
    points::check_maps(alm.extent(0), by_theta.extent(0), "by_theta");
    points::check_maps(alm.extent(0), by_phi.extent(0), "by_phi");
    std::vector<PointErrors> errors;
    if (report != nullptr) *report = {.bound = samples_.bound()};
    points::for_passes(*this, alm.extent(0), [&](std::int64_t first, std::int64_t maps) {
        SampleArray& samples = points::samples_of(*this, maps, workspace);
        samples_.synthesize<T>(alm.slice(first, maps), samples, report == nullptr ? nullptr : &errors);
        points_.interpolate<T>(samples, values.slice(first, maps), by_theta.slice(first, maps),
                               by_phi.slice(first, maps));
        if (report != nullptr) points::merge(errors, samples_.components(), *report);
    });
}

template <class T>
void PointTransform::adjoint(ConstView<T, 3> values, View<std::complex<T>, 3> alm,
                             PointWorkspace& workspace) const {
    points::check_maps(alm.extent(0), values.extent(0), "values");
    points::for_passes(*this, alm.extent(0), [&](std::int64_t first, std::int64_t maps) {
        SampleArray& samples = points::samples_of(*this, maps, workspace);
        points_.spread<T>(values.slice(first, maps), samples);
        samples_.adjoint<T>(samples, alm.slice(first, maps));
    });
}

template void PointTransform::synthesize<float>(View<const std::complex<float>, 3>, View<float, 3>,
                                                PointWorkspace&, PointReport*) const;
template void PointTransform::synthesize<double>(View<const std::complex<double>, 3>, View<double, 3>,
                                                 PointWorkspace&, PointReport*) const;
template void PointTransform::synthesize<float>(View<const std::complex<float>, 3>, View<float, 3>,
                                                View<float, 3>, View<float, 3>, PointWorkspace&,
                                                PointReport*) const;
template void PointTransform::synthesize<double>(View<const std::complex<double>, 3>, View<double, 3>,
                                                 View<double, 3>, View<double, 3>, PointWorkspace&,
                                                 PointReport*) const;
template void PointTransform::adjoint<float>(View<const float, 3>, View<std::complex<float>, 3>,
                                             PointWorkspace&) const;
template void PointTransform::adjoint<double>(View<const double, 3>, View<std::complex<double>, 3>,
                                              PointWorkspace&) const;

}  // namespace zonal
