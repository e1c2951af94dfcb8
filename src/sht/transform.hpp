#pragma once

#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "zonal/error.hpp"
#include "zonal/sht.hpp"

namespace zonal {

namespace sht {

/// Stands for an array that a workspace keeps for those who call transforms, one in each workspace. A caller
/// that needs an array defines such an object, whose address identifies it.
struct ScratchArray {
    ScratchArray() = default;
    ScratchArray(const ScratchArray&) = delete;
    ScratchArray& operator=(const ScratchArray&) = delete;
};

/// Rows of bytes somewhere.
template <class Pointer>
struct MemoryRows {
    Pointer data;
    std::int64_t stride;  ///< bytes from one row to the next
    MemorySpace space;
};

}  // namespace sht

/// What a backend keeps between calls.
struct ShtWorkspace::Storage {
    virtual ~Storage() = default;
    virtual void use_stream(void* cuda_stream) = 0;

    /// Where the transforms work.
    virtual MemorySpace space() const = 0;
    /// Room for `bytes` bytes there, contents unspecified, which stays until more are asked for.
    virtual void* reserve(const sht::ScratchArray& array, std::int64_t bytes) = 0;
    /// Copies rows between that memory and the host's, either way, or within. Waits for what is copied to the
    /// host.
    virtual void copy(sht::MemoryRows<const void*> from, sht::MemoryRows<void*> to, std::int64_t row_bytes,
                      std::int64_t n_rows) = 0;

    /// About how many bytes of the host's memory it holds.
    virtual std::int64_t bytes() const { return 0; }
    virtual void measure_stages(bool) {}
    /// Brings `seconds` up to date, where that takes time that a call should not spend.
    virtual void read_clock() {}

    ShtStageSeconds seconds;  ///< of the last call
};

}  // namespace zonal

namespace zonal::sht {

/// The scratch memory of the host that a plan's calls with n_maps take: none where it works on a GPU.
std::int64_t host_workspace_bytes(const ShtPlan& plan, std::int64_t n_maps);

/// What adjoint multiplies maps by: nothing, the rings' weights, or the exact rule over theta of equidistant
/// rings (rings/meridian_integral.hpp).
enum class Quadrature { none, ring_weights, meridian };

/// A transform on one kind of device; arrays have been checked. The workspace is one that make_workspace
/// made.
class Transform {
  public:
    virtual ~Transform() = default;

    /// there: if the map is not in the memory that the transform works in, an array in that memory, which
    /// receives a copy of the map; empty for other maps, or if no copy is wanted.
    virtual void synthesize(View<const std::complex<float>, 3> alm, View<float, 3> there, View<float, 3> map,
                            ShtWorkspace::Storage& workspace, const Progress& progress) const = 0;
    virtual void synthesize(View<const std::complex<double>, 3> alm, View<double, 3> there,
                            View<double, 3> map, ShtWorkspace::Storage& workspace,
                            const Progress& progress) const = 0;
    /// quadrature: meridian only if needs_meridian_integral.
    virtual void adjoint(View<const float, 3> map, View<float, 3> there, View<std::complex<float>, 3> alm,
                         Quadrature quadrature, ShtWorkspace::Storage& workspace,
                         const Progress& progress) const = 0;
    virtual void adjoint(View<const double, 3> map, View<double, 3> there, View<std::complex<double>, 3> alm,
                         Quadrature quadrature, ShtWorkspace::Storage& workspace,
                         const Progress& progress) const = 0;
    /// The transpose of adjoint with Quadrature::meridian.
    virtual void synthesize_integrated(View<const std::complex<float>, 3> alm, View<float, 3> map,
                                       ShtWorkspace::Storage& workspace, const Progress& progress) const = 0;
    virtual void synthesize_integrated(View<const std::complex<double>, 3> alm, View<double, 3> map,
                                       ShtWorkspace::Storage& workspace, const Progress& progress) const = 0;

    /// update = S^T W (map - S alm), rings at a time, without a map in between.
    virtual void project_residual(View<const std::complex<float>, 3> alm, View<const float, 3> map,
                                  View<std::complex<float>, 3> update, ShtWorkspace::Storage& workspace,
                                  const Progress& progress) const = 0;
    virtual void project_residual(View<const std::complex<double>, 3> alm, View<const double, 3> map,
                                  View<std::complex<double>, 3> update, ShtWorkspace::Storage& workspace,
                                  const Progress& progress) const = 0;

    /// n_maps: that calls will bring at once.
    virtual std::unique_ptr<ShtWorkspace::Storage> make_workspace(std::int64_t n_maps) const = 0;
    /// Makes room for this transform's calls in a workspace of the same device, whoever made it.
    virtual void prepare(ShtWorkspace::Storage& workspace) const = 0;
    /// n_maps: as of make_workspace; on CUDA and on ranks as for one.
    virtual std::int64_t workspace_bytes(std::int64_t n_maps) const = 0;
    virtual double legendre_flops() const = 0;

    // What the ranks of a distributed transform do together.

    /// Throws what went wrong so far: `error` here, or what another rank says went wrong there. call, n_maps,
    /// value_bytes: must be the same on all ranks.
    virtual void agree(const char* call, std::int64_t n_maps, std::size_t value_bytes,
                       std::exception_ptr error) const;
    /// Sums over the rings or orders of the whole transform: partial [ring or order of this rank, n], in the
    /// order of the grid's rings and of m, so that they do not depend on who has which.
    virtual std::vector<double> sum_rings(View<const double, 2> partial) const;
    virtual std::vector<double> sum_orders(View<const double, 2> partial) const;
    /// The grid of which this rank has a part; null if it has all.
    virtual const Grid* whole_grid() const { return nullptr; }
    /// Whether a plan whose own memory is the host's takes arrays on the device that it computes on, too.
    virtual bool takes_device_arrays() const { return false; }
};

/// Runs the checks of a call for maps of T, and throws on all ranks if they fail on one.
template <class T, class Checks>
void check_together(const Transform& transform, const char* call, std::int64_t n_maps, const Checks& checks) {
    std::exception_ptr error;
    try {
        checks();
    } catch (const Error&) {
        error = std::current_exception();
    }
    transform.agree(call, n_maps, sizeof(T), error);
}

/// Sums the columns of [n_rows, n], in that order.
std::vector<double> sum_rows(View<const double, 2> rows);

/// options: resolved, its device of the kind that the function's name says.
std::unique_ptr<const Transform> make_cpu_transform(const Grid& grid, const ShtOptions& options);
std::unique_ptr<const Transform> make_cuda_transform(const Grid& grid, const ShtOptions& options);

/// Component of the alm array that holds component c of the field, or -1 where the plan leaves it out.
inline std::int64_t alm_component(SpinParts parts, std::int64_t c) {
    if (parts == SpinParts::gradient) return c == 0 ? 0 : -1;
    if (parts == SpinParts::curl) return c == 1 ? 0 : -1;
    return c;
}

}  // namespace zonal::sht
