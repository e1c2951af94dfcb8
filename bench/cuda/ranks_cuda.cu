// Times of the transforms over ranks that are threads, each with a device of its own, beside those of one
// device, with all data on the devices, as JSON: in rounds, the one device and the ranks in turn, the median
// of all. efficiency: seconds of one device / (ranks * seconds of the ranks).
//
// With --solo P, the shares of a job of P ranks on one device, one after the other and without sending: the
// stages of rank 0, the middle, the last and those with the most of either stage; efficiency: seconds of the
// stages of the whole transform / (P * those of the largest share).
//
//   ranks_cuda [--ranks 2] [--solo P] [--runs 5] [--rounds 3] [--exchange automatic|host|nccl]
//   NSIDE:LMAX:SPIN...
#include <algorithm>
#include <array>
#include <barrier>
#include <chrono>
#include <complex>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

#include "core/cuda.cuh"
#include "cuda/device_timing.cuh"
#include "cuda/rank_threads.hpp"
#include "tool/solo_ranks.hpp"
#include "zonal/distributed/plan.hpp"

namespace {

using Complex = std::complex<double>;
using zonal::View, zonal::bench::median, zonal::core::check_cuda;

struct Settings {
    int ranks = 2, solo = 0, runs = 5, rounds = 3;
    zonal::ExchangeWay exchange = zonal::ExchangeWay::automatic;
};

struct Case {
    std::int64_t nside, lmax;
    int spin;
};

Case parse(const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> parts;
    for (std::string part; std::getline(in, part, ':');) parts.push_back(part);
    if (parts.size() != 3) throw std::invalid_argument(text + ": must be NSIDE:LMAX:SPIN");
    return {std::stoll(parts[0]), std::stoll(parts[1]), std::stoi(parts[2])};
}

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// A number from -1 to 1, of these degree and order (splitmix64).
double noise(std::uint64_t l, std::uint64_t m, std::uint64_t part) {
    std::uint64_t z = (l << 34U) + (m << 4U) + part + 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return static_cast<double>(static_cast<std::int64_t>(z ^ (z >> 31U))) * 0x1p-63;
}

/// One plan's arrays on the current device: of a whole sky, or of a rank's part.
class Sky {
  public:
    Sky(const zonal::ShtPlan& plan, const std::vector<std::int64_t>& orders)
        : plan_(plan),
          workspace_(plan.make_workspace()),
          alm_(plan.alm_components() * plan.layout().size()),
          map_(plan.map_components() * plan.grid().n_pixels()) {
        std::vector<Complex> host(static_cast<std::size_t>(alm_.size()));
        for (std::int64_t c = 0; c < plan.alm_components(); ++c)
            for (const std::int64_t m : orders)
                for (std::int64_t l = std::max<std::int64_t>(m, plan.options().spin);
                     l <= plan.layout().lmax(); ++l) {
                    const auto part = static_cast<std::uint64_t>(2 * c);
                    host[static_cast<std::size_t>(c * plan.layout().size() + plan.layout().index(l, m))] = {
                        noise(l, m, part), m == 0 ? 0 : noise(l, m, part + 1)};
                }
        check_cuda(cudaMemcpy(alm_.data(), host.data(), alm_.bytes(), cudaMemcpyHostToDevice), "copy");
        check_cuda(cudaDeviceSynchronize(), "copy");
    }

    void synthesize() { plan_.synthesize<double>(coefficients<const Complex>(alm_), pixels(), workspace_); }
    /// Into the coefficients that the map was made of, as the largest case leaves no room for others.
    void adjoint() { plan_.quadrature<double>(pixels(), coefficients<Complex>(alm_), workspace_); }
    zonal::ShtWorkspace& workspace() { return workspace_; }

