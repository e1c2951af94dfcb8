#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"
#include "zonal/masks/apodization.hpp"
#include "zonal/masks/distance.hpp"
#include "zonal/masks/holes.hpp"
#include "zonal/masks/moments.hpp"

namespace zonal::python {
namespace {

using MaskFlags = HostArrayOfRank<const std::uint8_t, 1>;
using MaskValues = HostArrayOfRank<const double, 1>;
using NewMask = HostArrayOfRank<double, 1>;

/// MaskFlags, not 0 where masked.
void mask_flags(const MaskValues& mask, const HostArrayOfRank<std::uint8_t, 1>& out, int threads) {
    without_gil([&] {
        const auto flags = masked_pixels(view_of<1>(mask), threads);
        std::copy(flags.begin(), flags.end(), out.data());
    });
}

void mask_distances(const MaskFlags& masked, const NewMask& out, double max_distance, int threads) {
    without_gil([&] { distances_to_masked(view_of<1>(masked), view_of<1>(out), max_distance, threads); });
}

/// What small holes there are, as one array of pixels.
auto mask_holes(const MaskFlags& masked, std::int64_t min_pixels, double min_area) {
    std::vector<std::int64_t> pixels;
    without_gil([&] {
        for (const auto& hole : small_holes(view_of<1>(masked), {min_pixels, min_area}))
            pixels.insert(pixels.end(), hole.begin(), hole.end());
    });
    return to_numpy(std::move(pixels));
}

/// In place. Returns the numbers of holes and of pixels.
std::pair<std::int64_t, std::int64_t> fill_mask_holes(const NewMask& mask, std::int64_t min_pixels,
                                                      double min_area, int threads) {
    FilledHoles filled;
    without_gil([&] { filled = fill_holes(view_of<1>(mask), {min_pixels, min_area}, threads); });
    return {filled.holes, filled.pixels};
}

void apodize_mask(const MaskValues& mask, const NewMask& out, Apodization kind, ApodizationDistance distance,
                  double scale, int threads) {
    without_gil([&] { apodize(view_of<1>(mask), view_of<1>(out), {kind, distance, scale, threads}); });
}

/// other: of no pixels for none.
std::array<double, 4> moments_of_mask(const Grid& grid, const MaskValues& mask, const MaskValues& other,
                                      int threads) {
    std::array<double, 4> found{};
    without_gil([&] { found = mask_moments(grid, view_of<1>(mask), view_of<1>(other), threads); });
    return found;
}

}  // namespace

void bind_masks(nb::module_& module) {
    nb::enum_<Apodization>(module, "Apodization")
        .value("cosine", Apodization::cosine)
        .value("sine", Apodization::sine)
        .value("smooth", Apodization::smooth);
    nb::enum_<ApodizationDistance>(module, "ApodizationDistance")
        .value("chord", ApodizationDistance::chord)
        .value("angle", ApodizationDistance::angle);
    const auto strict = nb::arg().noconvert();
    module.def("mask_flags", &mask_flags, strict, strict, nb::arg());
    module.def("mask_distances", &mask_distances, strict, strict, nb::arg(), nb::arg());
    module.def("mask_holes", &mask_holes, strict, nb::arg(), nb::arg());
    module.def("fill_mask_holes", &fill_mask_holes, strict, nb::arg(), nb::arg(), nb::arg());
    module.def("mask_moments", &moments_of_mask, nb::arg(), strict, strict, nb::arg());
    module.def("apodize_mask", &apodize_mask, strict, strict, nb::arg(), nb::arg(), nb::arg(), nb::arg());
}

}  // namespace zonal::python
