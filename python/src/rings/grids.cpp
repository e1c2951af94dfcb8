#include "zonal/grid.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"
#include "zonal/analysis.hpp"
#include "zonal/sky/sky_map.hpp"

namespace zonal::python {
namespace {

using Doubles = HostArrayOfRank<const double, 1>;
using Integers = HostArrayOfRank<const std::int64_t, 1>;

Grid grid_of_rings(const Doubles& theta, const Doubles& phi_0, const Doubles& weight,
                   const Integers& n_pixels, const Integers& first_pixel, std::int64_t n_map_pixels,
                   const std::string& name) {
    std::vector<Ring> rings;
    rings.reserve(theta.shape(0));
    for (std::size_t i = 0; i < theta.shape(0); ++i)
        rings.push_back(make_ring(theta(i), phi_0(i), weight(i), n_pixels(i), first_pixel(i)));
    mirror_southern_rings(rings);
    return Grid(std::move(rings), n_map_pixels, name);
}

/// One member of all rings.
template <class T>
auto column(const Grid& grid, T Ring::*member) {
    std::vector<T> values;
    values.reserve(grid.rings().size());
    for (const Ring& ring : grid.rings()) values.push_back(ring.*member);
    return to_numpy(std::move(values));
}

/// The pixel nearest to each direction.
auto nearest_pixels(const Grid& grid, const Doubles& theta, const Doubles& phi) {
    std::vector<std::int64_t> pixels(theta.shape(0));
    {
        const GilRelease others_run;
        for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = nearest_pixel(grid, theta(i), phi(i));
    }
    return to_numpy(std::move(pixels));
}

}  // namespace

void bind_grids(nb::module_& module) {
    nb::class_<Grid>(module, "Grid")
        .def_static("of_rings", &grid_of_rings)
        .def_static("healpix", &Grid::healpix)
        .def_static("gauss_legendre", &Grid::gauss_legendre)
        .def_static("clenshaw_curtis", &Grid::clenshaw_curtis)
        .def_static("fejer1", &Grid::fejer1)
        .def_static("fejer2", &Grid::fejer2)
        .def_static("equidistant_cylindrical", &Grid::equidistant_cylindrical)
        .def_static("driscoll_healy", &Grid::driscoll_healy)
        .def_static("mcewen_wiaux", &Grid::mcewen_wiaux)
        .def_static("reduced_gaussian", &Grid::reduced_gaussian)
        .def_static("octahedral", &Grid::octahedral)
        .def_static("reduced_gauss_legendre", &Grid::reduced_gauss_legendre)
        .def("subset", &Grid::subset)
        .def_prop_ro("n_rings", &Grid::n_rings)
        .def_prop_ro("n_pixels", &Grid::n_pixels)
        .def_prop_ro("name", &Grid::name)
        .def_prop_ro("has_other_pixels", &Grid::has_other_pixels)
        .def_prop_ro("exact_lmax", &exact_lmax)
        .def("nearest_pixels", &nearest_pixels)
        .def("theta", [](const Grid& grid) { return column(grid, &Ring::theta); })
        .def("phi_0", [](const Grid& grid) { return column(grid, &Ring::phi_0); })
        .def("weight", [](const Grid& grid) { return column(grid, &Ring::weight); })
        .def("ring_sizes", [](const Grid& grid) { return column(grid, &Ring::n_pixels); })
        .def("first_pixels", [](const Grid& grid) { return column(grid, &Ring::first_pixel); });
}

}  // namespace zonal::python
