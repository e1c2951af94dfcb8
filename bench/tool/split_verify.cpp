#include "tool/split_verify.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "zonal/convolution.hpp"
#include "zonal/error.hpp"
#include "zonal/sht.hpp"
#include "zonal/spectrum.hpp"

namespace zonal::cli {
namespace {

using Complex = std::complex<double>;
using Map = Array<double, 3>;
using Alm = Array<Complex, 3>;

Map white_noise(std::int64_t n_pixels, std::uint64_t seed) {
    Map map({1, 1, n_pixels});
    std::mt19937_64 generator(seed);
    std::normal_distribution<double> normal;
    for (double& value : map) value = normal(generator);
    return map;
}

/// Root of the sum of the squares of the differences over that of the squares of `expected`.
double relative_rms(const auto& values, const auto& expected) {
    double error = 0, all = 0;
    auto value = values.begin();
    for (const double e : expected) {
        error += (*value - e) * (*value - e);
        all += e * e;
        ++value;
    }
    return std::sqrt(error / all);
}

std::vector<double> values_of(const Map& map) {
    return {map.begin(), map.end()};
}

/// Maps of one nside and lmax, convolved in harmonic space and by sums over pixels.
class ConvolvedNoise {
  public:
    ConvolvedNoise(const VerifyOptions& options, const SplitOptions& split, std::int64_t lmax)
        : grid_(Grid::healpix(options.nside)),
          plan_(grid_, {.lmax = lmax, .threads = static_cast<int>(split.threads)}),
          noise_(white_noise(grid_.n_pixels(), static_cast<std::uint64_t>(options.seed))),
          noise_alm_(quadrature(noise_)) {
        pixels_.precision = options.single ? Precision::float32 : Precision::float64;
        pixels_.accuracy = std::clamp(split.error / 100, 1e-12, 1e-6);
        pixels_.threads = static_cast<int>(split.threads);
    }

    /// The noise with its alm times a window: what a sum over the pixels gives for a band-limited kernel.
    Map in_harmonic_space(std::vector<double> window) const {
        window.resize(plan_.options().lmax + 1);
        auto alm = noise_alm_;
        multiply_alm<double>(plan_.layout(), window, alm.view()[0][0]);
        Map map({1, 1, grid_.n_pixels()});
        plan_.synthesize<double>(std::as_const(alm).view(), map.view());
        return map;
    }

    /// The sum over pixels in the precision that is verified.
    Map in_pixel_space(const SplineProfile& profile) const {
        const PixelConvolutionPlan plan(grid_, profile.kernel(), grid_, pixels_);
        Map map({1, 1, grid_.n_pixels()});
        if (pixels_.precision == Precision::float64) {
            plan.convolve<double>(noise_.view()[0], map.view()[0]);
            return map;
        }
        Array<float, 2> noise({1, grid_.n_pixels()}), convolved({1, grid_.n_pixels()});
        std::copy(noise_.begin(), noise_.end(), noise.begin());
        plan.convolve<float>(std::as_const(noise).view(), convolved.view());
        std::copy(convolved.begin(), convolved.end(), map.begin());
        return map;
    }

    std::vector<double> spectrum(const Map& map) const {
        const auto alm = quadrature(map);
        return cross_spectrum<double>(plan_.layout(), alm.view()[0][0], alm.view()[0][0]);
    }

  private:
    Alm quadrature(const Map& map) const {
        Alm alm({1, 1, plan_.layout().size()});
        plan_.quadrature<double>(map.view(), alm.view());
        return alm;
    }

