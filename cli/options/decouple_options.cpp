#include "options/decouple_options.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "engine/spectrum_file.hpp"
#include "options/options.hpp"
#include "shell/error.hpp"
#include "zonal/io/sky_map.hpp"
#include "zonal/sky/pixel_window.hpp"
#include "zonal/spectra/estimate.hpp"
#include "zonal/spectrum.hpp"

namespace zonal::cli {
namespace {

constexpr auto bands_heading = "Band powers (--decouple)";

/// Options that say how C_l are found, and why bands are found otherwise.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> not_with_decouple{{
    {"--iter",
     "maps are analysed by plain sums over pixels, of which the bands' windows know the mean exactly"},
    {"--tolerance",
     "maps are analysed by plain sums over pixels, of which the bands' windows know the mean exactly"},
    {"--weights",
     "maps are analysed by plain sums over pixels, of which the bands' windows know the mean exactly"},
    {"--mmax", "bands are of all orders m"},
    {"--mask-mode", "pixels that are UNSEEN must be 0 in the mask, which is divided out"},
    {"--precision", "band powers are written in double precision"},
    {"--timeout", "it works in one process"},
}};

void declare_bins(const OptionGroup& group, DecoupleOptions& options) {
    group.flag("--decouple", options.decouple,
               "divide out mask, beam and pixel window, and write band powers in place of C_l");
    group.integer("--bin-width", options.bin_width, {1, max_lmax},
                  "bands of N degrees, from --lmin to --lmax");
    group.list("--bin-edges", options.bin_edges, "N,N,...",
               "bands from each of these degrees to the one below the next");
    group.integer("--log-bins", options.log_bins, {1, max_lmax},
                  "N bands from --lmin to --lmax whose widths grow as their degrees do");
    group.integer("--lmin", options.lmin, {0, max_lmax}, "the first degree of the bands", "2");
    group.flag("--dl", options.dl, "bands of D_l = l(l+1)C_l/2pi in place of C_l");
    group.integer("--lmax-sky", options.lmax_sky, {0, max_lmax},
                  "highest degree of the sky that the bands' windows know of",
                  "a quarter above the last band");
    group.choice<std::optional<bool>>(
        "--low-degrees", options.low_degrees, {{"auto", std::nullopt}, {"yes", true}, {"no", false}},
        "whether l = 0 and 1 of TT, below the bands, are solved for, so that they do not reach the bands",
        "auto");
}

/// Those of IN2.
void declare_second(const OptionGroup& group, ObservationOptions& second) {
    second.beam.suffix = "2";
    group.text("--mask2", second.mask, "FILE", "of IN2, in place of --mask and --mask-polarization");
    group.text("--mask-polarization2", second.mask_polarization, "FILE",
               "of IN2, in place of --mask-polarization");
    group.angle("--fwhm2", second.beam.fwhm, "of IN2, in place of --fwhm and --beam");
    group.text("--beam2", second.beam.beam, "FILE", "of IN2, in place of --fwhm and --beam");
    group.text("--variance2", second.variance, "FILE", "of IN2, in place of --variance and --noise-cl");
    group.text("--noise-cl2", second.noise, "FILE", "of IN2, in place of --variance and --noise-cl");
}

}  // namespace

ObservationOptions DecoupleOptions::of_map(std::size_t number) const {
    auto found = first;
    if (number == 0) return found;
    found.mask = second.mask;
    if (!second.mask.empty() || !second.mask_polarization.empty())
        found.mask_polarization = second.mask_polarization;
    if (second.beam.given()) {
        found.beam = second.beam;
        found.beam.pixel_window = first.beam.pixel_window;
        found.beam.extension = first.beam.extension;
    }
    if (!second.variance.empty() || !second.noise.empty()) {
        found.variance = second.variance;
        found.noise = second.noise;
    }
    return found;
}

