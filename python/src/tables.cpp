#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <tuple>
#include <utility>

#include "arrays.hpp"
#include "bindings.hpp"
#include "files.hpp"
#include "zonal/io/energy.hpp"
#include "zonal/io/events.hpp"
#include "zonal/io/profile.hpp"
#include "zonal/io/psf.hpp"
#include "zonal/sky/binning.hpp"

namespace zonal::python {
namespace {

using Values = HostArrayOfRank<const double, 1>;

/// theta (rad) and values (1/sr) of a profile.
auto read_profile(const std::string& path) {
    auto profile = reading([&] { return io::read_profile(path); });
    return std::tuple(to_numpy(std::move(profile.theta)), to_numpy(std::move(profile.value)));
}

/// The same of a point-spread function at an energy, MeV.
auto read_psf(const std::string& path, double energy) {
    auto table = reading([&] { return io::read_psf(path); });
    auto values = io::psf_at_energy(table, energy);
    return std::tuple(to_numpy(std::move(table.theta)), to_numpy(std::move(values)));
}

auto read_events(const std::string& path, const std::string& hdu, const std::string& longitude,
                 const std::string& latitude, const std::string& energy) {
    auto events = reading([&] { return io::read_events(path, {hdu, longitude, latitude, energy}); });
    return std::tuple(to_numpy(std::move(events.longitude)), to_numpy(std::move(events.latitude)),
                      to_numpy(std::move(events.energy)), to_string(events.coordinates),
                      std::move(events.notes));
}

/// Counts [12 nside^2] in ring order; how many events had another energy, no position, no energy.
auto bin_events_of(const Values& longitude, const Values& latitude, const std::optional<Values>& energy,
                   std::int64_t nside, std::optional<std::pair<double, double>> range) {
    EventList events{vector_of(longitude), vector_of(latitude)};
    if (energy) events.energy = vector_of(*energy);
    std::optional<EnergyRange> energies;
    if (range) energies = {range->first, range->second};
    const auto binned = without_gil(nb::none(), [&](const Progress&) {
        return bin_events(events, HealpixPixels{.nside = nside}, energies);
    });
    const auto counts = binned.map.rows()[0];
    return std::tuple(to_numpy(std::vector<double>(counts.data(), counts.data() + counts.size())),
                      binned.outside_energy_range, binned.without_position, binned.without_energy);
}

}  // namespace

void bind_tables(nb::module_& module) {
    module.def("read_profile", &read_profile);
    module.def("energy_unit", &io::energy_unit);
    module.def("read_psf", &read_psf);
    module.def("read_events", &read_events);
    module.def("bin_events", &bin_events_of, nb::arg(), nb::arg(), nb::arg().none(), nb::arg(),
               nb::arg().none());
}

}  // namespace zonal::python
