#include "points/point_transform.hpp"

#include <algorithm>
#include <utility>

#include "points/map_passes.hpp"
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

void check_maps(std::int64_t alm, std::int64_t values, const char* name) {
    if (alm != values)
        throw InvalidArgument(std::string("alm and ") + name, "have " + std::to_string(alm) + " and " +
                                                                  std::to_string(values) +
                                                                  " maps: must have the same number");
}

}  // namespace

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
    points::for_map_passes(samples_.components(), alm.extent(0), [&](std::int64_t first, std::int64_t maps) {
        SampleArray& samples = points::samples_of(*this, maps, workspace);
        samples_.synthesize<T>(alm.slice(first, maps), samples, report == nullptr ? nullptr : &errors);
        points_.interpolate<T>(samples, values.slice(first, maps));
        if (report != nullptr)
            report->mean_error =
                std::max(report->mean_error, points::largest_share(errors, samples_.components()));
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
    points::for_map_passes(samples_.components(), alm.extent(0), [&](std::int64_t first, std::int64_t maps) {
        SampleArray& samples = points::samples_of(*this, maps, workspace);
        samples_.synthesize<T>(alm.slice(first, maps), samples, report == nullptr ? nullptr : &errors);
        points_.interpolate<T>(samples, values.slice(first, maps), by_theta.slice(first, maps),
                               by_phi.slice(first, maps));
        if (report != nullptr)
            report->mean_error =
                std::max(report->mean_error, points::largest_share(errors, samples_.components()));
    });
}

template <class T>
void PointTransform::adjoint(ConstView<T, 3> values, View<std::complex<T>, 3> alm,
                             PointWorkspace& workspace) const {
    points::check_maps(alm.extent(0), values.extent(0), "values");
    points::for_map_passes(samples_.components(), alm.extent(0), [&](std::int64_t first, std::int64_t maps) {
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
