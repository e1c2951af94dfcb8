#include "options/new_map.hpp"

#include <fmt/core.h>

#include "options/options.hpp"
#include "shell/error.hpp"
#include "zonal/healpix.hpp"

namespace zonal::cli {

void add_new_map_options(CLI::App& app, NewMapOptions& options) {
    const OptionGroup group(app, "Output");
    group.integer("--nside", options.nside, {1, healpix::max_nside}, "HEALPix map of this nside");
    group.text("--car", options.car, "RINGSxPHI",
               "instead: a full-sky CAR image with this many rings and pixels per ring");
    group.choice("--order", options.ordering, pixel_orders, "HEALPix pixel order", "ring");
}

void require_valid(std::int64_t nside, healpix::Order order) {
    if (!healpix::is_valid_nside(nside, order))
        throw UsageError(fmt::format("--nside = {}: must be a power of 2 from 1 to 2^29 for nest", nside));
}

CarPixels parse_car(const std::string& text) {
    const auto cross = text.find('x');
    if (cross == std::string::npos)
        throw UsageError(fmt::format("--car = {}: must be RINGSxPHI, such as 180x360", printable(text)));
    CarPixels car;
    car.n_rings = parse_integer("--car RINGS", text.substr(0, cross), 1, max_lmax);
    car.n_phi = parse_integer("--car PHI", text.substr(cross + 1), 1, 2 * max_lmax);
    car.phi_0 = Grid::equidistant_cylindrical(1, car.n_phi).rings()[0].phi_0;
    return car;
}

Pixelization pixelization(const NewMapOptions& options) {
    if (options.nside.has_value() == !options.car.empty())
        throw UsageError("one of --nside N and --car RINGSxPHI is required");
    if (!options.car.empty() && options.ordering) throw UsageError("--order: CAR images have no pixel order");
    if (!options.car.empty()) return parse_car(options.car);
    const HealpixPixels pixels{*options.nside, options.ordering.value_or(healpix::Order::ring)};
    require_valid(pixels.nside, pixels.ordering);
    return pixels;
}

}  // namespace zonal::cli
