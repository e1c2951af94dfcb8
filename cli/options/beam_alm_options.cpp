#include "options/beam_alm_options.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "engine/alm_file.hpp"
#include "options/common_options.hpp"
#include "shell/error.hpp"
#include "zonal/io/alm.hpp"

namespace zonal::cli {

void add_beam_alm_options(const OptionGroup& group, BeamAlmOptions& options) {
    group.text("--beam-alm", options.file, "FILE",
               "alm of a beam that need not be round and looks at the north pole, FITS: T, or T, E, B");
    group.integer("--kmax", options.kmax, {0, max_lmax}, "highest order of the beam that is used", "all");
}

BeamAlm read_beam_alm(const BeamAlmOptions& options, std::int64_t lmax, Session& session) {
    auto file = read_alm(options.file, session);
    const auto n = file.components.size();
    if (n != 1 && n != 3)
        throw IoError(fmt::format("{}: has {} components; a beam has T or T, E, B", options.file, n));
    if (file.layout.lmax() < lmax)
        throw UsageError(
            fmt::format("--beam-alm {}: ends at l = {}: must go on to lmax = {}; --lmax lowers that",
                        options.file, file.layout.lmax(), lmax));
    const auto highest = std::min(lmax, file.layout.mmax());
    const auto kmax = options.kmax.value_or(highest);
    if (kmax > highest)
        throw UsageError(fmt::format("--kmax = {}: must be at most {}, what {} has up to lmax = {}", kmax,
                                     highest, options.file, lmax));
    // Orders above --kmax stay, so that the report can say what they would have added.
    truncate(file, lmax, highest);
    auto alm = to_map_alm(std::move(file));
    return {alm.layout, std::move(alm.alm), 0};
}

void keep_temperature(BeamAlm& beam) {
    Array<std::complex<double>, 2> alone({1, beam.alm.extent(1)});
    std::copy_n(beam.alm.data(), alone.size(), alone.data());
    beam.alm = std::move(alone);
}

}  // namespace zonal::cli
