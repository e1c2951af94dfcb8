// What compiled JAX programs call, through XLA's foreign function interface, on the CPU and on CUDA streams.
#include <xla/ffi/api/ffi.h>

#include <nanobind/typing.h>

#include <complex>
#include <cstdint>
#include <exception>

#include "bindings.hpp"
#include "transform.hpp"
#include "zonal/analysis.hpp"
#include "zonal/sky/rotation.hpp"

namespace zonal::python {
namespace {

namespace ffi = xla::ffi;
using Buffer = ffi::AnyBuffer;
using Out = ffi::Result<Buffer>;

/// Returns an array [batch, component, n] of XLA's.
template <class T>
View<T, 3> view_of(const Buffer& buffer, MemorySpace space) {
    const auto dimensions = buffer.dimensions();
    if (dimensions.size() != 3) throw InvalidArgument("array", "must have the axes batch, component and n");
    return {static_cast<T*>(buffer.untyped_data()), {dimensions[0], dimensions[1], dimensions[2]}, space};
}

/// Calls work(T()) for the type of a map.
template <class Work>
void for_type_of(const Buffer& map, const Work& work) {
    if (map.element_type() == ffi::DataType::F64) return work(double());
    if (map.element_type() == ffi::DataType::F32) return work(float());
    throw InvalidArgument("map", "must hold float64 or float32");
}

/// Returns what XLA makes of an exception.
template <class Work>
ffi::Error errors_of(const Work& work) {
    try {
        work();
        return ffi::Error::Success();
    } catch (const InvalidArgument& error) {
        return ffi::Error::InvalidArgument(error.what());
    } catch (const std::exception& error) {
        return ffi::Error::Internal(error.what());
    }
}

// Each handler comes in two forms: host arrays without a stream, and arrays of a device with XLA's stream.
struct Host {
    static constexpr MemorySpace space = MemorySpace::host;
    static Stream stream() { return {}; }
};
struct Cuda {
    static constexpr MemorySpace space = MemorySpace::cuda;
    Stream stream() const { return reinterpret_cast<std::uintptr_t>(handle); }
    void* handle;
};

/// Calls work(T(), plan, workspace) with a transform's plan and the scratch memory of a call on these maps.
template <class Where, class Work>
ffi::Error with_transform(const Where& where, std::int64_t sht, const Buffer& map, const Work& work) {
    return errors_of([&] {
        const Transform& transform = transforms().find(sht);
        for_type_of(map, [&](auto zero) {
            transform.lend_workspace(
                [&](ShtWorkspace& workspace) { work(zero, transform.plan(), workspace); }, where.stream(),
                map.dimensions()[0]);
        });
    });
}

template <class Where>
ffi::Error synthesize(const Where& where, std::int64_t sht, const Buffer& alm, const Buffer& map) {
    return with_transform(where, sht, map, [&](auto zero, const ShtPlan& plan, ShtWorkspace& workspace) {
        using T = decltype(zero);
        // On the host: of a device's maps, Python asks only where all pixels are in rings.
        if (plan.grid().has_other_pixels()) std::memset(map.untyped_data(), 0, map.size_bytes());
        plan.synthesize<T>(view_of<const Complex<T>>(alm, where.space), view_of<T>(map, where.space),
                           workspace);
    });
}

template <class Where>
ffi::Error adjoint(const Where& where, std::int64_t sht, const Buffer& map, const Buffer& alm) {
    return with_transform(where, sht, map, [&](auto zero, const ShtPlan& plan, ShtWorkspace& workspace) {
        using T = decltype(zero);
        plan.adjoint_synthesis<T>(view_of<const T>(map, where.space), view_of<Complex<T>>(alm, where.space),
                                  workspace);
    });
}

template <class Where>
ffi::Error analyze(const Where& where, std::int64_t sht, std::int64_t iterations, const Buffer& map,
                   const Buffer& alm) {
    return with_transform(where, sht, map, [&](auto zero, const ShtPlan& plan, ShtWorkspace& workspace) {
        using T = decltype(zero);
        zonal::analyze<T>(plan, view_of<const T>(map, where.space), view_of<Complex<T>>(alm, where.space),
                          workspace, {.iterations = static_cast<int>(iterations)});
    });
}

template <class Where>
ffi::Error adjoint_analysis(const Where& where, std::int64_t sht, const Buffer& alm, const Buffer& map) {
    return with_transform(where, sht, map, [&](auto zero, const ShtPlan& plan, ShtWorkspace& workspace) {
        using T = decltype(zero);
        if (plan.grid().has_other_pixels()) std::memset(map.untyped_data(), 0, map.size_bytes());
        zonal::adjoint_analysis<T>(plan, view_of<const Complex<T>>(alm, where.space),
                                   view_of<T>(map, where.space), workspace);
    });
}

/// Fields as rows, [row, coefficient].
template <class T>
View<T, 2> rows_of(const Buffer& alm) {
    const auto shape = alm.dimensions();
    return {static_cast<T*>(alm.untyped_data()), {shape[0] * shape[1], shape[2]}};
}

template <class T>
void rotate_rows(const AlmLayout& from, const AlmLayout& to, const EulerAngles& angles, int threads,
                 const Buffer& alm, const Buffer& turned) {
    rotate_alm<T>(from, rows_of<const Complex<T>>(alm), angles, to, rows_of<Complex<T>>(turned),
                  {.threads = threads});
}

/// On the host alone: the library rotates there.
ffi::Error rotate(const AlmLayout& from, const AlmLayout& to, const EulerAngles& angles, std::int64_t threads,
                  const Buffer& alm, const Buffer& turned) {
    return errors_of([&] {
        const auto call =
            alm.element_type() == ffi::DataType::C128 ? &rotate_rows<double> : &rotate_rows<float>;
        call(from, to, angles, static_cast<int>(threads), alm, turned);
    });
}

using Handlers = nb::typed<nb::dict, nb::str, nb::object>;  // by name

template <class Handler>
nb::capsule capsule_of(Handler* handler) {
    return nb::capsule(reinterpret_cast<void*>(handler));  // NOLINT(*-reinterpret-cast)
}

/// One argument and one result behind the transform's number.
auto with_arrays(auto binding) {
    return std::move(binding).template Arg<Buffer>().template Ret<Buffer>();
}

auto of_transform() {
    return ffi::Ffi::Bind().Attr<std::int64_t>("sht");
}
auto of_transform_on_cuda() {
    return ffi::Ffi::Bind().Ctx<ffi::PlatformStream<void*>>().Attr<std::int64_t>("sht");
}

XLA_FFI_DEFINE_HANDLER(
    host_synthesize, [](std::int64_t sht, Buffer alm, Out map) { return synthesize(Host{}, sht, alm, *map); },
    with_arrays(of_transform()));
XLA_FFI_DEFINE_HANDLER(
    host_adjoint, [](std::int64_t sht, Buffer map, Out alm) { return adjoint(Host{}, sht, map, *alm); },
    with_arrays(of_transform()));
XLA_FFI_DEFINE_HANDLER(
    host_analyze,
    [](std::int64_t sht, std::int64_t iterations, Buffer map, Out alm) {
        return analyze(Host{}, sht, iterations, map, *alm);
    },
    with_arrays(of_transform().Attr<std::int64_t>("iterations")));
XLA_FFI_DEFINE_HANDLER(
    host_adjoint_analysis,
    [](std::int64_t sht, Buffer alm, Out map) { return adjoint_analysis(Host{}, sht, alm, *map); },
    with_arrays(of_transform()));
XLA_FFI_DEFINE_HANDLER(
    cuda_adjoint_analysis,
    [](void* stream, std::int64_t sht, Buffer alm, Out map) {
        return adjoint_analysis(Cuda{stream}, sht, alm, *map);
    },
    with_arrays(of_transform_on_cuda()));
XLA_FFI_DEFINE_HANDLER(
    host_rotate,
    [](std::int64_t lmax, std::int64_t mmax, std::int64_t mmax_out, double psi, double theta, double phi,
       std::int64_t threads, Buffer alm, Out turned) {
        return rotate(AlmLayout(lmax, mmax), AlmLayout(lmax, mmax_out), {psi, theta, phi}, threads, alm,
                      *turned);
    },
    with_arrays(ffi::Ffi::Bind()
                    .Attr<std::int64_t>("lmax")
                    .Attr<std::int64_t>("mmax")
                    .Attr<std::int64_t>("mmax_out")
                    .Attr<double>("psi")
                    .Attr<double>("theta")
                    .Attr<double>("phi")
                    .Attr<std::int64_t>("threads")));
XLA_FFI_DEFINE_HANDLER(
    cuda_synthesize,
    [](void* stream, std::int64_t sht, Buffer alm, Out map) {
        return synthesize(Cuda{stream}, sht, alm, *map);
    },
    with_arrays(of_transform_on_cuda()));
XLA_FFI_DEFINE_HANDLER(
    cuda_adjoint,
    [](void* stream, std::int64_t sht, Buffer map, Out alm) { return adjoint(Cuda{stream}, sht, map, *alm); },
    with_arrays(of_transform_on_cuda()));
XLA_FFI_DEFINE_HANDLER(
    cuda_analyze,
    [](void* stream, std::int64_t sht, std::int64_t iterations, Buffer map, Out alm) {
        return analyze(Cuda{stream}, sht, iterations, map, *alm);
    },
    with_arrays(of_transform_on_cuda().Attr<std::int64_t>("iterations")));

}  // namespace

void bind_xla(nb::module_& module) {
    module.def("xla_handlers", [] {
        Handlers host, cuda;
        host["synthesize"] = capsule_of(host_synthesize);
        host["adjoint"] = capsule_of(host_adjoint);
        host["analyze"] = capsule_of(host_analyze);
        host["adjoint_analysis"] = capsule_of(host_adjoint_analysis);
        host["rotate"] = capsule_of(host_rotate);
        cuda["synthesize"] = capsule_of(cuda_synthesize);
        cuda["adjoint"] = capsule_of(cuda_adjoint);
        cuda["adjoint_analysis"] = capsule_of(cuda_adjoint_analysis);
        cuda["analyze"] = capsule_of(cuda_analyze);
        nb::typed<nb::dict, nb::str, Handlers> of_platforms;
        of_platforms["cpu"] = host;
        of_platforms["CUDA"] = cuda;
        return of_platforms;
    });
}

}  // namespace zonal::python
