#include <algorithm>
#include <limits>
#include <utility>

#include "commands/recipe.hpp"
#include "zonal/io/inspect.hpp"
#include "zonal/io/positions.hpp"
#include "zonal/mask.hpp"
#include "zonal/sky/resampling.hpp"

namespace zonal::cli {
namespace {

struct EvaluateCommand {
    FileOptions files;
    std::string at;
    io::ReadPositionsOptions positions;
    double error = 1e-10;
    bool gradient = false;
    MapInput input;
    AnalysisChoice analysis;
    MaskOptions mask;
};

void declare(CLI::App& app, EvaluateCommand& options) {
    add_argument(app, "IN", options.files.in, "map or alm of one sky, FITS: I, or I, Q, U");
    add_argument(app, "POSITIONS", options.at, "points: FITS table, or text below '# lon [deg] lat [deg]'");
    add_argument(app, "OUT", options.files.out, "table to write: the positions and values, FITS or CSV");
    const OptionGroup positions(app, "Positions"), evaluation(app, "Evaluation");
    const std::string known =
        "THETA and PHI, LON and LAT, L and B, GLON and GLAT, RA and DEC, or ELON and "
        "ELAT, if there is one such pair";
    positions.text("--lon", options.positions.longitude, "COLUMN", "column of the longitudes", known);
    positions.text("--lat", options.positions.latitude, "COLUMN", "column of the latitudes");
    positions.text("--theta", options.positions.theta, "COLUMN", "instead: column of the colatitudes");
    positions.text("--phi", options.positions.phi, "COLUMN", "column of the longitudes that go with them");
    positions.choice<std::string>("--unit", options.positions.unit, {{"deg", "deg"}, {"rad", "rad"}},
                                  "of columns that state none");
    positions.text("--positions-hdu", options.positions.hdu, "NAME|N", "extension of POSITIONS to read",
                   "the first that has the columns");
    evaluation.number("--error", options.error, {2e-14, 0.1},
                      "largest error, of the largest I, and of the largest polarisation", "1e-10");
    evaluation.flag("--gradient", options.gradient,
                    "also the derivatives by theta and phi, per radian, of each of I, Q and U");
    add_map_input(app, options.input);
    add_analysis_options(app, options.analysis, WithMmax::no);
    add_unseen_options(app, options.mask, "keep what is computed in pixels that were UNSEEN; else it is NaN");
    add_output_options(app, options.files.output);
    add_run_options(app, options.files.run);
}

/// What is written, with names and units of its columns.
struct Values {
    Values(std::vector<std::string> fields, const std::string& unit, std::int64_t n_points, bool gradient)
        : n_fields(std::ssize(fields)), all({n_fields * (gradient ? 3 : 1), n_points}) {
        const auto add = [&](const std::string& suffix, const std::string& of) {
            for (const auto& field : fields) {
                names.push_back(field + suffix);
                units.push_back(of);
            }
        };
        add("", unit);
        if (!gradient) return;
        const auto per_radian = unit.empty() ? "1/rad" : unit + "/rad";
        add("_THETA", per_radian);
        add("_PHI", per_radian);
    }
    /// Values, or derivatives by theta (1) or phi (2); empty where none are wanted.
    View<double, 2> part(std::int64_t which) {
        if (which > 0 && all.extent(0) == n_fields) return {};
        return all.view().slice(which * n_fields, n_fields);
    }