    std::vector<double> some_pixels(std::int64_t first, std::int64_t end) const {
        std::vector<double> host(static_cast<std::size_t>(std::min<std::int64_t>(end - first, 1 << 20)));
        check_cuda(cudaMemcpy(host.data(), map_.data() + first, host.size() * sizeof(double),
                              cudaMemcpyDeviceToHost),
                   "copy");
        return host;
    }

  private:
    template <class T>
    View<T, 3> coefficients(const zonal::core::DeviceArray<Complex>& memory) const {
        return {memory.data(), {1, plan_.alm_components(), plan_.layout().size()}, zonal::MemorySpace::cuda};
    }
    View<double, 3> pixels() const {
        return {map_.data(), {1, plan_.map_components(), plan_.grid().n_pixels()}, zonal::MemorySpace::cuda};
    }

    const zonal::ShtPlan& plan_;
    zonal::ShtWorkspace workspace_;
    zonal::core::DeviceArray<Complex> alm_;
    zonal::core::DeviceArray<double> map_;
};

/// Seconds of the calls, and how a rank's of one call divide.
struct Times {
    std::vector<double> synthesis, adjoint;
    std::vector<zonal::ShtStageSeconds> stages;  ///< of each rank's synthesis
};

struct Outcome {
    Times one, ranks;
    std::string exchange;
    std::int64_t bytes_sent = 0;  ///< of the rank that sends most, in a synthesis
    double difference = 0;        ///< of pixels, over the largest
    double plan_seconds = 0;
};

zonal::ShtOptions options_of(const Case& c, int device) {
    zonal::ShtOptions options;
    options.lmax = c.lmax;
    options.spin = c.spin;
    options.device = zonal::Device::cuda(device);
    return options;
}

/// time(work): of a call.
template <class Time>
void time_calls(Sky& sky, int runs, Times& times, bool counts, const Time& time) {
    for (int run = -2; run < runs; ++run) {  // the first loads kernels and connects ranks
        const double seconds = time([&] { sky.synthesize(); });
        const double back = time([&] { sky.adjoint(); });
        if (run < 0 || !counts) continue;
        times.synthesis.push_back(seconds);
        times.adjoint.push_back(back);
    }
}

using Pixels = std::vector<std::vector<double>>;

/// ranges: of which it returns some pixels.
Pixels run_one(const Case& c, const Settings& settings, const std::vector<zonal::PixelRange>& ranges,
               Outcome& outcome) {
    const zonal::core::CurrentDevice current(0);
    const zonal::ShtPlan plan(zonal::Grid::healpix(c.nside), options_of(c, 0));
    std::vector<std::int64_t> orders;
    for (std::int64_t m = 0; m <= c.lmax; ++m) orders.push_back(m);
    Sky sky(plan, orders);
    time_calls(sky, settings.runs, outcome.one, true, [](const auto& work) {
        const double start = now();
        work();
        return now() - start;
    });
    sky.synthesize();
    Pixels pixels;
    for (const auto& range : ranges) pixels.push_back(sky.some_pixels(range.first, range.end));
    return pixels;
}

/// Some pixels of each of rank 0's ranges, and these.
std::pair<std::vector<zonal::PixelRange>, Pixels> run_ranks(const Case& c, const Settings& settings,
                                                            std::vector<zonal::Communicator>& communicators,
                                                            Outcome& outcome) {
    std::pair<std::vector<zonal::PixelRange>, Pixels> found;
    std::vector<double> seconds(communicators.size());
    std::barrier meet(static_cast<std::ptrdiff_t>(communicators.size()));
    outcome.ranks.stages.resize(communicators.size());
    const auto work = [&](std::size_t rank) {
        const zonal::core::CurrentDevice current(static_cast<int>(rank));
        const double start = now();
        const zonal::DistributedPlan plan(communicators[rank], zonal::Grid::healpix(c.nside),
                                          {options_of(c, static_cast<int>(rank)), {}, settings.exchange});
        if (rank == 0) outcome.plan_seconds = now() - start;
        Sky sky(plan.local(), {plan.orders().begin(), plan.orders().end()});
        time_calls(sky, settings.runs, outcome.ranks, rank == 0, [&](const auto& call) {
            meet.arrive_and_wait();
            const double begin = now();
            call();
            seconds[rank] = now() - begin;
            meet.arrive_and_wait();
            return *std::max_element(seconds.begin(), seconds.end());
        });
        sky.workspace().measure_stages(true);
        sky.synthesize();
        outcome.ranks.stages[rank] = sky.workspace().stage_seconds();
        if (rank != 0) return;
        outcome.exchange = plan.exchange().text();
        for (const auto& share : plan.shares())
            outcome.bytes_sent = std::max(outcome.bytes_sent, share.bytes_sent);
        std::int64_t place = 0;
        for (const auto& range : plan.pixels()) {
            found.first.push_back(range);
            found.second.push_back(sky.some_pixels(place, place + range.end - range.first));
            place += range.end - range.first;
        }
    };
    zonal::bench::in_rank_threads(communicators.size(), work);
    return found;
}

double difference_of(const Pixels& a, const Pixels& b) {
    double largest = 0, difference = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t k = 0; k < a[i].size(); ++k) {
            largest = std::max(largest, std::abs(a[i][k]));
            difference = std::max(difference, std::abs(a[i][k] - b[i][k]));
        }
    return difference / largest;
}

