// A plain C face of the transforms, so that Python can call them beside healpy and ducc0 in one process.
// For tests and benchmarks only: the library's own Python package is another matter.

#include <complex>
#include <cstdint>
#include <cstring>
#include <string>

#include "bench_peak.hpp"
#include "zonal/device.hpp"
#include "zonal/error.hpp"
#include "zonal/sht.hpp"
#include "zonal/smoothing.hpp"
#include "zonal/window.hpp"

namespace {

thread_local std::string last_error;

struct Plan {
    zonal::ShtPlan plan;
    zonal::ShtWorkspace workspace;
};

template <class Body>
int guarded(const Body& body) {
    try {
        body();
        return 0;
    } catch (const std::exception& error) {
        last_error = error.what();
        return 1;
    }
}

zonal::Grid make_grid(const char* kind, std::int64_t a, std::int64_t b) {
    if (std::strcmp(kind, "healpix") == 0) return zonal::Grid::healpix(a);
    if (std::strcmp(kind, "gauss") == 0) return zonal::Grid::gauss_legendre(a, b);
    if (std::strcmp(kind, "cc") == 0) return zonal::Grid::clenshaw_curtis(a, b);
    if (std::strcmp(kind, "fejer1") == 0) return zonal::Grid::fejer1(a, b);
    if (std::strcmp(kind, "fejer2") == 0) return zonal::Grid::fejer2(a, b);
    throw zonal::InvalidArgument("kind: must be healpix, gauss, cc, fejer1 or fejer2");
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
            p->plan.adjoint_synthesize<T>(maps, alms, p->workspace);
    });
}

}  // namespace

extern "C" {

const char* zonal_last_error() {
    return last_error.c_str();
}

const char* zonal_simd_target() {
    static const std::string name = zonal::simd_target();
    return name.c_str();
}

/// Null on failure. Rings: n_rings of theta, phi_0, n_pixels, first_pixel for kind "rings", else null.
Plan* zonal_plan(const char* kind, std::int64_t a, std::int64_t b, std::int64_t lmax, std::int64_t mmax,
                 int spin, int threads) {
    Plan* result = nullptr;
    guarded([&] {
        zonal::ShtOptions options;
        options.lmax = lmax;
        options.mmax = mmax;
        options.spin = spin;
        options.threads = threads;
        options.device = zonal::Device::cpu();
        zonal::ShtPlan plan(make_grid(kind, a, b), options);
        auto workspace = plan.make_workspace();
        result = new Plan{std::move(plan), std::move(workspace)};
    });
    return result;
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
int zonal_smooth(std::int64_t nside, const double* map, double* out, double fwhm, std::int64_t lmax, int iterations,
                 int threads) {
    return guarded([&] {
        const auto grid = zonal::Grid::healpix(nside);
        zonal::SmoothingOptions options;
        options.lmax = lmax;
        options.iterations = iterations;
        options.threads = threads;
        zonal::smooth<double>(grid, {map, {1, grid.n_pixels()}}, zonal::Fields::scalars, {},
                              zonal::gaussian_beam(fwhm, lmax), grid, {out, {1, grid.n_pixels()}}, options);
    });
}

/// Floating point operations per second that this many threads reach with fused multiply-adds.
double zonal_fma_flops(int threads) { return zonal::cli::measured_fma_flops(threads); }
}
