#include "commands/recipe.hpp"
#include "zonal/io/inspect.hpp"
#include "zonal/sky/resampling.hpp"
#include "zonal/sky/rotation.hpp"

namespace zonal::cli {
namespace {

struct RotateOptions {
    FileOptions files;
    std::string to, from;
    std::vector<std::string> euler;  ///< psi, theta, phi
    MapInput input;
    AnalysisChoice analysis;
    MaskOptions mask;
    RotationWay way = RotationWay::alm;
    std::optional<double> error;
};

/// What is turned, and into what.
struct Rotation {
    EulerAngles angles;
    CoordinateSystem result;
};

void declare(CLI::App& app, RotateOptions& options) {
    add_files(app, options.files, "map or alm, FITS", "the same, rotated");
    const OptionGroup group(app, "Rotation (one of --to and --euler)");
    group.text("--to", options.to, "G|E|C", "new coordinates: galactic, ecliptic or equatorial (J2000)");
    group.text("--from", options.from, "G|E|C", "coordinates of IN", "its COORDSYS");
    group.list(
        "--euler", options.euler, "PSI,THETA,PHI",
        "turn by psi about z, then theta about y, then phi about z, as healpy.rotate_alm: -10deg,20deg,0deg");
    group.choice<RotationWay>(
        "--by", options.way, {{"alm", RotationWay::alm}, {"points", RotationWay::points}},
        "of maps: turn the alm, O(lmax^3), or interpolate the field where pixels come from", "alm");
    group.number("--error", options.error, {2e-14, 0.1},
                 "with --by points: largest error, of the largest I, and of the largest polarisation",
                 "1e-10");
    add_map_input(app, options.input);
    add_analysis_options(app, options.analysis, WithMmax::no);
    add_unseen_options(app, options.mask, "keep the computed values of pixels that were UNSEEN");
    add_file_options(app, options.files);
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
    if (options.error && options.way == RotationWay::alm)
        throw UsageError("--error: only with --by points, which interpolates");
    options.analysis.iteration_count();
}

Rotation find_rotation(const RotateOptions& options, CoordinateSystem found) {
    const auto angle = [&](std::size_t i) { return parse_signed_angle("--euler", options.euler[i]).radians; };
    if (!options.euler.empty()) return {{angle(0), angle(1), angle(2)}, CoordinateSystem::unknown};
    const auto unknown = CoordinateSystem::unknown;
    const auto from = options.from.empty() ? found : known_coordinates("--from", options.from);
    if (from == unknown)
        throw UsageError(fmt::format("--from: {} does not say its coordinates: give them", options.files.in));
    if (found != unknown && found != from)
        throw UsageError(
            fmt::format("--from = {}: {} says it is in {} coordinates; zonal convert --set-coordsys "
                        "changes what it says",
                        options.from, options.files.in, to_string(found)));
    const auto to = known_coordinates("--to", options.to);
    return {euler_angles(coordinate_rotation(from, to)), to};
}

void report_angles(const EulerAngles& angles, Session& session) {
    session.report["euler_rad"] = {angles.psi, angles.theta, angles.phi};
}

void rotate_map(const RotateOptions& options, Session& session) {
    const auto map = read_sky_map(options.files.in, options.input, session);
    const auto rotation = find_rotation(options, map.header().coordinates);
    MapAnalysis analysis(options.analysis, map, options.files.run, "rotate", session);
    analysis.mask_mode = options.mask.mode;
    const ResamplingOptions how{.analysis = analysis,
                                .rotation = rotation.angles,
                                .way = options.way,
                                .error = options.error.value_or(1e-10),
                                .fill_masked = options.mask.fill_masked};
    session.require_memory(bytes_of_resampling(map, map.header().pixelization, how),
                           fmt::format("{}: a rotation up to lmax = {}", map.header().source, analysis.lmax));
    auto rotated = with_error<IoError>(  // UNSEEN pixels
        [&] { return rotate(map, rotation.angles, how); }, map.header().source + ": ",
        " (--mask-mode error)");
    report_resampling(rotated.report, options.analysis, session);
    report_angles(rotation.angles, session);
    rotated.map.header().coordinates = rotation.result;
    write_map(options.files, rotated.map, {{"MAX-LPOL", rotated.report.lmax, "highest degree l"}}, session);
}

void rotate_alm_file(const RotateOptions& options, Session& session) {
    const auto& in = options.files.in;
    if (options.input.given() || options.analysis.given_for_maps() || options.mask.mode != MaskMode::zero ||
        options.mask.fill_masked || options.way != RotationWay::alm)
        throw UsageError(fmt::format("{} holds alm: of the options for maps only --lmax applies", in));
    auto file = read_alm(in, session);
    const auto rotation = find_rotation(options, file.coordinates);
    const auto lmax = options.analysis.lmax_of(in, file.layout);
    truncate(file, lmax, lmax);  // a rotation fills all orders
    auto alm = to_map_alm(file);
    rotate_alm<double>(alm.layout, rotation.angles, alm.alm.view(),
                       {options.files.run.thread_count(), session.progress("rotate")});
    report_angles(rotation.angles, session);
    set_alm(file, alm);
    file.coordinates = rotation.result;
    write_alm(options.files, file, {}, session);
    session.report["lmax"] = lmax;
}

void run(RotateOptions& options, Session& session) {
    check(options);
    options.files.begin(session);
    if (io::inspect(options.files.in).kind == io::FileKind::alm)
        rotate_alm_file(options, session);
    else
        rotate_map(options, session);
}

}  // namespace

void add_rotate(CLI::App& root, Session& session, Action& action) {
    add_command<RotateOptions>(
        root, session, action, "rotate",
        "Turns a map or alm to other coordinates, through the alm of the map. Q and U turn with their axes. "
        "To change only what the header says, see zonal convert --set-coordsys.",
        "zonal rotate galactic.fits equatorial.fits --to equatorial", declare, run);
}

}  // namespace zonal::cli
