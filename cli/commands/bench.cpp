#include <fmt/core.h>

#include <complex>
#include <memory>
#include <random>

#include "bench/bench_chebyshev.hpp"
#include "bench/bench_peak.hpp"
#include "bench/bench_radial.hpp"
#include "commands/subcommands.hpp"
#include "options/common_options.hpp"
#include "options/options.hpp"
#include "shell/error.hpp"
#include "shell/timing.hpp"
#include "shell/version.hpp"
#include "zonal/analysis.hpp"
#include "zonal/buffer.hpp"
#include "zonal/memory.hpp"
#include "zonal/sht.hpp"
#include "zonal/sky/smoothing.hpp"

namespace zonal::cli {
namespace {

using Complex = std::complex<double>;

struct BenchOptions {
    std::string what;
    std::optional<std::int64_t> nside, n_lat, lmax, mmax;
    std::int64_t spin = 0, maps = 1, repeat = 3, iterations = 0;
    std::string method;
    RadialBenchOptions radial;
    ChebyshevBenchOptions chebyshev;
    RunOptions run;
};

void declare_options(CLI::App& app, BenchOptions& options) {
    add_argument(app, "WHAT", options.what, "what to measure: sht, radial or chebyshev");
    const auto group = "Transform";
    add_integer(app, "--nside", options.nside, {1, 1 << 16}, "HEALPix grid")->group(group);
    add_integer(app, "--gauss", options.n_lat, {1, 1 << 18},
                "Gauss-Legendre grid with this many rings of 2 lmax + 2 pixels")
        ->group(group);
    add_integer(app, "--lmax", options.lmax, {0, max_lmax}, "highest degree l")
        ->default_str("2 nside, or rings - 1")
        ->group(group);
    add_integer(app, "--mmax", options.mmax, {0, max_lmax}, "highest order m")
        ->default_str("lmax")
        ->group(group);
    add_integer(app, "--spin", options.spin, {0, 100}, "spin of the field")->default_str("0")->group(group);
    add_integer(app, "--maps", options.maps, {1, 10000}, "maps at once")->default_str("1")->group(group);
    add_integer(app, "--iter", options.iterations, {0, 1000}, "Jacobi iterations of the analysis")
        ->default_str("0")
        ->group(group);
    add_integer(app, "--repeat", options.repeat, {1, 10000}, "runs of each transform; the fastest counts")
        ->default_str("3")
        ->group(group);
    add_choice<std::string>(app, "--method", options.method,
                            {{"harmonic", "harmonic"},
                             {"pixel-sum", "pixel-sum"},
                             {"ring-fft", "ring-fft"},
                             {"direct", "direct"},
                             {"transform", "transform"},
                             {"auto", "auto"}},
                            "radial: harmonic, pixel-sum or ring-fft; chebyshev: direct, transform or auto");
    declare_options(app, options.radial);
    declare_options(app, options.chebyshev);
    add_run_options(app, options.run);
}

/// --method of radial.
std::optional<ConvolutionMethod> radial_method(const BenchOptions& options) {
    if (options.method.empty()) return {};
    for (const auto method :
         {ConvolutionMethod::harmonic, ConvolutionMethod::pixel_sum, ConvolutionMethod::ring_fft})
        if (options.what != "radial" || to_string(method) == options.method) return method;
    throw UsageError(
        fmt::format("--method = {}: must be harmonic, pixel-sum or ring-fft with radial", options.method));
}

void run_chebyshev(const BenchOptions& options, Session& session) {
    if (options.nside || options.n_lat || options.lmax || options.mmax || options.spin > 0 ||
        options.maps > 1 || options.iterations > 0 || options.radial.given())
        throw UsageError("chebyshev: takes --shape, --batch, --method, --terms, --full and --repeat alone");
    bench_chebyshev(options.chebyshev, options.method, options.repeat, options.run, session);
}

Grid make_grid(const BenchOptions& options, std::int64_t lmax) {
    return options.nside ? Grid::healpix(*options.nside) : Grid::gauss_legendre(*options.n_lat, 2 * lmax + 2);
}

std::int64_t find_lmax(const BenchOptions& options) {
    const bool radial = options.what == "radial";
    if (!radial && options.what != "sht")
        throw UsageError(fmt::format("WHAT = {}: must be sht, radial or chebyshev", printable(options.what)));
    if (!radial && options.radial.given())
        throw UsageError(
            "--fwhm, --cut, --error, --method, --precision, --weights, --reference, --cl: only with radial");
    if (radial && options.mmax) throw UsageError("--mmax: not with radial");
    if (options.nside.has_value() == options.n_lat.has_value())
        throw UsageError("one of --nside N and --gauss NLAT is required");
    const auto lmax = options.lmax.value_or(options.nside ? 2 * *options.nside : *options.n_lat - 1);
    if (options.n_lat && lmax >= *options.n_lat)
        throw UsageError(fmt::format("--lmax = {}: must be at most {} on --gauss {} rings", lmax,
                                     *options.n_lat - 1, *options.n_lat));
    if (options.spin > lmax)
        throw UsageError(fmt::format("--spin = {}: must be at most lmax = {}", options.spin, lmax));
    if (options.mmax && *options.mmax > lmax)
        throw UsageError(fmt::format("--mmax = {}: must be at most lmax = {}", *options.mmax, lmax));
    return lmax;
}

/// alm, found alm and maps of the run.
void require_room(const BenchOptions& options, std::int64_t lmax) {
    const auto degrees = static_cast<double>(lmax) + 1, maps = static_cast<double>(options.maps);
    const auto n_lat = static_cast<double>(options.n_lat.value_or(0));
    const auto nside = static_cast<double>(options.nside.value_or(0));
    const double components = options.spin == 0 ? 1 : 2;
    const auto mmax = static_cast<double>(options.mmax.value_or(lmax));
    const double n_alm = (mmax + 1) * (degrees - mmax / 2),
                 n_pixels = 12 * nside * nside + 2 * n_lat * degrees;
    require_memory(maps * components * (2 * sizeof(Complex) * n_alm + sizeof(double) * n_pixels),
                   fmt::format("{} map{} up to lmax {}", options.maps, options.maps == 1 ? "" : "s", lmax));
}

/// White alm with real m = 0, 0 below the spin.
void fill(const AlmLayout& layout, std::int64_t spin, View<Complex, 3> alm) {
    std::mt19937_64 engine(1);
    std::normal_distribution<double> normal;
    for (std::int64_t batch = 0; batch < alm.extent(0); ++batch)
        for (std::int64_t component = 0; component < alm.extent(1); ++component)
            for (std::int64_t m = 0; m <= layout.mmax(); ++m)
                for (auto l = std::max(m, spin); l <= layout.lmax(); ++l)
                    alm(batch, component, layout.index(l, m)) = {normal(engine), m == 0 ? 0 : normal(engine)};
}

/// The fastest of the runs as NAME_seconds; all of them go to the report's "runs".
void time_runs(const std::string& name, std::int64_t repeat, Session& session,
               const std::function<void()>& work) {
    const auto progress = session.progress(name);
    std::vector<double> runs;
    for (std::int64_t run = 0; run < repeat; ++run) {
        if (!progress(static_cast<double>(run) / static_cast<double>(repeat))) throw Cancelled("interrupted");
        runs.push_back(seconds_of(work));
    }
    session.report["runs"][name] = runs;
    session.report[name + "_seconds"] = *std::min_element(runs.begin(), runs.end());
}

/// The arrays of a run, where the plan's device has them.
struct BenchArrays {
    BenchArrays(const ShtPlan& plan, std::int64_t maps, std::int64_t spin)
        : sent({maps, plan.alm_components(), plan.layout().size()}),
          alm_buffer(plan.options().device, sent.size() * static_cast<std::int64_t>(sizeof(Complex))),
          found_buffer(plan.options().device, alm_buffer.bytes()),
          map_buffer(plan.options().device, maps * plan.map_components() * plan.grid().n_pixels() *
                                                static_cast<std::int64_t>(sizeof(double))),
          alm(alm_buffer.view<Complex, 3>(sent.extents())),
          found(found_buffer.view<Complex, 3>(sent.extents())),
          map(map_buffer.view<double, 3>({maps, plan.map_components(), plan.grid().n_pixels()})) {
        fill(plan.layout(), spin, sent.view());
        alm_buffer.copy_from(sent.data());
    }