void add_decouple_options(CLI::App& app, DecoupleOptions& options) {
    options.app = &app;
    const OptionGroup group(app, bands_heading);
    declare_bins(group, options);
    group.text("--mask-polarization", options.first.mask_polarization, "FILE",
               "mask of Q and U, in place of --mask, which is then that of I alone");
    group.text("--mask-polarization-field", options.mask_polarization_field, "NAME|N",
               "column of that file, by name or by number from 0", "0");
    add_beam_options(app, options.first.beam, bands_heading, "the map's");
    group.flag("--pixel-window", options.pixel_window,
               "the window of HEALPix pixels of the map's nside, computed in place of --pixwin");
    add_extend_option(app, options.first.beam.extension, bands_heading, "windows, --noise-cl and --theory");
    group.text("--variance", options.first.variance, "FILE",
               "map of the variance of each pixel's white noise, which is taken off");
    group.list("--variance-field", options.variance_fields, "NAME|N,...",
               "column of that file, by name or by number from 0, or two: of I, and of Q and U", "0");
    group.text("--noise-cl", options.first.noise, "FILE",
               "in place of --variance: spectra of the noise of an unmasked map, which are taken off");
    declare_second(group, options.second);
    group.text("--theory", options.theory, "FILE",
               "spectra of the sky, for error bars, the covariance and chi^2 of the bands");
    group.flag("--theory-dl", options.theory_dl, "the file of --theory holds D_l = l(l+1)C_l/2pi")
        ->needs("--theory");
    group.choice("--cl-order", options.order, cl_orders,
                 "what columns C-T and C-G of --theory mean: TB and EB (f90) or EB and TB (healpy)", "auto");
    group.integer("--exact-lmax", options.exact_lmax, {-1, max_lmax},
                  "last degree up to which error bars are exact; -1: nowhere", "32");
}

namespace {

bool is_given(const CLI::Option* option) {
    return option->count() > 0;
}

/// Throws UsageError for options of one observation that contradict each other. suffix: of their names.
void check_noise(const ObservationOptions& observation, const std::string& suffix) {
    if (!observation.variance.empty() && !observation.noise.empty())
        throw UsageError(
            fmt::format("--variance{0}, --noise-cl{0}: both say what noise adds: give one", suffix));
}

/// Throws UsageError for options that have no effect without others.
void check_needs(const DecoupleOptions& options, std::size_t n_maps) {
    const auto &first = options.first, &second = options.second;
    for (const char* name :
         {"--mask2", "--mask-polarization2", "--fwhm2", "--beam2", "--variance2", "--noise-cl2"})
        if (n_maps < 2 && is_given(options.app->get_option(name)))
            throw UsageError(fmt::format("{}: needs a second map, IN2", name));
    if (first.mask_polarization.empty() && second.mask_polarization.empty() &&
        is_given(options.app->get_option("--mask-polarization-field")))
        throw UsageError("--mask-polarization-field: needs --mask-polarization");
    if (first.variance.empty() && second.variance.empty() && !options.variance_fields.empty())
        throw UsageError("--variance-field: needs --variance");
    if (options.theory.empty() && (options.exact_lmax || options.order != io::ClOrder::automatic))
        throw UsageError("--exact-lmax, --cl-order: need --theory, without which there are no error bars");
    const bool has_files = !first.beam.beam.empty() || !first.beam.pixel_window.empty() ||
                           !first.noise.empty() || !second.beam.beam.empty() || !second.noise.empty() ||
                           !options.theory.empty();
    if (first.beam.extension != Extension::none && !has_files)
        throw UsageError("--extend: only with --beam, --pixwin, --noise-cl or --theory");
}

}  // namespace

void check_decouple(const DecoupleOptions& options, std::size_t n_maps, const Session& session) {
    if (!options.decouple) {
        for (const auto* option : options.app->get_options())
            if (option->get_group() == bands_heading && is_given(option))
                throw UsageError(fmt::format("{}: only with --decouple", option->get_name()));
        return;
    }
    require_one_process(session, true, "--decouple", "no rank would hold the matrices of the mask");
    for (const auto& [name, why] : not_with_decouple)
        if (const auto* option = options.app->get_option_no_throw(std::string(name));
            option != nullptr && is_given(option))
            throw UsageError(fmt::format("{}: not with --decouple: {}", name, why));
    check_noise(options.first, "");
    check_noise(options.second, "2");
    if (options.pixel_window && !options.first.beam.pixel_window.empty())
        throw UsageError("--pixel-window, --pixwin: exclude each other");
    check_needs(options, n_maps);
}

