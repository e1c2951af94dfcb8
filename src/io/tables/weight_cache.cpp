// Weights that are kept in the cache folder.
#include <fmt/core.h>

#include <filesystem>
#include <optional>

#include "zonal/error.hpp"
#include "zonal/io/cache.hpp"
#include "zonal/io/weights.hpp"

namespace zonal::io {
namespace {

FoundWeights read_weights_for(const std::string& path, std::int64_t nside) {
    auto weights = read_weights(path);
    if (weights.nside != nside)
        throw IoError(fmt::format("{}: weights for nside {}, the map has {}", path, weights.nside, nside));
    const bool ring = weights.kind == QuadratureWeights::Kind::ring;
    return {std::move(weights), fmt::format("{}, from {}", ring ? "ring" : "pixel", path)};
}

/// Weights from the cache folder; nothing if they are not there or, which a note says, not what they should
/// be.
std::optional<FoundWeights> read_kept(const std::string& path, QuadratureWeights::Kind kind,
                                      std::int64_t nside, std::vector<std::string>& notes) {
    std::error_code none;
    if (!std::filesystem::exists(path, none)) return std::nullopt;
    try {
        auto found = read_weights_for(path, nside);
        if (found.values.kind == kind) return found;
        notes.push_back(fmt::format("{}: weights of the other kind: computed anew", path));
    } catch (const IoError& error) {
        notes.push_back(fmt::format("{}: computed anew", error.what()));
    }
    return std::nullopt;
}

}  // namespace

std::string weight_file_name(QuadratureWeights::Kind kind, std::int64_t nside) {
    return kind == QuadratureWeights::Kind::ring
               ? fmt::format("weight_ring_n{:05}.fits", nside)
               : fmt::format("healpix_full_weights_nside_{:04}.fits", nside);
}

QuadratureWeights compute_weights(QuadratureWeights::Kind kind, std::int64_t nside,
                                  const healpix::WeightOptions& options) {
    auto computed = kind == QuadratureWeights::Kind::ring ? healpix::compute_ring_weights(nside, options)
                                                          : healpix::compute_pixel_weights(nside, options);
    if (!computed.converged)
        throw Error(
            fmt::format("weights for nside {}, lmax {}: no convergence, residual {:.3g} after {} iterations",
                        nside, computed.lmax, computed.residual, computed.iterations));
    return computed;
}

FoundWeights find_weights(const std::string& choice, std::int64_t nside,
                          const healpix::WeightOptions& options) {
    if (choice != "ring" && choice != "pixel") return read_weights_for(choice, nside);
    const auto kind = choice == "ring" ? QuadratureWeights::Kind::ring : QuadratureWeights::Kind::pixel;
    const auto path = cache_folder() + "/" + weight_file_name(kind, nside);
    FoundWeights found{.computed = true};
    if (auto kept = read_kept(path, kind, nside, found.notes)) return std::move(*kept);
    found.values = compute_weights(kind, nside, options);
    found.description = fmt::format("{}, computed and kept in {}", choice, path);
    try {
        make_cache_folder();
        write_weights(path, found.values, {true});
    } catch (const IoError& error) {
        found.notes.push_back(fmt::format("weights are not kept: {}", error.what()));
        found.description = fmt::format("{}, computed", choice);
    }
    return found;
}

}  // namespace zonal::io
