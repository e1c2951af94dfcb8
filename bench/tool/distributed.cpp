#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numeric>
#include <thread>

#include "options/common_options.hpp"
#include "options/options.hpp"
#include "options/parse.hpp"
#include "shell/error.hpp"
#include "shell/timing.hpp"
#include "shell/version.hpp"
#include "tool/map_run.hpp"
#include "tool/solo_ranks.hpp"
#include "tool/subcommands.hpp"
#include "zonal/distributed/plan.hpp"

namespace zonal::cli {
namespace {

using Complex = std::complex<double>;

struct DistributedOptionsOfRun {
    MapRunOptions maps;
    std::int64_t ranks = 2;
    std::vector<std::string> shares, devices;
    bool solo = false;
};

/// Seconds of the fastest synthesis and adjoint of a plan, of their stages, and of waiting for other ranks.
struct Seconds {
    double synthesis = HUGE_VAL, adjoint = HUGE_VAL;
    ShtStageSeconds of_synthesis, of_adjoint;
};

Seconds measure(const ShtPlan& plan, std::int64_t repeat) {
    Array<Complex, 3> alm({1, plan.alm_components(), plan.layout().size()});
    Array<double, 3> map({1, plan.map_components(), plan.grid().n_pixels()});
    std::fill_n(alm.data(), alm.size(), Complex(1, 0.5));
    ShtWorkspace workspace = plan.make_workspace();
    Seconds best;
    for (std::int64_t run = 0; run <= repeat; ++run) {  // the first makes the memory, and does not count
        const double synthesis =
            seconds_of([&] { plan.synthesize<double>(alm.view(), map.view(), workspace); });
        const ShtStageSeconds stages = workspace.stage_seconds();
        const double adjoint =
            seconds_of([&] { plan.adjoint_synthesis<double>(map.view(), alm.view(), workspace); });
        if (run > 0 && synthesis < best.synthesis) best.synthesis = synthesis, best.of_synthesis = stages;
        if (run > 0 && adjoint < best.adjoint)
            best.adjoint = adjoint, best.of_adjoint = workspace.stage_seconds();
    }
    return best;
}

struct RankRun {
    int rank = 0;
    RankShare share{};
    Seconds seconds;
};

Json json_of(const Seconds& seconds) {
    const auto stages = [](double total, const ShtStageSeconds& s) {
        return Json{{"seconds", total}, {"legendre", s.legendre}, {"rings", s.rings}, {"waiting", s.waiting}};
    };
    return {{"synthesis", stages(seconds.synthesis, seconds.of_synthesis)},
            {"adjoint", stages(seconds.adjoint, seconds.of_adjoint)}};
}

/// Options of a rank of several in one process. Its threads are its share of them; where ranks are on GPUs,
/// one for each of these, and the others have what is left in equal parts.
ShtOptions options_of_rank(const DistributedOptionsOfRun& options, const DistributedOptions& all, int rank) {
    ShtOptions own = all.sht;
    const auto n = static_cast<double>(options.ranks);
    if (options.devices.empty()) {
        const auto& speeds = all.speeds;
        const double share = speeds.empty() ? 1.0 / n
                                            : speeds[static_cast<std::size_t>(rank)] /
                                                  std::accumulate(speeds.begin(), speeds.end(), 0.0);
        own.threads = static_cast<int>(std::lround(all.sht.threads * share));
    } else {
        own.device = parse_device(options.devices[static_cast<std::size_t>(rank)]);
        const auto on_cpu = std::count(options.devices.begin(), options.devices.end(), "cpu");
        own.threads = own.device == Device::cpu()
                          ? static_cast<int>((all.sht.threads - (options.ranks - on_cpu)) / on_cpu)
                          : 1;
    }
    own.threads = std::max(1, own.threads);
    return own;
}

/// The ranks' seconds; solo: one after the other, each alone with all threads, and of many ranks those with
/// the most of either stage; else all at once, each with its part of the threads.
std::vector<RankRun> measure_ranks(const DistributedOptionsOfRun& options, const MapRun& run,
                                   DistributedOptions plan_options) {
    const int n = static_cast<int>(options.ranks);
    std::vector<RankRun> found;
    if (options.solo) {
        const DistributedPlan first(Communicator::solo(0, n), run.grid, plan_options);
        for (const int rank : bench::solo_ranks(first.shares())) {
            const DistributedPlan plan(Communicator::solo(rank, n), run.grid, plan_options);
            found.push_back({rank, plan.shares()[rank], measure(plan.local(), run.repeat)});
        }
        return found;
    }
    const auto communicators = Communicator::threads(n);
    found.resize(static_cast<std::size_t>(n));
    std::vector<std::thread> threads;
    threads.reserve(static_cast<std::size_t>(n));
    for (int rank = 0; rank < n; ++rank)
        threads.emplace_back([&, rank, own = plan_options]() mutable {
            own.sht = options_of_rank(options, plan_options, rank);
            const DistributedPlan plan(communicators[rank], run.grid, own);
            found[rank] = {rank, plan.shares()[rank], measure(plan.local(), run.repeat)};
        });
    for (auto& thread : threads) thread.join();
    return found;
}

void declare(CLI::App& app, DistributedOptionsOfRun& options) {
    declare_options(app, options.maps);
    const OptionGroup group(app, "Ranks");
    group.integer("--ranks", options.ranks, {1, 1 << 16}, "number of ranks", "2");
    group.list("--shares", options.shares, "X,...",
               "how fast the ranks are, relative to one another, which gives them threads and work",
               "all alike");
    group.list("--devices", options.devices, "D,...",
               "what each rank computes on, cpu or a GPU, such as cuda:0; a rank on a GPU takes one thread",
               "the CPU");
    group.flag(
        "--solo", options.solo,
        "measure shares one by one, without sending, each with all threads: what the machines of a job "
        "with one rank each would compute");
}

void run(DistributedOptionsOfRun& options, Session& session) {
    const auto run = make_run(options.maps, session);
    DistributedOptions plan_options;
    plan_options.sht.lmax = run.lmax;
    plan_options.sht.spin = static_cast<int>(run.spin);
    plan_options.sht.threads = run.run.thread_count();
    plan_options.sht.device = Device::cpu();
    for (const auto& share : options.shares)
        plan_options.speeds.push_back(parse_number("--shares", share, 1e-3, 1e3));
    if (!plan_options.speeds.empty() && std::ssize(plan_options.speeds) != options.ranks)
        throw UsageError(fmt::format("--shares: has {} numbers: must have one for each of the {} ranks",
                                     plan_options.speeds.size(), options.ranks));
    if (!options.devices.empty() && (std::ssize(options.devices) != options.ranks || options.solo))
        throw UsageError(fmt::format(
            "--devices: must name one device for each of the {} ranks, and cannot be used with --solo",
            options.ranks));
    for (const auto& device : options.devices) resolve_device(parse_device(device));
    auto& report = session.report;
    const auto gpu = std::find_if(options.devices.begin(), options.devices.end(),
                                  [](const std::string& device) { return device != "cpu"; });
    if (gpu != options.devices.end()) {
        ShtOptions of_gpu = plan_options.sht;
        of_gpu.device = parse_device(*gpu);
        report["one_gpu"] = json_of(measure(ShtPlan(run.grid, of_gpu), run.repeat));
    }
    const Seconds whole = measure(ShtPlan(run.grid, plan_options.sht), run.repeat);
    report["one_process"] = json_of(whole);
    double synthesis = 0, adjoint = 0;
    for (const auto& [rank, share, seconds] : measure_ranks(options, run, plan_options)) {
        Json row = json_of(seconds);
        row["rank"] = rank;
        if (!options.devices.empty()) row["device"] = options.devices[static_cast<std::size_t>(rank)];
        row["legendre_flops"] = share.legendre_flops;
        row["bytes_sent"] = share.bytes_sent;
        report["ranks"].push_back(row);
        synthesis = std::max(synthesis, seconds.synthesis);
        adjoint = std::max(adjoint, seconds.adjoint);
    }
    const double machines = options.solo ? static_cast<double>(options.ranks) : 1;
    report["lmax"] = run.lmax;
    report["spin"] = run.spin;
    report["n_ranks"] = options.ranks;
    report["solo"] = options.solo;
    report["synthesis_efficiency"] = whole.synthesis / (machines * synthesis);
    report["adjoint_efficiency"] = whole.adjoint / (machines * adjoint);
    report["machine"] = version_report();
}

}  // namespace

void add_bench_distributed(CLI::App& root, Session& session, Action& action) {
    add_command<DistributedOptionsOfRun>(
        root, session, action, "distributed",
        "Measures transforms over ranks beside one process that has as many threads.",
        "zonal-bench distributed --nside 2048 --lmax 4096 --ranks 2 --threads 2 --json", declare, run);
}

}  // namespace zonal::cli