void print(const char* name, const std::vector<double>& one, const std::vector<double>& ranks, int n_ranks) {
    std::printf(
        R"(,
   "%s": {"one_seconds": %.6g, "ranks_seconds": %.6g, "efficiency": %.4g, "one_best": %.6g, "ranks_best": %.6g})",
        name, median(one), median(ranks), median(one) / (n_ranks * median(ranks)),
        *std::min_element(one.begin(), one.end()), *std::min_element(ranks.begin(), ranks.end()));
}

void measure(const Case& c, const Settings& settings, std::vector<zonal::Communicator>& communicators) {
    Outcome outcome;
    for (int round = 0; round < settings.rounds; ++round) {
        const auto [ranges, of_ranks] = run_ranks(c, settings, communicators, outcome);
        const auto of_one = run_one(c, settings, ranges, outcome);
        outcome.difference = std::max(outcome.difference, difference_of(of_one, of_ranks));
    }
    std::printf(
        R"(  {"nside": %lld, "lmax": %lld, "spin": %d, "exchange": "%s", "bytes_sent": %lld, "difference": %.3g, "plan_seconds": %.3g)",
        static_cast<long long>(c.nside), static_cast<long long>(c.lmax), c.spin, outcome.exchange.c_str(),
        static_cast<long long>(outcome.bytes_sent), outcome.difference, outcome.plan_seconds);
    print("synthesis", outcome.one.synthesis, outcome.ranks.synthesis, settings.ranks);
    print("adjoint", outcome.one.adjoint, outcome.ranks.adjoint, settings.ranks);
    std::printf(",\n   \"stages_one_after_the_other\": [");
    for (const auto& s : outcome.ranks.stages)
        std::printf(R"(%s{"legendre": %.5g, "rings": %.5g, "waiting": %.5g})",
                    &s == outcome.ranks.stages.data() ? "" : ", ", s.legendre, s.rings, s.waiting);
    std::printf("]}");
}

/// Seconds of a synthesis' and an adjoint's stages, and their sums over the stages.
using StageTimes = std::array<zonal::ShtStageSeconds, 2>;

double sum_of(const zonal::ShtStageSeconds& s) {
    return s.legendre + s.rings;
}

/// Returns the stages of the fastest run of each.
StageTimes time_stages(Sky& sky, int runs) {
    StageTimes best;
    sky.workspace().measure_stages(true);
    for (int run = -1; run < runs; ++run)
        for (const std::size_t way : {0, 1}) {
            way == 0 ? sky.synthesize() : sky.adjoint();
            const auto seconds = sky.workspace().stage_seconds();
            if (run <= 0 || sum_of(seconds) < sum_of(best[way])) best[way] = seconds;
        }
    return best;
}

