#include <utility>

#include "commands/recipe.hpp"
#include "options/new_map.hpp"
#include "zonal/points/lensing.hpp"

namespace zonal::cli {
namespace {

struct LensCommand {
    FileOptions files;
    std::string phi, curl;
    NewMapOptions map;
    std::optional<std::int64_t> lmax;
    double error = 1e-7;
};

void declare(CLI::App& app, LensCommand& options) {
    add_argument(app, "ALM", options.files.in, "alm of the sky, FITS: T, or T, E, B");
    add_argument(app, "PHI", options.phi,
                 "alm of the lensing potential phi, whose gradient deflects, FITS: one component");
    add_argument(app, "OUT", options.files.out, "lensed map to write: I, or I, Q, U");
    const OptionGroup group(app, "Lensing");
    group.text("--curl", options.curl, "FILE", "alm of a curl potential, up to the lmax of PHI");
    group.integer("--lmax", options.lmax, {0, max_lmax}, "highest degree l of the sky", "the file's");
    group.number("--error", options.error, {2e-14, 0.1},
                 "largest error, of the largest I, and of the largest polarisation", "1e-7");
    add_new_map_options(app, options.map);
    add_precision(app, options.files.precision, "as ALM");
    add_output_options(app, options.files.output);
    add_run_options(app, options.files.run);
}

/// phi, and the curl potential where there is one. Throws IoError for files that hold something else.
MapAlm read_potentials(const LensCommand& options, Session& session) {
    const auto read = [&](const std::string& path) {
        auto file = read_alm(path, session);
        if (file.components.size() != 1)
            throw IoError(
                fmt::format("{}: has {} components: a potential has one", path, file.components.size()));
        if (file.layout.lmax() < 1)
            throw IoError(fmt::format("{}: ends at l = 0: a potential deflects from l = 1 on", path));
        return file;
    };
    auto file = read(options.phi);
    if (!options.curl.empty()) {
        auto curl = read(options.curl);
        if (curl.layout.lmax() > file.layout.lmax())
            throw IoError(fmt::format("{}: has lmax = {}: must be at most {}, that of {}", options.curl,
                                      curl.layout.lmax(), file.layout.lmax(), options.phi));
        truncate(curl, file.layout.lmax(), file.layout.mmax());
        file.components.push_back(std::move(curl.components.front()));
    }
    return to_map_alm(std::move(file));
}

io::AlmFile read_sky(const LensCommand& options, Session& session) {
    auto file = read_alm(options.files.in, session);
    const auto n = file.components.size();
    if (n != 1 && n != 3)
        throw IoError(fmt::format("{}: has {} components; a sky has T or T, E, B", options.files.in, n));
    const auto lmax = options.lmax.value_or(file.layout.lmax());
    if (lmax > file.layout.lmax())
        throw UsageError(
            fmt::format("--lmax = {}: must be at most {}, where the file ends", lmax, file.layout.lmax()));
    truncate(file, lmax, std::min(lmax, file.layout.mmax()));
    if (n == 3 && lmax < 2)
        throw IoError(fmt::format("{}: lmax = {}: must be 2 or more with E and B", options.files.in, lmax));
    return file;
}

/// Fills the map, and reports. The memory that this takes is gone when the map is written.
void fill(const LensCommand& options, const LensingOptions& how, const MapAlm& potentials, io::AlmFile file,
          SkyMap& map, Session& session) {
    const auto lensing = with_error<IoError>(
        [&] {
            return Lensing(map.grid(), {potentials.layout, potentials.alm.view()}, how);
        },
        options.phi + ": ");
    stop_if_interrupted();
    const auto alm = to_map_alm(std::move(file));
    LensingReport found;
    const auto rows = map.rows();
    lensing.lens<double>(
        View<const std::complex<double>, 3>(alm.alm.data(), {1, alm.alm.extent(0), alm.alm.extent(1)}),
        View<double, 3>(rows.data(), {1, rows.extent(0), rows.extent(1)},
                        {0, rows.stride(0), rows.stride(1)}),
        &found);
    session.report["lmax"] = how.lmax;
    session.report["error_bound"] = options.error;
    session.report["bound"] = found.bound;
    session.report["mean_error"] = found.mean_error;
    session.report["largest_deflection_rad"] = lensing.largest();
    session.report["rms_deflection_rad"] = lensing.rms();
}

void run(LensCommand& options, Session& session) {
    const auto pixels = pixelization(options.map);
    options.files.run.resolve(session);
    options.files.name_output(session);
    auto file = read_sky(options, session);
    const auto potentials = read_potentials(options, session);
    const auto grid = make_grid(pixels);
    const bool polarized = file.components.size() == 3;
    const LensingOptions how{.lmax = file.layout.lmax(),
                             .mmax = file.layout.mmax(),
                             .components = polarized ? 3 : 1,
                             .error = options.error,
                             .derivatives = false,
                             .threads = options.files.run.thread_count(),
                             .device = options.files.run.device};
    session.require_memory(
        16.0 * static_cast<double>(file.layout.size() + potentials.alm.size()) +
            bytes_of_lensing(grid, potentials.layout, potentials.alm.extent(0), how),
        fmt::format("a lensed map of {} from alm up to lmax = {}", to_string(pixels), how.lmax));
    auto map = new_sky_map(pixels, polarized, file.unit, file.precision, file.coordinates);
    fill(options, how, potentials, std::move(file), map, session);
    write_map(options.files, map, {{"MAX-LPOL", how.lmax, "highest degree l before lensing"}}, session);
}

}  // namespace

void add_lens(CLI::App& root, Session& session, Action& action) {
    add_command<LensCommand>(
        root, session, action, "lens",
        "Makes a map of a sky that is lensed by a potential phi: what is seen at n comes from where the "
        "gradient of phi, in radians, leads from there, and Q and U turn with their axes. The map has no "
        "lmax: analyse it on pixels fine enough for more than that of the sky.",
        "zonal lens alm.fits phi.fits lensed.fits --nside 1024", declare, run);
}

}  // namespace zonal::cli