Bins bins_of(const DecoupleOptions& options, const std::optional<std::int64_t>& lmax) {
    const auto of = options.dl ? BandsOf::d_l : BandsOf::c_l;
    const int n_given =
        (options.bin_width ? 1 : 0) + (options.bin_edges.empty() ? 0 : 1) + (options.log_bins ? 1 : 0);
    if (n_given != 1)
        throw UsageError("--decouple: needs the bands: one of --bin-width, --log-bins and --bin-edges");
    if (!options.bin_edges.empty()) {
        if (options.lmin || lmax)
            throw UsageError("--lmin, --lmax: not with --bin-edges, which has the first and the last degree");
        std::vector<std::int64_t> edges;
        edges.reserve(options.bin_edges.size());
        for (const auto& text : options.bin_edges)
            edges.push_back(parse_integer("--bin-edges", text, 0, max_lmax));
        return with_error<UsageError>([&] { return Bins::edges(edges, of); }, "--bin-edges: ");
    }
    if (!lmax) throw UsageError("--lmax: is needed with --decouple: the last degree of the bands");
    const auto lmin = options.lmin.value_or(2);
    if (options.bin_width)
        return with_error<UsageError>([&] { return Bins::linear(*options.bin_width, lmin, *lmax, of); },
                                      "--bin-width, --lmin, --lmax: ");
    return with_error<UsageError>([&] { return Bins::logarithmic(*options.log_bins, lmin, *lmax, of); },
                                  "--log-bins, --lmin, --lmax: ");
}

std::int64_t lmax_sky_for(const DecoupleOptions& options, const Bins& bins) {
    try {
        return lmax_sky_of(bins, options.lmax_sky);
    } catch (const InvalidArgument& error) {
        auto facts = error.facts();
        facts.argument = "--lmax-sky";
        throw UsageError(facts.message());
    }
}

std::optional<Beam> transfer_of(const DecoupleOptions& options, const ObservationOptions& map,
                                std::int64_t nside, std::int64_t lmax_sky, int threads, Session& session) {
    auto transfer = beam_to(map.beam, nside, lmax_sky, session);
    if (options.pixel_window) {
        if (nside == 0) throw UsageError("--pixel-window: CAR images have no HEALPix pixel window");
        const auto pixels =
            with_error<UsageError>([&] { return healpix_pixel_window(nside, lmax_sky, threads); },
                                   "--pixel-window: ", "; --lmax-sky says up to where windows are");
        transfer = transfer ? multiply(*transfer, pixels) : pixels;
    }
    if (transfer && !std::equal(transfer->gradient.begin(), transfer->gradient.end(), transfer->curl.begin()))
        throw UsageError("--beam" + map.beam.suffix +
                         ": the windows of E and of B differ: must be the same with --decouple");
    return transfer;
}

namespace {

/// The letters of the parts of a map, T, P, or both.
std::string parts_of(const SkyMap& map) {
    return !map.polarized() ? "T" : map.intensity_row() >= 0 ? "TP" : "P";
}

io::SpectrumFile read_spectra(const std::string& path, const io::ReadSpectrumOptions& how, Session& session) {
    auto file = io::read_spectrum(session.input(path), how);
    session.note(file.notes);
    return file;
}

std::vector<double> required_spectrum(const io::SpectrumFile& file, const std::string& name,
                                      const std::string& option, Extension extension, std::int64_t lmax) {
    const auto* found = file.find(name);
    if (found == nullptr) throw UsageError(fmt::format("{}: has no spectrum {}", option, name));
    return fit_to_lmax(found->values, lmax, extension, fmt::format("{}: {}", option, name));
}

}  // namespace

