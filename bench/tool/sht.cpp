#include <fmt/core.h>

#include <algorithm>
#include <complex>
#include <memory>
#include <random>

#include "options/common_options.hpp"
#include "options/options.hpp"
#include "shell/error.hpp"
#include "shell/timing.hpp"
#include "shell/version.hpp"
#include "tool/fma_peak.hpp"
#include "tool/map_run.hpp"
#include "tool/subcommands.hpp"
#include "zonal/analysis.hpp"
#include "zonal/buffer.hpp"
#include "zonal/memory.hpp"
#include "zonal/sht.hpp"

namespace zonal::cli {
namespace {

using Complex = std::complex<double>;

struct ShtBenchOptions {
    MapRunOptions maps;
    std::optional<std::int64_t> mmax;
};

/// alm, found alm and maps of the run.
void require_room(const MapRun& run, std::int64_t n_alm) {
    const auto maps = static_cast<double>(run.maps);
    const double components = run.spin == 0 ? 1 : 2;
    require_memory(maps * components *
                       (2 * sizeof(Complex) * static_cast<double>(n_alm) +
                        sizeof(double) * static_cast<double>(run.grid.n_pixels())),
                   fmt::format("{} map{} up to lmax {}", run.maps, run.maps == 1 ? "" : "s", run.lmax));
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
void time_with_transfers(const MapRun& run, const ShtPlan& plan, const BenchArrays& arrays,
                         ShtWorkspace& workspace, Session& session) {
    const auto alm_memory = Buffer::page_locked(plan.options().device, arrays.alm_buffer.bytes());
    const auto map_memory = Buffer::page_locked(plan.options().device, arrays.map_buffer.bytes());
    const auto alm = alm_memory.view<Complex, 3>(arrays.alm.extents());
    const auto map = map_memory.view<double, 3>(arrays.map.extents());
    std::copy_n(arrays.sent.data(), arrays.sent.size(), alm.data());
    time_runs("synthesis_with_transfers", run.repeat, session,
              [&] { plan.synthesize<double>(alm, map, workspace); });
    time_runs("adjoint_with_transfers", run.repeat, session,
              [&] { plan.adjoint_synthesis<double>(map, alm, workspace); });
}

void measure(const MapRun& run, const ShtPlan& plan, Session& session) {
    auto& report = session.report;
    const BenchArrays arrays(plan, run.maps, run.spin);
    auto workspace = plan.make_workspace(run.maps);
    report["workspace_bytes"] = plan.workspace_bytes();
    report["map_bytes"] = arrays.map_buffer.bytes();
    report["runs"] = Json::object();
    const double flops = plan.legendre_flops() * static_cast<double>(run.maps);
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
        for (std::int64_t i = 0; !on_cpu && i < run.repeat; ++i) work(), keep_best();
        workspace.measure_stages(false);
        for (int i = 0; !on_cpu && i < 2; ++i) work();  // the second makes a graph
        time_runs(name, run.repeat, session, [&] {
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
    analysis.iterations = static_cast<int>(run.iterations);
    time_runs("analysis", run.repeat, session,
              [&] { analyze<double>(plan, arrays.map, arrays.found, workspace, analysis); });
    report["round_trip_error"] = arrays.round_trip_error();
    if (!on_cpu) time_with_transfers(run, plan, arrays, workspace, session);
}

void declare(CLI::App& app, ShtBenchOptions& options) {
    declare_options(app, options.maps);
    add_integer(app, "--mmax", options.mmax, {0, max_lmax}, "highest order m")
        ->default_str("lmax")
        ->group("Maps");
}

void run(ShtBenchOptions& options, Session& session) {
    const auto run = make_run(options.maps, session);
    const auto mmax = options.mmax.value_or(run.lmax);
    if (mmax > run.lmax)
        throw UsageError(fmt::format("--mmax = {}: must be at most lmax = {}", mmax, run.lmax));
    require_room(run, AlmLayout(run.lmax, mmax).size());
    ShtOptions sht;
    sht.lmax = run.lmax;
    sht.mmax = mmax;
    sht.spin = static_cast<int>(run.spin);
    sht.threads = run.run.thread_count();
    sht.device = run.run.device;
    std::unique_ptr<ShtPlan> plan;
    auto& report = session.report;
    report["plan_seconds"] = seconds_of([&] { plan = std::make_unique<ShtPlan>(run.grid, sht); });
    report["lmax"] = run.lmax;
    report["mmax"] = mmax;
    report["spin"] = run.spin;
    report["maps"] = run.maps;
    report["repeat"] = run.repeat;
    report["iterations"] = run.iterations;
    measure(run, *plan, session);
    report["machine"] = version_report();
}

}  // namespace

void add_bench_sht(CLI::App& root, Session& session, Action& action) {
    add_command<ShtBenchOptions>(root, session, action, "sht", "Measures spherical harmonic transforms.",
                                 "zonal-bench sht --nside 1024 --lmax 2048 --threads 2 --json", declare, run);
}

}  // namespace zonal::cli
