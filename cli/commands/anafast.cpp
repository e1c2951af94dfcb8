#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "commands/subcommands.hpp"
#include "engine/alm_file.hpp"
#include "engine/masked_analysis.hpp"
#include "options/options.hpp"
#include "shell/error.hpp"
#include "shell/interrupt.hpp"
#include "zonal/io/inspect.hpp"
#include "zonal/io/spectrum.hpp"
#include "zonal/spectrum.hpp"

namespace zonal::cli {
namespace {

struct AnafastOptions {
    std::vector<std::string> files;  ///< IN [IN2] OUT
    MaskedAnalysis analysis;
    std::optional<io::Precision> precision;
    RunOptions run;
    OutputOptions output;

    const std::string& out() const { return files.back(); }
};

void declare_options(CLI::App& app, AnafastOptions& options) {
    app.add_option(
           "files", options.files,
           "one map (or alm file) for its spectra, or two for their cross spectra; the file of C_l to write")
        ->required()
        ->expected(1, 3)
        ->type_name("IN [IN2] OUT")
        ->group("Arguments");
    add_masked_analysis_options(app, options.analysis);
    add_precision(app, options.precision, "as the input");
    add_output_options(app, options.output);
    add_run_options(app, options.run);
}

/// alm of one input, and what the output's header needs of it.
struct Input {
    io::AlmFile alm;
    std::vector<io::HeaderCard> cards;
};

Input read_alm_input(const std::string& path, const AnafastOptions& options, Session& session) {
    const auto& analysis = options.analysis;
    auto choice = analysis.choice;
    choice.lmax.reset();
    choice.mmax.reset();
    if (analysis.input.given() || choice.given() || !analysis.mask.file.empty() ||
        analysis.mask.mode != MaskMode::zero || analysis.remove_monopole || analysis.remove_dipole)
        throw UsageError(fmt::format("{} holds alm: of the options only --lmax and --mmax apply", path));
    Input input{read_alm(path, session), {}};
    const auto layout = input.alm.layout;
    const auto lmax = analysis.choice.lmax.value_or(layout.lmax());
    if (lmax > layout.lmax())
        throw UsageError(fmt::format("--lmax = {}: {} ends at {}", lmax, path, layout.lmax()));
    truncate(input.alm, lmax, std::min(analysis.choice.mmax_for(lmax), layout.mmax()));
    return input;
}

Input read_input(const std::string& path, const AnafastOptions& options, Session& session) {
    if (io::inspect(path).kind == io::FileKind::alm) return read_alm_input(path, options, session);
    const auto map = read_sky_map(path, options.analysis.input, session);
    require_one_sky(map);
    const auto alm = analyze_masked(options.analysis, map, options.run, session);
    return {to_alm_file(map, alm, session), parameter_cards(options.analysis, map, session)};
}

/// Two inputs are compared degree by degree: both up to the lower of their lmax and mmax.
void require_same_sky(Input& first, Input& second, const AnafastOptions& options) {
    const auto unknown = io::CoordinateSystem::unknown;
    auto &a = first.alm, &b = second.alm;
    if (a.coordinates != unknown && b.coordinates != unknown && a.coordinates != b.coordinates)
        throw IoError(fmt::format("{} is in {} coordinates, {} in {}; zonal rotate turns maps",
                                  options.files[0], to_string(a.coordinates), options.files[1],
                                  to_string(b.coordinates)));
    if (a.components.size() != b.components.size())
        throw UsageError(fmt::format("--field: {} has {} fields, {} has {}: choose as many of both",
                                     options.files[0], a.components.size(), options.files[1],
                                     b.components.size()));
    const auto lmax = std::min(a.layout.lmax(), b.layout.lmax());
    const auto mmax = std::min({lmax, a.layout.mmax(), b.layout.mmax()});
    truncate(a, lmax, mmax);
    truncate(b, lmax, mmax);
}

io::SpectrumFile make_spectra(const Input& first, const Input* second) {
    const auto alm = to_array(first.alm);
    const auto& layout = first.alm.layout;
    io::SpectrumFile file;
    if (second != nullptr) {
        const auto other = to_array(second->alm);
        file.spectra = spectra<double>(layout, alm.view(), other.view());
    } else {
        file.spectra = spectra<double>(layout, alm.view());
    }
    file.precision = first.alm.precision;
    if (second != nullptr && second->alm.precision == io::Precision::float64)
        file.precision = io::Precision::float64;
    const auto unit = product_unit(first.alm.unit, (second != nullptr ? *second : first).alm.unit);
    for (auto& spectrum : file.spectra) spectrum.unit = unit;
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

void run(AnafastOptions& options, Session& session) {
    if (options.files.size() < 2)
        throw UsageError(
            "OUT is required: zonal anafast IN [IN2] OUT: one or two maps, and the file of C_l to write");
    for (const auto& file : options.files)
        if (file.empty()) throw UsageError("IN [IN2] OUT: must not be empty");
    options.analysis.choice.iteration_count();
    options.output.require_writable(options.out());
    const bool two = options.files.size() == 3;
    session.report["input"] = options.files[0];
    if (two) session.report["input2"] = options.files[1];
    session.report["output"] = options.out();
    options.run.resolve(session);
    auto first = read_input(options.files[0], options, session);
    std::optional<Input> second;
    if (two) {
        second = read_input(options.files[1], options, session);
        require_same_sky(first, *second, options);
    }
    auto file = make_spectra(first, second ? &*second : nullptr);
    file.precision = options.precision.value_or(file.precision);
    set_cards(file.cards, provenance(session));
    set_cards(file.cards, first.cards);
    set_card(file.cards, {"MAX-LPOL", first.alm.layout.lmax(), "highest degree l"});
    stop_if_interrupted();
    require_numbers(options.out(), file);
    io::write_spectrum(options.out(), file, options.output.write_options());
    session.report["lmax"] = first.alm.layout.lmax();
    session.report["mmax"] = first.alm.layout.mmax();
    for (const auto& spectrum : file.spectra) session.report["spectra"].push_back(spectrum.name);
}

}  // namespace

void add_anafast(CLI::App& root, Session& session, Action& action) {
    auto& app = add_subcommand(
        root, session, "anafast",
        "Finds power spectra C_l of a map, or of two. The part of the sky that a mask leaves is "
        "reported (f_sky) and never divided out. Two maps with I, Q, U give nine spectra.",
        "zonal anafast map.fits cl.fits --lmax 1024 --mask mask.fits --remove-dipole");
    const auto options = std::make_shared<AnafastOptions>();
    declare_options(app, *options);
    app.callback([options, &action] { action = [options](Session& session) { run(*options, session); }; });
}

}  // namespace zonal::cli