    Grid grid_;
    ShtPlan plan_;
    PixelConvolutionOptions pixels_;
    Map noise_;
    Alm noise_alm_;
};

std::vector<double> degrees_to(std::int64_t lmax) {
    std::vector<double> l(lmax + 1);
    for (std::int64_t i = 0; i <= lmax; ++i) l[i] = static_cast<double>(i);
    return l;
}

Graph spectra_graph(const std::vector<double>& whole, const std::vector<double>& sum,
                    const std::vector<double>& window_part, const std::vector<double>& profile_part) {
    const auto l = degrees_to(std::ssize(whole) - 1);
    Graph graph{"spectra of convolved white noise", "Multipole $\\ell$", "$C_\\ell$"};
    graph.log_y = true;
    graph.curves = {{"whole kernel", l, whole, GraphStyle::line, 3},
                    {"harmonic part", l, window_part, GraphStyle::line, 1},
                    {"profile", l, profile_part, GraphStyle::line, 2},
                    {"sum", l, sum, GraphStyle::dashes, 0}};
    const double largest = *std::max_element(whole.begin(), whole.end());
    graph.y_range = {1e-20 * largest, 10 * largest};
    return graph;
}

Graph error_graph(const std::vector<double>& whole, const std::vector<double>& sum) {
    auto error = sum;
    for (std::size_t l = 0; l < error.size(); ++l)
        error[l] = whole[l] > 0 ? std::abs(sum[l] / whole[l] - 1) : std::nan("");
    Graph graph{"error of the spectrum of the sum", "Multipole $\\ell$", "|$C_\\ell$ / expected − 1|"};
    graph.log_y = true;
    graph.y_range = {1e-14, 10};
    graph.curves = {{"", degrees_to(std::ssize(whole) - 1), error, GraphStyle::line, 0}};
    return graph;
}

/// The errors over l_cut, from the report's rows.
Graph errors_graph(const Json& rows, double error) {
    Graph graph{"estimated and actual errors", "$\\ell_{\\rm cut}$", "relative rms"};
    graph.log_y = true;
    graph.level = error;
    const std::vector<std::pair<std::string, std::string>> curves = {
        {"estimate", "estimated_error"}, {"map", "map_error"}, {"spectrum", "spectrum_error"}};
    for (const auto& [name, key] : curves) {
        GraphCurve line{name, {}, {}, GraphStyle::line, static_cast<int>(graph.curves.size() / 2)};
        for (const auto& row : rows) {
            line.x.push_back(row["l_cut"].get<double>());
            line.y.push_back(row[key].get<double>());
        }
        auto points = line;
        points.name.clear();
        points.style = GraphStyle::points;
        graph.curves.push_back(line);
        graph.curves.push_back(points);
    }
    return graph;
}

}  // namespace

SplitPictures verify_split(const VerifyOptions& options, const SplitOptions& split_options,
                           const std::vector<double>& kernel, const KernelSplitter& splitter,
                           std::int64_t first, Session& session) {
    const auto lmax = splitter.lmax();
    const ConvolvedNoise noise(options, split_options, lmax);
    const auto whole = noise.in_harmonic_space(kernel);
    const auto whole_spectrum = noise.spectrum(whole);
    SplitPictures pictures;
    auto& graphs = pictures.graphs;
    auto& rows = session.report["verify"] = Json::array();
    const auto bar = session.progress("verify");
    constexpr int n_steps = 6;
    for (int step = 0; step < n_steps; ++step) {
        const auto l_cut = first + (lmax - 1 - first) * step / n_steps;
        const auto split = splitter.split(l_cut);
        const auto window_part = noise.in_harmonic_space(split.window);
        const auto profile_part = noise.in_pixel_space(split.profile);
        auto sum = window_part;
        auto value = profile_part.begin();
        for (double& pixel : sum) pixel += *value++;
        const auto spectrum = noise.spectrum(sum);
        if (graphs.empty()) {
            graphs.push_back(spectra_graph(whole_spectrum, spectrum, noise.spectrum(window_part),
                                           noise.spectrum(profile_part)));
            graphs.push_back(error_graph(whole_spectrum, spectrum));
            if (!options.plot.empty())
                pictures.maps = {options.nside, values_of(whole), values_of(window_part),
                                 values_of(profile_part)};
        }
        const double map_error = relative_rms(sum, whole);
        rows.push_back(
            {{"l_cut", l_cut},
             {"estimated_error", split.quality.estimated_error},
             {"leakage", split.quality.leakage},
             {"window_error", split.actual_error},
             {"map_error", map_error},
             {"spectrum_error", relative_rms(spectrum, whole_spectrum)},
             {"measured_alpha", map_error / std::hypot(split.actual_error, split.quality.leakage)}});
        if (!bar((step + 1.0) / n_steps)) throw Cancelled("verification: cancelled");
    }
    graphs.push_back(errors_graph(rows, split_options.error));
    return pictures;
}

}  // namespace zonal::cli