Array<double, 2> variance_of(const DecoupleOptions& options, const std::string& path, const SkyMap& map,
                             Session& session) {
    if (path.empty()) return {};
    const auto n_parts = std::ssize(parts_of(map));
    const auto fields =
        options.variance_fields.empty() ? std::vector<std::string>{"0"} : options.variance_fields;
    if (std::ssize(fields) > n_parts)
        throw UsageError(fmt::format("--variance-field: names {} columns: must name {}", fields.size(),
                                     n_parts == 2 ? "one, or two: of I, and of Q and U" : "one"));
    const auto file = io::read_sky_map(
        session.input(path), {.fields = fields, .polarized = false, .check_memory = session.memory_check()});
    session.note(file.header().notes);
    if (!same_pixels(file.header().pixelization, map.header().pixelization))
        throw IoError(fmt::format("{}: {}: the map has {}", path, to_string(file.header().pixelization),
                                  to_string(map.header().pixelization)));
    if (const auto its = file.header().coordinates, maps = map.header().coordinates;
        are_known_to_differ(its, maps))
        throw IoError(
            fmt::format("{}: coordinates are {}, the map's are {}", path, to_string(its), to_string(maps)));
    for (std::int64_t row = 0; row < file.rows().extent(0); ++row)
        if (const auto& unit = file.column(row).unit, &of_map = map.column(0).unit;
            !may_be_variance_of(unit, of_map))
            throw IoError(fmt::format("{}: is in {}, and the map in {}: must be in {}", path, unit, of_map,
                                      squared_unit(of_map)));
    Array<double, 2> variance({n_parts, map.rows().extent(1)});
    for (std::int64_t part = 0; part < n_parts; ++part)
        std::copy_n(file.rows()[std::min(part, std::ssize(fields) - 1)].data(), variance.extent(1),
                    &variance(part, 0));
    return variance;
}

std::vector<std::vector<std::vector<double>>> noise_of(const DecoupleOptions& options,
                                                       const std::string& path, const SkyMap& map,
                                                       std::int64_t lmax_sky, Session& session) {
    const auto letters = parts_of(map);
    std::vector<std::vector<std::vector<double>>> noise(letters.size());
    if (path.empty()) return noise;
    const auto file = read_spectra(path, {}, session);
    const auto* option = path != options.first.noise ? "--noise-cl2" : "--noise-cl";
    for (std::size_t part = 0; part < letters.size(); ++part)
        for (const std::string& name :
             letters[part] == 'T' ? std::vector<std::string>{"TT"} : std::vector<std::string>{"EE", "BB"})
            noise[part].push_back(required_spectrum(file, name, fmt::format("{} {}", option, path),
                                                    options.first.beam.extension, lmax_sky));
    return noise;
}

Array<double, 3> theory_of(const DecoupleOptions& options, const SkyMap& map, const std::string& unit,
                           std::int64_t lmax_sky, Session& session) {
    constexpr std::string_view letters = "TEB";
    const auto file =
        read_spectra(options.theory, {.order = options.order, .dl = options.theory_dl}, session);
    const auto option = fmt::format("--theory {}", options.theory);
    std::vector<std::string> needed;
    if (parts_of(map) != "P") needed.emplace_back("TT");
    if (map.polarized()) needed.emplace_back("EE");
    Array<double, 3> theory({3, 3, lmax_sky + 1});
    for (std::size_t x = 0; x < letters.size(); ++x)
        for (std::size_t y = x; y < letters.size(); ++y) {
            const std::string name{letters[x], letters[y]};
            const bool is_needed = std::find(needed.begin(), needed.end(), name) != needed.end();
            if (!is_needed && file.find(name) == nullptr) continue;
            const auto values = required_spectrum(file, name, option, options.first.beam.extension, lmax_sky);
            const auto i = static_cast<std::int64_t>(x), j = static_cast<std::int64_t>(y);
            std::copy(values.begin(), values.end(), &theory(i, j, 0));
            std::copy(values.begin(), values.end(), &theory(j, i, 0));
        }
    const std::string other = file.spectra[0].unit;
    if (!unit.empty() && !other.empty() && unit != other)
        session.note(fmt::format("{}: its unit is {}, that of the maps' spectra {}: taken as the same",
                                 option, other, unit));
    return theory;
}

}  // namespace zonal::cli