    std::int64_t n_fields;
    Array<double, 2> all;  ///< [column, point]
    std::vector<std::string> names, units;
};

std::vector<std::string> names_of(Fields fields) {
    if (fields == Fields::iqu) return {"I", "Q", "U"};
    if (fields == Fields::qu) return {"Q", "U"};
    return {"I"};
}

View<const double, 1> view(const std::vector<double>& values) {
    return {values.data(), {std::ssize(values)}};
}

/// Throws where positions and sky are in different coordinates, and says so where one of them is unknown.
void check_coordinates(const EvaluateCommand& options, const io::Positions& positions,
                       CoordinateSystem coordinates, Session& session) {
    const auto unknown = CoordinateSystem::unknown;
    const auto named = fmt::format("columns {} and {}", positions.names[0], positions.names[1]);
    if (are_known_to_differ(positions.coordinates, coordinates))
        throw UsageError(
            fmt::format("{}: {} are {}, and {} is in {} coordinates: zonal rotate --to {} turns it",
                        options.at, named, to_string(positions.coordinates), options.files.in,
                        to_string(coordinates), to_string(positions.coordinates)));
    if (positions.coordinates == unknown)
        session.note(fmt::format("{}: {} name no coordinate system: taken as that of {}", options.at, named,
                                 options.files.in));
    else if (coordinates == unknown)
        session.note(fmt::format("{}: says no coordinate system: taken as {}, that of {}", options.files.in,
                                 to_string(positions.coordinates), named));
}

void report_errors(const EvaluateCommand& options, double bound, double mean_error, Session& session) {
    session.report["error_bound"] = options.error;
    session.report["bound"] = bound;
    session.report["mean_error"] = mean_error;
}

EvaluationOptions evaluation_of(const EvaluateCommand& options) {
    return {.error = options.error,
            .threads = options.files.run.thread_count(),
            .device = options.files.run.device};
}

/// What the values take beside sky and positions.
double bytes_of_values(const EvaluateCommand& options, const AlmLayout& layout, Fields fields,
                       std::int64_t n_fields, std::int64_t n_points) {
    return bytes_of_evaluation(layout, fields, n_fields, n_points, evaluation_of(options), options.gradient) +
           8 * static_cast<double>(n_points * n_fields * (options.gradient ? 3 : 1));
}

Values evaluate_map(const EvaluateCommand& options, const io::Positions& positions, Session& session) {
    const auto map = with_error<UsageError>(
        [&] {
            auto read = read_sky_map(options.files.in, options.input, session);
            require_one_sky(read);
            return read;
        },
        "", how_to_choose);
    const auto& header = map.header();
    check_coordinates(options, positions, header.coordinates, session);
    const bool polarized = map.polarized();
    const auto& group = map.groups().front();
    MapAnalysis analysis(options.analysis, map, options.files.run, "evaluate", session);
    analysis.mask_mode = options.mask.mode;
    const ResamplingOptions how{
        .analysis = analysis, .error = options.error, .fill_masked = options.mask.fill_masked};
    session.require_memory(bytes_of_resampling(map, positions.size(), how, options.gradient),
                           fmt::format("{}: values from alm up to lmax = {}", header.source, analysis.lmax));
    Values values(names_of(group.fields), map.column(0).unit, positions.size(), options.gradient);
    const auto result = with_error<IoError>(
        [&] {
            return resample(map.grid(), map.rows(group), group.fields, view(positions.theta),
                            view(positions.phi), values.part(0), how, values.part(1), values.part(2));
        },
        header.source + ": ");
    report_analysis(result.analysis, AlmLayout(result.lmax), options.analysis, session);
    session.report["unresolved"] = result.analysis.unresolved;
    report_errors(options, result.bound, result.mean_error, session);
    std::int64_t unseen = 0;
    for (std::int64_t row = 0; row < values.n_fields; ++row)
        for (std::int64_t i = 0; i < positions.size(); ++i)
            if (is_unseen_value(values.all(row, i))) {
                unseen += polarized && row + 1 == values.n_fields ? 0 : 1;
                for (auto column = row; column < values.all.extent(0); column += values.n_fields)
                    values.all(column, i) = std::numeric_limits<double>::quiet_NaN();
            }
    session.report["unseen_values"] = unseen;
    return values;
}

Values evaluate_alm(const EvaluateCommand& options, const io::Positions& positions, Session& session) {
    const auto& in = options.files.in;
    if (options.input.given() || options.analysis.given_for_maps() || options.mask.mode != MaskMode::zero ||
        options.mask.fill_masked)
        throw UsageError(fmt::format("{} holds alm: of the options for maps only --lmax applies", in));
    auto file = read_alm(in, session);
    const auto n = file.components.size();
    if (n != 1 && n != 3) throw IoError(fmt::format("{}: has {} components; a sky has T or T, E, B", in, n));
    const auto lmax = options.analysis.lmax_of(in, file.layout);
    truncate(file, lmax, std::min(lmax, file.layout.mmax()));
    check_coordinates(options, positions, file.coordinates, session);
    const auto fields = n == 3 ? Fields::iqu : Fields::scalars;
    session.require_memory(
        16.0 * static_cast<double>(file.layout.size()) +  // of a component, while it is copied
            bytes_of_values(options, file.layout, fields, static_cast<std::int64_t>(n), positions.size()),
        fmt::format("{}: values from alm up to lmax = {}", in, lmax));
    Values values(names_of(fields), file.unit, positions.size(), options.gradient);
    const auto alm = to_map_alm(std::move(file));
    auto how = evaluation_of(options);
    how.progress = session.progress("evaluate");
    const auto result = with_error<IoError>(
        [&] {
            return evaluate(alm.layout, alm.alm.view(), fields, view(positions.theta), view(positions.phi),
                            values.part(0), how, values.part(1), values.part(2));
        },
        in + ": ");
    session.report["lmax"] = lmax;
    report_errors(options, result.bound, result.mean_error, session);
    return values;
}

void check(const EvaluateCommand& options) {
    const auto& where = options.positions;
    const bool by_theta = !where.theta.empty() || !where.phi.empty(),
               by_latitude = !where.longitude.empty() || !where.latitude.empty();
    if (by_theta && by_latitude) throw UsageError("--theta, --phi and --lon, --lat exclude each other");
    if (where.theta.empty() != where.phi.empty()) throw UsageError("--theta and --phi: both or none");
    if (where.longitude.empty() != where.latitude.empty()) throw UsageError("--lon and --lat: both or none");
    options.analysis.iteration_count();
}

void run(EvaluateCommand& options, Session& session) {
    check(options);
    options.files.output.require_writable(options.files.out, OutputFormat::csv_or_fits);
    session.input(options.files.in);
    session.input(options.at);
    session.report["output"] = options.files.out;
    options.files.run.resolve(session);
    const auto positions = io::read_positions(options.at, options.positions);
    auto& report = session.report;
    report["points"] = positions.size();
    report["columns"] = {positions.names[0], positions.names[1]};
    report["units"] = {positions.units[0], positions.units[1]};
    const bool is_alm = io::inspect(options.files.in).kind == io::FileKind::alm;
    const auto values =
        is_alm ? evaluate_alm(options, positions, session) : evaluate_map(options, positions, session);
    stop_if_interrupted();
    auto cards = provenance(session);
    set_card(cards, {"MAX-LPOL", report["lmax"].get<std::int64_t>(), "highest degree l"});
    set_card(cards, {"ERRBOUND", report["bound"].get<double>(), "of max |error| / max |f|"});
    if (values.n_fields > 1)
        set_card(cards, {"COMMENT", std::string("Q and U: COSMO convention, along south and east"), ""});
    io::write_positions(options.files.out,
                        {positions, values.names, values.units, values.all.view(), std::move(cards)},
                        options.files.output.write_options());
}

}  // namespace

void add_evaluate(CLI::App& root, Session& session, Action& action) {
    add_command<EvaluateCommand>(
        root, session, action, "evaluate",
        "Evaluates a sky, a map or alm, at the positions of a file, such as those of a catalogue. Q and U "
        "are "
        "along the south and the east of each position (COSMO). A map is evaluated through its alm.",
        "zonal evaluate sky.fits catalogue.fits values.fits --error 1e-8", declare, run);
}

}  // namespace zonal::cli