    /// The largest difference of what was found from what was sent, relative to the latter's rms.
    double round_trip_error() const {
        Array<Complex, 3> back(sent.extents());
        found_buffer.copy_to(back.data());
        double error = 0, norm = 0;
        for (std::int64_t i = 0; i < sent.size(); ++i) {
            error = std::max(error, std::abs(back.data()[i] - sent.data()[i]));
            norm += std::norm(sent.data()[i]);
        }
        return error / std::sqrt(norm / static_cast<double>(sent.size()));
    }

    Array<Complex, 3> sent;
    Buffer alm_buffer, found_buffer, map_buffer;
    View<Complex, 3> alm, found;
    View<double, 3> map;
};

/// The same from and to page-locked memory of the host.
void time_with_transfers(const BenchOptions& options, const ShtPlan& plan, const BenchArrays& arrays,
                         ShtWorkspace& workspace, Session& session) {
    const auto alm_memory = Buffer::page_locked(plan.options().device, arrays.alm_buffer.bytes());
    const auto map_memory = Buffer::page_locked(plan.options().device, arrays.map_buffer.bytes());
    const auto alm = alm_memory.view<Complex, 3>(arrays.alm.extents());
    const auto map = map_memory.view<double, 3>(arrays.map.extents());
    std::copy_n(arrays.sent.data(), arrays.sent.size(), alm.data());
    time_runs("synthesis_with_transfers", options.repeat, session,
              [&] { plan.synthesize<double>(alm, map, workspace); });
    time_runs("adjoint_with_transfers", options.repeat, session,
              [&] { plan.adjoint_synthesis<double>(map, alm, workspace); });
}

void measure(const BenchOptions& options, const ShtPlan& plan, Session& session) {
    auto& report = session.report;
    const BenchArrays arrays(plan, options.maps, options.spin);
    auto workspace = plan.make_workspace(options.maps);
    report["workspace_bytes"] = plan.workspace_bytes();
    report["map_bytes"] = arrays.map_buffer.bytes();
    report["runs"] = Json::object();
    const double flops = plan.legendre_flops() * static_cast<double>(options.maps);
    report["legendre_flops"] = flops;
    // bench/cuda/sht_cuda.cu measures a GPU's peak.
    const bool on_cpu = plan.options().device.kind() == Device::Kind::cpu;
    const double peak = on_cpu ? measured_fma_flops(plan.options().threads) : 0;
    if (on_cpu) report["fma_peak_flops"] = peak;
    const auto time_transform = [&](const std::string& name, const std::string& share,
                                    const std::function<void()>& work) {
        ShtStageSeconds best{INFINITY, INFINITY, INFINITY};
        const auto keep_best = [&] {
            const ShtStageSeconds seconds = workspace.stage_seconds();
            best.legendre = std::min(best.legendre, seconds.legendre);
            best.resampling = std::min(best.resampling, seconds.resampling);
            best.rings = std::min(best.rings, seconds.rings);
        };
        workspace.measure_stages(true);
        work();  // on a GPU it loads the kernels
        for (std::int64_t run = 0; !on_cpu && run < options.repeat; ++run) work(), keep_best();
        workspace.measure_stages(false);
        for (int run = 0; !on_cpu && run < 2; ++run) work();  // the second makes a graph
        time_runs(name, options.repeat, session, [&] {
            work();
            if (on_cpu) keep_best();
        });
        report[name + "_legendre_seconds"] = best.legendre;
        report[name + "_rings_seconds"] = best.rings;
        if (on_cpu)
            report[share] = flops / best.legendre / peak;
        else
            report[name + "_resampling_seconds"] = best.resampling;
    };
    time_transform("synthesis", "legendre_peak_fraction",
                   [&] { plan.synthesize<double>(arrays.alm, arrays.map, workspace); });
    time_transform("adjoint", "adjoint_legendre_peak_fraction",
                   [&] { plan.adjoint_synthesis<double>(arrays.map, arrays.found, workspace); });
    AnalysisOptions analysis;
    analysis.iterations = static_cast<int>(options.iterations);
    time_runs("analysis", options.repeat, session,
              [&] { analyze<double>(plan, arrays.map, arrays.found, workspace, analysis); });
    report["round_trip_error"] = arrays.round_trip_error();
    if (!on_cpu) time_with_transfers(options, plan, arrays, workspace, session);
}

void run(BenchOptions& options, Session& session) {
    if (options.what == "chebyshev") {
        run_chebyshev(options, session);
        return;
    }
    if (options.chebyshev.given()) throw UsageError("--shape, --batch, --terms, --full: only with chebyshev");
    options.radial.method = radial_method(options);
    const auto lmax = find_lmax(options);
    auto& report = session.report;
    report["grid"] = options.nside ? fmt::format("healpix nside={}", *options.nside)
                                   : fmt::format("gauss-legendre rings={}", *options.n_lat);
    options.run.resolve(session);
    if (options.what == "radial") {
        bench_radial(options.radial,
                     {make_grid(options, lmax), options.nside.value_or(0), options.spin, lmax, options.maps,
                      options.repeat, options.iterations, options.run},
                     session);
        report["machine"] = version_report();
        return;
    }
    require_room(options, lmax);
    const auto grid = make_grid(options, lmax);
    ShtOptions sht;
    sht.lmax = lmax;
    sht.mmax = options.mmax.value_or(-1);
    sht.spin = static_cast<int>(options.spin);
    sht.threads = options.run.thread_count();
    sht.device = options.run.device;
    std::unique_ptr<ShtPlan> plan;
    report["plan_seconds"] = seconds_of([&] { plan = std::make_unique<ShtPlan>(grid, sht); });
    report["lmax"] = lmax;
    report["mmax"] = plan->options().mmax;
    report["spin"] = options.spin;
    report["maps"] = options.maps;
    report["repeat"] = options.repeat;
    report["iterations"] = options.iterations;
    measure(options, *plan, session);

    report["machine"] = version_report();
}

}  // namespace

void add_bench(CLI::App& root, Session& session, Action& action) {
    auto& app = add_subcommand(root, session, "bench",
                               "Measures transforms, convolutions and products of series on this machine.",
                               "zonal bench sht --nside 1024 --lmax 2048 --threads 2 --json\n"
                               "  zonal bench radial --nside 512 --fwhm 10arcmin --method ring-fft --json\n"
                               "  zonal bench chebyshev --shape 200x200 --method auto --json");
    const auto options = std::make_shared<BenchOptions>();
    declare_options(app, *options);
    app.callback([options, &action] { action = [options](Session& session) { run(*options, session); }; });
}

}  // namespace zonal::cli
