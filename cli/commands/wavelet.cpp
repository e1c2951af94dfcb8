#include "commands/recipe.hpp"
#include "zonal/wavelet_maps.hpp"

namespace zonal::cli {
namespace {

struct WaveletOptions {
    FileOptions files;
    std::optional<WaveletKind> kind;
    double base = 0;  ///< 0: the default
    std::optional<std::int64_t> j_min;
    std::vector<std::string> radii;
    bool inverse = false;
    MapInput input;
    AnalysisChoice analysis;
};

void declare(CLI::App& app, WaveletOptions& options) {
    add_files(app, options.files, "map of one field; with --inverse the file that the transform wrote",
              "one column for each scale; with --inverse the map");
    const OptionGroup group(app, "Wavelets");
    group.choice("--kind", options.kind, wavelet_kinds(),
                 "standard needlets, scale-discretised wavelets, or Mexican hats", "needlet");
    group.number("--base", options.base, {1.01, 64},
                 "needlets: each lives between base^(j-1) and base^(j+1); scale-discretised: the dilation",
                 "2");
    group.integer("--j-min", options.j_min, {0, 1000},
                  "scale-discretised: the first scale; the scaling function holds what lies below", "0");
    group.list("--radius", options.radii, "ANGLE,...", "mexican-hat: radii R, one for each column");
    group.flag("--inverse", options.inverse,
               "from the scales back to the map; kind and scales come from the header of IN");
    add_map_input(app, options.input);
    add_analysis_options(app, options.analysis, WithMmax::no);
    add_file_options(app, options.files);
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

/// Throws UsageError where --field or --no-pol help.
void require_fields(const WaveletOptions& options, const SkyMap& map) {
    const auto& source = map.header().source;
    if (map.polarized())
        throw UsageError(
            fmt::format("{}: has Q and U; --field I chooses one field, --no-pol takes all as such", source));
    if (!options.inverse && map.rows().extent(0) != 1)
        throw UsageError(fmt::format("{}: has {} fields; --field chooses one", source, map.rows().extent(0)));
}

WaveletScales scales_of(const WaveletOptions& options, const SkyMap& map) {
    WaveletScales scales{options.kind.value_or(WaveletKind::needlet), 2, options.j_min.value_or(0),
                         options.analysis.lmax_for(map)};
    if (options.base > 0) scales.base = options.base;
    for (const auto& radius : options.radii) {
        scales.radii.push_back(parse_angle("--radius", radius).radians);
        if (scales.radii.back() > 1)
            throw UsageError(fmt::format("--radius = {}: must be at most 1rad (57.2deg)", radius));
    }
    return scales;
}

void report_scales(const WaveletScales& scales, Session& session) {
    session.report["wavelets"] = to_string(scales.kind);
    if (scales.kind != WaveletKind::mexican_hat) session.report["base"] = scales.base;
    if (scales.kind == WaveletKind::scale_discretised) session.report["j_min"] = scales.j_min;
    session.report["scales"] = scales.names(scales.windows().size());
}

void run(WaveletOptions& options, Session& session) {
    check(options);
    options.files.begin(session);
    const auto map = read_sky_map(options.files.in, options.input, session);
    require_fields(options, map);
    const auto scales = options.inverse
                            ? with_error<IoError>([&] { return WaveletScales::from_map(map); }, "")
                            : scales_of(options, map);
    if (options.inverse && scales.kind == WaveletKind::mexican_hat)
        throw UsageError("--inverse: Mexican hats do not keep all of a map, so they have no inverse");
    report_scales(scales, session);
    auto choice = options.analysis;
    choice.lmax = scales.lmax;
    const MapAnalysis how(choice, map, options.files.run, "wavelet", session);
    const auto n_out = options.inverse ? 1 : std::ssize(scales.windows());
    session.require_memory(bytes_of_wavelets(map, scales, n_out, how),
                           fmt::format("wavelets up to lmax = {}", scales.lmax));
    const auto transform = [&] {
        return options.inverse ? inverse_wavelet_transform(map, scales, how)
                               : wavelet_transform(map, scales, how);
    };
    auto result = with_error<IoError>(transform, "");  // of the pixels
    report_analysis(result.report.analysis, AlmLayout(scales.lmax), choice, session);
    write_map(options.files, result.map, options.inverse ? std::vector<HeaderCard>{} : scales.cards(),
              session);
}

}  // namespace

void add_wavelet(CLI::App& root, Session& session, Action& action) {
    add_command<WaveletOptions>(root, session, action, "wavelet",
                                "Takes a map apart into scales with wavelets, and puts it together again.",
                                "zonal wavelet map.fits scales.fits --kind needlet --base 2 --lmax 512\n"
                                "  zonal wavelet scales.fits map.fits --inverse",
                                declare, run);
}

}  // namespace zonal::cli
