#include "tool/radial_problem.hpp"

#include <fmt/core.h>

#include <utility>

#include "engine/spectrum_file.hpp"
#include "options/analysis_options.hpp"
#include "planning/request.hpp"
#include "shell/error.hpp"
#include "tool/harmonic_reference.hpp"

namespace zonal::cli {
namespace {

/// 1 / (l (l + 1)), as steep as the microwave sky's, or those of --cl: TT, or EE and BB.
std::vector<std::vector<double>> input_spectra(const RadialBenchOptions& options, const MapRun& run,
                                               Session& session) {
    const bool has_spin = run.spin == 2;
    if (options.spectrum_file.empty()) {
        std::vector<double> c_l(static_cast<std::size_t>(run.lmax + 1));
        for (std::size_t l = has_spin ? 2 : 1; l < c_l.size(); ++l) {
            const auto degree = static_cast<double>(l);
            c_l[l] = 1 / (degree * (degree + 1));
        }
        return std::vector<std::vector<double>>(has_spin ? 2 : 1, c_l);
    }
    const auto& file = options.spectrum_file;
    auto spectra = has_spin ? read_ee_and_bb("--cl", file, session)
                            : std::vector<std::vector<double>>{read_tt("--cl", file, session)};
    for (auto& c_l : spectra) {
        try {
            c_l = fit_length(c_l, run.lmax, Extension::none, "--cl " + file);
        } catch (const InvalidArgument& error) {
            throw UsageError(error.what());
        }
    }
    return spectra;
}

void find_weights(const RadialBenchOptions& options, const MapRun& run, Session& session,
                  RadialProblem& problem) {
    if (options.weights == "none") return;
    const auto weights = weights_for(options.weights, run.nside, run.run.thread_count(), session);
    if (weights.values.kind == io::QuadratureWeights::Kind::ring)
        problem.ring_factor = healpix::expand_ring_weights(run.nside, weights.values.deviations);
    else
        problem.pixel_factor = healpix::expand_pixel_weights(run.nside, weights.values.deviations);
}

ConvolutionRequest make_request(const RadialBenchOptions& options, const MapRun& run) {
    ConvolutionRequest request;
    request.grid = run.grid;
    request.lmax = run.lmax;
    request.kernel = RadialKernel::gaussian(options.fwhm->radians);
    if (run.spin == 2) request.polarization = PolarizationKernel::gaussian(options.fwhm->radians);
    request.threads = run.run.thread_count();
    return request;
}

using Spectra = std::vector<std::vector<double>>;

/// Where --error lets the Gaussian end.
double cut_for(const ConvolutionRequest& request, const Spectra& c_l, double error) {
    return request.polarization
               ? support_for_error(*request.polarization, c_l[0], c_l[1], error, request.grid)
               : support_for_error(request.kernel, c_l[0], error);
}

double cut_error(const ConvolutionRequest& request, const Spectra& c_l, double cut) {
    return request.polarization ? truncation_error(*request.polarization, c_l[0], c_l[1], cut)
                                : truncation_error(request.kernel, c_l[0], cut);
}

}  // namespace

RadialProblem make_problem(const RadialBenchOptions& options, const MapRun& run, Session& session) {
    const auto spectra = input_spectra(options, run, session);
    auto request = make_request(options, run);
    const double cut = options.cut ? options.cut->radians : cut_for(request, spectra, options.error);
    const auto plan = transform_of(request, run.lmax, run.run.device);
    auto alm = draw_alm(spectra, plan.layout(), 1, request.threads);
    auto map = synthesize(plan, alm);
    RadialProblem problem{std::move(request), cut, std::move(alm), std::move(map), {}, {}};
    find_weights(options, run, session, problem);
    session.report["fwhm_rad"] = options.fwhm->radians;
    session.report["cut_rad"] = cut;
    session.report["truncation_error"] = cut_error(problem.request, spectra, cut);
    return problem;
}

std::vector<double> weighted(const RadialProblem& problem) {
    const auto& grid = problem.request.grid;
    auto map = problem.map;
    for (std::int64_t first = 0; first < std::ssize(map); first += grid.n_pixels()) {
        for (std::size_t i = 0; i < problem.pixel_factor.size(); ++i)
            map[static_cast<std::size_t>(first) + i] *= problem.pixel_factor[i];
        for (std::size_t r = 0; r < problem.ring_factor.size(); ++r) {
            const auto& ring = grid.rings()[r];
            for (auto pixel = ring.first_pixel; pixel < ring.first_pixel + ring.n_pixels; ++pixel)
                map[static_cast<std::size_t>(first + pixel)] *= problem.ring_factor[r];
        }
    }
    return map;
}

ReferenceMap find_reference(const MapRun& run, ConvolutionReference wanted, const RadialProblem& problem,
                            const std::vector<double>& input) {
    const auto& request = problem.request;
    if (wanted == ConvolutionReference::continuous)
        return in_harmonic_space(request, transform_of(request, run.lmax, run.run.device), problem.alm,
                                 "the whole Gaussian's window on the map's own alm");
    const View<const double, 1> map(input.data(), {std::ssize(input)});
    return request.polarization
               ? discrete_reference(request.grid, request.polarization->truncated(problem.cut), map,
                                    request.threads)
               : discrete_reference(request.grid, request.kernel.truncated(problem.cut), map,
                                    request.threads);
}

}  // namespace zonal::cli
