#include <fmt/core.h>

#include <cmath>
#include <limits>
#include <memory>

#include "commands/subcommands.hpp"
#include "options/common_options.hpp"
#include "options/options.hpp"
#include "shell/interrupt.hpp"
#include "zonal/error.hpp"
#include "zonal/io/alm.hpp"
#include "zonal/io/beam.hpp"
#include "zonal/io/inspect.hpp"
#include "zonal/io/map.hpp"
#include "zonal/io/solution.hpp"
#include "zonal/io/spectrum.hpp"
#include "zonal/io/weights.hpp"

namespace zonal::cli {
namespace {

struct InfoOptions {
    std::string file;
};

const char* kind_name(io::FileKind kind) {
    switch (kind) {
        case io::FileKind::map:
            return "map";
        case io::FileKind::alm:
            return "alm";
        case io::FileKind::spectrum:
            return "spectrum";
        case io::FileKind::window:
            return "window";
        case io::FileKind::weights:
            return "weights";
        case io::FileKind::solution:
            return "solution";
        case io::FileKind::other:
            break;
    }
    return "other";
}

/// Counts and extremes; UNSEEN, NaN and infinite values count apart.
Json statistics(const std::vector<double>& values) {
    std::int64_t unseen = 0, nan = 0, infinite = 0, good = 0;
    double minimum = std::numeric_limits<double>::infinity(), maximum = -minimum, sum = 0, squares = 0,
           deviations = 0;
    for (const double value : values) {
        if (is_unseen_value(value)) {
            ++unseen;
        } else if (std::isnan(value)) {
            ++nan;
        } else if (std::isinf(value)) {
            ++infinite;
        } else {
            ++good;
            minimum = std::min(minimum, value);
            maximum = std::max(maximum, value);
            sum += value;
            squares += value * value;
        }
    }
    const double mean = sum / static_cast<double>(good);
    for (const double value : values)
        if (!is_unseen_value(value) && std::isfinite(value)) deviations += (value - mean) * (value - mean);
    Json json = {{"count", values.size()}, {"unseen", unseen}, {"nan", nan}, {"infinite", infinite}};
    if (good == 0) return json;
    json.update({{"min", minimum},
                 {"max", maximum},
                 {"mean", mean},
                 {"std", std::sqrt(deviations / static_cast<double>(good))},
                 {"rms", std::sqrt(squares / static_cast<double>(good))}});
    return json;
}

const char* stokes_name(Stokes stokes) {
    return stokes == Stokes::I ? "I" : stokes == Stokes::Q ? "Q" : stokes == Stokes::U ? "U" : "";
}

const char* convention_name(PolarizationConvention convention) {
    return convention == PolarizationConvention::cosmo ? "COSMO"
           : convention == PolarizationConvention::iau ? "IAU"
                                                       : "absent (taken as COSMO)";
}

Json map_columns(const std::string& path, const std::string& hdu, std::size_t n_columns, Json& report) {
    Json columns = Json::array();
    for (std::size_t i = 0; i < n_columns; ++i) {
        io::ReadMapOptions options;
        options.hdu = hdu;
        options.fields = {std::to_string(i)};  // one at a time: a cube may be larger than the memory
        const auto map = io::read_map(path, options);
        const auto& column = map.columns[0];
        Json json = {{"name", column.name}, {"unit", column.unit}};
        if (column.stokes != Stokes::none) json["stokes"] = stokes_name(column.stokes);
        if (column.auxiliary != Auxiliary::none) json["auxiliary"] = true;
        json.update(statistics(column.values));
        columns.push_back(json);
        stop_if_interrupted();
        if (i > 0) continue;
        if (const auto* healpix = std::get_if<HealpixPixels>(&map.pixelization)) {
            report["nside"] = healpix->nside;
            report["ordering"] = healpix->ordering == healpix::Order::nest ? "nest" : "ring";
        } else {
            const auto& car = std::get<CarPixels>(map.pixelization);
            report["car"] = {{"rings", car.n_rings}, {"pixels_per_ring", car.n_phi}};
        }
        report["sky"] = map.partial() ? "partial" : "full";
        report["coordinates"] = to_string(map.coordinates);
        report["polcconv"] = convention_name(map.polarization_convention);
    }
    return columns;
}

/// Number of columns that a map HDU's fields count, the PIXEL column left out.
std::size_t field_count(const io::HduSummary& hdu) {
    if (hdu.type == "IMAGE") return hdu.shape.size() > 2 ? static_cast<std::size_t>(hdu.shape[2]) : 1;
    std::size_t count = 0;
    for (const auto& column : hdu.columns) count += column.name != "PIXEL" ? 1 : 0;
    return count;
}

Json map_report(const std::string& path, const io::HduSummary& hdu) {
    Json report;
    auto columns = map_columns(path, std::to_string(hdu.number), field_count(hdu), report);
    report["columns"] = std::move(columns);
    return report;
}

Json hdu_report(const std::string& path, const io::HduSummary& hdu) {
    Json report = {
        {"number", hdu.number}, {"name", hdu.name}, {"type", hdu.type}, {"kind", kind_name(hdu.kind)}};
    report["shape"] = hdu.shape;
    if (hdu.kind == io::FileKind::map) {
        try {
            report.update(map_report(path, hdu));
            return report;
        } catch (const IoError& error) {  // a damaged extension: say so and go on
            report["error"] = error.what();
        }
    }
    report["columns"] = Json::array();
    for (const auto& column : hdu.columns)
        report["columns"].push_back(
            {{"name", column.name}, {"format", column.format}, {"unit", column.unit}});
    return report;
}

/// What Zonal reads of files other than maps, as a whole.
void add_content(const std::string& path, io::FileKind kind, Json& report) {
    if (kind == io::FileKind::alm) {
        const auto alm = io::read_alm(path);
        report["lmax"] = alm.layout.lmax();
        report["mmax"] = alm.layout.mmax();
        report["components"] = alm.components.size();
        report["coordinates"] = to_string(alm.coordinates);
    } else if (kind == io::FileKind::spectrum) {
        const auto file = io::read_spectrum(path);
        report["lmax"] = file.lmax();
        for (const auto& spectrum : file.spectra) {
            Json json = {{"name", spectrum.name}, {"unit", spectrum.unit}};
            json.update(statistics(spectrum.values));
            report["spectra"].push_back(json);
        }
    } else if (kind == io::FileKind::window) {
        const auto window = io::read_beam(path);
        report["lmax"] = window.lmax();
        report["windows"] = window.columns;
    } else if (kind == io::FileKind::weights) {
        const auto weights = io::read_weights(path);
        report["nside"] = weights.nside;
        report["weights"] = weights.kind == io::QuadratureWeights::Kind::ring ? "ring" : "pixel";
    } else if (kind == io::FileKind::solution) {
        const auto file = io::read_solution(path);
        report["problem"] = file.problem;
        report["fields"] = file.solution.names();
        report["intervals"] = file.solution.pieces().size();
        report["t"] = {file.solution.t0(), file.solution.t1()};
    }
}

void run(const InfoOptions& options, Session& session) {
    const auto summary = io::inspect(options.file);
    session.note(summary.notes);
    session.report["file"] = options.file;
    session.report["format"] = summary.fits ? "FITS" : "text";
    session.report["kind"] = kind_name(summary.kind);
    add_content(options.file, summary.kind, session.report);
    session.report["hdus"] = Json::array();
    for (const auto& hdu : summary.hdus) session.report["hdus"].push_back(hdu_report(options.file, hdu));
}

}  // namespace

void add_info(CLI::App& root, Session& session, Action& action) {
    auto& app = add_subcommand(
        root, session, "info",
        "Says what a file holds: extensions, columns and units; of maps also pixels, "
        "coordinates, counts of UNSEEN and NaN, least, greatest and mean value, standard deviation and rms.",
        "zonal info map.fits --json");
    const auto options = std::make_shared<InfoOptions>();
    add_argument(app, "FILE", options->file, "map, alm, spectrum, beam or weights; FITS or text");
    app.callback([options, &action] { action = [options](Session& session) { run(*options, session); }; });
}

}  // namespace zonal::cli
