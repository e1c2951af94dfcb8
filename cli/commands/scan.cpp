#include <algorithm>
#include <cmath>
#include <utility>

#include "commands/recipe.hpp"
#include "options/beam_alm_options.hpp"
#include "zonal/angle.hpp"
#include "zonal/beams/convolver.hpp"
#include "zonal/beams/elliptical.hpp"
#include "zonal/beams/planning.hpp"
#include "zonal/io/inspect.hpp"
#include "zonal/io/pointings.hpp"

namespace zonal::cli {
namespace {

struct ScanOptions {
    FileOptions files;
    std::string pointings;
    io::ReadPointingsOptions columns;
    MaskedAnalysis analysis;
    BeamAlmOptions beam;
    std::optional<Angle> fwhm, orientation, polarization;
    double ellipticity = 0, efficiency = -1;  ///< 0, -1: not given
    double error = 1e-6;
    BeamMethod method = BeamMethod::automatic;

    bool has_elliptical() const {
        return fwhm || orientation || polarization || ellipticity > 0 || efficiency >= 0;
    }
};

void declare(CLI::App& app, ScanOptions& options) {
    add_argument(app, "SKY", options.files.in, "sky, FITS: a map of I or I, Q, U, or alm of T or T, E, B");
    add_argument(app, "POINTINGS", options.pointings,
                 "table of theta, phi, psi and, behind a half-wave plate, hwp, FITS");
    add_argument(app, "OUT", options.files.out, "table of the signal to write");
    const OptionGroup beam(app, "Beam (--beam-alm or --fwhm)");
    add_beam_alm_options(beam, options.beam);
    beam.angle("--fwhm", options.fwhm, "Gaussian beam, the geometric mean of the widths of its axes");
    beam.number("--ellipticity", options.ellipticity, {1, 10}, "its long axis over its short one", "1");
    beam.signed_angle("--orientation", options.orientation,
                      "of its long axis, from the beam's x axis towards y", "0deg");
    beam.signed_angle(
        "--polarization", options.polarization,
        "angle of what its polariser passes, likewise; without it the detector measures I alone");
    beam.number("--efficiency", options.efficiency, {0, 1}, "of the polariser", "1");
    const OptionGroup signal(app, "Signal");
    signal.number("--error", options.error, {1e-13, 0.1},
                  "largest error, of the largest signal of all pointings", "1e-6");
    signal.choice<BeamMethod>("--method", options.method,
                              {{"auto", BeamMethod::automatic},
                               {"harmonic", BeamMethod::harmonic},
                               {"displaced", BeamMethod::displaced}},
                              "a field for each order of the beam, or radial kernels side by side (I alone)",
                              "auto: what costs less");
    signal.text("--theta", options.columns.theta, "NAME", "column of colatitudes", "THETA");
    signal.text("--phi", options.columns.phi, "NAME", "column of longitudes", "PHI");
    signal.text("--psi", options.columns.psi, "NAME",
                "column of the angle from south towards east of the beam's x axis", "PSI");
    signal.text("--hwp", options.columns.hwp, "NAME",
                "column of the angle of a half-wave plate from the beam's x axis", "HWP, if there is one");
    signal.text("--pointings-hdu", options.columns.hdu, "NAME|N", "HDU of POINTINGS",
                "the first with these columns");
    add_masked_analysis_options(app, options.analysis);
    add_precision(app, options.files.precision, "double");
    add_output_options(app, options.files.output);
    add_run_options(app, options.files.run);
}

io::AlmFile read_sky(const ScanOptions& options, Session& session) {
    const auto& in = options.files.in;
    io::AlmFile file;
    if (io::inspect(in).kind == io::FileKind::alm) {
        if (options.analysis.given_for_maps())
            throw UsageError(
                fmt::format("{} holds alm: of the options of maps only --lmax and --mmax apply", in));
        file = read_alm(in, session);
        const auto lmax = options.analysis.choice.lmax_of(in, file.layout);
        const auto mmax = options.analysis.choice.mmax_for(lmax);
        truncate(file, lmax, std::min(mmax, file.layout.mmax()));
    } else {
        auto map = read_one_sky(in, options.analysis, options.files.run, session);
        file = analyze_masked(map, options.analysis, options.files.run, session);
    }
    if (const auto n = file.components.size(); n != 1 && n != 3)
        throw IoError(fmt::format("{}: has {} components; a sky has I or I, Q, U", in, n));
    truncate(file, file.layout.lmax(), file.layout.lmax());  // a convolver takes all orders
    return file;
}

BeamAlm make_beam(const ScanOptions& options, std::int64_t lmax, Session& session) {
    if (options.beam.file.empty() == !options.fwhm)
        throw UsageError("one of --beam-alm FILE and --fwhm ANGLE is required");
    if (!options.beam.file.empty() && options.has_elliptical())
        throw UsageError("--ellipticity, --orientation, --polarization, --efficiency: only with --fwhm");
    if (!options.beam.file.empty()) return read_beam_alm(options.beam, lmax, session);
    // Kernels have all orders: those that a beam leaves out are in their way.
    const double share = options.method == BeamMethod::displaced ? 1e-3 : 1;
    if (options.efficiency >= 0 && !options.polarization)
        throw UsageError("--efficiency: only with --polarization");
    auto beam = elliptical_beam({.lmax = lmax,
                                 .fwhm = options.fwhm->radians,
                                 .ellipticity = options.ellipticity > 0 ? options.ellipticity : 1,
                                 .orientation = options.orientation ? options.orientation->radians : 0,
                                 .polarized = options.polarization.has_value(),
                                 .polarization = options.polarization ? options.polarization->radians : 0,
                                 .efficiency = options.efficiency >= 0 ? options.efficiency : 1,
                                 .error = std::max(share * options.error, 1e-14),
                                 .threads = options.files.run.thread_count()});
    if (options.beam.kmax && *options.beam.kmax > beam.layout.mmax())
        throw UsageError(
            fmt::format("--kmax = {}: must be at most {}, from where on the beam has less than --error",
                        *options.beam.kmax, beam.layout.mmax()));
    return beam;
}

/// Takes away what the other one has no part for.
void agree(io::AlmFile& sky, BeamAlm& beam, const ScanOptions& options, Session& session) {
    const bool polarized_sky = sky.components.size() == 3, polarized_beam = beam.alm.extent(0) == 3;
    if (polarized_sky && !polarized_beam) {
        session.note("the beam has no E and B: the detector measures I alone");
        sky.components.resize(1);
    }
    if (!polarized_sky && polarized_beam) {
        session.note(fmt::format("{}: has no polarisation: E and B of the beam see none", options.files.in));
        keep_temperature(beam);
    }
}

/// Returns the angles as those of one detector.
View<const double, 2> of_detector(const std::vector<double>& angles) {
    return {angles.data(), {1, std::ssize(angles)}};
}

/// Throws OutOfMemory unless the host has room for samples of fields, which may be a GPU's, and the work
/// beside them.
void require_samples(const SphereSamples& samples, SampleRows rows, std::int64_t n_fields, double beside,
                     std::int64_t n_pointings, Session& session) {
    const auto columns = static_cast<double>(samples.n_samples() + 64);  // with copies beyond a turn
    const bool on_host = samples.options().device.kind() == Device::Kind::cpu;
    const double of_fields = 8.0 * static_cast<double>(n_fields * (rows.end - rows.first)) * columns;
    session.require_memory((on_host ? of_fields : 0) + beside,
                           fmt::format("{} pointings in samples of {} fields of lmax = {}", n_pointings,
                                       n_fields, samples.options().lmax));
}

/// Colatitudes of a table.
std::pair<double, double> range_of(const io::PointingTable& table) {
    const auto [first, last] = std::minmax_element(table.theta.begin(), table.theta.end());
    return {*first, *last};
}

/// signal: [pointing].
BeamReport scan_harmonic(const BeamConvolver& convolver, const MapAlm& alm, const io::PointingTable& table,
                         std::vector<double>& signal, Session& session) {
    const bool plate = !table.hwp.empty();
    const auto n = table.size();
    const auto [first, last] = range_of(table);
    const auto rows = convolver.samples().rows_between(first, last);
    // First a component of the sky again and the alm of fields that are transformed at once, then sorted
    // pointings and the signal.
    const double of_alm = 16.0 * static_cast<double>((plate ? 5 : 3) * alm.layout.size()),
                 of_pointings = (plate ? 56.0 : 48.0) * static_cast<double>(n);
    require_samples(convolver.samples(), rows, convolver.n_fields(), std::max(of_alm, of_pointings), n,
                    session);
    BeamReport found;
    const auto planes = convolver.make_planes<double>(alm.alm.view(), rows, &found);
    stop_if_interrupted();
    const Pointings pointings(convolver, of_detector(table.theta), of_detector(table.phi),
                              of_detector(table.psi),
                              plate ? of_detector(table.hwp) : View<const double, 2>());
    convolver.scan<double>(planes, pointings, View<double, 2>(signal.data(), {1, n}));
    return found;
}

/// signal: [pointing].
BeamReport scan_displaced(const DisplacedConvolver& convolver, const MapAlm& alm,
                          const io::PointingTable& table, std::vector<double>& signal, Session& session) {
    const auto n = table.size();
    const auto [first, last] = range_of(table);
    const auto rows = convolver.rows_between(first, last);
    constexpr double of_points = (1 << 21) * 100.0;  // displaced at once: angles, places and values
    require_samples(convolver.samples(), rows, 1,
                    16.0 * static_cast<double>(alm.layout.size()) + of_points + 8.0 * static_cast<double>(n),
                    n, session);
    BeamReport found;
    const auto samples = convolver.make_samples<double>(alm.alm.view()[0], rows, &found);
    stop_if_interrupted();
    const auto row = [](const std::vector<double>& angles) { return of_detector(angles)[0]; };
    convolver.scan<double>(samples, row(table.theta), row(table.phi), row(table.psi),
                           View<double, 1>(signal.data(), {n}));
    return found;
}

std::vector<double> scan(const ScanOptions& options, io::AlmFile sky, const BeamAlm& beam,
                         const io::PointingTable& table, Session& session) {
    const bool plate = !table.hwp.empty();
    const auto n = table.size();
    const auto alm = to_map_alm(std::move(sky));
    const zonal::BeamOptions how{
        .kmax = options.beam.kmax.value_or(-1),
        .half_wave_plate = plate,
        .error = options.error,
        .n_pointings = n,
        .threads = options.files.run.thread_count(),
        .device = options.files.run.any_device ? Device::automatic() : options.files.run.device};
    const BeamChoice choice = choose_beam_method<double>(
        beam.layout,
        View<const std::complex<double>, 3>(beam.alm.data(), {1, beam.alm.extent(0), beam.alm.extent(1)}),
        View<const std::complex<double>, 2>(alm.alm.view()), how, options.method);
    stop_if_interrupted();
    std::vector<double> signal(static_cast<std::size_t>(n));
    const BeamReport found = choice.harmonic
                                 ? scan_harmonic(*choice.harmonic, alm, table, signal, session)
                                 : scan_displaced(choice.displaced[0], alm, table, signal, session);
    session.report["pointings"] = n;
    session.report["lmax"] = alm.layout.lmax();
    session.report["kmax"] = how.kmax < 0 ? beam.layout.mmax() : how.kmax;
    session.report["half_wave_plate"] = plate;
    session.report["device"] = to_string(choice.harmonic ? choice.harmonic->options().device : Device::cpu());
    session.report["method"] = choice.harmonic ? "harmonic" : "displaced";
    if (!choice.harmonic) session.report["kernels"] = found.kernels;
    session.report["error_bound"] = options.error;
    session.report["bound"] = found.bound;
    session.report["mean_error"] = found.mean_error;
    session.report["left_out"] = std::hypot(found.left_out, beam.left_out);
    return signal;
}

void run(ScanOptions& options, Session& session) {
    options.analysis.choice.iteration_count();
    if (options.method == BeamMethod::displaced) {
        if (options.files.run.device.kind() == Device::Kind::cuda)
            throw UsageError("--device cuda: --method displaced runs on the CPU");
        options.files.run.device = Device::cpu();
    }
    options.files.run.resolve(session);
    options.files.name_output(session);
    session.report["pointings_file"] = options.pointings;
    auto table =
        io::read_pointings(session.input(options.pointings), options.columns, session.memory_check());
    session.note(table.notes);
    if (table.size() == 0)
        throw IoError(fmt::format("{}: has no rows: must have a pointing or more", table.source));
    auto sky = read_sky(options, session);
    auto beam = make_beam(options, sky.layout.lmax(), session);
    agree(sky, beam, options, session);
    if (sky.components.size() == 1 && !table.hwp.empty()) {
        session.note(
            fmt::format("{}: a half-wave plate does not change I: its angles are not used", table.source));
        table.hwp.clear();
    }
    stop_if_interrupted();
    io::SignalFile file;
    file.unit = sky.unit;
    file.precision = options.files.precision.value_or(io::Precision::float64);
    file.cards = provenance(session);
    set_cards(file.cards,
              {{"MAX-LPOL", sky.layout.lmax(), "highest degree l"},
               {"MAX-KPOL", options.beam.kmax.value_or(beam.layout.mmax()), "highest order of the beam"},
               {"ERROR", options.error, "bound of the error, of the largest signal"}});
    file.signal = scan(options, std::move(sky), beam, table, session);
    stop_if_interrupted();
    io::write_signal(options.files.out, file, options.files.output.write_options());
}

}  // namespace

void add_scan(CLI::App& root, Session& session, Action& action) {
    add_command<ScanOptions>(
        root, session, action, "scan",
        "Makes what a detector measures of a sky at pointings (theta, phi, psi) through a beam that need not "
        "be round. A pointing turns the beam, which looks at the north pole, by psi about its axis, to "
        "theta, "
        "and to phi.",
        "zonal scan alm.fits scan.fits signal.fits --beam-alm beam.fits\n"
        "  zonal scan sky.fits scan.fits signal.fits --fwhm 30arcmin --ellipticity 1.2 --polarization 45deg",
        declare, run);
}

}  // namespace zonal::cli
