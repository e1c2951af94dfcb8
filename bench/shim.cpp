// A plain C face of the transforms, so that Python can call them beside healpy and ducc0 in one process.
// For tests and benchmarks only: the library's own Python package is another matter.

#include <hwy/highway.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "shim_guard.hpp"
#include "tool/fma_peak.hpp"
#include "zonal/device.hpp"
#include "zonal/error.hpp"
#include "zonal/sht.hpp"
#include "zonal/sky/smoothing.hpp"
#include "zonal/window.hpp"

std::string& shim_error() {
    thread_local std::string text;
    return text;
}

namespace {

struct Plan {
    zonal::ShtPlan plan;
    zonal::ShtWorkspace workspace;
};

zonal::Grid make_grid(const char* kind, std::int64_t a, std::int64_t b) {
    if (std::strcmp(kind, "healpix") == 0) return zonal::Grid::healpix(a);
    if (std::strcmp(kind, "gauss") == 0) return zonal::Grid::gauss_legendre(a, b);
    if (std::strcmp(kind, "cc") == 0) return zonal::Grid::clenshaw_curtis(a, b);
    if (std::strcmp(kind, "fejer1") == 0) return zonal::Grid::fejer1(a, b);
    if (std::strcmp(kind, "fejer2") == 0) return zonal::Grid::fejer2(a, b);
    throw zonal::InvalidArgument("kind", "must be healpix, gauss, cc, fejer1 or fejer2");
}

/// Null on failure.
template <class MakeGrid>
Plan* make_plan(const MakeGrid& grid, std::int64_t lmax, std::int64_t mmax, int spin, int threads) {
    Plan* result = nullptr;
    guarded([&] {
        zonal::ShtOptions options;
        options.lmax = lmax;
        options.mmax = mmax;
        options.spin = spin;
        options.threads = threads;
        options.device = zonal::Device::cpu();
        zonal::ShtPlan plan(grid(), options);
        auto workspace = plan.make_workspace();
        result = new Plan{std::move(plan), std::move(workspace)};
    });
    return result;
}

template <class T>
int synthesize(Plan* p, const std::complex<T>* alm, T* map, std::int64_t n_maps) {
    return guarded([&] {
        p->plan.synthesize<T>({alm, {n_maps, p->plan.alm_components(), p->plan.layout().size()}},
                              {map, {n_maps, p->plan.map_components(), p->plan.grid().n_pixels()}},
                              p->workspace);
    });
}

template <class T>
int adjoint(Plan* p, const T* map, std::complex<T>* alm, std::int64_t n_maps, int weighted) {
    return guarded([&] {
        const zonal::View<const T, 3> maps(map,
                                           {n_maps, p->plan.map_components(), p->plan.grid().n_pixels()});
        const zonal::View<std::complex<T>, 3> alms(
            alm, {n_maps, p->plan.alm_components(), p->plan.layout().size()});
        if (weighted != 0)
            p->plan.quadrature<T>(maps, alms, p->workspace);
        else
            p->plan.adjoint_synthesis<T>(maps, alms, p->workspace);
    });
}

}  // namespace

extern "C" {

const char* zonal_last_error() {
    return shim_error().c_str();
}

const char* zonal_simd_target() {
    static const std::string name = zonal::simd_target();
    return name.c_str();
}

/// From now on kernels run without AVX-512, to measure what machines without it do.
void zonal_leave_out_avx512() {
    // Not DisableTargets: Highway 1.0.3 chooses from all targets again whenever it is asked for those it
    // supports.
    const auto left = hwy::SupportedTargets() & ~(HWY_AVX3 | HWY_AVX3_DL);
    hwy::SetSupportedTargetsForTest(left);
    hwy::GetChosenTarget().Update(left);
}

/// Null on failure. kind: see make_grid.
Plan* zonal_plan(const char* kind, std::int64_t a, std::int64_t b, std::int64_t lmax, std::int64_t mmax,
                 int spin, int threads) {
    return make_plan([&] { return make_grid(kind, a, b); }, lmax, mmax, spin, threads);
}

/// The same on rings of any kind, one after the other in the map. cos_theta, sin_theta, phi_0, n_pixels:
/// [n_rings].
Plan* zonal_plan_rings(std::int64_t n_rings, const double* cos_theta, const double* sin_theta,
                       const double* phi_0, const std::int64_t* n_pixels, std::int64_t lmax,
                       std::int64_t mmax, int spin, int threads) {
    const auto make = [&] {
        std::vector<zonal::Ring> rings;
        std::int64_t next = 0;
        for (std::int64_t r = 0; r < n_rings; ++r) {
            rings.push_back({std::atan2(sin_theta[r], cos_theta[r]), cos_theta[r], sin_theta[r], phi_0[r], 1,
                             n_pixels[r], next});
            next += n_pixels[r];
        }
        return zonal::Grid(std::move(rings));
    };
    return make_plan(make, lmax, mmax, spin, threads);
}

/// cos_theta, sin_theta: [n_rings], of the plan's grid; returns n_rings. Null arrays are left alone.
std::int64_t zonal_rings(const Plan* p, double* cos_theta, double* sin_theta) {
    std::int64_t r = 0;
    for (const zonal::Ring& ring : p->plan.grid().rings()) {
        if (cos_theta != nullptr) cos_theta[r] = ring.cos_theta;
        if (sin_theta != nullptr) sin_theta[r] = ring.sin_theta;
        ++r;
    }
    return r;
}

void zonal_free(Plan* plan) {
    delete plan;
}
std::int64_t zonal_n_pixels(const Plan* p) {
    return p->plan.grid().n_pixels();
}
std::int64_t zonal_workspace_bytes(const Plan* p) {
    return p->plan.workspace_bytes();
}
double zonal_legendre_flops(const Plan* p) {
    return p->plan.legendre_flops();
}
/// Of the last transform.
double zonal_legendre_seconds(const Plan* p) {
    return p->workspace.stage_seconds().legendre;
}

int zonal_synthesize(Plan* p, const std::complex<double>* alm, double* map, std::int64_t n) {
    return synthesize(p, alm, map, n);
}
int zonal_synthesize_float(Plan* p, const std::complex<float>* alm, float* map, std::int64_t n) {
    return synthesize(p, alm, map, n);
}
int zonal_adjoint(Plan* p, const double* map, std::complex<double>* alm, std::int64_t n, int weighted) {
    return adjoint(p, map, alm, n, weighted);
}
int zonal_adjoint_float(Plan* p, const float* map, std::complex<float>* alm, std::int64_t n, int weighted) {
    return adjoint(p, map, alm, n, weighted);
}

/// Smooths one map, map -> out [12 nside^2], as `zonal smooth` and healpy.smoothing do. fwhm: rad.
int zonal_smooth(std::int64_t nside, const double* map, double* out, double fwhm, std::int64_t lmax,
                 int iterations, int threads) {
    return guarded([&] {
        const auto grid = zonal::Grid::healpix(nside);
        zonal::SmoothingOptions options;
        options.lmax = lmax;
        options.iterations = iterations;
        options.threads = threads;
        options.device = zonal::Device::cpu();
        zonal::smooth<double>(grid, {map, {1, grid.n_pixels()}}, zonal::Fields::scalars, {},
                              zonal::gaussian_beam(fwhm, lmax), grid, {out, {1, grid.n_pixels()}}, options);
    });
}

/// Floating point operations per second that this many threads reach with fused multiply-adds.
double zonal_fma_flops(int threads) {
    return zonal::cli::measured_fma_flops(threads);
}
}
