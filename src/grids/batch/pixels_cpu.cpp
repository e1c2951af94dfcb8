#include "core/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "grids/batch/pixels_cpu.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "grids/batch/directions-inl.hpp"
#include "grids/batch/pixel_kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace zonal::healpix::HWY_NAMESPACE {

bool ang2pix_lanes(std::int64_t nside, Order order, const double* theta, const double* phi,
                   std::int64_t* pixels, std::int64_t n) {
    const D d;
    const Sphere sphere(nside);
    for (std::int64_t at = 0; at < n; at += lanes()) {
        const V t = hn::Load(d, theta + at), p = hn::Load(d, phi + at);
        if (!all_directions(t, p)) return false;
        PlaceLanes place;
        place_colatitude(sphere, t, place);
        place.turns = quarter_turn_lanes(p);
        const auto [pixel, doubtful] = face_at(sphere, place);
        hn::Store(pixel_of_face(sphere, order, pixel), DI(), pixels + at);
        for_each_lane(hn::Or(doubtful, hn::Gt(hn::Abs(p), real(largest_phi))), [&](std::int64_t lane) {
            pixels[at + lane] = ang2pix(nside, order, Angles{theta[at + lane], phi[at + lane]});
        });
    }
    return true;
}

bool vec2pix_lanes(std::int64_t nside, Order order, const double* x, const double* y, const double* z,
                   std::int64_t* pixels, std::int64_t n) {
    const D d;
    const Sphere sphere(nside);
    for (std::int64_t at = 0; at < n; at += lanes()) {
        const V a = hn::Load(d, x + at), b = hn::Load(d, y + at), c = hn::Load(d, z + at);
        const V across = hn::Max(hn::Abs(a), hn::Abs(b)), largest = hn::Max(across, hn::Abs(c));
        // The differences are NaN where a component is NaN or infinite.
        const M finite = hn::Eq((a - a) + (b - b) + (c - c), hn::Zero(d));
        if (!hn::AllTrue(d, hn::And(finite, hn::Gt(largest, hn::Zero(d))))) return false;
        const auto [pixel, doubtful] = face_at(sphere, place_of_vector(sphere, a, b, c));
        hn::Store(pixel_of_face(sphere, order, pixel), DI(), pixels + at);
        const M extreme = hn::Or(hn::Lt(largest, real(1e-100)), hn::Gt(largest, real(1e100)));
        const M on_axis = hn::Eq(across, hn::Zero(d));
        for_each_lane(hn::Or(doubtful, hn::Or(extreme, on_axis)), [&](std::int64_t lane) {
            pixels[at + lane] = vec2pix(nside, order, Vector{x[at + lane], y[at + lane], z[at + lane]});
        });
    }
    return true;
}

bool pix2ang_lanes(std::int64_t nside, Order order, const std::int64_t* pixels, double* theta, double* phi,
                   std::int64_t n) {
    const D d;
    const Sphere sphere(nside);
    for (std::int64_t at = 0; at < n; at += lanes()) {
        const I pixel = hn::Load(DI(), pixels + at);
        if (!all_on_map(sphere, pixel)) return false;
        const RowLanes place = row_of_pixel(sphere, order, pixel);
        hn::Store(theta_of_row(sphere, place.i), d, theta + at);
        hn::Store(phi_of_row(sphere, place), d, phi + at);
    }
    return true;
}

bool pix2vec_lanes(std::int64_t nside, Order order, const std::int64_t* pixels, double* x, double* y,
                   double* z, std::int64_t n) {
    const D d;
    const Sphere sphere(nside);
    for (std::int64_t at = 0; at < n; at += lanes()) {
        const I pixel = hn::Load(DI(), pixels + at);
        if (!all_on_map(sphere, pixel)) return false;
        const RowLanes place = row_of_pixel(sphere, order, pixel);
        const auto [cosine, sine] = colatitude_of_row(sphere, place.i);
        const V phi = phi_of_row(sphere, place);
        hn::Store(sine * hn::Cos(d, phi), d, x + at);
        hn::Store(sine * hn::Sin(d, phi), d, y + at);
        hn::Store(cosine, d, z + at);
    }
    return true;
}

bool reorder_lanes(std::int64_t nside, Order order, const std::int64_t* pixels, std::int64_t* reordered,
                   std::int64_t n) {
    const DI d;
    const Sphere sphere(nside);
    for (std::int64_t at = 0; at < n; at += lanes()) {
        const I pixel = hn::Load(d, pixels + at);
        if (!all_on_map(sphere, pixel)) return false;
        hn::Store(order == Order::ring
                      ? nest_pixel_of_face(sphere, face_of_row(sphere, row_of_ring_pixel(sphere, pixel)))
                      : ring_pixel_of_row(sphere, row_of_face(sphere, face_of_nest_pixel(sphere, pixel))),
                  d, reordered + at);
    }
    return true;
}

}  // namespace zonal::healpix::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace zonal::healpix {

HWY_EXPORT(ang2pix_lanes);
HWY_EXPORT(vec2pix_lanes);
HWY_EXPORT(pix2ang_lanes);
HWY_EXPORT(pix2vec_lanes);
HWY_EXPORT(reorder_lanes);

bool ang2pix_block(std::int64_t nside, Order order, const double* theta, const double* phi,
                   std::int64_t* pixels, std::int64_t n) {
    return HWY_DYNAMIC_DISPATCH(ang2pix_lanes)(nside, order, theta, phi, pixels, n);
}
bool vec2pix_block(std::int64_t nside, Order order, const double* x, const double* y, const double* z,
                   std::int64_t* pixels, std::int64_t n) {
    return HWY_DYNAMIC_DISPATCH(vec2pix_lanes)(nside, order, x, y, z, pixels, n);
}
bool pix2ang_block(std::int64_t nside, Order order, const std::int64_t* pixels, double* theta, double* phi,
                   std::int64_t n) {
    return HWY_DYNAMIC_DISPATCH(pix2ang_lanes)(nside, order, pixels, theta, phi, n);
}
bool pix2vec_block(std::int64_t nside, Order order, const std::int64_t* pixels, double* x, double* y,
                   double* z, std::int64_t n) {
    return HWY_DYNAMIC_DISPATCH(pix2vec_lanes)(nside, order, pixels, x, y, z, n);
}
bool reorder_block(std::int64_t nside, Order order, const std::int64_t* pixels, std::int64_t* reordered,
                   std::int64_t n) {
    return HWY_DYNAMIC_DISPATCH(reorder_lanes)(nside, order, pixels, reordered, n);
}

}  // namespace zonal::healpix
#endif
