#include "zonal/wavelet_maps.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "sht/progress_part.hpp"
#include "sht/transform.hpp"
#include "sky/sky_part.hpp"
#include "zonal/error.hpp"
#include "zonal/mask.hpp"

namespace zonal {
namespace {

/// UNSEEN pixels have no place in a sum over harmonics.
void require_full_scalars(const SkyMap& map) {
    const auto& source = map.header().source;
    if (map.polarized())
        throw InvalidArgument(fmt::format("{}: has Q and U: wavelets take fields of spin 0", source));
    for (std::int64_t row = 0; row < map.rows().extent(0); ++row) {
        const auto bad = count_bad_pixels(map.rows()[row]);
        if (bad.unseen > 0)
            throw InvalidArgument(
                fmt::format("{}: column {}: {} pixels are UNSEEN, the first is ring pixel {}: a wavelet "
                            "transform needs the full sky",
                            source, map.row_name(row), bad.unseen, bad.first_unseen));
    }
}

/// An empty map with these columns, each like the first of `map`.
SkyMap with_columns(const SkyMap& map, const std::vector<std::string>& names) {
    auto header = map.header();
    const auto first = header.columns.front();
    header.columns.clear();
    header.pixels.clear();
    for (const auto& name : names)
        header.columns.push_back({name, first.unit, first.precision, Stokes::none});
    return SkyMap(std::move(header));
}

AnalyzedMap analyze_scales(const SkyMap& map, const WaveletScales& scales,
                           const MapAnalysisOptions& options) {
    auto to_scales = options;
    to_scales.lmax = scales.lmax;
    to_scales.progress = sht::part_of(options.progress, 0, 0.7);
    return analyze(map, to_scales);
}

MapSynthesisOptions synthesis_options(const MapAnalysisOptions& options) {
    return {options.threads, options.device, sht::part_of(options.progress, 0.7, 1)};
}

template <class T>
T required_card(const SkyMap& map, const std::string& key) {
    for (const auto& card : map.header().cards)
        if (card.key == key)
            if (const auto* value = std::get_if<T>(&card.value)) return *value;
    throw InvalidArgument(
        fmt::format("{}: is not a file of zonal wavelet: it has no card {}", map.header().source, key));
}

void require_columns(const SkyMap& map, const std::vector<std::string>& names) {
    const auto& source = map.header().source;
    if (map.rows().extent(0) != std::ssize(names))
        throw InvalidArgument(
            fmt::format("{}: {} columns: {} scales are needed", source, map.rows().extent(0), names.size()));
    for (std::int64_t row = 0; row < std::ssize(names); ++row)
        if (const auto& name = names[static_cast<std::size_t>(row)]; map.row_name(row) != name)
            throw InvalidArgument(fmt::format("{}: column {}: must be {}", source, map.row_name(row), name));
}

}  // namespace

const std::vector<std::pair<std::string, WaveletKind>>& wavelet_kinds() {
    static const std::vector<std::pair<std::string, WaveletKind>> kinds{
        {"needlet", WaveletKind::needlet},
        {"scale-discretised", WaveletKind::scale_discretised},
        {"mexican-hat", WaveletKind::mexican_hat}};
    return kinds;
}

std::string to_string(WaveletKind kind) {
    return wavelet_kinds()[static_cast<std::size_t>(kind)].first;
}

std::vector<std::vector<double>> WaveletScales::windows() const {
    std::vector<std::vector<double>> result;
    if (kind == WaveletKind::mexican_hat) {
        for (const double radius : radii) result.push_back(mexican_hat(radius).window(lmax));
        return result;
    }
    auto found = kind == WaveletKind::needlet
                     ? needlet_windows(base, lmax)
                     : scale_discretised_windows(base, static_cast<int>(j_min), lmax);
    result = std::move(found.wavelets);
    result.insert(result.begin(), std::move(found.scaling));
    return result;
}

std::vector<std::string> WaveletScales::names(std::size_t n) const {
    const bool hats = kind == WaveletKind::mexican_hat;
    std::vector<std::string> result;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(n); ++i)
        result.push_back(hats     ? fmt::format("HAT_{}", i)
                         : i == 0 ? "SCALING"
                                  : fmt::format("WAVELET_{}", j_min + i - 1));
    return result;
}

