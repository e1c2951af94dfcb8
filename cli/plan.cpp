#include <fmt/format.h>

#include <memory>

#include "choice_report.hpp"
#include "common_options.hpp"
#include "cost_model_file.hpp"
#include "error.hpp"
#include "options.hpp"
#include "quadrature_error.hpp"
#include "split_options.hpp"
#include "subcommands.hpp"
#include "zonal/planner.hpp"

namespace zonal::cli {
namespace {

struct PlanOptions {
    SplitOptions kernel;  ///< of which only the kernel and the map's spectrum are used
    std::int64_t nside = 0, maps = 1;
    double error = 1e-5, quadrature_error = 0, iteration_gain = 0;
    ConvolutionReference reference = ConvolutionReference::discrete;
    bool double_only = false, no_split = false;
    std::string costs;
    std::int64_t threads = 0;
};

void declare_options(CLI::App& app, PlanOptions& options) {
    options.kernel.lmax = 4096;
    declare_kernel(app, options.kernel, "4096");
    const auto group = "Convolution";
    add_integer(app, "--nside", options.nside, {1, 1 << 14}, "HEALPix grid")->required()->group(group);
    add_integer(app, "--maps", options.maps, {1, 100'000}, "maps")->default_str("1")->group(group);
    add_number(app, "--error", options.error, {1e-13, 0.5},
               "largest error: rms over the rms of the convolved map")
        ->default_str("1e-5")
        ->group(group);
    add_text(app, "--input-cl", options.kernel.input_spectrum_file, "FILE",
             "C_l of the maps, FITS or text (TT)")
        ->default_str("white")
        ->group(group);
    add_choice<ConvolutionReference>(
        app, "--reference", options.reference,
        {{"discrete", ConvolutionReference::discrete}, {"continuous", ConvolutionReference::continuous}},
        "what the error is measured from: the sum over the map's pixels, or the window on the map's own alm")
        ->default_str("discrete")
        ->group(group);
    add_number(app, "--quadrature-error", options.quadrature_error, {1e-15, 1},
               "continuous: what sums over the pixels are wrong by")
        ->default_str("measured on a random sky of --input-cl")
        ->group(group);
    add_number(app, "--iteration-gain", options.iteration_gain, {1e-3, 0.9},
               "continuous: what an iteration of the analysis leaves of that")
        ->default_str("by lmax/nside")
        ->group(group);
    app.add_flag("--double", options.double_only, "no sums in single precision")->group(group);
    app.add_flag("--no-split", options.no_split, "do not look at splits")->group(group);
    add_text(app, "--costs", options.costs, "FILE", "costs that zonal calibrate measured")
        ->default_str("this machine's, from the cache folder")
        ->group(group);
    add_integer(app, "--threads", options.threads, {0, 4096},
                "threads to compute with; 0: all CPUs of the process")
        ->default_str("0")
        ->group("General");
}

ConvolutionRequest make_request(const PlanOptions& options, Session& session) {
    const bool is_continuous = options.reference == ConvolutionReference::continuous;
    if (!is_continuous && options.quadrature_error > 0)
        throw UsageError("--quadrature-error: only with --reference continuous");
    if (options.kernel.lmax >= 3 * options.nside)
        throw UsageError(fmt::format("--lmax = {}: must be at most 3*nside-1 = {}", options.kernel.lmax,
                                     3 * options.nside - 1));
    check_kernel(options.kernel);
    ConvolutionRequest request;
    request.grid = Grid::healpix(options.nside);
    request.lmax = options.kernel.lmax;
    request.kernel =
        options.kernel.kernel == "gaussian"
            ? RadialKernel::gaussian(options.kernel.fwhm->radians)
            : RadialKernel::from_window(kernel_window(options.kernel, options.kernel.fwhm, session));
    request.c_l = input_spectrum(options.kernel, session);
    request.error = options.error;
    request.reference = options.reference;
    request.quadrature_error = options.quadrature_error;
    if (is_continuous && options.quadrature_error == 0)
        request.quadrature_error =
            quadrature_error(request.kernel, options.nside, request.c_l, static_cast<int>(options.threads));
    request.iteration_gain =
        options.iteration_gain > 0 ? options.iteration_gain : iteration_gain(request.lmax, options.nside);
    request.n_maps = options.maps;
    request.allow_single = !options.double_only;
    request.consider_split = !options.no_split;
    request.threads = static_cast<int>(options.threads);
    return request;
}

void run(const PlanOptions& options, Session& session) {
    const auto request = make_request(options, session);
    const auto costs = read_cost_model(options.costs, request.threads, session);
    session.report["kernel"] = kernel_text(options.kernel);
    session.report["nside"] = options.nside;
    session.report["lmax"] = request.lmax;
    session.report["error_wanted"] = request.error;
    if (request.quadrature_error > 0) session.report["quadrature_error"] = request.quadrature_error;
    session.report["costs"] = costs.fingerprint;
    session.report["choices"] = Json::array();
    for (const auto& choice : plan_convolution(request, costs))
        session.report["choices"].push_back(report_of(choice));
}

}  // namespace

void add_plan(CLI::App& root, Session& session, Action& action) {
    auto& app =
        add_subcommand(root, session, "plan",
                       "Lists the ways to convolve a HEALPix map with a radial kernel within an error, "
                       "fastest first, with what they would take on this machine and be wrong by.",
                       "zonal plan --nside 1024 --lmax 2048 --fwhm 10arcmin --error 1e-5");
    const auto options = std::make_shared<PlanOptions>();
    declare_options(app, *options);
    app.callback([options, &action] { action = [options](Session& session) { run(*options, session); }; });
}

}  // namespace zonal::cli
