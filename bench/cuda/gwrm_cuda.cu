// Times of the time-spectral solver on the CPU and on a GPU, as JSON.
//
//   gwrm_cuda [--rounds 3] [--threads 1] [--cpu-limit 20] [--estimates]
//
// One interval each, with the same modes on both; "seconds" of a whole gwrm::solve, the fastest of the rounds
// after an uncounted one, with its start: plans, memory, factors. unknowns: of the interval; spatial: of one
// mode in time, the size of the preconditioner's matrices. difference: of coefficients, relative to the
// largest. The CPU has one round where one takes more than --cpu-limit seconds, and is left out for all
// larger cases of the problem. --threads: of the CPU's products. --estimates: with the error estimate, which
// solves on a finer box.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "zonal/gwrm/library.hpp"

namespace zonal::bench {
namespace {

struct Settings {
    int rounds = 3, threads = 1;
    double cpu_limit = 20;
    bool estimates = false;
};

struct Case {
    std::string problem;
    double length;
    std::vector<std::vector<std::int64_t>> modes;
};

struct Timed {
    double seconds = INFINITY;
    std::vector<double> coefficients;
    gwrm::SolveReport report;
};

Timed time_of(const gwrm::ProblemSetup& setup, double length, const Settings& settings, Device device) {
    auto options = setup.options;
    options.t1 = options.t0 + length;
    options.interval = length;
    options.tolerance = 1e-10;
    options.estimate_error = settings.estimates;
    options.threads = settings.threads;
    options.device = device;
    Timed found;
    for (int round = -1; round < settings.rounds; ++round) {
        const auto start = std::chrono::steady_clock::now();
        const auto solution = gwrm::solve(setup.problem, options);
        const double seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        const bool is_long = device.kind() == Device::Kind::cpu && seconds > settings.cpu_limit;
        if (round >= 0 || is_long) found.seconds = std::min(found.seconds, seconds);
        found.coefficients = solution.pieces().front().coefficients;
        found.report = solution.report();
        if (is_long) break;
    }
    return found;
}

double difference(const std::vector<double>& a, const std::vector<double>& b) {
    double error = 0, largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        error = std::max(error, std::abs(a[i] - b[i]));
        largest = std::max(largest, std::abs(b[i]));
    }
    return error / largest;
}

void print_case(const Case& test, const std::vector<std::int64_t>& modes, const Timed& gpu) {
    std::printf(R"(  {"problem": "%s", "modes": [)", test.problem.c_str());
    for (std::size_t i = 0; i < modes.size(); ++i)
        std::printf("%s%lld", i == 0 ? "" : ", ", static_cast<long long>(modes[i]));
    const auto unknowns = static_cast<long long>(gpu.coefficients.size());
    std::printf(R"(], "unknowns": %lld, "spatial": %lld, "iterations": %lld, "linear_iterations": %lld,
   "gpu_seconds": %.4g)",
                unknowns, unknowns / static_cast<long long>(modes[0] + 1),
                static_cast<long long>(gpu.report.iterations),
                static_cast<long long>(gpu.report.linear_iterations), gpu.seconds);
}

void measure(const Case& test, const Settings& settings, bool& is_first) {
    bool with_cpu = true;
    for (const auto& modes : test.modes) {
        const auto setup = gwrm::make_library_problem(test.problem, {}, modes);
        const auto gpu = time_of(setup, test.length, settings, Device::cuda(0));
        std::printf("%s", is_first ? "" : ",\n");
        is_first = false;
        print_case(test, modes, gpu);
        if (with_cpu) {
            const auto cpu = time_of(setup, test.length, settings, Device::cpu());
            std::printf(R"(, "cpu_seconds": %.4g, "cpu_over_gpu": %.3g, "difference": %.2g)", cpu.seconds,
                        cpu.seconds / gpu.seconds, difference(gpu.coefficients, cpu.coefficients));
            with_cpu = cpu.seconds <= settings.cpu_limit;
        }
        std::printf("}");
        std::fflush(stdout);
    }
}

Settings settings_of(int argc, char** argv) {
    Settings settings;
    for (int i = 1; i < argc; ++i) {
        const std::string name = argv[i];
        if (name == "--estimates") {
            settings.estimates = true;
            continue;
        }
        if (i + 1 == argc) throw InvalidArgument(name, "unknown, or has no number");
        const double value = std::atof(argv[++i]);
        if (name == "--rounds")
            settings.rounds = static_cast<int>(value);
        else if (name == "--threads")
            settings.threads = static_cast<int>(value);
        else if (name == "--cpu-limit")
            settings.cpu_limit = value;
        else
            throw InvalidArgument(name, "unknown");
    }
    return settings;
}

}  // namespace
}  // namespace zonal::bench

int main(int argc, char** argv) try {
    using namespace zonal::bench;
    const auto settings = settings_of(argc, argv);
    const std::vector<Case> cases{
        {"burgers", 0.1, {{12, 24}, {12, 48}, {12, 100}, {16, 200}, {16, 400}, {16, 800}}},
        {"burgers-viscosity", 0.25, {{10, 16, 4}, {10, 24, 8}, {10, 28, 14}, {12, 32, 20}, {12, 40, 32}}},
        {"advection-diffusion", 0.25, {{8, 8, 8}, {12, 12, 12}, {12, 20, 20}, {12, 28, 28}, {12, 40, 40}}}};
    std::printf("{\"threads\": %d, \"rounds\": %d, \"estimates\": %s, \"cases\": [\n", settings.threads,
                settings.rounds, settings.estimates ? "true" : "false");
    bool is_first = true;
    for (const auto& test : cases) measure(test, settings, is_first);
    std::printf("\n]}\n");
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
