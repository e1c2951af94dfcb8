#include "options/new_map.hpp"

#include <fmt/core.h>

#include "options/options.hpp"
#include "shell/error.hpp"
#include "zonal/healpix.hpp"

namespace zonal::cli {

void add_new_map_options(CLI::App& app, NewMapOptions& options, const std::string& default_precision) {
    const auto group = "Output";
    add_integer(app, "--nside", options.nside, {1, healpix::max_nside}, "HEALPix map of this nside")
        ->group(group);
    add_text(app, "--car", options.car, "RINGSxPHI",
             "instead: full-sky CAR image of so many rings and pixels a ring")
        ->group(group);
    add_choice<io::Ordering>(app, "--order", options.ordering,
                             {{"ring", io::Ordering::ring}, {"nest", io::Ordering::nest}},
                             "HEALPix pixel order")
        ->default_str("ring")
        ->group(group);
    add_precision(app, options.precision, default_precision);
}

io::CarPixels parse_car(const std::string& text) {
    const auto cross = text.find('x');
    if (cross == std::string::npos)
        throw UsageError(fmt::format("--car = {}: must be RINGSxPHI, such as 180x360", printable(text)));
    io::CarPixels car;
    car.n_rings = parse_integer("--car RINGS", text.substr(0, cross), 1, max_lmax);
    car.n_phi = parse_integer("--car PHI", text.substr(cross + 1), 1, 2 * max_lmax);
    car.phi_0 = Grid::equidistant_cylindrical(1, car.n_phi).rings()[0].phi_0;
    return car;
}

io::Pixelisation pixelisation(const NewMapOptions& options) {
    if (options.nside.has_value() == !options.car.empty())
        throw UsageError("one of --nside N and --car RINGSxPHI is required");
    if (!options.car.empty() && options.ordering) throw UsageError("--order: CAR images have no pixel order");
    if (!options.car.empty()) return parse_car(options.car);
    const auto ordering = options.ordering.value_or(io::Ordering::ring);
    const bool nest = ordering == io::Ordering::nest;
    if (!healpix::is_valid_nside(*options.nside, nest ? healpix::Order::nest : healpix::Order::ring))
        throw UsageError(
            fmt::format("--nside = {}: must be a power of 2 from 1 to 2^29 for nest", *options.nside));
    return io::HealpixPixels{*options.nside, ordering};
}

SkyMap make_sky_map(const io::Pixelisation& pixelisation, bool polarised, const std::string& unit,
                    io::Precision precision, io::CoordinateSystem coordinates) {
    io::MapFile header;
    header.pixelisation = pixelisation;
    header.coordinates = coordinates;
    header.columns.push_back({"TEMPERATURE", unit, precision, io::Stokes::I, false, {}});
    if (polarised) {
        header.polarisation_convention = io::PolarisationConvention::cosmo;
        header.columns.push_back({"Q_POLARISATION", unit, precision, io::Stokes::Q, false, {}});
        header.columns.push_back({"U_POLARISATION", unit, precision, io::Stokes::U, false, {}});
    }
    return SkyMap(std::move(header));
}

}  // namespace zonal::cli
