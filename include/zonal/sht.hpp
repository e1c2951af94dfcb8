#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "zonal/alm.hpp"
#include "zonal/device.hpp"
#include "zonal/grid.hpp"
#include "zonal/progress.hpp"
#include "zonal/view.hpp"

namespace zonal {

namespace sht {
class Transform;
}

/// Which of the two parts of a spin field the coefficients hold. A part that is left out counts as zero in
/// synthesis and is not computed in the adjoint.
enum class SpinParts {
    both,      ///< alm: [.., 2, ..] = E, B
    gradient,  ///< alm: [.., 1, ..] = E only
    curl       ///< alm: [.., 1, ..] = B only
};

/// What a plan is for; fixed when it is made.
struct ShtOptions {
    std::int64_t lmax = -1;  ///< must be given: >= 0
    std::int64_t mmax = -1;  ///< -1: lmax
    int spin = 0;            ///< >= 0; spin >= 1 transforms pairs (E, B) <-> (Q, U)
    SpinParts parts = SpinParts::both;
    int threads = 0;  ///< 0: available_cpus()
    Device device = Device::automatic();
    /// The largest error that a faster way may add, relative to the largest Fourier coefficient of an order:
    /// 0 (none) or from 1e-14 on. Grids with many more rings than lmax needs are resampled in theta within
    /// it. On the CPU that takes memory for the Fourier coefficients of all rings, about 1.3 maps in double
    /// precision; without it, bands of rings make do with less than 100 MB.
    double accuracy = 1e-13;
    /// On CUDA, the most scratch memory that a call may take: with less than a plan needs, adjoints take the
    /// orders in up to 16 parts, and if that is not enough all transforms work through the rings in bands,
    /// which is slower; it is refused where neither helps. 0: what is free on the device when the plan is
    /// made, less two copies of a map and its alm for transfers. On the CPU it must be 0.
    std::int64_t max_workspace_bytes = 0;
};

/// Wall-clock time of a transform's stages: between a_lm and Fourier coefficients of rings, between those and
/// the grid's rings where they are others, and between the rings and the pixels.
struct ShtStageSeconds {
    double legendre = 0;
    double resampling = 0;
    double rings = 0;
    double waiting = 0;  ///< of a distributed transform: for other ranks' coefficients
};

/// Scratch memory of a transform. Made by ShtPlan::make_workspace, reused by any number of calls, one at a
/// time.
class ShtWorkspace {
  public:
    ~ShtWorkspace();
    ShtWorkspace(ShtWorkspace&&) noexcept;
    ShtWorkspace& operator=(ShtWorkspace&&) noexcept;

    /// Seconds of the last call. They are zeros before the first, and on CUDA also where stages are not
    /// measured, and where the call did not wait (use_stream).
    ShtStageSeconds stage_seconds() const;
    /// CUDA: whether calls from now on measure their stages, which costs small transforms a few microseconds;
    /// not by default. The CPU always does.
    void measure_stages(bool on);

    /// CUDA: from now on the work of calls is put on the caller's stream, a cudaStream_t of the plan's device
    /// (null: the default stream). Where alm and map lie on the device, a call returns without waiting, may
    /// be captured in a graph, and errors of its work show at the caller's next synchronisation. Calls that
    /// come again with the same arrays are kept as graphs, up to 8, and launched where the stream has
    /// nothing to do. By default the workspace has a stream of its own, the arrays must be ready when the
    /// call is made, and it returns when all is done. Throws InvalidArgument for a workspace of the CPU.
    void use_stream(void* cuda_stream);

    struct Storage;
    explicit ShtWorkspace(std::unique_ptr<Storage> storage);
    Storage& storage() { return *storage_; }

  private:
    std::unique_ptr<Storage> storage_;
};

/// A spherical harmonic transform of fixed grid, lmax, mmax and spin. Immutable: any number of threads may
/// use one plan at the same time.
///
/// f(p) = sum_lm a_lm Y_lm(p), orthonormal Y_lm with the Condon-Shortley phase; for spin 2
/// Q + iU = - sum_lm (E_lm + i B_lm) 2Y_lm (COSMO convention); for spin s the same with sY_lm.
///
/// alm: [batch, components, AlmLayout(lmax, mmax).size()], 1 component for spin 0 or one part only, else 2.
/// map: [batch, 1 (spin 0) or 2 (spin s: Q, U), grid.n_pixels()].
/// The last axis of both must be contiguous. T is float or double; the arithmetic is double, and on the CPU
/// numbers below 2.2e-308 count as 0.
/// Every call throws InvalidArgument when a shape does not fit.
class ShtPlan {
  public:
    /// Throws InvalidArgument for lmax < 0, mmax > lmax, spin < 0, spin > lmax (spin above lmax leaves
    /// nothing), and BackendUnavailable.
    ShtPlan(const Grid& grid, const ShtOptions& options);
    ~ShtPlan();
    ShtPlan(ShtPlan&&) noexcept;
    ShtPlan& operator=(ShtPlan&&) noexcept;

