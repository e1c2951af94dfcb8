#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "commands/subcommands.hpp"
#include "engine/masked_analysis.hpp"
#include "options/options.hpp"
#include "shell/error.hpp"
#include "shell/interrupt.hpp"
#include "zonal/spectrum.hpp"
#include "zonal/wavelets.hpp"

namespace zonal::cli {
namespace {

enum class WaveletKind { needlet, scale_discretised, mexican_hat };

const std::vector<std::pair<std::string, WaveletKind>>& kinds() {
    static const std::vector<std::pair<std::string, WaveletKind>> names{
        {"needlet", WaveletKind::needlet},
        {"scale-discretised", WaveletKind::scale_discretised},
        {"mexican-hat", WaveletKind::mexican_hat}};
    return names;
}

struct WaveletOptions {
    std::string in, out;
    std::optional<WaveletKind> kind;
    double base = 0;  ///< 0: the default
    std::optional<std::int64_t> j_min;
    std::vector<std::string> radii;
    bool inverse = false;
    MapInput input;
    AnalysisChoice analysis;
    std::optional<io::Precision> precision;
    RunOptions run;
    OutputOptions output;
};

void declare_options(CLI::App& app, WaveletOptions& options) {
    add_argument(app, "IN", options.in, "map of one field; with --inverse the file that the transform wrote");
    add_argument(app, "OUT", options.out, "one column for each scale; with --inverse the map");
    const auto group = "Wavelets";
    add_choice<WaveletKind>(app, "--kind", options.kind, kinds(),
                            "standard needlets, scale-discretised wavelets, or Mexican hats")
        ->default_str("needlet")
        ->group(group);
    add_number(app, "--base", options.base, {1.01, 64},
               "needlets: each lives between base^(j-1) and base^(j+1); scale-discretised: the dilation")
        ->default_str("2")
        ->group(group);
    add_integer(app, "--j-min", options.j_min, {0, 1000},
                "scale-discretised: the first scale; the scaling function holds what lies below")
        ->default_str("0")
        ->group(group);
    add_list(app, "--radius", options.radii, "ANGLE,...", "mexican-hat: radii R, one for each column")
        ->group(group);
    app.add_flag("--inverse", options.inverse,
                 "from the scales back to the map; kind and scales come from the header of IN")
        ->group(group);
    add_map_input(app, options.input);
    add_analysis_options(app, options.analysis, WithMmax::no);
    add_precision(app, options.precision, "as the input");
    add_output_options(app, options.output);
    add_run_options(app, options.run);
}

/// A transform: its windows, and what its files say about it.
struct Scales {
    WaveletKind kind = WaveletKind::needlet;
    double base = 2;
    std::int64_t j_min = 0;
    std::int64_t lmax = 0;
    std::vector<Angle> radii;  ///< of Mexican hats

