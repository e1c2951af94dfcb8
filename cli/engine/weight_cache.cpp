#include "engine/weight_cache.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <optional>

#include "shell/error.hpp"
#include "zonal/io/cache.hpp"

namespace zonal::cli {
namespace {

using Kind = io::QuadratureWeights::Kind;

FoundWeights read_file(const std::string& path, std::int64_t nside) {
    auto weights = io::read_weights(path);
    if (weights.nside != nside)
        throw IoError(fmt::format("{}: weights for nside {}, the map has {}", path, weights.nside, nside));
    const auto description = fmt::format("{}, from {}", weights.kind == Kind::ring ? "ring" : "pixel", path);
    return {std::move(weights), description};
}

/// Weights from the cache folder; nothing where they are not there or, which a note says, not what they
/// should be.
std::optional<FoundWeights> read_kept(const std::string& path, Kind kind, std::int64_t nside,
                                      Session& session) {
    std::error_code none;
    if (!std::filesystem::exists(path, none)) return std::nullopt;
    try {
        auto found = read_file(path, nside);
        if (found.values.kind == kind) return found;
        session.note(fmt::format("{}: weights of the other kind: computed anew", path));
    } catch (const IoError& error) {
        session.note(fmt::format("{}: computed anew", error.what()));
    }
    return std::nullopt;
}

}  // namespace

std::string weight_file_name(Kind kind, std::int64_t nside) {
    return kind == Kind::ring ? fmt::format("weight_ring_n{:05}.fits", nside)
                              : fmt::format("healpix_full_weights_nside_{:04}.fits", nside);
}

io::QuadratureWeights compute_weights(Kind kind, std::int64_t nside, std::int64_t lmax, int threads,
                                      Session& session) {
    healpix::WeightOptions options;
    options.lmax = lmax;
    options.threads = threads;
    options.progress = session.progress("weights");
    auto computed = kind == Kind::ring ? healpix::compute_ring_weights(nside, options)
                                       : healpix::compute_pixel_weights(nside, options);
    if (!computed.converged)
        throw Error(
            fmt::format("weights for nside {}, lmax {}: no convergence, residual {:.3g} after {} iterations",
                        nside, computed.lmax, computed.residual, computed.iterations));
    session.report["weights_residual"] = computed.residual;
    session.report["weights_iterations"] = computed.iterations;
    return computed;
}

FoundWeights weights_for(const std::string& choice, std::int64_t nside, int threads, Session& session) {
    if (choice != "ring" && choice != "pixel") return read_file(choice, nside);
    const auto kind = choice == "ring" ? Kind::ring : Kind::pixel;
    const auto path = io::cache_folder() + "/" + weight_file_name(kind, nside);
    if (auto kept = read_kept(path, kind, nside, session)) return std::move(*kept);
    auto weights = compute_weights(kind, nside, -1, threads, session);
    try {
        io::make_cache_folder();
        io::write_weights(path, weights, {true});
    } catch (const IoError& error) {
        session.note(fmt::format("weights are not kept: {}", error.what()));
        return {std::move(weights), fmt::format("{}, computed", choice)};
    }
    return {std::move(weights), fmt::format("{}, computed and kept in {}", choice, path)};
}

}  // namespace zonal::cli
