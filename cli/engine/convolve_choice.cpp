#include "engine/convolve_choice.hpp"

#include <complex>
#include <utility>

#include "engine/chosen_convolution.hpp"
#include "zonal/angle.hpp"
#include "zonal/sht.hpp"
#include "zonal/spectrum.hpp"

namespace zonal::cli {
namespace {

void convolve_harmonic(const ShtPlan& plan, const std::vector<double>& window, View<const double, 2> maps,
                       View<double, 2> convolved, const Progress& progress) {
    const std::int64_t n_maps = maps.extent(0), n_pixels = maps.extent(1);
    Array<std::complex<double>, 3> alm({n_maps, 1, plan.layout().size()});
    const auto half = [&](double begin) -> Progress {
        return [&progress, begin](double done) { return progress(begin + done / 2); };
    };
    plan.quadrature<double>({maps.data(), {n_maps, 1, n_pixels}}, alm.view(), half(0));
    for (std::int64_t map = 0; map < n_maps; ++map)
        multiply_alm<double>(plan.layout(), window, alm.view()[map][0]);
    plan.synthesize<double>(std::as_const(alm).view(), {convolved.data(), {n_maps, 1, n_pixels}}, half(0.5));
}

}  // namespace

void convolve_split(const ConvolutionChoice& choice, const Grid& grid, View<const double, 2> maps,
                    View<double, 2> convolved, int threads, const std::string& stage, Session& session) {
    auto& report = session.report;
    report["l_cut"] = choice.l_cut;
    report["theta_cut_arcmin"] = radians_to_arcmin(choice.support);
    report["amplification"] = choice.split->quality.amplification;
    report["leakage"] = choice.split->quality.leakage;
    report["harmonic_device"] = to_string(choice.harmonic_device);
    const auto options = split_options_of(choice, threads);
    const auto progress = session.progress(stage);
    SplitConvolutionSeconds seconds;
    if (choice.split->spin == 0) {
        seconds =
            SplitConvolutionPlan(grid, *choice.split, options).convolve<double>(maps, convolved, progress);
    } else {
        const View<double, 3>::Extents pairs{maps.extent(0) / 2, 2, maps.extent(1)};
        seconds = PolarizationSplitConvolutionPlan(grid, *choice.split, options)
                      .convolve<double>({maps.data(), pairs}, {convolved.data(), pairs}, progress);
    }
    report["parts_seconds"] = {{"pixels", seconds.pixels}, {"harmonic", seconds.harmonic}};
}

void convolve(const ConvolutionChoice& choice, const RadialKernel& kernel, std::int64_t lmax,
              const Grid& grid, View<const double, 2> maps, View<double, 2> convolved, int threads,
              const std::string& stage, Session& session) {
    using enum zonal::ConvolutionMethod;
    if (choice.method == split) return convolve_split(choice, grid, maps, convolved, threads, stage, session);
    const auto progress = session.progress(stage);
    if (choice.method == harmonic) {
        ShtOptions options;
        options.lmax = lmax;
        options.threads = threads;
        options.device = choice.device;
        return convolve_harmonic(ShtPlan(grid, options), kernel.window(lmax), maps, convolved, progress);
    }
    PixelConvolutionPlan(grid, kernel.truncated(choice.support), grid, pixel_options_of(choice, threads))
        .convolve<double>(maps, convolved, progress);
}

}  // namespace zonal::cli