    const Grid& grid() const;
    const AlmLayout& layout() const;
    /// With mmax, threads and device resolved.
    const ShtOptions& options() const;
    std::int64_t alm_components() const;
    std::int64_t map_components() const;
    /// Bytes of scratch memory that a call needs.
    std::int64_t workspace_bytes() const;
    /// Floating point operations of the Legendre stage of one map, as counted for the share of peak: 6 per
    /// (degree, order, ring pair) kept, 10 for two components.
    double legendre_flops() const;
    /// n_maps: maps that calls bring at once. On CUDA that many maps on the device, up to 8 (4 of a spin
    /// field), then share the recurrences, at as many times the memory of the Legendre stage; their sums are
    /// rounded otherwise than one by one. The CPU shares them as they come.
    ShtWorkspace make_workspace(std::int64_t n_maps = 1) const;

    /// map = S alm. Pixels of the map that are in no ring are left as they are.
    template <class T>
    void synthesize(ConstView<std::complex<T>, 3> alm, View<T, 3> map, const Progress& progress = {}) const;
    template <class T>
    void synthesize(ConstView<std::complex<T>, 3> alm, View<T, 3> map, ShtWorkspace& workspace,
                    const Progress& progress = {}) const;

    /// alm = S^T map: a_lm = sum_p f_p conj(Y_lm(p)), without weights.
    template <class T>
    void adjoint_synthesis(ConstView<T, 3> map, View<std::complex<T>, 3> alm,
                           const Progress& progress = {}) const;
    template <class T>
    void adjoint_synthesis(ConstView<T, 3> map, View<std::complex<T>, 3> alm, ShtWorkspace& workspace,
                           const Progress& progress = {}) const;

    /// alm = S^T W map, W the diagonal of the rings' weights: exact analysis on Gauss-Legendre and
    /// Clenshaw-Curtis grids, the first approximation (iter = 0) on HEALPix.
    template <class T>
    void quadrature(ConstView<T, 3> map, View<std::complex<T>, 3> alm, const Progress& progress = {}) const;
    template <class T>
    void quadrature(ConstView<T, 3> map, View<std::complex<T>, 3> alm, ShtWorkspace& workspace,
                    const Progress& progress = {}) const;

    /// update = S^T W (map - S alm): how a step of Jacobi's iteration alm += update improves an analysis.
    /// Takes no more memory than one transform, and less time than a synthesis and a quadrature. update: like
    /// alm, and not the same array.
    template <class T>
    void project_residual(ConstView<std::complex<T>, 3> alm, ConstView<T, 3> map,
                          View<std::complex<T>, 3> update, ShtWorkspace& workspace,
                          const Progress& progress = {}) const;

    // For Zonal's own parts.
    class Implementation;
    explicit ShtPlan(std::unique_ptr<const Implementation> implementation);
    const sht::Transform& transform() const;

  private:
    std::unique_ptr<const Implementation> implementation_;
};

/// What is kept between calls: the plans on the CPU of the last few grids and options, scratch memory of
/// their calls and of plans at points, and the rings of the last few grids, so that the second call of a kind
/// makes none of them anew. Functions that are given a grid, not a plan, take theirs here. Results do not
/// depend on it.

/// The plan that an earlier call made for an equal grid and these options, or a new one, which is kept if it
/// is the CPU's. Throws what ShtPlan throws.
std::shared_ptr<const ShtPlan> kept_plan(const Grid& grid, const ShtOptions& options);

/// Scratch memory for the plan's calls that an earlier call with any plan on the CPU has left, or new memory.
/// n_maps: as of ShtPlan::make_workspace.
ShtWorkspace take_workspace(const ShtPlan& plan, std::int64_t n_maps = 1);
/// Leaves it to a later call, if the plan is one on the CPU of this process alone and it takes at most half
/// of what may be kept; frees it if not.
void leave_workspace(const ShtPlan& plan, ShtWorkspace workspace);

/// Frees all that is kept. Any thread may call it at any time.
void clear_caches();
/// Frees the scratch memory alone. Plans and grids stay.
void clear_workspaces();
/// About how many bytes are kept.
std::int64_t cached_bytes();
/// From now on keeps this many bytes at most, 0 for nothing; what was used longest ago goes first. By default
/// 256 MiB.
void set_cache_limit(std::int64_t bytes);

}  // namespace zonal
