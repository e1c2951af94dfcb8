#include <algorithm>
#include <cmath>

#include "commands/anafast_bands.hpp"
#include "commands/recipe.hpp"
#include "options/decouple_options.hpp"
#include "zonal/io/inspect.hpp"
#include "zonal/io/spectrum.hpp"
#include "zonal/spectrum.hpp"

namespace zonal::cli {
namespace {

struct AnafastOptions {
    std::vector<std::string> inputs;  ///< IN [IN2] OUT
    FileOptions files;
    MaskedAnalysis analysis;
    DecoupleOptions bands;
};

void declare(CLI::App& app, AnafastOptions& options) {
    app.add_option(
           "files", options.inputs,
           "one map (or alm file) for its spectra, or two for their cross spectra; the file of C_l, or with "
           "--decouple of band powers, to write")
        ->required()
        ->expected(1, 3)
        ->type_name("IN [IN2] OUT")
        ->group("Arguments");
    add_masked_analysis_options(app, options.analysis);
    add_decouple_options(app, options.bands);
    add_file_options(app, options.files);
    add_job_options(app, options.files.run, WithExplain::yes);
}

io::AlmFile read_input(const std::string& path, const AnafastOptions& options, Session& session) {
    const auto& analysis = options.analysis;
    if (io::inspect(path).kind != io::FileKind::alm) {
        auto map = read_one_sky(path, analysis, options.files.run, session);
        return analyze_masked(map, analysis, options.files.run, session);
    }
    if (analysis.given_for_maps())
        throw UsageError(fmt::format("{} holds alm: of the options only --lmax and --mmax apply", path));
    options.files.run.require_no_shares(path);
    auto alm = read_alm(path, session);
    const auto lmax = analysis.choice.lmax_of(path, alm.layout);
    truncate(alm, lmax, std::min(analysis.choice.mmax_for(lmax), alm.layout.mmax()));
    alm.cards.clear();
    return alm;
}

/// Two inputs are compared degree by degree: both up to the lower of their lmax and mmax.
void require_same_sky(io::AlmFile& a, io::AlmFile& b, const AnafastOptions& options) {
    require_same_system(options.inputs[0], a.coordinates, options.inputs[1], b.coordinates);
    if (a.components.size() != b.components.size())
        throw UsageError(fmt::format("--field: {} has {} fields, {} has {}: choose as many of both",
                                     options.inputs[0], a.components.size(), options.inputs[1],
                                     b.components.size()));
    const auto lmax = std::min(a.layout.lmax(), b.layout.lmax());
    const auto mmax = std::min({lmax, a.layout.mmax(), b.layout.mmax()});
    truncate(a, lmax, mmax);
    truncate(b, lmax, mmax);
}

/// The ranks' shares of the orders follow from nside, lmax and mmax; those of alm files from lmax and mmax.
void require_same_shares(const io::AlmFile& a, const io::AlmFile& b, const AnafastOptions& options,
                         const Session& session) {
    session.together("two skies", [&] {  // which hands on an InvalidArgument as wrong use
        if (a.layout != b.layout)
            throw InvalidArgument(
                fmt::format("{}, {}: not over several ranks: both must be maps of the same nside, lmax and "
                            "mmax, or alm of "
                            "the same lmax and mmax; --lmax and --mmax choose them",
                            options.inputs[0], options.inputs[1]));
    });
}

/// Adds up what each rank's orders make of the spectra.
void sum_over_ranks(std::vector<Spectrum>& spectra, const Session& session) {
    for (auto& spectrum : spectra) spectrum.values = session.ranks.sum(spectrum.values);
}

/// The first rank of a job writes for all.
void write(const AnafastOptions& options, const io::SpectrumFile& file, const Session& session) {
    const auto write_here = [&] {
        if (session.speaks())
            io::write_spectrum(options.files.out, file, options.files.output.write_options());
    };
    session.together("the spectra", write_here);
}

/// Those of one sky, or of two.
io::SpectrumFile make_spectra(const io::AlmFile& first, const std::optional<io::AlmFile>& second) {
    const auto a = to_map_alm(first);
    const auto& other = second ? *second : first;
    io::SpectrumFile file;
    file.spectra = second ? spectra<double>(a.layout, a.alm.view(), to_map_alm(other).alm.view())
                          : spectra<double>(a.layout, a.alm.view());
    file.precision = std::max(first.precision, other.precision);  // double where one is
    for (auto& spectrum : file.spectra) spectrum.unit = product_unit(first.unit, other.unit);
    return file;
}

/// Throws IoError for spectra that overflowed.
void require_numbers(const std::string& path, const io::SpectrumFile& file) {
    for (const auto& spectrum : file.spectra) {
        const auto is_bad = [](double value) { return !std::isfinite(value); };
        const auto& values = spectrum.values;
        const auto first = std::find_if(values.begin(), values.end(), is_bad);
        if (first != values.end())
            throw IoError(fmt::format(
                "{}: {}: {} values of the result are NaN or infinite, the first is l = {}", path,
                spectrum.name, std::count_if(first, values.end(), is_bad), first - values.begin()));
    }
}

/// Takes the names that the command line has apart. Throws UsageError.
void name_files(AnafastOptions& options) {
    if (options.inputs.size() < 2)
        throw UsageError(
            "OUT is required: zonal anafast IN [IN2] OUT: one or two maps, and the file of C_l to write");
    for (const auto& file : options.inputs)
        if (file.empty()) throw UsageError("IN [IN2] OUT: must not be empty");
    options.files.in = options.inputs.front();
    options.files.out = options.inputs.back();
    options.files.is_one_stream = true;
}

void run(AnafastOptions& options, Session& session) {
    name_files(options);
    check_decouple(options.bands, options.inputs.size() - 1, session);
    options.analysis.choice.iteration_count();
    options.files.begin(session);
    if (options.bands.decouple)
        return find_bands({options.inputs.begin(), options.inputs.end() - 1}, options.analysis, options.bands,
                          options.files, session);
    auto first = read_input(options.files.in, options, session);
    std::optional<io::AlmFile> second;
    if (options.inputs.size() == 3) {
        session.report["input2"] = options.inputs[1];
        second = read_input(options.inputs[1], options, session);
        if (session.has_several_ranks()) require_same_shares(first, *second, options, session);
        require_same_sky(first, *second, options);
    }
    const auto coefficients =
        16.0 * static_cast<double>(first.components.size()) * static_cast<double>(first.layout.size());
    session.require_memory((second ? 2 : 1) * coefficients, "the spectra");
    auto file = make_spectra(first, second);
    sum_over_ranks(file.spectra, session);
    file.precision = options.files.precision.value_or(file.precision);
    file.cards = provenance(session);
    set_cards(file.cards, first.cards);
    set_card(file.cards, {"MAX-LPOL", first.layout.lmax(), "highest degree l"});
    stop_if_interrupted();
    require_numbers(options.files.out, file);
    write(options, file, session);
    session.report["lmax"] = first.layout.lmax();
    session.report["mmax"] = first.layout.mmax();
    for (const auto& spectrum : file.spectra) session.report["spectra"].push_back(spectrum.name);
}

}  // namespace

void add_anafast(CLI::App& root, Session& session, Action& action) {
    add_command<AnafastOptions>(
        root, session, action, "anafast",
        "Finds power spectra C_l of a map, or of two. The part of the sky that a mask leaves is "
        "reported (f_sky) and not divided out. Two maps with I, Q, U give nine spectra. With --decouple it "
        "finds band powers, out of which mask, beam and pixel window are divided.",
        "zonal anafast map.fits cl.fits --lmax 1024 --mask mask.fits --remove-dipole\n"
        "  zonal anafast map.fits bands.fits --decouple --bin-width 30 --lmax 1000 --mask mask.fits --fwhm "
        "10arcmin",
        declare, run, WorkIn::jobs_too);
}

}  // namespace zonal::cli
