#include <algorithm>

#include "commands/recipe.hpp"
#include "zonal/error.hpp"
#include "zonal/io/alm.hpp"
#include "zonal/io/band_powers.hpp"
#include "zonal/io/beam.hpp"
#include "zonal/io/inspect.hpp"
#include "zonal/io/map.hpp"
#include "zonal/io/solution.hpp"
#include "zonal/io/spectrum.hpp"
#include "zonal/sky/statistics.hpp"

namespace zonal::cli {
namespace {

struct InfoOptions {
    std::string file;
};

Json to_json(const std::vector<double>& values) {
    const auto found = statistics({values.data(), {std::ssize(values)}});
    Json json = {
        {"count", found.count}, {"unseen", found.unseen}, {"nan", found.nan}, {"infinite", found.infinite}};
    if (found.any())
        json.update({{"min", found.minimum},
                     {"max", found.maximum},
                     {"mean", found.mean},
                     {"std", found.deviation},
                     {"rms", found.rms}});
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

/// What the header of a map says of its pixels.
void add_pixels(const MapFile& map, Json& report) {
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

/// Number of columns that a map HDU's fields count, the PIXEL column left out.
std::int64_t field_count(const io::HduSummary& hdu) {
    if (hdu.type == "IMAGE") {
        std::int64_t planes = 1;
        for (std::size_t axis = 2; axis < hdu.shape.size(); ++axis) planes *= hdu.shape[axis];
        return planes;
    }
    return std::count_if(hdu.columns.begin(), hdu.columns.end(),
                         [](const auto& column) { return column.name != "PIXEL" && column.name != "UNIQ"; });
}

Json map_report(const std::string& path, const io::HduSummary& hdu, Session& session) {
    Json report, columns = Json::array();
    const io::ReadMapOptions options{.hdu = std::to_string(hdu.number),
                                     .check_memory = session.memory_check()};
    io::visit_columns(path, options, field_count(hdu), [&](const MapFile& map) {
        if (columns.empty()) add_pixels(map, report);
        for (const auto& column : map.columns) {
            Json json = {{"name", column.name}, {"unit", column.unit}};
            if (column.stokes != Stokes::none) json["stokes"] = stokes_name(column.stokes);
            if (column.auxiliary != Auxiliary::none) json["auxiliary"] = true;
            json.update(to_json(column.values));
            columns.push_back(json);
            stop_if_interrupted();
        }
    });
    report["columns"] = std::move(columns);
    return report;
}

Json hdu_report(const std::string& path, const io::HduSummary& hdu, Session& session) {
    Json report = {
        {"number", hdu.number}, {"name", hdu.name}, {"type", hdu.type}, {"kind", to_string(hdu.kind)}};
    report["shape"] = hdu.shape;
    if (hdu.kind == io::FileKind::map) {
        try {
            report.update(map_report(path, hdu, session));
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

void add_bands(const io::BandPowersFile& file, Json& report) {
    report["bands"] = file.bins.size();
    report["bands_of"] = file.bins.of() == BandsOf::d_l ? "D_l" : "C_l";
    report["lmin"] = file.bins.lmin();
    report["lmax"] = file.bins.lmax();
    report["lmax_sky"] = file.estimate.blocks.front().decoupling->windows.extent(3) - 1;
    report["fields"] = file.units.size();
    report["errors"] = file.covariance.size() > 0;
    for (const auto& block : file.estimate.blocks)
        for (const auto& name : block.names)
            if (!is_repeated(block, name))
                report["spectra"].push_back({{"name", name},
                                             {"fields", {block.first, block.second}},
                                             {"condition", block.decoupling->condition}});
}

/// What Zonal reads of files other than maps, as a whole.
void add_content(const std::string& path, io::FileKind kind, Session& session) {
    Json& report = session.report;
    if (kind == io::FileKind::alm) {
        const auto alm = io::read_alm(path, session.memory_check());
        report["lmax"] = alm.layout.lmax();
        report["mmax"] = alm.layout.mmax();
        report["components"] = alm.components.size();
        report["coordinates"] = to_string(alm.coordinates);
    } else if (kind == io::FileKind::spectrum) {
        const auto file = io::read_spectrum(path);
        report["lmax"] = file.lmax();
        for (const auto& spectrum : file.spectra) {
            Json json = {{"name", spectrum.name}, {"unit", spectrum.unit}};
            json.update(to_json(spectrum.values));
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
    } else if (kind == io::FileKind::bands) {
        add_bands(io::read_band_powers(path), report);
    }
}

/// How a map is read where no options are given. A note says why it is not, as if all columns are
/// covariances.
void add_reading(const std::string& path, Session& session) {
    try {
        const auto map = io::read_map(path, {.header_only = true});
        session.note(map.notes);
        session.report["reads_as"] = io::describe_reading(map);
    } catch (const IoError& error) {
        session.note(error.what());
    }
}

void declare(CLI::App& app, InfoOptions& options) {
    add_argument(app, "FILE", options.file, "map, alm, spectrum, band powers, beam or weights; FITS or text");
}

void run(InfoOptions& options, Session& session) {
    const auto summary = io::inspect(options.file);
    session.note(summary.notes);
    session.report["file"] = options.file;
    session.report["format"] = summary.fits ? "FITS" : "text";
    session.report["kind"] = to_string(summary.kind);
    if (summary.kind == io::FileKind::map) add_reading(options.file, session);
    add_content(options.file, summary.kind, session);
    session.report["hdus"] = Json::array();
    for (const auto& hdu : summary.hdus)
        session.report["hdus"].push_back(hdu_report(options.file, hdu, session));
}

}  // namespace

void add_info(CLI::App& root, Session& session, Action& action) {
    add_command<InfoOptions>(
        root, session, action, "info",
        "Says what a file holds: extensions, columns and units; of maps also pixels, "
        "coordinates, counts of UNSEEN and NaN, least, greatest and mean value, standard deviation and rms.",
        "zonal info map.fits --json", declare, run);
}

}  // namespace zonal::cli