void print_stages(const char* name, const StageTimes& times) {
    std::printf(R"({"share": "%s")", name);
    for (const std::size_t way : {0, 1})
        std::printf(R"(, "%s": {"legendre": %.5g, "rings": %.5g})", way == 0 ? "synthesis" : "adjoint",
                    times[way].legendre, times[way].rings);
    std::printf("}");
}

void measure_solo(const Case& c, const Settings& settings) {
    const zonal::core::CurrentDevice current(0);
    const auto grid = zonal::Grid::healpix(c.nside);
    const int n = settings.solo;
    const auto time = [&](const zonal::ShtPlan& plan, const std::vector<std::int64_t>& orders) {
        Sky sky(plan, orders);
        return time_stages(sky, settings.runs);
    };
    std::vector<std::int64_t> orders;
    for (std::int64_t m = 0; m <= c.lmax; ++m) orders.push_back(m);
    const StageTimes whole = time(zonal::ShtPlan(grid, options_of(c, 0)), orders);
    std::printf(R"(  {"nside": %lld, "lmax": %lld, "spin": %d, "solo": %d, "shares": [)",
                static_cast<long long>(c.nside), static_cast<long long>(c.lmax), c.spin, n);
    print_stages("whole", whole);
    const auto plan_of = [&](int rank) {
        return zonal::DistributedPlan(zonal::Communicator::solo(rank, n), grid,
                                      {options_of(c, 0), {}, zonal::ExchangeWay::automatic});
    };
    std::array<double, 2> slowest{};
    for (const int rank : zonal::bench::solo_ranks(plan_of(0).shares())) {
        const auto plan = plan_of(rank);
        const StageTimes share = time(plan.local(), {plan.orders().begin(), plan.orders().end()});
        std::printf(", ");
        print_stages(("rank " + std::to_string(rank)).c_str(), share);
        for (const std::size_t way : {0, 1}) slowest[way] = std::max(slowest[way], sum_of(share[way]));
    }
    std::printf("],\n   \"synthesis_efficiency\": %.4g, \"adjoint_efficiency\": %.4g}",
                sum_of(whole[0]) / (n * slowest[0]), sum_of(whole[1]) / (n * slowest[1]));
}

zonal::ExchangeWay way_of(const std::string& name) {
    if (name == "host") return zonal::ExchangeWay::host;
    if (name == "nccl") return zonal::ExchangeWay::nccl;
    if (name == "automatic") return zonal::ExchangeWay::automatic;
    throw std::invalid_argument("--exchange " + name + ": must be automatic, host or nccl");
}

}  // namespace

int main(int argc, char** argv) try {
    Settings settings;
    int first = 1;
    for (; first + 1 < argc && argv[first][0] == '-'; first += 2) {
        const std::string name = argv[first], value = argv[first + 1];
        if (name == "--ranks") settings.ranks = std::stoi(value);
        if (name == "--solo") settings.solo = std::stoi(value);
        if (name == "--runs") settings.runs = std::stoi(value);
        if (name == "--rounds") settings.rounds = std::stoi(value);
        if (name == "--exchange") settings.exchange = way_of(value);
    }
    cudaDeviceProp device{};
    check_cuda(cudaGetDeviceProperties(&device, 0), "device");
    auto communicators = zonal::Communicator::threads(settings.ranks);
    std::printf("{\"device\": \"%s\", \"ranks\": %d, \"runs\": %d, \"rounds\": %d, \"results\": [\n",
                device.name, settings.ranks, settings.runs, settings.rounds);
    for (int k = first; k < argc; ++k) {
        if (k != first) std::printf(",\n");
        const Case c = parse(argv[k]);
        settings.solo > 0 ? measure_solo(c, settings) : measure(c, settings, communicators);
        std::fflush(stdout);
    }
    std::printf("\n]}\n");
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