    std::vector<std::vector<double>> windows{};
    std::vector<std::string> names{};
};

std::string name_of(WaveletKind kind) {
    return kinds()[static_cast<std::size_t>(kind)].first;
}

void make_windows(Scales& scales) {
    if (scales.kind == WaveletKind::mexican_hat) {
        for (const auto& radius : scales.radii) {
            scales.windows.push_back(mexican_hat(radius.radians).window(scales.lmax));
            scales.names.push_back(fmt::format("HAT_{}", scales.names.size()));
        }
        return;
    }
    auto found = scales.kind == WaveletKind::needlet
                     ? needlet_windows(scales.base, scales.lmax)
                     : scale_discretised_windows(scales.base, static_cast<int>(scales.j_min), scales.lmax);
    scales.windows.push_back(std::move(found.scaling));
    scales.names.emplace_back("SCALING");
    for (auto& window : found.wavelets) {
        scales.names.push_back(
            fmt::format("WAVELET_{}", scales.j_min + static_cast<std::int64_t>(scales.windows.size()) - 1));
        scales.windows.push_back(std::move(window));
    }
}

void check(const WaveletOptions& options) {
    options.analysis.iteration_count();
    const bool hat = options.kind == WaveletKind::mexican_hat;
    if (options.inverse) {
        if (options.kind || options.base > 0 || options.j_min || !options.radii.empty() ||
            options.analysis.lmax)
            throw UsageError(
                "--inverse: --kind, --base, --j-min, --radius and --lmax come from the header of IN");
        return;
    }
    if (hat && options.radii.empty()) throw UsageError("--kind mexican-hat: needs --radius ANGLE,...");
    if (!hat && !options.radii.empty()) throw UsageError("--radius: only with --kind mexican-hat");
    if (hat && options.base > 0) throw UsageError("--base: Mexican hats have --radius");
    if (options.j_min && options.kind != WaveletKind::scale_discretised)
        throw UsageError("--j-min: only with --kind scale-discretised");
}

void require_scalars(const SkyMap& map) {
    if (map.groups()[0].fields != Fields::scalars)
        throw UsageError(fmt::format(
            "{}: has Q and U; --field I chooses one field, --no-pol takes all as such", map.header().source));
}

/// UNSEEN pixels have no place in a sum over harmonics.
void require_full_sky(const SkyMap& map) {
    for (std::int64_t row = 0; row < map.rows().extent(0); ++row) {
        const auto bad = count_bad_pixels(View<const double, 1>(map.rows()[row]));
        if (bad.unseen > 0)
            throw IoError(
                fmt::format("{}: column {}: {} pixels are UNSEEN, the first is ring pixel {}: a "
                            "wavelet transform needs the full sky",
                            map.header().source, map.row_name(row), bad.unseen, bad.first_unseen));
    }
}

void write(const WaveletOptions& options, const Scales& scales, SkyMap& out, Session& session) {
    auto& cards = out.header().cards;
    set_cards(cards, provenance(session));
    set_cards(cards, {{"WAVELET", name_of(scales.kind), "kind of wavelets"},
                      {"MAX-LPOL", scales.lmax, "highest degree l"}});
    if (scales.kind != WaveletKind::mexican_hat) set_card(cards, {"WAVEBASE", scales.base, "of the scales"});
    if (scales.kind == WaveletKind::scale_discretised)
        set_card(cards, {"WAVEJMIN", scales.j_min, "first scale"});
    for (std::size_t i = 0; i < scales.radii.size(); ++i)
        set_card(cards, {fmt::format("RADIUS{}", i), scales.radii[i].radians, "[rad] of the Mexican hat"});
    stop_if_interrupted();
    io::write_sky_map(options.out, out, options.output.write_options());
    session.report["map"] = describe(out.header());
}

void report_scales(const Scales& scales, Session& session) {
    session.report["wavelets"] = name_of(scales.kind);
    if (scales.kind != WaveletKind::mexican_hat) session.report["base"] = scales.base;
    if (scales.kind == WaveletKind::scale_discretised) session.report["j_min"] = scales.j_min;
    session.report["scales"] = scales.names;
}

MapFile with_columns(const SkyMap& map, const std::vector<std::string>& names,
                     const WaveletOptions& options) {
    auto header = map.header();
    const auto first = header.columns.front();
    header.columns.clear();
    header.pixels.clear();
    for (const auto& name : names)
        header.columns.push_back(
            {name, first.unit, options.precision.value_or(first.precision), Stokes::none});
    return header;
}

void transform(const WaveletOptions& options, Session& session) {
    auto map = read_sky_map(options.in, options.input, session);
    require_scalars(map);
    if (map.rows().extent(0) != 1)
        throw UsageError(
            fmt::format("{}: has {} fields; --field chooses one", map.header().source, map.rows().extent(0)));
    require_full_sky(map);
    Scales scales;
    scales.kind = options.kind.value_or(WaveletKind::needlet);
    if (options.base > 0) scales.base = options.base;
    scales.j_min = options.j_min.value_or(0);
    scales.lmax = options.analysis.lmax_for(map);
    for (const auto& radius : options.radii) {
        scales.radii.push_back(parse_angle("--radius", radius));
        if (scales.radii.back().radians > 1)
            throw UsageError(fmt::format("--radius = {}: must be at most 1rad (57.2deg)", radius));
    }
    make_windows(scales);
    report_scales(scales, session);
    const auto alm = analyze_map(map, options.analysis, options.run, session);
    stop_if_interrupted();
    const auto n_scales = static_cast<std::int64_t>(scales.windows.size());
    MapAlm parts{alm.layout, Array<std::complex<double>, 2>({n_scales, alm.layout.size()})};
    wavelet_transform(alm.layout, scales.windows, std::as_const(alm.alm).view()[0], parts.alm.view());
    SkyMap out(with_columns(map, scales.names, options));
    synthesize_map(parts, options.run, session, out);
    write(options, scales, out, session);
}

/// A card of IN.
template <class T>
T required_card(const SkyMap& map, const std::string& key) {
    for (const auto& card : map.header().cards)
        if (card.key == key)
            if (const auto* value = std::get_if<T>(&card.value)) return *value;
    throw IoError(
        fmt::format("{}: is not a file of zonal wavelet: it has no card {}", map.header().source, key));
}

Scales read_scales(const SkyMap& map) {
    Scales scales;
    const auto name = required_card<std::string>(map, "WAVELET");
    const auto known =
        std::find_if(kinds().begin(), kinds().end(), [&](const auto& kind) { return kind.first == name; });
    if (known == kinds().end())
        throw IoError(fmt::format("{}: WAVELET = '{}': is no kind of wavelets", map.header().source, name));
    scales.kind = known->second;
    if (scales.kind == WaveletKind::mexican_hat)
        throw UsageError("--inverse: Mexican hats do not keep all of a map, so they have no inverse");
    scales.lmax = required_card<std::int64_t>(map, "MAX-LPOL");
    scales.base = required_card<double>(map, "WAVEBASE");
    if (scales.kind == WaveletKind::scale_discretised)
        scales.j_min = required_card<std::int64_t>(map, "WAVEJMIN");
    try {
        make_windows(scales);
    } catch (const InvalidArgument& error) {
        throw IoError(fmt::format("{}: {}", map.header().source, error.what()));
    }
    const auto columns = map.rows().extent(0);
    if (static_cast<std::int64_t>(scales.names.size()) != columns)
        throw IoError(fmt::format("{}: {} columns: {} scales are needed", map.header().source, columns,
                                  scales.names.size()));
    for (std::int64_t row = 0; row < columns; ++row)
        if (map.row_name(row) != scales.names[static_cast<std::size_t>(row)])
            throw IoError(fmt::format("{}: column {}: must be {}", map.header().source, map.row_name(row),
                                      scales.names[static_cast<std::size_t>(row)]));
    return scales;
}

void invert(const WaveletOptions& options, Session& session) {
    auto map = read_sky_map(options.in, options.input, session);
    require_scalars(map);
    require_full_sky(map);
    const auto scales = read_scales(map);
    report_scales(scales, session);
    auto choice = options.analysis;
    choice.lmax = scales.lmax;
    const auto parts = analyze_map(map, choice, options.run, session);
    stop_if_interrupted();
    // The squares of the windows sum to 1: each part once more through its own.
    MapAlm alm{parts.layout, Array<std::complex<double>, 2>({1, parts.layout.size()})};
    inverse_wavelet_transform(parts.layout, scales.windows, std::as_const(parts.alm).view(),
                              alm.alm.view()[0]);
    SkyMap out(with_columns(map, {"SIGNAL"}, options));
    synthesize_map(alm, options.run, session, out);
    auto& cards = out.header().cards;
    std::erase_if(cards, [](const io::HeaderCard& card) { return card.key.starts_with("WAVE"); });
    set_cards(cards, provenance(session));
    stop_if_interrupted();
    io::write_sky_map(options.out, out, options.output.write_options());
    session.report["map"] = describe(out.header());
}

void run(WaveletOptions& options, Session& session) {
    check(options);
    options.output.require_writable(options.out);
    session.report["input"] = options.in;
    session.report["output"] = options.out;
    options.run.resolve(session);
    if (options.inverse)
        invert(options, session);
    else
        transform(options, session);
}

}  // namespace

void add_wavelet(CLI::App& root, Session& session, Action& action) {
    auto& app = add_subcommand(root, session, "wavelet",
                               "Takes a map apart into scales with wavelets, and puts it together again.",
                               "zonal wavelet map.fits scales.fits --kind needlet --base 2 --lmax 512\n"
                               "  zonal wavelet scales.fits map.fits --inverse");
    const auto options = std::make_shared<WaveletOptions>();
    declare_options(app, *options);
    app.callback([options, &action] { action = [options](Session& session) { run(*options, session); }; });
}

}  // namespace zonal::cli
