#include "engine/job_sky.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "shell/error.hpp"
#include "zonal/io/cost_model.hpp"

namespace zonal::cli {
namespace {

/// Seconds that a synthesis takes on a rank by the costs of this machine, without waiting for messages.
double seconds_of(const RankShare& share, const TransformCost& cost) {
    return predicted_seconds(cost, TransformWork{share.legendre_flops, static_cast<double>(share.n_pixels)}) /
           2;  // the cost is that of an analysis and a synthesis
}

void explain(const DistributedSky& sky, bool polarized, const RunOptions& run, Session& session) {
    const auto found = io::find_costs("", run.thread_count());
    session.note(found.notes);
    session.report["costs"] = found.costs.fingerprint;
    const auto& devices = found.costs.devices;
    const auto costs = std::find_if(devices.begin(), devices.end(), [&](const auto& known) {
        return known.device.kind() == run.rank_device.kind();
    });
    const auto scalar = sky.shares(0);
    const auto spin = polarized && sky.layout().lmax() >= 2 ? sky.shares(2) : std::vector<RankShare>();
    double here = 0;  // by the costs of the rank's own machine; 0: not known
    if (costs != devices.end()) {
        const auto& share = scalar[static_cast<std::size_t>(sky.ranks().rank())];
        here = seconds_of(share, costs->scalar.smoothing);
        if (!spin.empty()) here += seconds_of(share, costs->polarization.smoothing);
    }
    const auto seconds = sky.ranks().gather(fmt::format("{}", here));
    auto& shares = session.report["shares"] = Json::array();
    for (std::size_t rank = 0; rank < scalar.size(); ++rank) {
        auto share = scalar[rank];
        if (!spin.empty()) {
            share.legendre_flops += spin[rank].legendre_flops;
            share.ring_flops += spin[rank].ring_flops;
            share.bytes_sent += spin[rank].bytes_sent;
        }
        shares.push_back({{"rank", rank},
                          {"device", to_string(sky.devices()[rank])},
                          {"pixels", share.n_pixels},
                          {"coefficients", share.n_coefficients},
                          {"legendre_flops", share.legendre_flops},
                          {"ring_flops", share.ring_flops},
                          {"bytes_sent", share.bytes_sent}});
        if (const double there = std::stod(seconds[rank]); there > 0)
            shares.back()["predicted_seconds"] = there;
    }
}

}  // namespace

DistributedSky divide_sky(const Pixelization& pixels, std::int64_t lmax, std::int64_t mmax, bool polarized,
                          const RunOptions& run, Session& session) {
    if (!std::holds_alternative<HealpixPixels>(pixels))
        throw UsageError(fmt::format("{}: over several ranks maps are HEALPix maps", to_string(pixels)));
    const auto grid = make_grid(pixels);
    const auto& ranks = session.ranks;
    auto speeds = run.speeds;
    if (run.shares == "auto")
        with_error<UsageError>(
            [&] { speeds = io::measured_speeds(ranks, grid, lmax, run.thread_count(), run.rank_device); },
            "--shares auto: ");
    auto sky = with_error<UsageError>(
        [&] { return DistributedSky(ranks, grid, lmax, mmax, run.thread_count(), speeds, run.rank_device); },
        "");
    sky.require_memory(polarized ? 3 : 1);
    if (std::any_of(sky.devices().begin(), sky.devices().end(),
                    [](Device device) { return device.kind() == Device::Kind::cuda; }))
        session.report["exchange"] = sky.exchange().text();
    if (run.explain) explain(sky, polarized, run, session);
    return sky;
}

}  // namespace zonal::cli
