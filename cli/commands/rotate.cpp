#include <fmt/core.h>

#include <memory>

#include "commands/subcommands.hpp"
#include "engine/alm_file.hpp"
#include "options/mask_options.hpp"
#include "options/options.hpp"
#include "shell/error.hpp"
#include "shell/interrupt.hpp"
#include "zonal/io/inspect.hpp"
#include "zonal/sky/map_analysis.hpp"
#include "zonal/sky/rotation.hpp"

namespace zonal::cli {
namespace {

struct RotateOptions {
    std::string in, out;
    std::string to, from;
    std::vector<std::string> euler;  ///< psi, theta, phi
    MapInput input;
    AnalysisChoice analysis;
    MaskOptions mask;
    std::optional<io::Precision> precision;
    RunOptions run;
    OutputOptions output;
};

/// What is turned, and into what.
struct Rotation {
    EulerAngles angles;
    CoordinateSystem result;
};

void declare_options(CLI::App& app, RotateOptions& options) {
    add_argument(app, "IN", options.in, "map or alm, FITS");
    add_argument(app, "OUT", options.out, "the same, rotated");
    const auto group = "Rotation (one of --to and --euler)";
    add_text(app, "--to", options.to, "G|E|C", "new coordinates: galactic, ecliptic or equatorial (J2000)")
        ->group(group);
    add_text(app, "--from", options.from, "G|E|C", "coordinates of IN")
        ->default_str("its COORDSYS")
        ->group(group);
    add_list(
        app, "--euler", options.euler, "PSI,THETA,PHI",
        "turn by psi about z, then theta about y, then phi about z, as healpy.rotate_alm: -10deg,20deg,0deg")
        ->group(group);
    add_map_input(app, options.input);
    add_analysis_options(app, options.analysis, WithMmax::no);
    add_choice<MaskMode>(app, "--mask-mode", options.mask.mode,
                         {{"zero", MaskMode::zero}, {"error", MaskMode::error}},
                         "UNSEEN pixels count as 0 or are an error")
        ->default_str("zero")
        ->group("Mask");
    app.add_flag("--fill-masked", options.mask.fill_masked,
                 "keep the computed values of pixels that were UNSEEN")
        ->group("Mask");
    add_precision(app, options.precision, "as the input");
    add_output_options(app, options.output);
    add_run_options(app, options.run);
}

CoordinateSystem known_coordinates(const std::string& option, const std::string& text) {
    const auto system = parse_coordinates(option, text);
    if (system == CoordinateSystem::unknown)
        throw UsageError(
            fmt::format("{} = {}: must be galactic, ecliptic or equatorial", option, printable(text)));
    return system;
}

void check(const RotateOptions& options) {
    if (options.to.empty() == options.euler.empty())
        throw UsageError("one of --to galactic|ecliptic|equatorial and --euler PSI,THETA,PHI is required");
    if (!options.euler.empty() && options.euler.size() != 3)
        throw UsageError(
            fmt::format("--euler: {} angles, must be three: PSI,THETA,PHI", options.euler.size()));
    if (!options.euler.empty() && !options.from.empty()) throw UsageError("--from: only with --to");
    for (const auto& angle : options.euler) parse_signed_angle("--euler", angle);
    if (!options.to.empty()) known_coordinates("--to", options.to);
    if (!options.from.empty()) known_coordinates("--from", options.from);
    options.analysis.iteration_count();
}

Rotation find_rotation(const RotateOptions& options, CoordinateSystem found) {
    const auto angle = [&](std::size_t i) { return parse_signed_angle("--euler", options.euler[i]).radians; };
    if (!options.euler.empty()) return {{angle(0), angle(1), angle(2)}, CoordinateSystem::unknown};
    const auto unknown = CoordinateSystem::unknown;
    const auto from = options.from.empty() ? found : known_coordinates("--from", options.from);
    if (from == unknown)
        throw UsageError(fmt::format("--from: {} does not say its coordinates: give them", options.in));
    if (found != unknown && found != from)
        throw UsageError(
            fmt::format("--from = {}: {} says it is in {} coordinates; zonal convert --set-coordsys "
                        "changes what it says",
                        options.from, options.in, to_string(found)));
    const auto to = known_coordinates("--to", options.to);
    return {euler_angles(coordinate_rotation(from, to)), to};
}

void report_angles(const EulerAngles& angles, Session& session) {
    session.report["euler_rad"] = {angles.psi, angles.theta, angles.phi};
}

RotatedMap turned(const SkyMap& map, const Rotation& rotation, const MapAnalysisOptions& how,
                  const RotateOptions& options) {
    try {
        return rotate(map, rotation.angles, how, options.mask.fill_masked);
    } catch (const InvalidArgument& error) {  // UNSEEN pixels with --mask-mode error
        throw IoError(fmt::format("{}: {} (--mask-mode error)", map.header().source, error.what()));
    }
}

void rotate_map(const RotateOptions& options, Session& session) {
    const auto map = read_sky_map(options.in, options.input, session);
    const auto rotation = find_rotation(options, map.header().coordinates);
    const auto weights = find_weights(options.analysis, map, options.run, session);
    auto how = map_analysis_options(options.analysis, map, weights, options.run, session.progress("rotate"));
    how.mask_mode = options.mask.mode;
    auto rotated = turned(map, rotation, how, options);
    report_analysis(rotated.report.analysis, options.analysis, session);
    session.report["lmax"] = rotated.lmax;
    session.report["mmax"] = rotated.lmax;
    report_angles(rotation.angles, session);
    auto& header = rotated.map.header();
    header.coordinates = rotation.result;
    for (auto& column : header.columns) column.precision = options.precision.value_or(column.precision);
    set_cards(header.cards, provenance(session));
    set_card(header.cards, {"MAX-LPOL", rotated.lmax, "highest degree l"});
    stop_if_interrupted();
    io::write_sky_map(options.out, rotated.map, options.output.write_options());
    session.report["map"] = describe(header);
}

void rotate_alm_file(const RotateOptions& options, Session& session) {
    auto analysis = options.analysis;
    analysis.lmax.reset();
    if (options.input.given() || analysis.given() || options.mask.mode != MaskMode::zero ||
        options.mask.fill_masked)
        throw UsageError(
            fmt::format("{} holds alm: of the options for maps only --lmax applies", options.in));
    auto file = read_alm(options.in, session);
    const auto rotation = find_rotation(options, file.coordinates);
    const auto lmax = options.analysis.lmax.value_or(file.layout.lmax());
    if (lmax > file.layout.lmax())
        throw UsageError(fmt::format("--lmax = {}: {} ends at {}", lmax, options.in, file.layout.lmax()));
    truncate(file, lmax, lmax);  // a rotation fills all orders
    auto alm = to_array(file);
    rotate_alm<double>(file.layout, rotation.angles, alm.view(),
                       {options.run.thread_count(), session.progress("rotate")});
    report_angles(rotation.angles, session);
    for (std::size_t i = 0; i < file.components.size(); ++i)
        file.components[i].assign(alm.data() + static_cast<std::int64_t>(i) * file.layout.size(),
                                  alm.data() + static_cast<std::int64_t>(i + 1) * file.layout.size());
    file.coordinates = rotation.result;
    file.precision = options.precision.value_or(file.precision);
    set_cards(file.cards, provenance(session));
    stop_if_interrupted();
    write_alm_file(options.out, file, options.output.write_options());
    session.report["lmax"] = lmax;
}

void run(RotateOptions& options, Session& session) {
    check(options);
    options.output.require_writable(options.out);
    session.report["input"] = options.in;
    session.report["output"] = options.out;
    options.run.resolve(session);
    if (io::inspect(options.in).kind == io::FileKind::alm)
        rotate_alm_file(options, session);
    else
        rotate_map(options, session);
}

}  // namespace

void add_rotate(CLI::App& root, Session& session, Action& action) {
    auto& app =
        add_subcommand(root, session, "rotate",
                       "Turns a map or alm to other coordinates, through alm. Q and U turn with their axes. "
                       "To change only what the header says, see zonal convert --set-coordsys.",
                       "zonal rotate galactic.fits equatorial.fits --to equatorial");
    const auto options = std::make_shared<RotateOptions>();
    declare_options(app, *options);
    app.callback([options, &action] { action = [options](Session& session) { run(*options, session); }; });
}

}  // namespace zonal::cli
