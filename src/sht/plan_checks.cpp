#include "sht/plan_checks.hpp"

#include <fmt/core.h>

#include "core/parallel.hpp"
#include "zonal/error.hpp"

namespace zonal::sht {
namespace {

template <class View>
void check_array(const char* name, const View& view, const std::array<const char*, 3>& axes,
                 std::int64_t components, std::int64_t length, Device device) {
    auto expect = [&](int axis, std::int64_t extent) {
        if (view.extent(axis) != extent)
            throw InvalidArgument(fmt::format("{}: axis {} ({}) has length {}: must be {}", name, axis,
                                              axes[axis], view.extent(axis), extent));
    };
    expect(1, components);
    expect(2, length);
    if (view.extent(2) > 1 && view.stride(2) != 1)
        throw InvalidArgument(
            fmt::format("{}: stride of the last axis = {}: must be 1 (contiguous)", name, view.stride(2)));
    if (view.space() != MemorySpace::host && device.kind() != Device::Kind::cuda)
        throw InvalidArgument(fmt::format("{}: is in device memory: a CPU plan needs host memory", name));
    if (view.size() > 0 && view.data() == nullptr)
        throw InvalidArgument(fmt::format("{}: null pointer", name));
}

}  // namespace

ShtOptions resolve_options(const ShtOptions& options) {
    if (options.lmax < 0)
        throw InvalidArgument(fmt::format("lmax = {}: must be given, 0 or more", options.lmax));
    ShtOptions resolved = options;
    if (resolved.mmax == -1) resolved.mmax = resolved.lmax;
    const AlmLayout checked(resolved.lmax, resolved.mmax);
    if (options.spin < 0 || options.spin > checked.lmax())
        throw InvalidArgument(
            fmt::format("spin = {}: must be from 0 to lmax = {}", options.spin, checked.lmax()));
    if (options.spin == 0 && options.parts != SpinParts::both)
        throw InvalidArgument("parts = gradient or curl: needs spin >= 1");
    if (options.accuracy != 0 && !(options.accuracy >= 1e-14 && options.accuracy < 1))
        throw InvalidArgument(
            fmt::format("accuracy = {}: must be 0 (exact) or from 1e-14 to below 1", options.accuracy));
    if (options.max_workspace_bytes < 0)
        throw InvalidArgument(fmt::format("max_workspace_bytes = {}: must be 0 (what is free) or positive",
                                          options.max_workspace_bytes));
    resolved.threads = core::resolve_threads(options.threads);
    resolved.device = resolve_device(options.device);
    if (resolved.device.kind() != Device::Kind::cuda && options.max_workspace_bytes > 0)
        throw InvalidArgument(
            fmt::format("max_workspace_bytes = {}: must be 0 on the CPU", options.max_workspace_bytes));
    return resolved;
}

template <class T>
void check_arrays(const ShtPlan& plan, View<const std::complex<T>, 3> alm, View<const T, 3> map) {
    if (alm.extent(0) != map.extent(0))
        throw InvalidArgument(
            fmt::format("alm and map: batch lengths {} and {} differ", alm.extent(0), map.extent(0)));
    const Device device = plan.options().device;
    check_array("alm", alm, {"batch", "component", "coefficient"}, plan.alm_components(),
                plan.layout().size(), device);
    check_array("map", map, {"batch", "component", "pixel"}, plan.map_components(), plan.grid().n_pixels(),
                device);
}

template void check_arrays(const ShtPlan&, View<const std::complex<float>, 3>, View<const float, 3>);
template void check_arrays(const ShtPlan&, View<const std::complex<double>, 3>, View<const double, 3>);

}  // namespace zonal::sht
