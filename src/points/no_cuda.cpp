#include "points/cuda/lensing_cuda.hpp"
#include "points/cuda/points_cuda.hpp"
#include "points/sphere_samples.hpp"
#include "zonal/error.hpp"

namespace zonal::points::cuda {
namespace {

[[noreturn]] void refuse() {
    throw BackendUnavailable("this build of Zonal has no CUDA code");
}

}  // namespace

std::shared_ptr<const SampleStage> make_stage(const SphereSamples::Implementation& plan) {
    throw BackendUnavailable("device", to_string(plan.options.device),
                             "this build of Zonal has no CUDA code");
}

// Nobody has a stage here.
std::shared_ptr<SampleMemory> make_memory(const SampleStage&, SampleRows) {
    refuse();
}
void set_maps(SampleMemory&, std::int64_t) {
    refuse();
}
void lend(SampleMemory&, double*, std::int64_t) {
    refuse();
}
std::int64_t field_size(const SampleStage&, SampleRows) {
    refuse();
}
std::int64_t bytes_of(const SampleMemory&) {
    refuse();
}
void use_stream(SampleMemory&, void*) {
    refuse();
}
template <class T>
void synthesize(View<const std::complex<T>, 3>, SampleMemory&, std::vector<PointErrors>*) {
    refuse();
}
template <class T>
void adjoint(SampleMemory&, View<std::complex<T>, 3>) {
    refuse();
}
std::shared_ptr<const SortedPoints> sort_points(const SphereSamples::Implementation&, View<const double, 1>,
                                                View<const double, 1>) {
    refuse();
}
SampleRows rows_of(const SortedPoints&) {
    refuse();
}
template <class T>
void interpolate(const SortedPoints&, const SampleMemory&, const PointOutputs<T>&) {
    refuse();
}
template <class T>
void spread(const SortedPoints&, View<const T, 3>, SampleMemory&) {
    refuse();
}

void wait_for_caller(Device) {
    refuse();
}
void ring_angles(const std::vector<Ring>&, const std::vector<std::int64_t>&, Device, View<double, 1>,
                 View<double, 1>) {
    refuse();
}
Lengths displace(Device, View<const double, 1>, View<const double, 1>, View<const double, 2>, View<double, 2>,
                 View<double, 2>) {
    refuse();
}
template <class T>
void turn_values(Device, View<const double, 2>, int, double, View<T, 3>) {
    refuse();
}
void scale(Device, const AlmLayout&, EthFactor, View<const std::complex<double>, 1>,
           View<std::complex<double>, 1>) {
    refuse();
}
void add_slopes(Device, const SlopeSums&, std::int64_t) {
    refuse();
}
template <class In, class Out>
void gather(const char*, Device, const std::int64_t*, View<const In, 1>, View<Out, 1>) {
    refuse();
}
template <class T>
void scatter(Device, const std::int64_t*, View<const T, 1>, View<T, 1>) {
    refuse();
}
std::shared_ptr<ValueTransfer> make_transfer(Device, int) {
    refuse();
}
void to_device(ValueTransfer&, const void*, void*, std::int64_t) {
    refuse();
}
void to_host(ValueTransfer&, const void*, void*, std::int64_t) {
    refuse();
}
template void gather(const char*, Device, const std::int64_t*, View<const float, 1>, View<double, 1>);
template void gather(const char*, Device, const std::int64_t*, View<const double, 1>, View<float, 1>);

#define ZONAL_INSTANTIATE(T)                                                                            \
    template void synthesize(View<const std::complex<T>, 3>, SampleMemory&, std::vector<PointErrors>*); \
    template void adjoint(SampleMemory&, View<std::complex<T>, 3>);                                     \
    template void interpolate(const SortedPoints&, const SampleMemory&, const PointOutputs<T>&);        \
    template void spread(const SortedPoints&, View<const T, 3>, SampleMemory&);                         \
    template void turn_values(Device, View<const double, 2>, int, double, View<T, 3>);                  \
    template void gather(const char*, Device, const std::int64_t*, View<const T, 1>, View<T, 1>);       \
    template void scatter(Device, const std::int64_t*, View<const T, 1>, View<T, 1>);
ZONAL_INSTANTIATE(float)
ZONAL_INSTANTIATE(double)
#undef ZONAL_INSTANTIATE

}  // namespace zonal::points::cuda