std::vector<HeaderCard> WaveletScales::cards() const {
    std::vector<HeaderCard> result{{"WAVELET", to_string(kind), "kind of wavelets"},
                                   {"MAX-LPOL", lmax, "highest degree l"}};
    if (kind != WaveletKind::mexican_hat) result.push_back({"WAVEBASE", base, "of the scales"});
    if (kind == WaveletKind::scale_discretised) result.push_back({"WAVEJMIN", j_min, "first scale"});
    for (std::size_t i = 0; i < radii.size(); ++i)
        result.push_back({fmt::format("RADIUS{}", i), radii[i], "[rad] of the Mexican hat"});
    return result;
}

WaveletScales WaveletScales::from_map(const SkyMap& map) {
    WaveletScales scales;
    const auto name = required_card<std::string>(map, "WAVELET");
    const auto known = std::find_if(wavelet_kinds().begin(), wavelet_kinds().end(),
                                    [&](const auto& kind) { return kind.first == name; });
    if (known == wavelet_kinds().end())
        throw InvalidArgument(
            fmt::format("{}: WAVELET = '{}': is no kind of wavelets", map.header().source, name));
    scales.kind = known->second;
    scales.lmax = required_card<std::int64_t>(map, "MAX-LPOL");
    if (scales.kind == WaveletKind::mexican_hat) {
        for (const auto& card : map.header().cards)
            if (card.key.starts_with("RADIUS"))
                if (const auto* radius = std::get_if<double>(&card.value)) scales.radii.push_back(*radius);
        return scales;
    }
    scales.base = required_card<double>(map, "WAVEBASE");
    if (scales.kind == WaveletKind::scale_discretised)
        scales.j_min = required_card<std::int64_t>(map, "WAVEJMIN");
    return scales;
}

AnalyzedScales wavelet_transform(const SkyMap& map, const WaveletScales& scales,
                                 const MapAnalysisOptions& options) {
    require_full_scalars(map);
    require_one_sky(map);
    const auto windows = scales.windows();
    const auto [alm, report] = analyze_scales(map, scales, options);
    MapAlm parts{alm.layout, Array<std::complex<double>, 2>({std::ssize(windows), alm.layout.size()})};
    wavelet_transform(alm.layout, windows, alm.alm.view()[0], parts.alm.view());
    AnalyzedScales result{with_columns(map, scales.names(windows.size())), report};
    set_cards(result.map.header().cards, scales.cards());
    synthesize(parts, result.map, synthesis_options(options));
    return result;
}

AnalyzedScales inverse_wavelet_transform(const SkyMap& parts_map, const WaveletScales& scales,
                                         const MapAnalysisOptions& options) {
    require_full_scalars(parts_map);
    if (scales.kind == WaveletKind::mexican_hat)
        throw InvalidArgument("Mexican hats do not keep all of a map, so they have no inverse");
    const auto windows = scales.windows();
    require_columns(parts_map, scales.names(windows.size()));
    const auto [parts, report] = analyze_scales(parts_map, scales, options);
    MapAlm alm{parts.layout, Array<std::complex<double>, 2>({1, parts.layout.size()})};
    inverse_wavelet_transform(parts.layout, windows, parts.alm.view(), alm.alm.view()[0]);
    AnalyzedScales result{with_columns(parts_map, {"SIGNAL"}), report};
    std::erase_if(result.map.header().cards,
                  [](const HeaderCard& card) { return card.key.starts_with("WAVE"); });
    synthesize(alm, result.map, synthesis_options(options));
    return result;
}

double bytes_of_wavelets(const SkyMap& map, const WaveletScales& scales, std::int64_t n_out,
                         const MapAnalysisOptions& options) {
    auto how = options;
    how.lmax = scales.lmax;
    const auto plan =
        map.part()->transform({.lmax = scales.lmax, .threads = options.threads, .device = options.device});
    const auto n_in = map.rows().extent(0), pixels = 8 * map.grid().n_pixels();
    // The analysis is one of a copy; then there are the alm and the maps of all scales.
    const auto after = 16 * (n_in + n_out) * plan->layout().size() + n_out * pixels +
                       sht::host_workspace_bytes(*plan, n_out);
    return std::max(static_cast<double>(n_in * pixels) + bytes_of_analysis(map, how),
                    static_cast<double>(after));
}

}  // namespace zonal
